/* last_failure.c -- the text and the timestamp of the last failure, protected by a mutex. */
#include "daemon/last_failure.h"

#include <stdio.h>

void maki_last_failure_init(maki_last_failure *f, const maki_clock *clock)
{
    *f = (maki_last_failure){ .clock = clock };
    pthread_mutex_init(&f->lock, NULL);
}

void maki_last_failure_set(maki_last_failure *f, const char *what, const char *name,
                           const char *reason)
{
    int64_t now = f->clock->now_ms(f->clock);
    pthread_mutex_lock(&f->lock);
    f->ts = now;
    snprintf(f->text, sizeof f->text, "%s%s%s: %s", what, name[0] ? " " : "", name, reason);
    pthread_mutex_unlock(&f->lock);
}

maki_last_failure maki_last_failure_get(maki_last_failure *f)
{
    pthread_mutex_lock(&f->lock);
    maki_last_failure copy = *f;
    pthread_mutex_unlock(&f->lock);
    return copy;
}

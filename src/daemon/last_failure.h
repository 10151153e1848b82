/* last_failure.h -- the last failure of an upstream or of recording, for /maki/health and `maki status`.
 *
 * The loop sets it, any thread reads it. */
#ifndef MAKI_DAEMON_LAST_FAILURE_H
#define MAKI_DAEMON_LAST_FAILURE_H

#include <pthread.h>

#include <maki/env.h>

typedef struct maki_last_failure {
    const maki_clock *clock;
    pthread_mutex_t lock;
    int64_t ts;     /* under `lock`: milliseconds since 1970; 0: nothing failed */
    char text[200]; /* under `lock`: no secrets, no message bodies */
} maki_last_failure;

void maki_last_failure_init(maki_last_failure *failure, const maki_clock *clock);
/* "WHAT NAME: reason" */
void maki_last_failure_set(maki_last_failure *failure, const char *what, const char *name,
                           const char *reason);
/* A copy; its ts is 0 when nothing failed. */
maki_last_failure maki_last_failure_get(maki_last_failure *failure);

#endif

/* queue.c -- see queue.h. */
#include "base/queue.h"

#include <assert.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/platform.h"

maki_status maki_queue_open(maki_queue *q, bool with_fd, maki_err *err)
{
    pthread_condattr_t attr;
    int ends[2] = { -1, -1 };
    if (with_fd && maki_pipe(ends) != 0) return maki_fail_errno(err, "making a pipe");
    *q = (maki_queue){ .fd = ends[0], .bell = ends[1] };
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->filled, &attr);
    pthread_condattr_destroy(&attr);
    return MAKI_OK;
}

void maki_queue_close(maki_queue *q)
{
    assert(q->waiting == 0); /* its consumers have ended */
    if (q->fd >= 0) {
        close(q->fd);
        close(q->bell);
    }
    pthread_cond_destroy(&q->filled);
    pthread_mutex_destroy(&q->lock);
}

static void ring(int fd)
{
    while (write(fd, "", 1) < 0 && errno == EINTR) { /* EAGAIN: it rings already */
    }
}

/* Tells whether the consumer must be woken. */
static bool append(maki_queue *q, maki_queue_item *item)
{
    item->next = NULL;
    pthread_mutex_lock(&q->lock);
    bool was_empty = q->first == NULL, sleeper = q->waiting > 0;
    if (was_empty) {
        q->first = item;
    } else {
        q->last->next = item;
    }
    q->last = item;
    pthread_mutex_unlock(&q->lock);
    return q->fd >= 0 ? was_empty : sleeper;
}

void maki_queue_wake(maki_queue *q)
{
    if (q->fd >= 0) {
        ring(q->bell);
    } else {
        pthread_cond_signal(&q->filled);
    }
}

bool maki_queue_push_no_wake(maki_queue *q, maki_queue_item *item)
{
    return append(q, item);
}

void maki_queue_push(maki_queue *q, maki_queue_item *item)
{
    if (append(q, item)) maki_queue_wake(q);
}

void maki_queue_shutdown(maki_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

/* With the lock. */
static maki_queue_item *take_all(maki_queue *q)
{
    maki_queue_item *first = q->first;
    q->first = q->last = NULL;
    return first;
}

maki_queue_item *maki_queue_take_all(maki_queue *q)
{
    char rings[64];
    while (q->fd >= 0 && read(q->fd, rings, sizeof rings) == sizeof rings) {
    }
    pthread_mutex_lock(&q->lock);
    maki_queue_item *first = take_all(q);
    pthread_mutex_unlock(&q->lock);
    return first;
}

static struct timespec in_ms(uint32_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

maki_queue_item *maki_queue_wait_all(maki_queue *q, uint32_t ms, bool *ended)
{
    struct timespec until = in_ms(ms);
    int rc = 0;
    pthread_mutex_lock(&q->lock);
    q->waiting++;
    while (!q->first && !q->closed && rc == 0)
        rc = pthread_cond_timedwait(&q->filled, &q->lock, &until);
    q->waiting--;
    maki_queue_item *first = take_all(q);
    *ended = q->closed && !first;
    pthread_mutex_unlock(&q->lock);
    return first;
}

maki_queue_item *maki_queue_pop(maki_queue *q, bool waits)
{
    pthread_mutex_lock(&q->lock);
    q->waiting++;
    while (waits && !q->first && !q->closed)
        pthread_cond_wait(&q->filled, &q->lock);
    q->waiting--;
    maki_queue_item *item = q->first;
    if (item) q->first = item->next;
    if (!q->first) q->last = NULL;
    pthread_mutex_unlock(&q->lock);
    return item;
}

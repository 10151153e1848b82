/* queue.c -- a queue between threads: a linked list under a lock.
 *
 * Consumers wait for a condition variable or, in an event loop, for a pipe. */
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
    if (with_fd && maki_pipe(ends) != 0) return maki_fail_errno(err, "cannot create a pipe");
    *q = (maki_queue){ .fd = ends[0], .wake_fd = ends[1] };
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->pushed, &attr);
    pthread_condattr_destroy(&attr);
    return MAKI_OK;
}

void maki_queue_close(maki_queue *q)
{
    assert(q->waiters == 0); /* no consumer may be waiting */
    if (q->fd >= 0) {
        close(q->fd);
        close(q->wake_fd);
    }
    pthread_cond_destroy(&q->pushed);
    pthread_mutex_destroy(&q->lock);
}

bool maki_queue_push_no_wake(maki_queue *q, maki_queue_item *item)
{
    item->next = NULL;
    pthread_mutex_lock(&q->lock);
    bool was_empty = q->first == NULL, has_waiter = q->waiters > 0;
    if (was_empty) {
        q->first = item;
    } else {
        q->last->next = item;
    }
    q->last = item;
    pthread_mutex_unlock(&q->lock);
    return q->fd >= 0 ? was_empty : has_waiter;
}

void maki_queue_wake(maki_queue *q)
{
    if (q->fd < 0) {
        pthread_cond_signal(&q->pushed);
        return;
    }
    while (write(q->wake_fd, "", 1) < 0 && errno == EINTR) { /* EAGAIN: the pipe is readable */
    }
}

void maki_queue_push(maki_queue *q, maki_queue_item *item)
{
    if (maki_queue_push_no_wake(q, item)) maki_queue_wake(q);
}

void maki_queue_shutdown(maki_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->pushed);
    pthread_mutex_unlock(&q->lock);
}

/* Remove all items.  The caller holds the lock. */
static maki_queue_item *unlink_all(maki_queue *q)
{
    maki_queue_item *first = q->first;
    q->first = q->last = NULL;
    return first;
}

maki_queue_item *maki_queue_take_all(maki_queue *q)
{
    char bytes[64];
    while (q->fd >= 0 && read(q->fd, bytes, sizeof bytes) == sizeof bytes) {
    }
    pthread_mutex_lock(&q->lock);
    maki_queue_item *first = unlink_all(q);
    pthread_mutex_unlock(&q->lock);
    return first;
}

static struct timespec deadline_in(uint32_t ms)
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
    struct timespec deadline = deadline_in(ms);
    int rc = 0;
    pthread_mutex_lock(&q->lock);
    q->waiters++;
    while (!q->first && !q->closed && rc == 0)
        rc = pthread_cond_timedwait(&q->pushed, &q->lock, &deadline);
    q->waiters--;
    maki_queue_item *first = unlink_all(q);
    *ended = q->closed && !first;
    pthread_mutex_unlock(&q->lock);
    return first;
}

maki_queue_item *maki_queue_pop(maki_queue *q, bool wait)
{
    pthread_mutex_lock(&q->lock);
    q->waiters++;
    while (wait && !q->first && !q->closed)
        pthread_cond_wait(&q->pushed, &q->lock);
    q->waiters--;
    maki_queue_item *item = q->first;
    if (item) q->first = item->next;
    if (!q->first) q->last = NULL;
    pthread_mutex_unlock(&q->lock);
    return item;
}

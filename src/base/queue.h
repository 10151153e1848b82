/* queue.h -- what is handed from thread to thread.
 *
 * Anybody puts, one thread takes all there is at once (a pool: each takes one).  An item is part of what is handed
 * over, so putting never fails and never allocates; whoever takes it owns it from then on.  Wake-ups are
 * few: a consumer is woken when it waits, not for every item. */
#ifndef MAKI_BASE_QUEUE_H
#define MAKI_BASE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <maki/status.h>

typedef struct maki_queue_item maki_queue_item;
struct maki_queue_item {
    maki_queue_item *next;
    void (*run)(
        maki_queue_item *item); /* for the loop: what to do with it; others look at `what` */
    int what;
};

/* The whole of which `item` is the member `name`. */
#define MAKI_CONTAINER_OF(item, type, name) ((type *)(void *)((char *)(item)-offsetof(type, name)))

typedef struct maki_queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    maki_queue_item *first, *last; /* lock */
    size_t waiting;                /* lock: consumers that sleep */
    bool closed;                   /* lock */
    int fd;                        /* readable when something is there; -1: consumers wait here */
    int bell;                      /* the end of that pipe which is written to */
} maki_queue;

/* `with_fd`: for a consumer that has an event loop. */
maki_status maki_queue_open(maki_queue *queue, bool with_fd, maki_err *err) MAKI_MUST_CHECK;
void maki_queue_close(maki_queue *queue); /* what is still in it is forgotten */

void maki_queue_push(maki_queue *queue, maki_queue_item *item);
/* The same without waking anybody: true when somebody sleeps, to be woken by maki_queue_wake later, once for
 * several items. */
bool maki_queue_push_no_wake(maki_queue *queue, maki_queue_item *item);
void maki_queue_wake(maki_queue *queue);
/* No more will come: waiting consumers return. */
void maki_queue_shutdown(maki_queue *queue);

/* All there is, oldest first, linked by `next`; NULL: nothing. */
maki_queue_item *maki_queue_take_all(maki_queue *queue);
/* The same, waiting up to `ms` for something.  *ended: nothing will come any more. */
maki_queue_item *maki_queue_wait_all(maki_queue *queue, uint32_t ms, bool *ended);
/* The oldest item.  NULL: there is none now; or, when it `waits` for one, there will be none. */
maki_queue_item *maki_queue_pop(maki_queue *queue, bool waits);

#endif

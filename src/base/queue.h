/* queue.h -- a queue between threads.
 *
 * Any thread pushes; one consumer takes all items at once, or each thread of a pool pops one.  An item is embedded in the
 * object that is passed, so a push never fails and never allocates; the consumer of an item owns its object.  A
 * consumer is woken only when it waits, not for every item. */
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
        maki_queue_item *item); /* called by an event loop; other consumers switch on `kind` */
    int kind;
};

/* The object of which `item` is the member `name`. */
#define MAKI_CONTAINER_OF(item, type, name) ((type *)(void *)((char *)(item)-offsetof(type, name)))

typedef struct maki_queue {
    pthread_mutex_t lock;
    pthread_cond_t pushed;
    maki_queue_item *first, *last; /* lock */
    size_t waiters;                /* lock: consumers that wait */
    bool closed;                   /* lock */
    int fd;      /* readable when there is an item; -1: consumers wait for `pushed` */
    int wake_fd; /* the write end of that pipe */
} maki_queue;

/* `with_fd`: for a consumer that has an event loop. */
maki_status maki_queue_open(maki_queue *queue, bool with_fd, maki_err *err) MAKI_MUST_CHECK;
void maki_queue_close(maki_queue *queue); /* remaining items are not freed */

void maki_queue_push(maki_queue *queue, maki_queue_item *item);
/* The same without waking a consumer.  True when one has to be woken: call maki_queue_wake later, once for several
 * items. */
bool maki_queue_push_no_wake(maki_queue *queue, maki_queue_item *item);
void maki_queue_wake(maki_queue *queue);
/* No item will be pushed any more: waiting consumers return. */
void maki_queue_shutdown(maki_queue *queue);

/* All items, oldest first, linked by `next`; NULL: none. */
maki_queue_item *maki_queue_take_all(maki_queue *queue);
/* The same; waits up to `ms` for an item.  *ended: the queue is empty and was shut down. */
maki_queue_item *maki_queue_wait_all(maki_queue *queue, uint32_t ms, bool *ended);
/* The oldest item.  NULL: the queue is empty; with `wait`, it is empty and was shut down. */
maki_queue_item *maki_queue_pop(maki_queue *queue, bool wait);

#endif

/* thread_pool.c -- see thread_pool.h.
 *
 * Pieces stand in a ring and wait in a queue; a piece takes a millisecond, so nobody waits for a lock. */
#include "base/thread_pool.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/platform.h"
#include "base/queue.h"
#include "base/thread.h"

typedef struct piece {
    maki_queue_item item;
    maki_thread_pool_fn fn;
    void *ctx;
    bool done; /* by the lock */
} piece;

struct maki_thread_pool {
    const maki_alloc *alloc;
    pthread_t threads[MAKI_THREADS_MAX];
    size_t thread_count;
    atomic_size_t started; /* threads that know their number */
    maki_queue todo;
    pthread_mutex_t lock;
    pthread_cond_t finished;              /* a piece was done */
    piece pieces[MAKI_THREAD_POOL_TASKS]; /* ticket t is in t % MAKI_THREAD_POOL_TASKS */
    uint64_t next_ticket;                 /* the owner's */
};

size_t maki_thread_pool_cores(void)
{
    size_t n = maki_cores();
    return n > MAKI_THREADS_MAX ? MAKI_THREADS_MAX : n;
}

static void do_piece(maki_thread_pool *work, maki_queue_item *item, size_t worker)
{
    piece *p = MAKI_CONTAINER_OF(item, piece, item);
    p->fn(p->ctx, worker);
    pthread_mutex_lock(&work->lock);
    p->done = true;
    pthread_cond_broadcast(&work->finished);
    pthread_mutex_unlock(&work->lock);
}

static void *run(void *ctx)
{
    maki_thread_pool *work = ctx;
    maki_queue_item *item;
    size_t worker = atomic_fetch_add(&work->started, 1) + 1;
    while ((item = maki_queue_pop(&work->todo, true)))
        do_piece(work, item, worker);
    return NULL;
}

maki_status maki_thread_pool_open(const maki_alloc *alloc, size_t workers, maki_thread_pool **out,
                                  maki_err *err)
{
    maki_thread_pool *work = maki_new(alloc, maki_thread_pool);
    if (!work) return maki_fail_nomem(err);
    work->alloc = alloc;
    maki_status st = maki_queue_open(&work->todo, false, err);
    if (st != MAKI_OK) {
        maki_delete(alloc, work);
        return st;
    }
    pthread_mutex_init(&work->lock, NULL);
    pthread_cond_init(&work->finished, NULL);
    if (workers == 0) workers = maki_thread_pool_cores();
    if (workers > MAKI_THREADS_MAX) workers = MAKI_THREADS_MAX;
    while (work->thread_count + 1 < workers &&
           maki_thread_start(&work->threads[work->thread_count], run, work))
        work->thread_count++;
    *out = work;
    return MAKI_OK;
}

void maki_thread_pool_close(maki_thread_pool *work)
{
    if (!work) return;
    (void)maki_queue_take_all(&work->todo); /* nobody begins these */
    maki_queue_shutdown(&work->todo);
    for (size_t i = 0; i < work->thread_count; i++)
        pthread_join(work->threads[i], NULL);
    pthread_cond_destroy(&work->finished);
    pthread_mutex_destroy(&work->lock);
    maki_queue_close(&work->todo);
    maki_delete(work->alloc, work);
}

size_t maki_thread_pool_workers(const maki_thread_pool *work)
{
    return work->thread_count + 1;
}

static bool is_done(maki_thread_pool *work, const piece *p, bool wait)
{
    pthread_mutex_lock(&work->lock);
    while (wait && !p->done)
        pthread_cond_wait(&work->finished, &work->lock);
    bool done = p->done;
    pthread_mutex_unlock(&work->lock);
    return done;
}

/* A ticket whose place has been taken by a later one is done. */
void maki_thread_pool_wait(maki_thread_pool *work, uint64_t ticket)
{
    const piece *p = &work->pieces[ticket % MAKI_THREAD_POOL_TASKS];
    assert(ticket < work->next_ticket);
    if (ticket + MAKI_THREAD_POOL_TASKS < work->next_ticket) return;
    while (!is_done(work, p, false)) {
        maki_queue_item *item = maki_queue_pop(&work->todo, false);
        if (item)
            do_piece(work, item, 0);
        else
            (void)is_done(work, p, true); /* somebody has begun it */
    }
}

uint64_t maki_thread_pool_add(maki_thread_pool *work, maki_thread_pool_fn fn, void *ctx)
{
    uint64_t ticket = work->next_ticket;
    piece *p = &work->pieces[ticket % MAKI_THREAD_POOL_TASKS];
    if (ticket >= MAKI_THREAD_POOL_TASKS)
        maki_thread_pool_wait(work, ticket - MAKI_THREAD_POOL_TASKS);
    *p = (piece){ .fn = fn, .ctx = ctx };
    work->next_ticket++;
    maki_queue_push(&work->todo, &p->item);
    return ticket;
}

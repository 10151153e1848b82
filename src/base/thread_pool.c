/* thread_pool.c -- run tasks on worker threads and in the owner; a ring buffer has the tasks by ticket, a queue the
 * pending ones.
 *
 * A task takes about a millisecond, so the locks are not contended. */
#include "base/thread_pool.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/platform.h"
#include "base/queue.h"
#include "base/thread.h"

typedef struct task {
    maki_queue_item item;
    maki_thread_pool_fn fn;
    void *ctx;
    bool done; /* lock */
} task;

struct maki_thread_pool {
    const maki_alloc *alloc;
    pthread_t threads[MAKI_THREADS_MAX];
    size_t thread_count;
    atomic_size_t started; /* threads that have their worker index */
    maki_queue pending;
    pthread_mutex_t lock;
    pthread_cond_t finished;            /* a task was done */
    task tasks[MAKI_THREAD_POOL_TASKS]; /* ticket t is in t % MAKI_THREAD_POOL_TASKS */
    uint64_t next_ticket;               /* used by the owner only */
};

size_t maki_thread_pool_cores(void)
{
    size_t n = maki_cores();
    return n > MAKI_THREADS_MAX ? MAKI_THREADS_MAX : n;
}

static void run_task(maki_thread_pool *pool, maki_queue_item *item, size_t worker)
{
    task *p = MAKI_CONTAINER_OF(item, task, item);
    p->fn(p->ctx, worker);
    pthread_mutex_lock(&pool->lock);
    p->done = true;
    pthread_cond_broadcast(&pool->finished);
    pthread_mutex_unlock(&pool->lock);
}

static void *run_worker(void *ctx)
{
    maki_thread_pool *pool = ctx;
    maki_queue_item *item;
    size_t worker = atomic_fetch_add(&pool->started, 1) + 1;
    while ((item = maki_queue_pop(&pool->pending, true)))
        run_task(pool, item, worker);
    return NULL;
}

maki_status maki_thread_pool_open(const maki_alloc *alloc, size_t workers, maki_thread_pool **out,
                                  maki_err *err)
{
    maki_thread_pool *pool = maki_new(alloc, maki_thread_pool);
    if (!pool) return maki_fail_nomem(err);
    pool->alloc = alloc;
    maki_status st = maki_queue_open(&pool->pending, false, err);
    if (st != MAKI_OK) {
        maki_delete(alloc, pool);
        return st;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->finished, NULL);
    if (workers == 0) workers = maki_thread_pool_cores();
    if (workers > MAKI_THREADS_MAX) workers = MAKI_THREADS_MAX;
    while (pool->thread_count + 1 < workers &&
           maki_thread_start(&pool->threads[pool->thread_count], run_worker, pool))
        pool->thread_count++;
    *out = pool;
    return MAKI_OK;
}

void maki_thread_pool_close(maki_thread_pool *pool)
{
    if (!pool) return;
    (void)maki_queue_take_all(&pool->pending); /* these are dropped */
    maki_queue_shutdown(&pool->pending);
    for (size_t i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_mutex_destroy(&pool->lock);
    maki_queue_close(&pool->pending);
    maki_delete(pool->alloc, pool);
}

size_t maki_thread_pool_workers(const maki_thread_pool *pool)
{
    return pool->thread_count + 1;
}

/* Is the task done?  With `wait`, block until it is. */
static bool is_done(maki_thread_pool *pool, const task *p, bool wait)
{
    pthread_mutex_lock(&pool->lock);
    while (wait && !p->done)
        pthread_cond_wait(&pool->finished, &pool->lock);
    bool done = p->done;
    pthread_mutex_unlock(&pool->lock);
    return done;
}

/* A task whose slot was reused by a later ticket is done. */
void maki_thread_pool_wait(maki_thread_pool *pool, uint64_t ticket)
{
    const task *p = &pool->tasks[ticket % MAKI_THREAD_POOL_TASKS];
    assert(ticket < pool->next_ticket);
    if (ticket + MAKI_THREAD_POOL_TASKS < pool->next_ticket) return;
    while (!is_done(pool, p, false)) {
        maki_queue_item *item = maki_queue_pop(&pool->pending, false);
        if (item)
            run_task(pool, item, 0);
        else
            (void)is_done(pool, p, true); /* another worker runs it */
    }
}

uint64_t maki_thread_pool_add(maki_thread_pool *pool, maki_thread_pool_fn fn, void *ctx)
{
    uint64_t ticket = pool->next_ticket;
    task *p = &pool->tasks[ticket % MAKI_THREAD_POOL_TASKS];
    if (ticket >= MAKI_THREAD_POOL_TASKS)
        maki_thread_pool_wait(pool, ticket - MAKI_THREAD_POOL_TASKS);
    *p = (task){ .fn = fn, .ctx = ctx };
    pool->next_ticket++;
    maki_queue_push(&pool->pending, &p->item);
    return ticket;
}

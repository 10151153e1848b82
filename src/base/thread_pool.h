/* thread_pool.h -- a thread pool for one owner.
 *
 * The owner adds tasks, a function and its context, and waits for them in any order.  While it waits it runs tasks itself:
 * so every core is busy, and all tasks are run even if no thread can be started.
 *
 * From maki_thread_pool_add until maki_thread_pool_wait has returned for it, the context of a task belongs to the thread
 * that runs it; results and errors are stored there.  Only the owner may call the functions here.
 *
 *     maki_thread_pool *pool;
 *     if (maki_thread_pool_open(alloc, 0, &pool, &err) == MAKI_OK) {
 *         uint64_t ticket = maki_thread_pool_add(pool, count, &part);
 *         ...
 *         maki_thread_pool_wait(pool, ticket);
 *         maki_thread_pool_close(pool);
 *     } */
#ifndef MAKI_BASE_THREAD_POOL_H
#define MAKI_BASE_THREAD_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <maki/env.h>

typedef struct maki_thread_pool maki_thread_pool;

enum {
    MAKI_THREADS_MAX = 16,      /* workers, the owner included */
    MAKI_THREAD_POOL_TASKS = 64 /* that may be pending */
};

/* `worker` is 0 in the thread of the owner and 1, 2 ... in the others: an index of per-thread data. */
typedef void (*maki_thread_pool_fn)(void *ctx, size_t worker);

/* The number of workers that this machine can keep busy. */
size_t maki_thread_pool_cores(void);

/* `workers` includes the owner; 0: one per core.  The threads block all signals.  On MAKI_OK the caller is the owner and
 * ends the pool with maki_thread_pool_close(). */
maki_status maki_thread_pool_open(const maki_alloc *alloc, size_t workers, maki_thread_pool **out,
                                  maki_err *err) MAKI_MUST_CHECK;
/* Finish the running tasks, drop the others, join the threads.  Accepts NULL. */
void maki_thread_pool_close(maki_thread_pool *pool);

/* The workers that could be started, the owner included. */
size_t maki_thread_pool_workers(const maki_thread_pool *pool);
/* Add a task and return its ticket; when MAKI_THREAD_POOL_TASKS are pending, wait for the oldest first. */
uint64_t maki_thread_pool_add(maki_thread_pool *pool, maki_thread_pool_fn fn, void *ctx);
/* Wait until that task is done. */
void maki_thread_pool_wait(maki_thread_pool *pool, uint64_t ticket);

#endif

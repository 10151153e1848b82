/* thread_pool.h -- threads that do pieces of work for one owner.
 *
 * The owner hands over pieces, a function and what it works on, and waits for them in whatever order it
 * likes.  While it waits it does pieces itself: so every core is busy, and where no thread can be
 * started everything is still done.
 *
 * From maki_thread_pool_add until maki_thread_pool_wait has returned for it, what a piece works on belongs to the
 * thread that does it; it keeps its result, and what went wrong, there.  The functions here are called
 * by the owner alone.
 *
 *     maki_thread_pool *work;
 *     if (maki_thread_pool_open(alloc, 0, &work, &err) == MAKI_OK) {
 *         uint64_t ticket = maki_thread_pool_add(work, count, &part);
 *         ...
 *         maki_thread_pool_wait(work, ticket);
 *         maki_thread_pool_close(work);
 *     } */
#ifndef MAKI_BASE_THREAD_POOL_H
#define MAKI_BASE_THREAD_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <maki/env.h>

typedef struct maki_thread_pool maki_thread_pool;

enum {
    MAKI_THREADS_MAX = 16,      /* workers, the owner included */
    MAKI_THREAD_POOL_TASKS = 64 /* that may wait at a time */
};

/* `worker` is 0 in the owner's thread and 1, 2 ... in the others: what each keeps for itself. */
typedef void (*maki_thread_pool_fn)(void *ctx, size_t worker);

/* How many workers this machine can keep busy. */
size_t maki_thread_pool_cores(void);

/* `workers` with the owner: 0 is one a core.  The threads take no signals.  On MAKI_OK the caller is
 * the owner, and ends it with maki_thread_pool_close(). */
maki_status maki_thread_pool_open(const maki_alloc *alloc, size_t workers, maki_thread_pool **out,
                                  maki_err *err) MAKI_MUST_CHECK;
/* Pieces that were begun are done, others are left; then the threads are gone.  Accepts NULL. */
void maki_thread_pool_close(maki_thread_pool *work);

/* The workers there really are. */
size_t maki_thread_pool_workers(const maki_thread_pool *work);
/* Hand over a piece; when MAKI_THREAD_POOL_TASKS wait, the oldest is waited for first. */
uint64_t maki_thread_pool_add(maki_thread_pool *work, maki_thread_pool_fn fn, void *ctx);
/* Until that piece is done. */
void maki_thread_pool_wait(maki_thread_pool *work, uint64_t ticket);

#endif

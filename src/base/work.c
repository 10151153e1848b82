/* work.c -- see work.h.
 *
 * One lock over a ring of pieces: a piece takes a millisecond, so nobody waits for the lock. */
#include "base/work.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/platform.h"

typedef struct piece {
    maki_work_fn fn;
    void *ctx;
    bool done;
} piece;

struct maki_work {
    const maki_alloc *alloc;
    pthread_t threads[MAKI_WORK_MOST];
    size_t thread_count;

    pthread_mutex_t lock;
    pthread_cond_t more, finished;   /* a piece came, or the end; a piece was done */
    piece pieces[MAKI_WORK_PIECES];  /* by the lock; ticket t is in t % MAKI_WORK_PIECES */
    uint64_t next_ticket, next_done; /* by the lock: of the next piece to come, and to begin */
    size_t started;                  /* by the lock: threads that know their number */
    bool ending;                     /* by the lock */
};

size_t maki_work_cores(void)
{
    size_t n = maki_cores();
    return n > MAKI_WORK_MOST ? MAKI_WORK_MOST : n;
}

/* Do the oldest piece that nobody has begun.  With the lock held, and there is one. */
static void do_next(maki_work *work, size_t worker)
{
    piece *p = &work->pieces[work->next_done++ % MAKI_WORK_PIECES];
    pthread_mutex_unlock(&work->lock);
    p->fn(p->ctx, worker);
    pthread_mutex_lock(&work->lock);
    p->done = true;
    pthread_cond_broadcast(&work->finished);
}

static void *run(void *arg)
{
    maki_work *work = arg;
    pthread_mutex_lock(&work->lock);
    size_t worker = ++work->started;
    while (!work->ending) {
        if (work->next_done < work->next_ticket)
            do_next(work, worker);
        else
            pthread_cond_wait(&work->more, &work->lock);
    }
    pthread_mutex_unlock(&work->lock);
    return NULL;
}

static void start_threads(maki_work *work, size_t wanted)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the threads of the host */
    while (work->thread_count < wanted &&
           pthread_create(&work->threads[work->thread_count], NULL, run, work) == 0) {
        work->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

maki_status maki_work_open(const maki_alloc *alloc, size_t workers, maki_work **out, maki_err *err)
{
    maki_work *work = maki_new(alloc, maki_work);
    if (!work) return maki_fail_nomem(err);
    memset(work, 0, sizeof *work);
    work->alloc = alloc;
    pthread_mutex_init(&work->lock, NULL);
    pthread_cond_init(&work->more, NULL);
    pthread_cond_init(&work->finished, NULL);
    if (workers == 0) workers = maki_work_cores();
    start_threads(work, (workers < MAKI_WORK_MOST ? workers : MAKI_WORK_MOST) - 1);
    *out = work;
    return MAKI_OK;
}

void maki_work_close(maki_work *work)
{
    if (!work) return;
    const maki_alloc *alloc = work->alloc;
    pthread_mutex_lock(&work->lock);
    work->ending = true;
    pthread_cond_broadcast(&work->more);
    pthread_mutex_unlock(&work->lock);
    for (size_t i = 0; i < work->thread_count; i++)
        pthread_join(work->threads[i], NULL);
    pthread_cond_destroy(&work->finished);
    pthread_cond_destroy(&work->more);
    pthread_mutex_destroy(&work->lock);
    maki_delete(alloc, work);
}

size_t maki_work_workers(const maki_work *work)
{
    return work->thread_count + 1;
}

/* With the lock held.  A ticket whose place has been taken by a later one is done. */
static void wait_for(maki_work *work, uint64_t ticket)
{
    const piece *p = &work->pieces[ticket % MAKI_WORK_PIECES];
    while (ticket + MAKI_WORK_PIECES >= work->next_ticket && !p->done) {
        if (work->next_done < work->next_ticket)
            do_next(work, 0);
        else
            pthread_cond_wait(&work->finished, &work->lock);
    }
}

uint64_t maki_work_add(maki_work *work, maki_work_fn fn, void *ctx)
{
    pthread_mutex_lock(&work->lock);
    uint64_t ticket = work->next_ticket;
    if (ticket >= MAKI_WORK_PIECES) wait_for(work, ticket - MAKI_WORK_PIECES);
    work->pieces[ticket % MAKI_WORK_PIECES] = (piece){ fn, ctx, false };
    work->next_ticket++;
    pthread_cond_signal(&work->more);
    pthread_mutex_unlock(&work->lock);
    return ticket;
}

void maki_work_wait(maki_work *work, uint64_t ticket)
{
    pthread_mutex_lock(&work->lock);
    wait_for(work, ticket);
    pthread_mutex_unlock(&work->lock);
}

/* syncer.c -- see syncer.h. */
#include "daemon/syncer.h"

#include <signal.h>

#include "base/err.h"

enum { THREADS_MOST = 32 };

struct maki_syncer {
    const maki_env *env;
    maki_queue queue;
    pthread_t threads[THREADS_MOST];
    size_t thread_count;
};

static void do_job(maki_syncer *s, maki_sync_job *job)
{
    const maki_files *files = s->env->files;
    job->status = MAKI_OK;
    for (size_t i = 0; i < sizeof job->sync.fds / sizeof job->sync.fds[0]; i++) {
        if (job->sync.fds[i] < 0) continue;
        if (files->sync(files, job->sync.fds[i]) < 0) job->status = maki_fail_errno(NULL, "sync");
        files->close(files, job->sync.fds[i]);
        job->sync.fds[i] = -1;
    }
    maki_queue_put(job->to, job->done);
}

static void *work(void *ctx)
{
    maki_syncer *s = ctx;
    maki_item *item;
    while ((item = maki_queue_one(&s->queue)))
        do_job(s, MAKI_ITEM_OF(item, maki_sync_job, item));
    return NULL;
}

maki_status maki_syncer_open(const maki_env *env, size_t threads, maki_syncer **out, maki_err *err)
{
    sigset_t all, old;
    maki_syncer *s = env->alloc->resize(env->alloc, NULL, 0, sizeof *s);
    if (!s) return maki_fail_nomem(err);
    s->env = env;
    s->thread_count = 0;
    maki_status st = maki_queue_open(&s->queue, false, err);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are the loop's */
    while (st == MAKI_OK && s->thread_count < threads && s->thread_count < THREADS_MOST) {
        if (pthread_create(&s->threads[s->thread_count], NULL, work, s) != 0) break;
        s->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (st == MAKI_OK && s->thread_count == 0) {
        st = maki_fail(err, MAKI_NOMEM, "no thread could be started");
    }
    if (st != MAKI_OK) {
        maki_syncer_close(s);
        return st;
    }
    *out = s;
    return MAKI_OK;
}

void maki_syncer_add(maki_syncer *s, maki_sync_job *job)
{
    bool any = false;
    for (size_t i = 0; i < sizeof job->sync.fds / sizeof job->sync.fds[0]; i++)
        any = any || job->sync.fds[i] >= 0;
    if (any) {
        maki_queue_put(&s->queue, &job->item);
    } else {
        job->status = MAKI_OK;
        maki_queue_put(job->to, job->done);
    }
}

void maki_syncer_close(maki_syncer *s)
{
    if (!s) return;
    maki_queue_end(&s->queue);
    for (size_t i = 0; i < s->thread_count; i++)
        pthread_join(s->threads[i], NULL);
    maki_queue_close(&s->queue);
    s->env->alloc->resize(s->env->alloc, s, sizeof *s, 0);
}

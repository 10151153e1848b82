/* syncer.c -- a thread and its queue of jobs: for each batch, sync the journal once, then the descriptors of each job. */
#include "daemon/syncer.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/thread.h"

enum { WAIT_MS = 60000, FDS = sizeof(((maki_exchange_sync *)0)->fds) / sizeof(int) };

struct maki_syncer {
    const maki_env *env;
    maki_proxy *proxy;
    maki_queue queue;
    pthread_t thread;
    bool running;
};

/* Sync and close the descriptors of logs whose writes are not in the journal: too long for it, or it is off. */
static void sync_files(maki_syncer *s, maki_sync_job *job)
{
    const maki_files *files = s->env->files;
    for (size_t i = 0; i < FDS; i++) {
        if (job->sync.fds[i] < 0) continue;
        if (files->sync(files, job->sync.fds[i]) < 0)
            job->status = maki_fail_errno(NULL, "cannot sync");
        files->close(files, job->sync.fds[i]);
        job->sync.fds[i] = -1;
    }
}

static void *work(void *ctx)
{
    maki_syncer *s = ctx;
    bool ended = false;
    while (!ended) {
        maki_queue_item *item = maki_queue_wait_all(&s->queue, WAIT_MS, &ended);
        maki_status st = item ? maki_proxy_sync(s->proxy, NULL) : MAKI_OK;
        while (item) {
            maki_queue_item *next = item->next; /* once `done` is queued the loop may free it */
            maki_sync_job *job = MAKI_CONTAINER_OF(item, maki_sync_job, item);
            job->status = st;
            sync_files(s, job);
            maki_queue_push(job->to, job->done);
            item = next;
        }
    }
    return NULL;
}

maki_status maki_syncer_open(const maki_env *env, maki_syncer **out, maki_err *err)
{
    maki_syncer *s = maki_new(env->alloc, maki_syncer);
    if (!s) return maki_fail_nomem(err);
    *s = (maki_syncer){ .env = env };
    maki_status st = maki_queue_open(&s->queue, false, err);
    s->running = st == MAKI_OK && maki_thread_start(&s->thread, work, s);
    if (st == MAKI_OK && !s->running)
        st = maki_fail(err, MAKI_NOMEM, "cannot start the syncing thread");
    if (st != MAKI_OK) {
        maki_syncer_close(s);
        return st;
    }
    *out = s;
    return MAKI_OK;
}

void maki_syncer_set_proxy(maki_syncer *s, maki_proxy *proxy)
{
    s->proxy = proxy;
}

bool maki_syncer_add(maki_syncer *s, maki_sync_job *job)
{
    bool needed = job->sync.journal;
    for (size_t i = 0; i < FDS; i++)
        needed = needed || job->sync.fds[i] >= 0;
    if (needed) return maki_queue_push_no_wake(&s->queue, &job->item);
    job->status = MAKI_OK;
    maki_queue_push(job->to, job->done);
    return false;
}

void maki_syncer_wake(maki_syncer *s)
{
    maki_queue_wake(&s->queue);
}

void maki_syncer_close(maki_syncer *s)
{
    if (!s) return;
    maki_queue_shutdown(&s->queue);
    if (s->running) pthread_join(s->thread, NULL);
    maki_queue_close(&s->queue);
    maki_delete(s->env->alloc, s);
}

/* syncer.h -- the thread that makes recorded exchanges durable: it syncs their files, then queues `done` of each job.
 *
 * A sync waits for the disk, and one serves all exchanges that ended before it: while it runs, the next ones queue up
 * (group commit).  So the busier the daemon is, the fewer syncs an exchange costs. */
#ifndef MAKI_DAEMON_SYNCER_H
#define MAKI_DAEMON_SYNCER_H

#include "base/queue.h"
#include "proxy/proxy.h"

typedef struct maki_syncer maki_syncer;

typedef struct maki_sync_job {
    maki_queue_item item;
    maki_exchange_sync sync; /* its descriptors are owned by the job: closed after the sync */
    maki_status status;      /* the result, set before `done` is queued */
    maki_queue *to;          /* the queue that `done` is added to */
    maki_queue_item *done;
} maki_sync_job;

maki_status maki_syncer_open(const maki_env *env, maki_syncer **out, maki_err *err) MAKI_MUST_CHECK;
/* Set the proxy: before the first job, by the thread that adds it.  `proxy` is borrowed: only maki_proxy_sync is
 * called. */
void maki_syncer_set_proxy(maki_syncer *syncer, maki_proxy *proxy);
/* From any thread; the job must live until `done` is dequeued.  With nothing to sync it is done at once.  True: the
 * syncer sleeps and has to be woken, once for all jobs of a batch. */
bool maki_syncer_add(maki_syncer *syncer, maki_sync_job *job);
void maki_syncer_wake(maki_syncer *syncer);
/* Waits for all jobs.  Accepts NULL. */
void maki_syncer_close(maki_syncer *syncer);

#endif

/* recording_state.h -- whether exchanges are being recorded, and if not, why.
 *
 * Recording is turned off when the machine cannot record (the disk is full, no permission, no memory), and on again by the
 * first exchange that could be recorded: every exchange tries.  On a full disk a short row may
 * still fit into the last block of its log; recording stays off until there is space.  Replies are forwarded either
 * way, so the state is reported wherever a user may look: the log, /maki/events, /maki/metrics and /maki/health.  An
 * exchange that cannot be recorded for a reason of its own (its body is not valid JSON, its log is corrupt) does not
 * change the state.
 *
 * The loop updates, any thread reads. */
#ifndef MAKI_DAEMON_RECORDING_STATE_H
#define MAKI_DAEMON_RECORDING_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/logger.h"
#include "daemon/last_failure.h"
#include "daemon/metrics.h"

typedef struct maki_recording_state {
    const maki_env *env;
    const maki_logger *logger;
    maki_metrics *metrics;
    maki_last_failure *failure;
    const char *directory;                      /* of the conversations */
    void (*on_event)(void *ctx, maki_str json); /* for /maki/events; may be NULL */
    void *on_event_ctx;
    int64_t logged_ms[MAKI_CANCELLED +
                      1]; /* used by the loop: when a failure was last logged, by status */

    pthread_mutex_t lock;
    maki_err err; /* under `lock`: MAKI_OK while it is on, else the reason */
} maki_recording_state;

/* Set the state to on.  The caller has set all fields above the lock; nothing has to be closed. */
void maki_recording_state_init(maki_recording_state *recording);
/* Update the state by the outcome of one exchange, and count a failure; `err` is MAKI_OK when all of it is durable. */
void maki_recording_state_count(maki_recording_state *recording, const maki_err *err);
/* The same for an attempt outside an exchange: a failure is not counted. */
void maki_recording_state_update(maki_recording_state *recording, const maki_err *err);
/* False: *err is the reason. */
bool maki_recording_state_is_on(maki_recording_state *recording, maki_err *err);

#endif

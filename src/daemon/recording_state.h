/* recording_state.h -- is what passes being recorded?
 *
 * Recording goes off when the machine cannot (no room on the disk, no permission, no memory), and on again with
 * the first exchange that could be recorded: every exchange tries, so nobody has to switch it back.  On a full
 * disk a short one may still fit behind the end of its log; it stays off there until there is room.  Replies go
 * on either way; that is why it is said in every place where somebody may look: the log, /maki/events,
 * /maki/metrics and /maki/health.  An exchange that cannot be recorded for what it is (its body is no JSON, its
 * log is damaged) is a failure of its own and switches nothing.
 *
 * The loop notes, any thread asks. */
#ifndef MAKI_DAEMON_RECORDING_STATE_H
#define MAKI_DAEMON_RECORDING_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/logger.h"
#include "daemon/metrics.h"

typedef struct maki_recording_state {
    const maki_env *env;
    const maki_logger *logger;
    maki_metrics *metrics;
    const char *directory;                  /* where it is recorded */
    void (*tell)(void *ctx, maki_str json); /* for /maki/events; may be NULL */
    void *tell_ctx;
    int64_t told[MAKI_CANCELLED + 1]; /* the loop's: when a failure was last logged, by status */

    pthread_mutex_t lock;
    maki_err why; /* lock: MAKI_OK while it is on */
} maki_recording_state;

/* It is on.  All but the lock's fields are set by the caller before; nothing has to be closed. */
void maki_recording_state_init(maki_recording_state *recording);
/* How the recording of one exchange went; `err` is MAKI_OK when all of it is durable. */
void maki_recording_state_note(maki_recording_state *recording, const maki_err *err);
/* The same for what has been tried apart from any exchange: nothing is counted. */
void maki_recording_state_learn(maki_recording_state *recording, const maki_err *err);
/* True: it is on.  False: *why says why not. */
bool maki_recording_state_is_on(maki_recording_state *recording, maki_err *why);

#endif

/* background.h -- a thread that counts the logs of a conversation in another family.
 *
 * It opens the logs itself, to read, and shares nothing with its owner but the wish to stop and the
 * news that it has ended: what it counts it writes to the indexes beside the logs (log/beside.h), where
 * its owner, like anybody else, finds it. */
#ifndef MAKI_HISTORY_BACKGROUND_H
#define MAKI_HISTORY_BACKGROUND_H

#include "history/tally.h"
#include "log/beside.h"

typedef struct maki_background maki_background;

/* A log to be counted. */
typedef struct maki_background_log {
    const char *path;
    int private_fd; /* where its index is private: the file, which stays open until the end; else -1 */
} maki_background_log;

/* Begin.  What the arguments point to is copied, but for the tables of `env`. */
maki_status maki_background_start(const maki_env *env, size_t family,
                                  const maki_background_log *logs, size_t count,
                                  maki_background **out, maki_err *err);
/* Has it ended by itself? */
bool maki_background_ended(const maki_background *bg);
/* Stop it if it has not ended, wait for it, free it.  Gives how it went: MAKI_CANCELLED when it was
 * stopped, MAKI_CONFLICT when somebody else is counting the same. */
maki_status maki_background_end(maki_background *bg);

#endif

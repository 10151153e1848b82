/* journal.h -- a write-ahead journal for many logs: one sync makes all their rows durable.
 *
 * Rows are written to their logs at once, so a process that is killed loses nothing.  For a
 * power cut each log would have to be synced before its reply ends, and a hundred files cost a hundred times as much
 * as one.  So the same bytes are written a second time, into the journal, and the journal is synced, once for all
 * writes since the last sync (group commit).  The logs are synced later, in the background; what they lost in a power
 * cut is restored from the journal at the next start: "these bytes are at this offset of that file".  Logs are
 * append-only, so restoring twice is harmless.
 *
 * Two files alternate: when one is full, records go to the other while the logs of the first one are
 * synced.  One thread adds, one syncs; the journal has a thread of its own for the logs.
 *
 * A journal that cannot be written (the disk is full) is off: each log is synced instead, those of the pending records
 * too.  Writing is retried once a second, and it is on again when the files can be allocated.  Only a log that could
 * not be synced keeps it off until the next start: its records must not be overwritten. */
#ifndef MAKI_PROXY_JOURNAL_H
#define MAKI_PROXY_JOURNAL_H

#include <stdbool.h>

#include "base/logger.h"
#include "log/log.h"
#include "proxy/prefixes.h"

typedef struct maki_journal maki_journal;

enum {
    MAKI_JOURNAL_MAX = 256 << 10
}; /* maximum bytes of a record; for a longer write its log is synced */

typedef struct maki_journal_options {
    const char *directory; /* of the journal */
    const char *sessions;  /* the directory of the logs */
    /* The id of this boot of the machine; len 0: unknown.  A log that is missing in the same boot was deleted: it is
     * not restored. */
    maki_str boot;
    const maki_logger *logger; /* borrowed; NULL: nothing is logged */
} maki_journal_options;

/* Open the journal and restore what the logs have lost.  *restored counts the records (may be NULL).  The paths are
 * copied. */
maki_status maki_journal_open(const maki_env *env, const maki_journal_options *options,
                              maki_journal **out, uint64_t *restored, maki_err *err)
    MAKI_MUST_CHECK;
/* Syncs the logs, then empties the journal.  Accepts NULL. */
void maki_journal_close(maki_journal *journal);

/* Add a record: `bytes` are at `offset` of the log.  False: not added, the caller must sync the log. */
bool maki_journal_add(maki_journal *journal, const unsigned char session[MAKI_SESSION_BYTES],
                      maki_log_part part, uint64_t offset, maki_str bytes);

/* All that was added before is durable when this returns MAKI_OK, in the journal or in the logs. */
maki_status maki_journal_sync(maki_journal *journal, maki_err *err);

#endif

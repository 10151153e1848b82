/* journal.h -- what was written to many logs, made durable with one call for all of them.
 *
 * Rows are written to their logs at once, so a process that is killed loses nothing.  A power cut is another
 * thing: each log would have to be synced before its reply ends, and a hundred files cost a hundred times what
 * one costs.  So what was written is written a second time, into the journal, and that is synced, once for all
 * that came meanwhile.  The logs are synced later, in the background; what a power cut took from them is put
 * back from the journal at the next start: "these bytes stand at this place of that file".  Logs only grow and
 * nothing in them changes, so putting back twice does no harm.
 *
 * Two files take turns: when one is full the other goes on, while the logs that the first one speaks of are
 * synced.  One thread adds, one syncs; the journal has a thread of its own for the logs.
 *
 * A journal that cannot be written (the disk is full) is off: logs sync themselves, those of the pieces at hand
 * too.  Once a second it is tried again, and on again when there is room for all of it.  Only a log that could not
 * be synced keeps it off until the next start: its pieces must stay where they are. */
#ifndef MAKI_PROXY_JOURNAL_H
#define MAKI_PROXY_JOURNAL_H

#include <stdbool.h>

#include "base/logger.h"
#include "log/log.h"
#include "proxy/prefixes.h"

typedef struct maki_journal maki_journal;

enum { MAKI_JOURNAL_MAX = 256 << 10 }; /* bytes of one piece; a log that gets more syncs itself */

typedef struct maki_journal_options {
    const char *directory; /* its own */
    const char *sessions;  /* of the logs */
    /* Which start of the machine this is; len 0: nobody knows.  A log that is missing though the machine has not
     * stopped since was deleted: it is not made anew. */
    maki_str boot;
    const maki_logger *logger; /* told when it goes off and on; NULL: nobody.  Lives as long */
} maki_journal_options;

/* Open the journal and put back what the logs lack.  *restored counts the pieces (may be NULL).  The paths are
 * copied. */
maki_status maki_journal_open(const maki_env *env, const maki_journal_options *options,
                              maki_journal **out, uint64_t *restored, maki_err *err)
    MAKI_MUST_CHECK;
/* The logs are synced first, and then the journal is empty.  Accepts NULL. */
void maki_journal_close(maki_journal *journal);

/* Note that `bytes` stand at `at`.  False when it cannot: then the log has to be synced itself. */
bool maki_journal_add(maki_journal *journal, const unsigned char session[MAKI_SESSION_BYTES],
                      maki_log_part part, uint64_t at, maki_str bytes);

/* All that was added before is durable when this returns MAKI_OK, in the journal or in the logs. */
maki_status maki_journal_sync(maki_journal *journal, maki_err *err);

#endif

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
 * synced.  One thread adds, one syncs; the journal has a thread of its own for the logs. */
#ifndef MAKI_PROXY_JOURNAL_H
#define MAKI_PROXY_JOURNAL_H

#include <stdbool.h>

#include "log/log.h"
#include "proxy/prefixes.h"

typedef struct maki_journal maki_journal;

enum { MAKI_JOURNAL_MOST = 256 << 10 }; /* bytes of one piece; a log that gets more syncs itself */

/* Open the journal in `folder` and put back what the logs in `sessions` lack.  *restored counts the pieces
 * (may be NULL).  Both paths are copied. */
maki_status maki_journal_open(const maki_env *env, const char *folder, const char *sessions,
                              maki_journal **out, uint64_t *restored, maki_err *err)
    MAKI_MUST_CHECK;
/* The logs are synced first, and then the journal is empty.  Accepts NULL. */
void maki_journal_close(maki_journal *journal);

/* Note that `bytes` stand at `at`.  False when it cannot: then the log has to be synced itself. */
bool maki_journal_add(maki_journal *journal, const unsigned char session[MAKI_SESSION_BYTES],
                      maki_log_part part, uint64_t at, maki_str bytes);

/* All that was added before is durable when this returns MAKI_OK. */
maki_status maki_journal_sync(maki_journal *journal, maki_err *err);

#endif

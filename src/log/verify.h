/* verify.h -- verify that a log has not changed since it was written; repair it where it has.
 *
 * Verifying reads both files from the beginning, rebuilds every record of the index and compares:
 *
 *   - every row is a message, and its hash and chain are those of the index, byte for byte, as are the
 *     facts about it and the header;
 *   - every event has the next number, its `sum` covers it and the events before it, and its
 *     `head` is the chain of the messages it was written after;
 *   - nothing is torn and nothing is missing.
 *
 * So one changed byte in any of these files is found.  (A missing or stale index is not damage; then only the
 * heads of the events prove the rows.)  Damage that a `damage` event reports is known and not
 * reported again.
 *
 * No lock is held while reading: the sizes are read under the lock, and what is written
 * after that is not read.  Memory does not grow with the log, only with the damage.
 *
 * Repairing never deletes: what has to be removed is stored in a `damage` event, or in a quarantine file
 * `<name>.damaged-<n>` that such an event names.
 *
 * The facts function must depend on the log alone, not on earlier calls. */
#ifndef MAKI_LOG_VERIFY_H
#define MAKI_LOG_VERIFY_H

#include "log/log.h"

typedef enum maki_finding_kind {
    MAKI_FINDING_TORN,    /* bytes after the last newline */
    MAKI_FINDING_GONE,    /* messages are missing */
    MAKI_FINDING_BAD,     /* a row that is not a message */
    MAKI_FINDING_CHANGED, /* a row, or the header row, was changed */
    MAKI_FINDING_JOINED,  /* the newline after a row is missing */
    MAKI_FINDING_SPLIT,   /* a newline where none was written */
    MAKI_FINDING_HEAD,    /* the messages before an event are not those it was written after */
    MAKI_FINDING_EVENT,   /* an event was changed */
    MAKI_FINDING_LOST,    /* events are missing */
    MAKI_FINDING_INDEX    /* the index is wrong; the log is not */
} maki_finding_kind;

typedef struct maki_finding {
    maki_finding_kind kind;
    const char *file; /* "messages", "events" or "index" */
    uint64_t offset;  /* in that file */
    uint64_t seq, ev; /* which message or event; 0: none */
    const char *what; /* a description; contains none of the text */
    uint64_t from; /* it is one of the messages from this one to seq; seq when it is known which */
    const char *repair; /* what fsck does about it */
} maki_finding;

/* Not MAKI_OK stops, with that status. */
typedef maki_status (*maki_finding_fn)(void *ctx, const maki_finding *finding, maki_err *err);

typedef struct maki_verify_result {
    uint64_t messages, events;
    uint64_t findings;
    uint64_t damage; /* damage events, of earlier repairs */
    unsigned char head[MAKI_CHAIN_LEN];
} maki_verify_result;

/* `options` as for maki_log_open; only the encoding, facts, tokens, threads, progress and
 * max_row_bytes are used.  `fn` and `out` may be NULL.  MAKI_CORRUPT when anything was found. */
maki_status maki_log_verify(const maki_env *env, const char *path, const maki_log_options *options,
                            maki_finding_fn fn, void *ctx, maki_verify_result *out, maki_err *err);

/* Verify; with `repair`, repair and verify again: MAKI_OK when that finds nothing.  *out has the first result.
 *
 *   the index          is rebuilt
 *   torn               is cut off, the bytes stored in an event
 *   joined, split      the newlines are restored where the index has them
 *   bad, changed       a damage event {"what":"row","seq"}: views leave the message out
 *   gone               a damage event {"what":"gone","from","rows"}, and a rewind to the revision in which
 *                      the last remaining message was the newest
 *   lost               a damage event {"what":"lost","events"}
 *   head               a damage event {"what":"head","from"}: which message it was is unknown
 *   event              it and those after it are moved to a quarantine file that a damage event names
 *
 * A fork whose first event is damaged is not repaired, MAKI_CORRUPT: only that event records where
 * the conversation began. */
maki_status maki_log_fsck(const maki_env *env, const char *path, const maki_log_options *options,
                          bool repair, maki_finding_fn fn, void *ctx, maki_verify_result *out,
                          maki_err *err);

#endif

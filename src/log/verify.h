/* verify.h -- prove that a log is what was written; repair it where it is not.
 *
 * Verifying reads both files from the beginning, makes every record of the index again and compares:
 *
 *   - every row is a message, and its hash and chain are those of the index, byte for byte, as are the
 *     facts about it and the header;
 *   - every event has the number that is due, its `sum` covers it and the events before it, and its
 *     `head` is the chain of the messages it was written after;
 *   - nothing is torn and nothing is missing.
 *
 * So one changed byte in any of these files is found.  (A missing or stale index is no damage, and
 * what it would have told is then only told by the heads of the events.)  What a `damage` event tells
 * is known, counted, and not found again.
 *
 * No lock is held while reading: the sizes are taken in a moment when nobody writes, and what comes
 * after them is left alone.  Memory does not grow with the log, only with the damage.
 *
 * Repairing never deletes: what cannot stay is kept in a `damage` event, or in a file
 * `<name>.damaged-<n>` that such an event names.
 *
 * The facts function must depend on the log alone, not on what it was asked before. */
#ifndef MAKI_LOG_VERIFY_H
#define MAKI_LOG_VERIFY_H

#include "log/log.h"

typedef enum maki_found {
    MAKI_FOUND_TORN,    /* bytes after the last newline */
    MAKI_FOUND_GONE,    /* messages that were there are not */
    MAKI_FOUND_BAD,     /* a row that is not a message */
    MAKI_FOUND_CHANGED, /* a row, or the header row, that is not what was written */
    MAKI_FOUND_JOINED,  /* the newline after a row is not there */
    MAKI_FOUND_SPLIT,   /* a newline where none was written */
    MAKI_FOUND_HEAD,    /* the messages before an event are not those it was written after */
    MAKI_FOUND_EVENT,   /* an event that is not what was written */
    MAKI_FOUND_LOST,    /* events that were there are not */
    MAKI_FOUND_INDEX    /* the index is wrong; the log is not */
} maki_found;

typedef struct maki_finding {
    maki_found found;
    const char *file; /* "messages", "events" or "index" */
    uint64_t offset;  /* in that file */
    uint64_t seq, ev; /* which message or event; 0: none */
    const char *what; /* in words, without any of the text */
} maki_finding;

/* Not MAKI_OK stops, with that status. */
typedef maki_status (*maki_finding_fn)(void *ctx, const maki_finding *finding, maki_err *err);

typedef struct maki_verified {
    uint64_t messages, events;
    uint64_t findings;
    uint64_t damage; /* events that tell of damage found earlier */
    unsigned char head[MAKI_CHAIN_LEN];
} maki_verified;

/* `options` as for maki_log_open; only the family, facts, tokens, threads, progress and
 * max_row_bytes count.  `fn` and `out` may be NULL.  MAKI_CORRUPT when anything was found. */
maki_status maki_log_verify(const maki_env *env, const char *path, const maki_log_options *options,
                            maki_finding_fn fn, void *ctx, maki_verified *out, maki_err *err);

/* The same; then, with `repair`, make it right and verify again: MAKI_OK when nothing is left to be
 * found.  *out tells what was found first.
 *
 *   the index          is made again
 *   torn               cut off, the bytes kept
 *   joined, split      the newlines are put back where the index has them
 *   bad, changed       a damage event {"what":"row","seq"}: views leave the message out
 *   gone               a damage event {"what":"gone","from","rows"}, and a rewind to the moment when
 *                      the last message that is left was the newest
 *   lost               a damage event {"what":"lost","events"}
 *   head               a damage event {"what":"head","from"}: which message it was is not known
 *   event              it and those after it go into a file of their own, a damage event names it
 *
 * A fork whose first event is damaged is left as it is, MAKI_CORRUPT: without it nothing tells where
 * the conversation began. */
maki_status maki_log_fsck(const maki_env *env, const char *path, const maki_log_options *options,
                          bool repair, maki_finding_fn fn, void *ctx, maki_verified *out,
                          maki_err *err);

#endif

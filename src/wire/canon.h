/* canon.h -- a hash of a conversation's messages that does not depend on how they are written.
 *
 * A client that sends a reply back in its next request serializes it differently: other spacing and escapes,
 * a string for one text block, no thinking, other message ids, cache_control added or removed.  The canon of a
 * row is its role, its text, the ids, names and inputs of its tool calls, ids and contents of results, and
 * images; nothing else.  A conversation's prefix is identified by P_k = H(P_k-1, canon_k).
 *
 * Values are compared, not bytes: texts are decoded, adjacent ones joined, those of only white space dropped; JSON
 * has sorted keys and numbers as doubles, as JavaScript would write them back.
 *
 * A second prefix leaves out the reminders that an agent inserts into messages of the user (reminder.h), and messages
 * that have nothing else: it finds a conversation that an agent resumes with today's.  It is weaker, as two
 * conversations may differ in nothing but these; exchange.c says when it counts. */
#ifndef MAKI_WIRE_CANON_H
#define MAKI_WIRE_CANON_H

#include <maki/env.h>

enum { MAKI_PREFIX_LEN = 16 };

/* Hash a row into the prefix `before`: all zeros for the first row.  `out` may be `before`.  `row` is a message in either
 * shape of the log, checked JSON.  Fails only when out of memory, or when a temporary file cannot be written. */
maki_status maki_canonical_hash_next(const maki_env *env,
                                     const unsigned char before[MAKI_PREFIX_LEN], maki_str row,
                                     unsigned char out[MAKI_PREFIX_LEN], maki_err *err)
    MAKI_MUST_CHECK;

/* Both prefixes of a conversation; equal as long as no message of it had a reminder. */
typedef struct maki_canon_prefix {
    unsigned char all[MAKI_PREFIX_LEN];
    unsigned char stripped[MAKI_PREFIX_LEN]; /* without reminders */
} maki_canon_prefix;

/* Hash a row into both.  Fails as maki_canonical_hash_next() does, and then *prefix is unchanged. */
maki_status maki_canon_add(const maki_env *env, maki_canon_prefix *prefix, maki_str row,
                           maki_err *err) MAKI_MUST_CHECK;

#endif

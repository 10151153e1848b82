/* prefixes.h -- a hash table on disk: from the prefix of a conversation to its last message in a log.
 *
 * A prefix is P_k of canon.h, begun with the scope it belongs to (scope.h).  The table is derived from the
 * logs and not synced: for a missing entry a new conversation is created, a corrupt entry is ignored, and one that
 * points to another message than it was written for is deleted by the caller that detects it.  Records of 64 bytes with
 * open addressing, read and written with pread and pwrite, so no part of it is held in memory; it is rewritten, twice
 * as large, when it is half full.
 *
 * One process at a time writes it (the daemon holds a lock on it). */
#ifndef MAKI_PROXY_PREFIXES_H
#define MAKI_PROXY_PREFIXES_H

#include <stdbool.h>

#include <maki/env.h>

#include "wire/canon.h"

enum { MAKI_SESSION_BYTES = 16 }; /* a session's UUID */

enum { MAKI_PREFIX_AMBIGUOUS = 0 }; /* two conversations have this prefix without reminders */

/* A record of the file (little-endian machines only). */
typedef struct maki_prefix {
    unsigned char prefix[MAKI_PREFIX_LEN];
    unsigned char session[MAKI_SESSION_BYTES];
    /* the last message of the prefix, and the newest event when it was written; `fingerprint` distinguishes the message
     * from another one that may have its number by now, 0: unknown */
    uint64_t seq : 48, fingerprint_low : 16;
    uint64_t ev : 48, fingerprint_high : 16;
    uint32_t tokens;  /* of the messages up to it */
    uint32_t purpose; /* while no reply was seen: a hash of system prompt and tools; else 0.
                       * Of a prefix without reminders: bits of the one with them, or AMBIGUOUS */
    uint32_t used;    /* when it was written, in seconds since 1970 */
    uint32_t check;   /* of all this; 0 in an empty slot */
} maki_prefix;

#define MAKI_PREFIX_NUMBER_MAX \
    (((uint64_t)1 << 48) - 1) /* the largest number of a message or event */

typedef struct maki_prefixes {
    const maki_env *env;
    const char *path; /* borrowed */
    int fd;           /* -1: not open */
    uint64_t count;   /* slots that are used */
    uint64_t capacity;
} maki_prefixes;

/* Open the table at `path`, created if missing.  MAKI_CONFLICT: another daemon uses it. */
maki_status maki_prefixes_open(maki_prefixes *table, const maki_env *env, const char *path,
                               maki_err *err) MAKI_MUST_CHECK;
void maki_prefixes_close(maki_prefixes *table); /* accepts one that was zeroed with fd -1 */

/* Look up a prefix; *found: the table has an entry. */
maki_status maki_prefixes_find(maki_prefixes *table, const unsigned char prefix[MAKI_PREFIX_LEN],
                               maki_prefix *out, bool *found, maki_err *err);
/* Insert an entry, or replace the one with the same prefix.  `check` is filled in. */
maki_status maki_prefixes_insert(maki_prefixes *table, maki_prefix entry, maki_err *err);
/* Delete the entry with this prefix. */
maki_status maki_prefixes_delete(maki_prefixes *table, const maki_prefix *entry, maki_err *err);

#endif

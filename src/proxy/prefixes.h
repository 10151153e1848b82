/* prefixes.h -- which conversation begins like this: a table on disk from prefixes to messages.
 *
 * A prefix is P_k of canon.h, begun with the scope it belongs to (scope.h).  The table is derived from the
 * logs and not synced: an entry that is missing makes a new conversation, an entry that is damaged is not
 * seen, and one that leads to another message than it was made for is dropped by whoever notices.  Records of 64 bytes in open addressing, read and written with pread and pwrite, so nothing of it is
 * held in memory; it is written anew, twice as large, when it is half full.
 *
 * One process at a time writes it (the daemon holds a lock on it). */
#ifndef MAKI_PROXY_PREFIXES_H
#define MAKI_PROXY_PREFIXES_H

#include <stdbool.h>

#include <maki/env.h>

#include "wire/canon.h"

enum { MAKI_SESSION_BYTES = 16 }; /* a session's UUID */

/* As it stands in the file (little-endian machines only). */
typedef struct maki_prefix {
    unsigned char prefix[MAKI_PREFIX_LEN];
    unsigned char session[MAKI_SESSION_BYTES];
    /* the last message of the prefix, and the newest event when it was written; `trace` tells the message from
     * others that may have its number by now, 0: not kept */
    uint64_t seq : 48, trace_low : 16;
    uint64_t ev : 48, trace_high : 16;
    uint32_t tokens; /* of the messages up to it */
    uint32_t kin;    /* while no reply was seen: the system prompt and tools it came with; else 0 */
    uint32_t used;   /* when it was written, in seconds since 1970 */
    uint32_t check;  /* of all this; 0 in an empty place */
} maki_prefix;

#define MAKI_PREFIX_NUMBER (((uint64_t)1 << 48) - 1) /* the largest of a message or event */

typedef struct maki_prefixes {
    const maki_env *env;
    const char *path; /* borrowed */
    int fd;           /* -1: not open */
    uint64_t count;   /* places that are taken */
    uint64_t capacity;
} maki_prefixes;

/* Open the table at `path`, or make one.  MAKI_CONFLICT: another daemon uses it. */
maki_status maki_prefixes_open(maki_prefixes *table, const maki_env *env, const char *path,
                               maki_err *err) MAKI_MUST_CHECK;
void maki_prefixes_close(maki_prefixes *table); /* accepts one that was zeroed with fd -1 */

/* *found tells whether it is there. */
maki_status maki_prefixes_find(maki_prefixes *table, const unsigned char prefix[MAKI_PREFIX_LEN],
                               maki_prefix *out, bool *found, maki_err *err);
/* Put it there, in place of one with the same prefix.  `check` is filled in. */
maki_status maki_prefixes_put(maki_prefixes *table, maki_prefix entry, maki_err *err);
/* The entry with this prefix is not there any more. */
maki_status maki_prefixes_drop(maki_prefixes *table, const maki_prefix *entry, maki_err *err);

#endif

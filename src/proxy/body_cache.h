/* body_cache.h -- a cache of positions in recent request bodies, so that only the new part of the next one is parsed.
 *
 * A client sends its whole conversation each time, so most of a body equals the body before.  For recent bodies
 * the positions after some of their last messages are cached, each with a hash of all bytes before it; a body
 * that begins with those bytes is parsed from there.  Memory: a few hundred kilobytes at most.  On a miss the whole
 * body is parsed and recognised by its prefixes. */
#ifndef MAKI_PROXY_BODY_CACHE_H
#define MAKI_PROXY_BODY_CACHE_H

#include "proxy/live_conversation.h"
#include "wire/canon.h"
#include "wire/wire.h"

enum { MAKI_BODY_CACHE_CHECKPOINTS = 4 };

/* A position in a body. */
typedef struct maki_body_cache_checkpoint {
    maki_wire_checkpoint checkpoint; /* checkpoint.at 0: none */
    uint64_t hash;                   /* of the bytes before it */
    maki_canon_prefix prefix;
    maki_point point;                     /* in the log */
    uint64_t messages;                    /* before it, without system messages */
    uint64_t leading;                     /* a hash of the system messages before it */
    uint32_t persona;                     /* system_prompt.h: of the request it was cached for */
    unsigned char scope[MAKI_PREFIX_LEN]; /* likewise */
    bool replied;                         /* a reply that was forwarded is before it */
} maki_body_cache_checkpoint;

typedef struct maki_body_cache_entry {
    uint64_t key; /* 0: none */
    unsigned char session[MAKI_SESSION_BYTES];
    maki_body_cache_checkpoint checkpoints[MAKI_BODY_CACHE_CHECKPOINTS];
} maki_body_cache_entry;

typedef struct maki_body_cache maki_body_cache;

maki_status maki_body_cache_open(const maki_env *env, maki_body_cache **out, maki_err *err)
    MAKI_MUST_CHECK;
void maki_body_cache_close(maki_body_cache *cache); /* accepts NULL */

/* The longest checkpoint that `body` begins with; NULL: none.  Borrowed until the next call. */
const maki_body_cache_checkpoint *maki_body_cache_find(maki_body_cache *cache,
                                                       const unsigned char scope[MAKI_PREFIX_LEN],
                                                       maki_str body,
                                                       unsigned char session[MAKI_SESSION_BYTES]);
/* Insert the checkpoints of a body; their hashes are filled in.  *body_hash is the hash of the whole body. */
void maki_body_cache_insert(maki_body_cache *cache, const unsigned char scope[MAKI_PREFIX_LEN],
                            maki_str body, const unsigned char session[MAKI_SESSION_BYTES],
                            maki_body_cache_checkpoint *checkpoints, size_t count,
                            uint64_t *body_hash);

#endif

/* body_cache.h -- bodies seen lately, so that of the next one only the new part is read.
 *
 * A client sends its whole conversation each time, so most of a body is the body before.  For the last bodies
 * the places after some of their last messages are kept, each with a hash of all bytes before it; a body
 * that begins with those bytes is read from there.  In memory, a few hundred kilobytes at most; what is not
 * here is read as a whole and recognised by its prefixes. */
#ifndef MAKI_PROXY_BODY_CACHE_H
#define MAKI_PROXY_BODY_CACHE_H

#include "proxy/live_conversation.h"
#include "wire/wire.h"

enum { MAKI_BODY_CACHE_MARKS = 4 };

/* A place in a body. */
typedef struct maki_body_cache_mark {
    maki_wire_mark mark; /* mark.at 0: none */
    uint64_t hash;       /* of the bytes before it */
    unsigned char prefix[MAKI_PREFIX_LEN];
    maki_point point;                     /* in the log */
    uint64_t messages;                    /* that count, before it */
    uint64_t leading;                     /* a hash of the system messages before it */
    uint32_t persona;                     /* system_prompt.h: of the request it was made for */
    unsigned char scope[MAKI_PREFIX_LEN]; /* likewise */
    bool spoke;                           /* a reply that passed through here stands before it */
} maki_body_cache_mark;

typedef struct maki_body_cache_body {
    uint64_t key; /* 0: none */
    unsigned char session[MAKI_SESSION_BYTES];
    maki_body_cache_mark marks[MAKI_BODY_CACHE_MARKS];
} maki_body_cache_body;

typedef struct maki_body_cache maki_body_cache;

maki_status maki_body_cache_open(const maki_env *env, maki_body_cache **out, maki_err *err)
    MAKI_MUST_CHECK;
void maki_body_cache_close(maki_body_cache *known); /* accepts NULL */

/* The longest mark that `body` begins with; NULL when there is none.  Borrowed until the next call. */
const maki_body_cache_mark *maki_body_cache_find(maki_body_cache *known,
                                                 const unsigned char scope[MAKI_PREFIX_LEN],
                                                 maki_str body,
                                                 unsigned char session[MAKI_SESSION_BYTES]);
/* Remember the marks of a body; their hashes are filled in.  *all is the hash of the whole body. */
void maki_body_cache_add(maki_body_cache *known, const unsigned char scope[MAKI_PREFIX_LEN],
                         maki_str body, const unsigned char session[MAKI_SESSION_BYTES],
                         maki_body_cache_mark *marks, size_t count, uint64_t *all);

#endif

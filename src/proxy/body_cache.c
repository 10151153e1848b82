/* body_cache.c -- a set-associative cache of positions in recent bodies, each with a hash of all bytes before it.
 *
 * A body is looked up by a hash of its scope and first bytes; then its candidates' positions are compared in one pass
 * of a running hash, shortest first.  The longest that matches wins. */
#include "proxy/body_cache.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "base/err.h"

enum {
    SETS = 128,
    WAYS = 4, /* bodies with the same first bytes (a system prompt that many conversations share) */
    KEY_BYTES = 512 /* of a body: they make its key */
};

struct maki_body_cache {
    const maki_env *env;
    maki_body_cache_entry *sets[SETS]; /* WAYS of them, newest first; NULL: none yet */
};

maki_status maki_body_cache_open(const maki_env *env, maki_body_cache **out, maki_err *err)
{
    maki_body_cache *cache = maki_new(env->alloc, maki_body_cache);
    if (!cache) return maki_fail_nomem(err);
    *cache = (maki_body_cache){ .env = env };
    *out = cache;
    return MAKI_OK;
}

void maki_body_cache_close(maki_body_cache *cache)
{
    if (!cache) return;
    const maki_alloc *alloc = cache->env->alloc;
    for (size_t i = 0; i < SETS; i++) {
        if (cache->sets[i]) alloc->resize(alloc, cache->sets[i], WAYS * sizeof *cache->sets[i], 0);
    }
    maki_delete(alloc, cache);
}

static uint64_t key_of(const unsigned char *scope, maki_str body)
{
    uint64_t seed;
    memcpy(&seed, scope, sizeof seed);
    size_t n = body.len < KEY_BYTES ? body.len : KEY_BYTES;
    uint64_t key = XXH3_64bits_withSeed(body.ptr, n, seed);
    return key ? key : 1;
}

/* ---- lookup ------------------------------------------------------------------------------------------ */

typedef struct candidate {
    const maki_body_cache_entry *body;
    const maki_body_cache_checkpoint *checkpoint;
} candidate;

/* The checkpoints of all bodies with this key, shortest first. */
static size_t candidates_of(const maki_body_cache_entry *set, uint64_t key, size_t len,
                            candidate out[WAYS * MAKI_BODY_CACHE_CHECKPOINTS])
{
    size_t n = 0;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].key != key) continue;
        for (size_t k = 0; k < MAKI_BODY_CACHE_CHECKPOINTS; k++) {
            const maki_body_cache_checkpoint *checkpoint = &set[i].checkpoints[k];
            if (checkpoint->checkpoint.at == 0 || checkpoint->checkpoint.at > len) continue;
            size_t position = n++;
            for (; position > 0 &&
                   out[position - 1].checkpoint->checkpoint.at > checkpoint->checkpoint.at;
                 position--)
                out[position] = out[position - 1];
            out[position] = (candidate){ &set[i], checkpoint };
        }
    }
    return n;
}

const maki_body_cache_checkpoint *maki_body_cache_find(maki_body_cache *cache,
                                                       const unsigned char scope[MAKI_PREFIX_LEN],
                                                       maki_str body,
                                                       unsigned char session[MAKI_SESSION_BYTES])
{
    uint64_t key = key_of(scope, body);
    const maki_body_cache_entry *set = cache->sets[key % SETS];
    const maki_body_cache_checkpoint *found = NULL;
    candidate candidates[WAYS * MAKI_BODY_CACHE_CHECKPOINTS];
    XXH3_state_t state;
    size_t at = 0, n = set ? candidates_of(set, key, body.len, candidates) : 0;
    XXH3_64bits_reset(&state);
    for (size_t i = 0; i < n; i++) {
        const maki_body_cache_checkpoint *checkpoint = candidates[i].checkpoint;
        XXH3_64bits_update(&state, body.ptr + at, checkpoint->checkpoint.at - at);
        at = checkpoint->checkpoint.at;
        if (XXH3_64bits_digest(&state) != checkpoint->hash) continue;
        found = checkpoint;
        memcpy(session, candidates[i].body->session, MAKI_SESSION_BYTES);
    }
    return found;
}

/* ---- insertion---------------------------------------------------------------------------------------- */

/* The entry for a body: that of the same conversation, else the oldest is evicted; it becomes the newest. */
static maki_body_cache_entry *entry_for(maki_body_cache *cache, uint64_t key,
                                        const unsigned char *session)
{
    const maki_alloc *alloc = cache->env->alloc;
    maki_body_cache_entry **set = &cache->sets[key % SETS];
    size_t at = 0;
    if (!*set) {
        *set = alloc->resize(alloc, NULL, 0, WAYS * sizeof **set);
        if (!*set) return NULL; /* the cache only saves time */
        memset(*set, 0, WAYS * sizeof **set);
    }
    while (at < WAYS - 1 &&
           !((*set)[at].key == key && memcmp((*set)[at].session, session, MAKI_SESSION_BYTES) == 0))
        at++;
    memmove(*set + 1, *set, at * sizeof **set);
    return *set;
}

void maki_body_cache_insert(maki_body_cache *cache, const unsigned char scope[MAKI_PREFIX_LEN],
                            maki_str body, const unsigned char session[MAKI_SESSION_BYTES],
                            maki_body_cache_checkpoint *checkpoints, size_t count,
                            uint64_t *body_hash)
{
    uint64_t key = key_of(scope, body);
    XXH3_state_t state;
    size_t at = 0;
    XXH3_64bits_reset(&state);
    for (size_t i = 0; i < count; i++) { /* shortest first */
        XXH3_64bits_update(&state, body.ptr + at, checkpoints[i].checkpoint.at - at);
        at = checkpoints[i].checkpoint.at;
        checkpoints[i].hash = XXH3_64bits_digest(&state);
    }
    XXH3_64bits_update(&state, body.ptr + at, body.len - at);
    *body_hash = XXH3_64bits_digest(&state);
    maki_body_cache_entry *entry = count ? entry_for(cache, key, session) : NULL;
    if (!entry) return;
    *entry = (maki_body_cache_entry){ .key = key };
    memcpy(entry->session, session, MAKI_SESSION_BYTES);
    memcpy(entry->checkpoints, checkpoints, count * sizeof checkpoints[0]);
}

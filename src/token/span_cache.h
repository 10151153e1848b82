/* span_cache.h -- what came out of spans that were seen before.
 *
 * Most spans are short, and nearly all repeat earlier ones.  A span of up to 15 bytes is its own key,
 * with its length in the last byte: equal keys are equal spans, so what is recalled is exact.  A key may
 * stand in one of the four places of its set; one that is asked for moves up, one that is not sinks and
 * is replaced.  Spans of up to 31 bytes have a smaller table.
 *
 * Several threads may use the places at once without a lock, where 16 bytes are read and written as
 * one (maki_span_cache_is_shareable): a place is then always a whole entry, and any whole entry is true.  When two
 * threads write to one set, an entry may be lost or stand twice, which costs time alone.
 *
 * Recalling is split in two, asking and finding, so that a caller can ask for many before it needs the
 * first: their memory is fetched meanwhile. */
#ifndef MAKI_TOKEN_SPAN_CACHE_H
#define MAKI_TOKEN_SPAN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <maki/env.h>

enum {
    MAKI_SHORT_MAX = 15,  /* bytes of a short span */
    MAKI_MEDIUM_MAX = 31, /* and of one of middle length */
    MAKI_WAYS = 4,
    MAKI_SET_BITS = 17, /* sets of places: 8 MB in all */
    MAKI_MEDIUM_BITS = 12,
    MAKI_CACHE_SLOTS = (1 << MAKI_SET_BITS) * MAKI_WAYS,
    MAKI_CACHED_IDS = 4 /* ids kept for a short span, when ids are kept */
};
#define MAKI_COUNT_BITS (0xfull << 60)

/* The bytes of a short span, and in the last byte its length and (in the upper half, 0 in a key) its
 * count.  Nothing has length 0: zeroed is free. */
typedef struct maki_cache_slot {
    uint64_t low, high;
} maki_cache_slot;

typedef struct maki_medium_slot {
    uint64_t words[4]; /* the last byte is the length */
} maki_medium_slot;

/* Zeroed is none. */
typedef struct maki_span_cache {
    maki_cache_slot *places; /* a set is a line of the cache */
    void *at;                /* what was allocated for them */
    uint32_t bits;           /* of a set's number */
} maki_span_cache;

typedef struct maki_medium_cache {
    maki_medium_slot places[1 << MAKI_MEDIUM_BITS];
    unsigned char counts[1 << MAKI_MEDIUM_BITS];
} maki_medium_cache;

/* Ids are kept beside the places, when they are: MAKI_NO_TOKEN first where there are none. */
typedef struct maki_cached_ids {
    uint32_t ids[MAKI_CACHED_IDS];
} maki_cached_ids;

typedef struct maki_span_query {
    maki_cache_slot key;
    size_t set; /* its first place */
} maki_span_query;

static inline uint64_t maki_span_hash(uint64_t low, uint64_t high)
{
    uint64_t h = low * 0x9e3779b97f4a7c15u ^ high * 0xc2b2ae3d27d4eb4fu;
    return (h ^ h >> 29) * 0xd6e8feb86659fd93u;
}

/* 16 bytes from here + 16 - n keep the first n of 16. */
static const unsigned char maki_keep_first[32] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

/* Ask for the short span at `at`; [at, end) may be read. */
static inline maki_span_query maki_span_cache_query(const maki_span_cache *recall,
                                                    const unsigned char *at, size_t len,
                                                    const unsigned char *end)
{
    maki_cache_slot key, mask;
    memcpy(&mask, maki_keep_first + 16 - len, 16);
    if (end - at >= 16) {
        memcpy(&key, at, 16);
    } else {
        unsigned char copy[16] = { 0 };
        memcpy(copy, at, len);
        memcpy(&key, copy, 16);
    }
    key.low &= mask.low;
    key.high = (key.high & mask.high) | (uint64_t)len << 56;
    size_t set = maki_span_hash(key.low, key.high) >> (64 - recall->bits);
    __builtin_prefetch(&recall->places[set * MAKI_WAYS]);
    return (maki_span_query){ key, set * MAKI_WAYS };
}

/* 16 bytes as one: the compiler makes one instruction of it, and the processors with AVX promise that an
 * aligned one is not torn.  ThreadSanitizer knows nothing of that promise. */
typedef uint64_t maki_word_pair __attribute__((vector_size(16), may_alias));
#if defined(__SANITIZE_THREAD__)
#define MAKI_SLOT_ACCESS static __attribute__((no_sanitize_thread, noinline, unused))
#else
#define MAKI_SLOT_ACCESS static inline
#endif
MAKI_SLOT_ACCESS maki_cache_slot maki_cache_slot_load(const maki_cache_slot *place)
{
    maki_word_pair both = *(const volatile maki_word_pair *)place;
    return (maki_cache_slot){ both[0], both[1] };
}

MAKI_SLOT_ACCESS void maki_cache_slot_store(maki_cache_slot *place, maki_cache_slot value)
{
    *(volatile maki_word_pair *)place = (maki_word_pair){ value.low, value.high };
}

/* May threads share the places on this processor? */
bool maki_span_cache_is_shareable(void);

/* Empty places in 2^bits sets; false: there is no memory for them. */
bool maki_span_cache_init(maki_span_cache *recall, uint32_t bits, const maki_alloc *alloc);
void maki_span_cache_clear(maki_span_cache *recall);
void maki_span_cache_free(maki_span_cache *recall, const maki_alloc *alloc);

/* The count of what was asked for when it stands in its first place, 0 when not: no span has none. */
static inline uint64_t maki_span_cache_lookup_first(const maki_span_cache *recall,
                                                    const maki_span_query *q)
{
    maki_cache_slot p = maki_cache_slot_load(&recall->places[q->set]);
    bool same = p.low == q->key.low && (p.high & ~MAKI_COUNT_BITS) == q->key.high;
    return same ? p.high >> 60 : 0;
}

/* The count of what was asked for, 0 when it is not there; *place is where it stands now.  It may move
 * up. */
uint64_t maki_span_cache_lookup(maki_span_cache *recall, maki_cached_ids *ids,
                                const maki_span_query *q, size_t *place);

/* Remember it: the place it is at now. */
size_t maki_span_cache_insert(maki_span_cache *recall, maki_cached_ids *ids,
                              const maki_span_query *q, const uint32_t *tokens, size_t count);

/* A span of 16 to 31 bytes: where its count stands, and whether it is known.  If not, the caller writes
 * it there.  For one thread. */
unsigned char *maki_medium_cache_lookup(maki_medium_cache *middles, const unsigned char *at,
                                        size_t len, bool *known);

#endif

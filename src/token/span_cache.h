/* span_cache.h -- a cache from spans to their token counts and ids.
 *
 * Most spans are short, and nearly all repeat earlier ones.  A span of up to 15 bytes is its own key, with its length in
 * the last byte: equal keys are equal spans, so a hit is exact.  The cache is 4-way set associative: a hit moves a key up
 * in its set, an insertion replaces the lowest.  Spans of up to 31 bytes have a smaller, direct-mapped table.
 *
 * Several threads may use the slots at once without a lock where 16 bytes are loaded and stored atomically
 * (maki_span_cache_is_shareable): a slot is then always a complete entry, and any complete entry is correct.  When two
 * threads write to one set, an entry may be lost or duplicated, which only costs time.
 *
 * A lookup has two steps, query and lookup, so that a caller can query many spans before it needs the first: their memory
 * is prefetched meanwhile. */
#ifndef MAKI_TOKEN_SPAN_CACHE_H
#define MAKI_TOKEN_SPAN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <maki/env.h>

enum {
    MAKI_SHORT_MAX = 15,  /* bytes of a short span */
    MAKI_MEDIUM_MAX = 31, /* bytes of a medium span */
    MAKI_WAYS = 4,
    MAKI_SET_BITS = 17, /* sets: 8 MB in all */
    MAKI_MEDIUM_BITS = 12,
    MAKI_CACHE_SLOTS = (1 << MAKI_SET_BITS) * MAKI_WAYS,
    MAKI_CACHED_IDS = 4 /* ids cached for a short span, when ids are cached */
};
#define MAKI_COUNT_BITS (0xfull << 60)

/* The bytes of a short span, and in the last byte its length and (in the upper half, 0 in a key) its count.  A zeroed slot
 * is free: no span has length 0. */
typedef struct maki_cache_slot {
    uint64_t low, high;
} maki_cache_slot;

typedef struct maki_medium_slot {
    uint64_t words[4]; /* the last byte is the length */
} maki_medium_slot;

/* Zeroed: not initialized. */
typedef struct maki_span_cache {
    maki_cache_slot *slots; /* aligned: a set is one cache line */
    void *memory;           /* the allocation they are in */
    uint32_t bits;          /* of a set's index */
} maki_span_cache;

typedef struct maki_medium_cache {
    maki_medium_slot slots[1 << MAKI_MEDIUM_BITS];
    unsigned char counts[1 << MAKI_MEDIUM_BITS];
} maki_medium_cache;

/* The ids of a slot, in an array of the same index; MAKI_NO_TOKEN first: none. */
typedef struct maki_cached_ids {
    uint32_t ids[MAKI_CACHED_IDS];
} maki_cached_ids;

typedef struct maki_span_query {
    maki_cache_slot key;
    size_t set; /* index of its first slot */
} maki_span_query;

static inline uint64_t maki_span_hash(uint64_t low, uint64_t high)
{
    uint64_t h = low * 0x9e3779b97f4a7c15u ^ high * 0xc2b2ae3d27d4eb4fu;
    return (h ^ h >> 29) * 0xd6e8feb86659fd93u;
}

/* The 16 bytes at offset 16 - n are a mask of the first n of 16. */
static const unsigned char maki_prefix_mask[32] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

/* The query for the short span at `at`; prefetches its set; [at, end) may be read. */
static inline maki_span_query maki_span_cache_query(const maki_span_cache *cache,
                                                    const unsigned char *at, size_t len,
                                                    const unsigned char *end)
{
    maki_cache_slot key, mask;
    memcpy(&mask, maki_prefix_mask + 16 - len, 16);
    if (end - at >= 16) {
        memcpy(&key, at, 16);
    } else {
        unsigned char copy[16] = { 0 };
        memcpy(copy, at, len);
        memcpy(&key, copy, 16);
    }
    key.low &= mask.low;
    key.high = (key.high & mask.high) | (uint64_t)len << 56;
    size_t set = maki_span_hash(key.low, key.high) >> (64 - cache->bits);
    __builtin_prefetch(&cache->slots[set * MAKI_WAYS]);
    return (maki_span_query){ key, set * MAKI_WAYS };
}

/* 16 bytes at once: the compiler emits one instruction, and processors with AVX guarantee that an aligned one is atomic.
 * ThreadSanitizer does not know that guarantee. */
typedef uint64_t maki_word_pair __attribute__((vector_size(16), may_alias));
#if defined(__SANITIZE_THREAD__)
#define MAKI_SLOT_ACCESS static __attribute__((no_sanitize_thread, noinline, unused))
#else
#define MAKI_SLOT_ACCESS static inline
#endif
MAKI_SLOT_ACCESS maki_cache_slot maki_cache_slot_load(const maki_cache_slot *slot)
{
    maki_word_pair both = *(const volatile maki_word_pair *)slot;
    return (maki_cache_slot){ both[0], both[1] };
}

MAKI_SLOT_ACCESS void maki_cache_slot_store(maki_cache_slot *slot, maki_cache_slot value)
{
    *(volatile maki_word_pair *)slot = (maki_word_pair){ value.low, value.high };
}

/* May threads share a cache on this processor? */
bool maki_span_cache_is_shareable(void);

/* Allocate 2^bits empty sets; false: out of memory. */
bool maki_span_cache_init(maki_span_cache *cache, uint32_t bits, const maki_alloc *alloc);
void maki_span_cache_clear(maki_span_cache *cache);
void maki_span_cache_free(maki_span_cache *cache, const maki_alloc *alloc);

/* The count of a query if it is in the first slot of its set, else 0: no span has count 0. */
static inline uint64_t maki_span_cache_lookup_first(const maki_span_cache *cache,
                                                    const maki_span_query *q)
{
    maki_cache_slot p = maki_cache_slot_load(&cache->slots[q->set]);
    bool same = p.low == q->key.low && (p.high & ~MAKI_COUNT_BITS) == q->key.high;
    return same ? p.high >> 60 : 0;
}

/* The count of a query, 0 if it is not cached; *slot is the index of its slot, after it moved up. */
uint64_t maki_span_cache_lookup(maki_span_cache *cache, maki_cached_ids *ids,
                                const maki_span_query *q, size_t *slot);

/* Insert the count and ids of a query; returns the index of its slot. */
size_t maki_span_cache_insert(maki_span_cache *cache, maki_cached_ids *ids,
                              const maki_span_query *q, const uint32_t *tokens, size_t count);

/* The address of the count of a span of 16 to 31 bytes.  Unless *hit, the caller sets it.  For one thread. */
unsigned char *maki_medium_cache_lookup(maki_medium_cache *cache, const unsigned char *at,
                                        size_t len, bool *hit);

#endif

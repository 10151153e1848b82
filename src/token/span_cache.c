/* span_cache.c -- allocates the cache, inserts short spans, and looks up those that are not in the first slot of their set,
 * and medium ones.
 *
 * Always: the slots are aligned to a huge page, so that a set never spans two cache lines and a shared load or store of a
 *         slot is atomic.  With `ids` (one thread) the ids move together with their slot. */
#include "token/span_cache.h"

#include <assert.h>

#include "base/platform.h"
#include "token/table.h"

bool maki_span_cache_is_shareable(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx");
#else
    return false;
#endif
}

enum { SET_BYTES = MAKI_WAYS * sizeof(maki_cache_slot), HUGE_PAGE = 2 << 20 };

static size_t size_of_sets(uint32_t bits)
{
    return (size_t)SET_BYTES << bits;
}

bool maki_span_cache_init(maki_span_cache *cache, uint32_t bits, const maki_alloc *alloc)
{
    cache->bits = bits;
    cache->memory = alloc->resize(alloc, NULL, 0, size_of_sets(bits) + HUGE_PAGE);
    if (!cache->memory) return false;
    cache->slots =
        (maki_cache_slot *)(((uintptr_t)cache->memory + HUGE_PAGE) & ~(uintptr_t)(HUGE_PAGE - 1));
    /* Lookups are spread over all of it: with small pages most would miss the TLB. */
    maki_huge_pages(cache->slots, size_of_sets(bits), true);
    maki_span_cache_clear(cache);
    return true;
}

void maki_span_cache_clear(maki_span_cache *cache)
{
    if (cache->slots) memset(cache->slots, 0, size_of_sets(cache->bits));
}

void maki_span_cache_free(maki_span_cache *cache, const maki_alloc *alloc)
{
    if (cache->memory)
        alloc->resize(alloc, cache->memory, size_of_sets(cache->bits) + HUGE_PAGE, 0);
    *cache = (maki_span_cache){ .slots = NULL };
}

uint64_t maki_span_cache_lookup(maki_span_cache *cache, maki_cached_ids *ids,
                                const maki_span_query *q, size_t *slot)
{
    maki_cache_slot above = { 0, 0 };
    for (size_t i = q->set; i < q->set + MAKI_WAYS; i++) {
        maki_cache_slot here = maki_cache_slot_load(&cache->slots[i]);
        if (here.low == q->key.low && (here.high & ~MAKI_COUNT_BITS) == q->key.high) {
            /* threads that share the cache would contend for the cache line to move up by one slot */
            bool stays = i < q->set + (ids ? 1 : 2);
            *slot = stays ? i : i - 1;
            if (stays) return here.high >> 60;
            maki_cache_slot_store(&cache->slots[i - 1], here);
            maki_cache_slot_store(&cache->slots[i], above);
            if (ids) {
                maki_cached_ids moved = ids[i];
                ids[i] = ids[i - 1];
                ids[i - 1] = moved;
            }
            return here.high >> 60;
        }
        above = here;
    }
    return 0;
}

size_t maki_span_cache_insert(maki_span_cache *cache, maki_cached_ids *ids,
                              const maki_span_query *q, const uint32_t *tokens, size_t count)
{
    assert(count > 0 && count <= MAKI_SHORT_MAX);
    size_t slot = q->set, last = q->set + MAKI_WAYS - 1;
    while (slot < last && maki_cache_slot_load(&cache->slots[slot]).high)
        slot++;
    maki_cache_slot_store(&cache->slots[slot],
                          (maki_cache_slot){ q->key.low, q->key.high | (uint64_t)count << 60 });
    if (ids) {
        ids[slot].ids[0] = MAKI_NO_TOKEN;
        if (count <= MAKI_CACHED_IDS) memcpy(ids[slot].ids, tokens, count * sizeof tokens[0]);
    }
    return slot;
}

unsigned char *maki_medium_cache_lookup(maki_medium_cache *cache, const unsigned char *at,
                                        size_t len, bool *hit)
{
    maki_medium_slot key = { { 0 } };
    memcpy(&key, at, len);
    key.words[3] |= (uint64_t)len << 56;
    uint64_t hash = maki_span_hash(maki_span_hash(key.words[0], key.words[1]),
                                   maki_span_hash(key.words[2], key.words[3]));
    size_t i = hash >> (64 - MAKI_MEDIUM_BITS);
    *hit = memcmp(&cache->slots[i], &key, sizeof key) == 0;
    cache->slots[i] = key;
    return &cache->counts[i];
}

/* span_cache.c -- see span_cache.h. */
#include "token/span_cache.h"

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

enum { LINE = MAKI_WAYS * sizeof(maki_cache_slot), HUGE_PAGE = 2 << 20 };

static size_t size_of(uint32_t bits)
{
    return (size_t)LINE << bits;
}

bool maki_span_cache_init(maki_span_cache *recall, uint32_t bits, const maki_alloc *alloc)
{
    recall->bits = bits;
    recall->at = alloc->resize(alloc, NULL, 0, size_of(bits) + HUGE_PAGE);
    if (!recall->at) return false;
    recall->places =
        (maki_cache_slot *)(((uintptr_t)recall->at + HUGE_PAGE) & ~(uintptr_t)(HUGE_PAGE - 1));
    /* Every span is looked up somewhere else: with small pages finding the page would take longer than the place. */
    maki_huge_pages(recall->places, size_of(bits), true);
    maki_span_cache_clear(recall);
    return true;
}

void maki_span_cache_clear(maki_span_cache *recall)
{
    if (recall->places) memset(recall->places, 0, size_of(recall->bits));
}

void maki_span_cache_free(maki_span_cache *recall, const maki_alloc *alloc)
{
    if (recall->at) alloc->resize(alloc, recall->at, size_of(recall->bits) + HUGE_PAGE, 0);
    *recall = (maki_span_cache){ .places = NULL };
}

uint64_t maki_span_cache_lookup(maki_span_cache *recall, maki_cached_ids *ids,
                                const maki_span_query *q, size_t *place)
{
    maki_cache_slot above = { 0, 0 };
    for (size_t i = q->set; i < q->set + MAKI_WAYS; i++) {
        maki_cache_slot here = maki_cache_slot_load(&recall->places[i]);
        if (here.low == q->key.low && (here.high & ~MAKI_COUNT_BITS) == q->key.high) {
            /* threads that share it would take the line from each other for one place more */
            bool stays = i < q->set + (ids ? 1 : 2);
            *place = stays ? i : i - 1;
            if (stays) return here.high >> 60;
            maki_cache_slot_store(&recall->places[i - 1], here);
            maki_cache_slot_store(&recall->places[i], above);
            if (ids) {
                maki_cached_ids kept = ids[i];
                ids[i] = ids[i - 1];
                ids[i - 1] = kept;
            }
            return here.high >> 60;
        }
        above = here;
    }
    return 0;
}

size_t maki_span_cache_insert(maki_span_cache *recall, maki_cached_ids *ids,
                              const maki_span_query *q, const uint32_t *tokens, size_t count)
{
    size_t place = q->set, last = q->set + MAKI_WAYS - 1;
    while (place < last && maki_cache_slot_load(&recall->places[place]).high)
        place++;
    maki_cache_slot_store(&recall->places[place],
                          (maki_cache_slot){ q->key.low, q->key.high | (uint64_t)count << 60 });
    if (ids) {
        ids[place].ids[0] = MAKI_NO_TOKEN;
        if (count <= MAKI_CACHED_IDS) memcpy(ids[place].ids, tokens, count * sizeof tokens[0]);
    }
    return place;
}

unsigned char *maki_medium_cache_lookup(maki_medium_cache *middles, const unsigned char *at,
                                        size_t len, bool *known)
{
    maki_medium_slot key = { { 0 } };
    memcpy(&key, at, len);
    key.words[3] |= (uint64_t)len << 56;
    uint64_t hash = maki_span_hash(maki_span_hash(key.words[0], key.words[1]),
                                   maki_span_hash(key.words[2], key.words[3]));
    size_t i = hash >> (64 - MAKI_MEDIUM_BITS);
    *known = memcmp(&middles->places[i], &key, sizeof key) == 0;
    middles->places[i] = key;
    return &middles->counts[i];
}

/* recall.c -- see recall.h. */
#include "token/recall.h"

#include "base/platform.h"
#include "token/table.h"

bool maki_recall_shares(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx");
#else
    return false;
#endif
}

enum { LINE = MAKI_WAYS * sizeof(maki_place), HUGE_PAGE = 2 << 20 };

static size_t size_of(uint32_t bits)
{
    return (size_t)LINE << bits;
}

bool maki_recall_get(maki_recall *recall, uint32_t bits, const maki_alloc *alloc)
{
    recall->bits = bits;
    recall->at = alloc->resize(alloc, NULL, 0, size_of(bits) + HUGE_PAGE);
    if (!recall->at) return false;
    recall->places =
        (maki_place *)(((uintptr_t)recall->at + HUGE_PAGE) & ~(uintptr_t)(HUGE_PAGE - 1));
    /* Every span is looked up somewhere else: with small pages finding the page would take longer than the place. */
    maki_huge_pages(recall->places, size_of(bits), true);
    maki_recall_forget(recall);
    return true;
}

void maki_recall_forget(maki_recall *recall)
{
    if (recall->places) memset(recall->places, 0, size_of(recall->bits));
}

void maki_recall_drop(maki_recall *recall, const maki_alloc *alloc)
{
    if (recall->at) alloc->resize(alloc, recall->at, size_of(recall->bits) + HUGE_PAGE, 0);
    *recall = (maki_recall){ .places = NULL };
}

uint64_t maki_recall_find(maki_recall *recall, maki_recalled_ids *ids, const maki_question *q,
                          size_t *place)
{
    maki_place above = { 0, 0 };
    for (size_t i = q->set; i < q->set + MAKI_WAYS; i++) {
        maki_place here = maki_place_load(&recall->places[i]);
        if (here.low == q->key.low && (here.high & ~MAKI_COUNT_BITS) == q->key.high) {
            /* threads that share it would take the line from each other for one place more */
            bool stays = i < q->set + (ids ? 1 : 2);
            *place = stays ? i : i - 1;
            if (stays) return here.high >> 60;
            maki_place_store(&recall->places[i - 1], here);
            maki_place_store(&recall->places[i], above);
            if (ids) {
                maki_recalled_ids kept = ids[i];
                ids[i] = ids[i - 1];
                ids[i - 1] = kept;
            }
            return here.high >> 60;
        }
        above = here;
    }
    return 0;
}

size_t maki_recall_learn(maki_recall *recall, maki_recalled_ids *ids, const maki_question *q,
                         const uint32_t *tokens, size_t count)
{
    size_t place = q->set, last = q->set + MAKI_WAYS - 1;
    while (place < last && maki_place_load(&recall->places[place]).high)
        place++;
    maki_place_store(&recall->places[place],
                     (maki_place){ q->key.low, q->key.high | (uint64_t)count << 60 });
    if (ids) {
        ids[place].ids[0] = MAKI_NO_TOKEN;
        if (count <= MAKI_RECALLED_IDS) memcpy(ids[place].ids, tokens, count * sizeof tokens[0]);
    }
    return place;
}

unsigned char *maki_recall_middle(maki_recall_middles *middles, const unsigned char *at, size_t len,
                                  bool *known)
{
    maki_middle_place key = { { 0 } };
    memcpy(&key, at, len);
    key.words[3] |= (uint64_t)len << 56;
    uint64_t hash = maki_span_hash(maki_span_hash(key.words[0], key.words[1]),
                                   maki_span_hash(key.words[2], key.words[3]));
    size_t i = hash >> (64 - MAKI_MIDDLE_BITS);
    *known = memcmp(&middles->places[i], &key, sizeof key) == 0;
    middles->places[i] = key;
    return &middles->counts[i];
}

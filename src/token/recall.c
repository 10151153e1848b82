/* recall.c -- see recall.h. */
#include "token/recall.h"

#include "token/table.h"

static void swap(maki_recall *recall, maki_recalled_ids *ids, size_t a, size_t b)
{
    maki_place place = recall->places[a];
    recall->places[a] = recall->places[b];
    recall->places[b] = place;
    if (!ids) return;
    maki_recalled_ids kept = ids[a];
    ids[a] = ids[b];
    ids[b] = kept;
}

size_t maki_recall_find(maki_recall *recall, maki_recalled_ids *ids, const maki_question *q)
{
    if (maki_recall_is(recall, q->set, q)) return q->set;
    for (size_t place = q->set + 1; place < q->set + MAKI_WAYS; place++) {
        if (!maki_recall_is(recall, place, q)) continue;
        swap(recall, ids, place, place - 1);
        return place - 1;
    }
    return MAKI_PLACES;
}

size_t maki_recall_learn(maki_recall *recall, maki_recalled_ids *ids, const maki_question *q,
                         const uint32_t *tokens, size_t count)
{
    size_t place = q->set, last = q->set + MAKI_WAYS - 1;
    while (place < last && recall->places[place].high)
        place++;
    recall->places[place] = (maki_place){ q->key.low, q->key.high | (uint64_t)count << 60 };
    if (ids) {
        ids[place].ids[0] = MAKI_NO_TOKEN;
        if (count <= MAKI_RECALLED_IDS) memcpy(ids[place].ids, tokens, count * sizeof tokens[0]);
    }
    return place;
}

unsigned char *maki_recall_middle(maki_recall *recall, const unsigned char *at, size_t len,
                                  bool *known)
{
    maki_middle_place key = { { 0 } };
    memcpy(&key, at, len);
    key.words[3] |= (uint64_t)len << 56;
    uint64_t hash = maki_span_hash(maki_span_hash(key.words[0], key.words[1]),
                                   maki_span_hash(key.words[2], key.words[3]));
    size_t i = hash >> (64 - MAKI_MIDDLE_BITS);
    *known = memcmp(&recall->middle[i], &key, sizeof key) == 0;
    recall->middle[i] = key;
    return &recall->middle_counts[i];
}

/* merge.h -- byte pair encoding: the tokens of a span.
 *
 * Merging replaces the pair of adjacent tokens with the lowest rank, the leftmost of several, by one
 * token, until no pair has a rank.  Two facts let a long span be merged in windows:
 *
 *  - If each two neighbours in a list of tokens are what merging their bytes gives, the list is what
 *    merging all the bytes gives.  So overlapping windows can be joined at a token that both have.
 *  - What follows a text changes its tokens only in the last `reach` bytes (make_tables.c).  So tokens
 *    before that are certain, and a longer window always has some.
 *
 * The time is linear in the length: how much is merged again depends on the vocabulary alone. */
#ifndef MAKI_TOKEN_MERGE_H
#define MAKI_TOKEN_MERGE_H

#include <stddef.h>

#include "token/table.h"

enum {
    MAKI_MERGE_MAX = 4096,  /* bytes that are merged at once */
    MAKI_MERGE_WINDOW = 64, /* bytes of a window, while windows have tokens in common */
    MAKI_MERGE_PAD = 24     /* elements after the last, for whole vector registers */
};

/* The buffers of a merge: the resulting ids and the intermediate ranks. */
typedef struct maki_merge_scratch {
    uint32_t ids[MAKI_MERGE_MAX + MAKI_MERGE_PAD];
    uint32_t ranks[MAKI_MERGE_MAX + MAKI_MERGE_PAD]; /* of the pair that begins at each id */
    uint32_t pending[2 * MAKI_MERGE_MAX]; /* tokens of a long span that are not certain yet */
    struct maki_merge_scratch_second {    /* of a second window */
        uint32_t ids[MAKI_MERGE_WINDOW + MAKI_MERGE_PAD];
        uint32_t ranks[MAKI_MERGE_WINDOW + MAKI_MERGE_PAD];
    } second;
} maki_merge_scratch;

/* The tokens of 1 to MAKI_MERGE_MAX bytes: how many, and which in m->ids. */
typedef size_t maki_merge_fn(const maki_table *table, const unsigned char *bytes, size_t len,
                             maki_merge_scratch *m);
maki_merge_fn maki_merge;
maki_merge_fn maki_merge_avx2; /* for processors that have AVX2 and BMI */

/* Two windows of MAKI_MERGE_WINDOW bytes at once, which takes little longer than one: counts[0] ids in
 * m->ids, counts[1] in m->second.ids. */
typedef void maki_merge_two_fn(const maki_table *table, const unsigned char *first,
                               const unsigned char *second, maki_merge_scratch *m,
                               size_t counts[2]);
maki_merge_two_fn maki_merge_two_avx2;

/* The functions to use on this processor. */
typedef struct maki_merger {
    maki_merge_fn *one;
    maki_merge_two_fn *two; /* NULL: one after the other */
} maki_merger;

/* The same for any number of bytes: returns how many tokens.  `fn` is called with the tokens, a batch at a time; it may
 * be NULL. */
typedef void maki_merged_fn(void *ctx, const uint32_t *ids, size_t n);
uint64_t maki_merge_long(maki_merger merge, const maki_table *table, const unsigned char *bytes,
                         size_t len, maki_merge_scratch *m, maki_merged_fn *fn, void *ctx);

/* ---- for merge.c and merge_avx2.c ------------------------------------------------------------------ */

/* The tokens of single bytes, and the ranks of their pairs. */
static inline void maki_merge_begin(const maki_table *table, const unsigned char *bytes, size_t n,
                                    uint32_t *ids, uint32_t *ranks)
{
    const uint32_t *begin = maki_table_part(table, table->begin);
    for (size_t i = 0; i < n; i++)
        ids[i] = table->byte_ids[bytes[i]];
    for (size_t i = 0; i + 1 < n; i++)
        ranks[i] = begin[(size_t)bytes[i] << 8 | bytes[i + 1]];
    ranks[n - 1] = MAKI_NO_TOKEN;
}

/* Merge every pair of this rank, from left to right; the first is at `at`.  A new pair has a higher
 * rank than the two tokens it is made of, so none can come before these. */
static inline size_t maki_merge_rank(maki_pairs pairs, maki_merge_scratch *m, size_t n, size_t at,
                                     uint32_t rank)
{
    uint32_t *ids = m->ids, *ranks = m->ranks;
    size_t to = at;
    for (size_t from = at; from < n; to++) {
        if (ranks[from] != rank) {
            ids[to] = ids[from];
            ranks[to] = ranks[from++];
            continue;
        }
        from += 2;
        ids[to] = rank;
        ranks[to] = from < n ? maki_pair_merged(pairs, rank, ids[from]) : MAKI_NO_TOKEN;
        if (to) ranks[to - 1] = maki_pair_merged(pairs, ids[to - 1], rank);
    }
    return to;
}

#endif

/* merge_avx2.c -- maki_merge with eight ranks in a register; the same results.
 *
 * More than 64 bytes are merged in plain C.  Up to 64, a token stays at the index of its first byte, a mask marks where
 * tokens begin, and elsewhere the rank is MAKI_NO_TOKEN.  So nothing is moved, and neighbours are found by counting bits. */
#include "token/merge.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>

#define AVX2        __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define AVX2_INLINE AVX2 static inline __attribute__((always_inline))

enum { LANES = 8, WIDTH = MAKI_MERGE_WINDOW };

AVX2_INLINE __m256i load(const uint32_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

AVX2_INLINE uint32_t lowest_rank(const uint32_t *ranks, size_t n)
{
    __m256i min = load(ranks);
    for (size_t i = LANES; i < n; i += LANES)
        min = _mm256_min_epu32(min, load(ranks + i));
    __m128i v = _mm_min_epu32(_mm256_castsi256_si128(min), _mm256_extracti128_si256(min, 1));
    v = _mm_min_epu32(v, _mm_shuffle_epi32(v, 0x4e));
    v = _mm_min_epu32(v, _mm_shuffle_epi32(v, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(v);
}

/* A mask of the positions with this rank. */
AVX2_INLINE uint64_t positions_of(const uint32_t *ranks, size_t n, uint32_t rank)
{
    __m256i wanted = _mm256_set1_epi32((int)rank);
    uint64_t mask = 0;
    for (size_t i = 0; i < n; i += LANES) {
        __m256i same = _mm256_cmpeq_epi32(load(ranks + i), wanted);
        mask |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << i;
    }
    return mask;
}

/* A text that is being merged. */
typedef struct lane {
    uint32_t *ids, *ranks;
    uint64_t begins; /* where tokens begin */
    size_t n;        /* bytes */
} lane;

AVX2_INLINE lane lane_begin(const maki_table *table, const unsigned char *bytes, size_t n,
                            uint32_t *ids, uint32_t *ranks)
{
    maki_merge_begin(table, bytes, n, ids, ranks);
    _mm256_storeu_si256((__m256i *)(void *)(ranks + n), _mm256_set1_epi32(-1));
    return (lane){ ids, ranks, _bzhi_u64(~0ull, (unsigned)n), n };
}

/* Merge the pair at `at`. */
AVX2_INLINE void merge_at(maki_pairs pairs, lane *l, unsigned at, uint32_t rank)
{
    uint64_t after = l->begins & ~_bzhi_u64(~0ull, at + 1); /* not empty: a pair has a second */
    unsigned second = (unsigned)_tzcnt_u64(after);
    uint64_t rest = _blsr_u64(after), before = _bzhi_u64(l->begins, at);
    l->ids[at] = rank;
    l->ranks[second] = MAKI_NO_TOKEN;
    l->ranks[at] = rest ? maki_pair_merged(pairs, rank, l->ids[_tzcnt_u64(rest)]) : MAKI_NO_TOKEN;
    if (before) {
        unsigned first = WIDTH - 1 - (unsigned)_lzcnt_u64(before);
        l->ranks[first] = maki_pair_merged(pairs, l->ids[first], rank);
    }
    l->begins &= ~(1ull << second);
}

/* Merge all pairs of the lowest rank; false when there is no pair left. */
AVX2_INLINE bool merge_lowest(maki_pairs pairs, lane *l)
{
    uint32_t rank = lowest_rank(l->ranks, l->n);
    if (rank == MAKI_NO_TOKEN) return false;
    uint64_t found = positions_of(l->ranks, l->n, rank);
    do {
        merge_at(pairs, l, (unsigned)_tzcnt_u64(found), rank);
        found = _blsr_u64(found) & l->begins; /* of "aaa" the second pair is gone */
    } while (found);
    return true;
}

AVX2_INLINE size_t lane_end(lane *l)
{
    size_t count = 0;
    for (; l->begins; l->begins = _blsr_u64(l->begins))
        l->ids[count++] = l->ids[_tzcnt_u64(l->begins)];
    return count;
}

AVX2 size_t maki_merge_avx2(const maki_table *table, const unsigned char *bytes, size_t n,
                            maki_merge_scratch *m)
{
    if (n > WIDTH) return maki_merge(table, bytes, n, m);
    maki_pairs pairs = maki_table_pairs(table);
    lane l = lane_begin(table, bytes, n, m->ids, m->ranks);
    while (merge_lowest(pairs, &l)) {
    }
    return lane_end(&l);
}

/* Most of the time is the latency of memory reads from the table, so two texts are merged alternately. */
AVX2 void maki_merge_two_avx2(const maki_table *table, const unsigned char *first,
                              const unsigned char *second, maki_merge_scratch *m, size_t counts[2])
{
    maki_pairs pairs = maki_table_pairs(table);
    lane a = lane_begin(table, first, WIDTH, m->ids, m->ranks);
    lane b = lane_begin(table, second, WIDTH, m->second.ids, m->second.ranks);
    while (merge_lowest(pairs, &a) && merge_lowest(pairs, &b)) {
    }
    while (merge_lowest(pairs, &a)) {
    }
    while (merge_lowest(pairs, &b)) {
    }
    counts[0] = lane_end(&a);
    counts[1] = lane_end(&b);
}

#endif

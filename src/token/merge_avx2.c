/* merge_avx2.c -- merging with eight ranks in a register: see merge.h.
 *
 * Up to 64 bytes: a token stays where its first byte stands, a mask says where tokens begin, and where
 * none does the rank is that of no pair.  So nothing is moved, and neighbours are found by counting
 * bits. */
#include "token/merge.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>

#define AVX2        __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define AVX2_INLINE AVX2 static inline __attribute__((always_inline))

enum { LANES = 8, WIDTH = 64 };

AVX2_INLINE __m256i load(const uint32_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

AVX2_INLINE uint32_t lowest(const uint32_t *ranks, size_t n)
{
    __m256i least = load(ranks);
    for (size_t i = LANES; i < n; i += LANES)
        least = _mm256_min_epu32(least, load(ranks + i));
    __m128i v = _mm_min_epu32(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
    v = _mm_min_epu32(v, _mm_shuffle_epi32(v, 0x4e));
    v = _mm_min_epu32(v, _mm_shuffle_epi32(v, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(v);
}

/* The places with this rank. */
AVX2_INLINE uint64_t places(const uint32_t *ranks, size_t n, uint32_t rank)
{
    __m256i wanted = _mm256_set1_epi32((int)rank);
    uint64_t all = 0;
    for (size_t i = 0; i < n; i += LANES) {
        __m256i same = _mm256_cmpeq_epi32(load(ranks + i), wanted);
        all |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << i;
    }
    return all;
}

/* Merge the pair at `at`; `begins` is where tokens begin. */
AVX2_INLINE uint64_t merge_at(maki_pairs pairs, maki_merging *m, uint64_t begins, unsigned at,
                              uint32_t rank)
{
    uint64_t after = begins & ~_bzhi_u64(~0ull, at + 1); /* not empty: a pair has a second */
    unsigned second = (unsigned)_tzcnt_u64(after);
    uint64_t rest = _blsr_u64(after), before = _bzhi_u64(begins, at);
    m->ids[at] = rank;
    m->ranks[second] = MAKI_NO_TOKEN;
    m->ranks[at] = rest ? maki_pair(pairs, rank, m->ids[_tzcnt_u64(rest)]) : MAKI_NO_TOKEN;
    if (before) {
        unsigned first = WIDTH - 1 - (unsigned)_lzcnt_u64(before);
        m->ranks[first] = maki_pair(pairs, m->ids[first], rank);
    }
    return begins & ~(1ull << second);
}

AVX2 size_t maki_merge_avx2(const maki_table *table, const unsigned char *bytes, size_t n,
                            maki_merging *m)
{
    if (n > WIDTH) return maki_merge(table, bytes, n, m);
    uint64_t begins = _bzhi_u64(~0ull, (unsigned)n);
    maki_pairs pairs = maki_table_pairs(table);
    maki_merge_begin(table, bytes, n, m);
    _mm256_storeu_si256((__m256i *)(void *)(m->ranks + n), _mm256_set1_epi32(-1));
    for (;;) {
        uint32_t rank = lowest(m->ranks, n);
        if (rank == MAKI_NO_TOKEN) break;
        uint64_t found = places(m->ranks, n, rank);
        do {
            unsigned at = (unsigned)_tzcnt_u64(found);
            begins = merge_at(pairs, m, begins, at, rank);
            found = _blsr_u64(found) & begins; /* of "aaa" the second pair is gone */
        } while (found);
    }
    size_t count = 0;
    for (; begins; begins = _blsr_u64(begins))
        m->ids[count++] = m->ids[_tzcnt_u64(begins)];
    return count;
}

#endif

/* text_avx2.c -- 32 bytes at a time.
 *
 * UTF-8 is checked with the nibble-table method of Keiser and Lemire ("Validating UTF-8 in less than
 * one instruction per byte"): three table look-ups on the two nibbles of the byte before and the high
 * nibble of this byte leave a bit standing for every way in which the pair can be wrong; third and
 * fourth bytes are checked against the leads two and three bytes back.  When a block is wrong, plain C
 * says exactly where, from the last character boundary known to be good. */
#include "base/text_avx2.h"

#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

AVX2 static size_t avx2_find_special(const char *at, size_t n)
{
    const __m256i quote = _mm256_set1_epi8('"');
    const __m256i slash = _mm256_set1_epi8('\\');
    const __m256i limit = _mm256_set1_epi8(0x1F);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(at + i));
        __m256i hit = _mm256_or_si256(_mm256_cmpeq_epi8(v, quote), _mm256_cmpeq_epi8(v, slash));
        hit = _mm256_or_si256(hit, _mm256_cmpeq_epi8(_mm256_min_epu8(v, limit), v));
        unsigned mask = (unsigned)_mm256_movemask_epi8(hit);
        if (mask) return i + (size_t)__builtin_ctz(mask);
    }
    return i + maki_text_kernels_plain()->find_special(at + i, n - i);
}

enum {
    TOO_SHORT = 1,   /* a lead or ASCII where a continuation must stand */
    TOO_LONG = 2,    /* a continuation after ASCII */
    OVERLONG_3 = 4,  /* E0 80..9F */
    TOO_LARGE = 8,   /* F4 90.. and above */
    SURROGATE = 16,  /* ED A0..BF */
    OVERLONG_2 = 32, /* C0, C1 */
    OVERLONG_4 = 64, /* F0 80..8F, and F5.. with 80..8F */
    TWO_CONTS = 128, /* judged with the leads two and three bytes back */
    CARRY = TOO_SHORT | TOO_LONG | TWO_CONTS
};

#define TABLE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)
#define BITS(x)    ((char)(x))

AVX2 static inline __m256i high_nibble(__m256i v)
{
    return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(0x0F));
}

/* The bits of what is wrong in `v`, whose bytes follow those of `before`; zero when nothing is. */
AVX2 static inline __m256i utf8_errors(__m256i before, __m256i v)
{
    const __m256i first_high = TABLE(
        TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
        BITS(TWO_CONTS), BITS(TWO_CONTS), BITS(TWO_CONTS), BITS(TWO_CONTS), TOO_SHORT | OVERLONG_2,
        TOO_SHORT, TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | OVERLONG_4);
    const char large = BITS(CARRY | TOO_LARGE | OVERLONG_4);
    const __m256i first_low =
        TABLE(BITS(CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4), BITS(CARRY | OVERLONG_2),
              BITS(CARRY), BITS(CARRY), BITS(CARRY | TOO_LARGE), large, large, large, large, large,
              large, large, large, BITS(CARRY | TOO_LARGE | OVERLONG_4 | SURROGATE), large, large);
    const char cont = BITS(TOO_LONG | OVERLONG_2 | TWO_CONTS);
    const __m256i second_high =
        TABLE(TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
              TOO_SHORT, BITS(cont | OVERLONG_3 | OVERLONG_4), BITS(cont | OVERLONG_3 | TOO_LARGE),
              BITS(cont | SURROGATE | TOO_LARGE), BITS(cont | SURROGATE | TOO_LARGE), TOO_SHORT,
              TOO_SHORT, TOO_SHORT, TOO_SHORT);

    __m256i across = _mm256_permute2x128_si256(before, v, 0x21);
    __m256i back1 = _mm256_alignr_epi8(v, across, 15);
    __m256i back2 = _mm256_alignr_epi8(v, across, 14);
    __m256i back3 = _mm256_alignr_epi8(v, across, 13);
    __m256i pair = _mm256_and_si256(
        _mm256_shuffle_epi8(first_high, high_nibble(back1)),
        _mm256_shuffle_epi8(first_low, _mm256_and_si256(back1, _mm256_set1_epi8(0x0F))));
    pair = _mm256_and_si256(pair, _mm256_shuffle_epi8(second_high, high_nibble(v)));

    __m256i third = _mm256_subs_epu8(back2, _mm256_set1_epi8(0xE0 - 0x80));
    __m256i fourth = _mm256_subs_epu8(back3, _mm256_set1_epi8(0xF0 - 0x80));
    __m256i must = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
    return _mm256_xor_si256(must, pair);
}

AVX2 static size_t avx2_utf8_good(const char *at, size_t n)
{
    __m256i before = _mm256_setzero_si256();
    size_t i = 0;
    bool ascii_before = true;
    for (; i + 32 <= n; i += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(at + i));
        bool ascii = _mm256_movemask_epi8(v) == 0;
        if (!ascii || !ascii_before) {
            __m256i wrong = utf8_errors(before, v);
            if (!_mm256_testz_si256(wrong, wrong)) break;
        }
        before = v;
        ascii_before = ascii;
    }
    /* Plain C takes the rest, and a wrong block, from the last character before it: that one may run
     * over the block's end, or be a lead that only the next byte would have shown to be wrong. */
    size_t back = 0;
    while (back < i && back < 3 && (at[i - 1 - back] & 0xC0) == 0x80)
        back++;
    i -= back < i ? back + 1 : back;
    return i + maki_text_kernels_plain()->utf8_good(at + i, n - i);
}

const maki_text_kernels *maki_text_kernels_avx2(void)
{
    static const maki_text_kernels avx2 = { "avx2", avx2_find_special, avx2_utf8_good };
    return __builtin_cpu_supports("avx2") ? &avx2 : NULL;
}

#else

const maki_text_kernels *maki_text_kernels_avx2(void)
{
    return NULL;
}

#endif

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

/* A bit for each of the 32 bytes at `at` that is a quote, a backslash or below 0x20. */
AVX2 static inline unsigned special_bits(const char *at)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i hit = _mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('"')),
                                  _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\')));
    hit = _mm256_or_si256(hit, _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(0x1F)), v));
    return (unsigned)_mm256_movemask_epi8(hit);
}

AVX2 static size_t avx2_find_special(const char *at, size_t n)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        unsigned bits = special_bits(at + i);
        if (bits) return i + (size_t)__builtin_ctz(bits);
    }
    return i + maki_text_kernels_plain()->find_special(at + i, n - i);
}

/* 64 bytes of a string as masks, a bit for each byte. */
typedef struct string_bits {
    uint64_t quote, slash, control;
} string_bits;

AVX2 static inline uint64_t join(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

AVX2 static inline string_bits bits_of(__m256i a, __m256i b)
{
    const __m256i quote = _mm256_set1_epi8('"'), slash = _mm256_set1_epi8('\\');
    const __m256i limit = _mm256_set1_epi8(0x1F);
    return (string_bits){
        join(_mm256_cmpeq_epi8(a, quote), _mm256_cmpeq_epi8(b, quote)),
        join(_mm256_cmpeq_epi8(a, slash), _mm256_cmpeq_epi8(b, slash)),
        join(_mm256_cmpeq_epi8(_mm256_min_epu8(a, limit), a),
             _mm256_cmpeq_epi8(_mm256_min_epu8(b, limit), b)),
    };
}

/* 0xFF where the byte is one of "\\/bfnrt: one table by its low nibble, one by its high. */
AVX2 static inline __m256i simple_escapes(__m256i v)
{
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    const __m256i by_low = _mm256_setr_epi8(0, 0, 13, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1, 0, 0,
                                            13, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1);
    const __m256i by_high = _mm256_setr_epi8(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                             1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i low = _mm256_shuffle_epi8(by_low, _mm256_and_si256(v, nibble));
    __m256i high = _mm256_shuffle_epi8(by_high, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
    __m256i hit = _mm256_and_si256(low, high);
    return _mm256_andnot_si256(_mm256_cmpeq_epi8(hit, _mm256_setzero_si256()),
                               _mm256_set1_epi8((char)0xFF));
}

/* Which bytes are escaped by a backslash before them.  In a run of backslashes every second one is;
 * adding the starts of runs at odd places carries through each run and tells where it ends.  *carry:
 * the last byte of the block before is a backslash that escapes. */
static inline uint64_t escaped_bytes(uint64_t slash, uint64_t *carry)
{
    const uint64_t even = 0x5555555555555555u;
    slash &= ~*carry;
    uint64_t follows = slash << 1 | *carry;
    uint64_t odd_starts = slash & ~even & ~follows;
    uint64_t ends = 0;
    *carry = __builtin_add_overflow(odd_starts, slash, &ends);
    return (even ^ ends << 1) & follows;
}

/* No loop over escapes, nor a branch on whether there are any, which nobody could predict: their letters
 * are judged 64 at a time, and only \u is looked at by itself. */
AVX2 static size_t avx2_skip_string(const char *at, size_t n)
{
    size_t i = 0;
    uint64_t carry = 0;
    for (; i + 64 <= n; i += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(at + i));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(at + i + 32));
        string_bits bits = bits_of(a, b);
        uint64_t escaped = escaped_bytes(bits.slash, &carry);
        uint64_t stop = (bits.quote & ~escaped) | bits.control;
        uint64_t odd = escaped & ~join(simple_escapes(a), simple_escapes(b));
        odd &= stop ^ (stop - 1); /* none behind the end */
        for (; odd; odd &= odd - 1) {
            size_t slash = i + (size_t)__builtin_ctzll(odd) - 1;
            if (maki_escape_len(at + slash, n - slash) == 0) return slash;
        }
        if (stop) return i + (size_t)__builtin_ctzll(stop);
    }
    i -= carry; /* the backslash itself goes with the rest */
    return i + maki_text_kernels_plain()->skip_string(at + i, n - i);
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
    static const maki_text_kernels avx2 = { "avx2", avx2_find_special, avx2_skip_string,
                                            avx2_utf8_good };
    return __builtin_cpu_supports("avx2") ? &avx2 : NULL;
}

#else

const maki_text_kernels *maki_text_kernels_avx2(void)
{
    return NULL;
}

#endif

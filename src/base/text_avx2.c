/* text_avx2.c -- the text kernels in AVX2, 32 or 64 bytes at a time.
 *
 * JSON is scanned with bit masks, one bit per byte: the quotes, control characters and backslashes, from those the
 * escaped bytes, and from these the inside of strings.  There is no branch for an escape, because source code has one
 * every few words and no processor could predict them.  (A shortcut for blocks without a backslash was tried: 10 %
 * slower on a chat log.)  The method is that of simdjson (Langdale and Lemire, "Parsing Gigabytes of JSON per Second").
 *
 * UTF-8 is checked with the nibble-table method of Keiser and Lemire ("Validating UTF-8 in less than
 * one instruction per byte"): three table lookups, with the two nibbles of the previous byte and the high
 * nibble of this byte, give a bit for every way in which the pair can be invalid; third and fourth bytes are checked
 * against the leads two and three bytes back.  When a block is invalid, plain C finds the exact offset, from the last
 * character boundary that is known to be valid. */
#include "base/text.h"

#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

#define LOAD(p)    _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define TABLE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)
#define BITS(x)    ((char)(x))

AVX2 static inline __m256i high_nibble(__m256i v)
{
    return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(0x0F));
}

AVX2 static inline __m256i quote_or_control(__m256i v)
{
    __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(0x1F)), v);
    return _mm256_or_si256(control, _mm256_cmpeq_epi8(v, _mm256_set1_epi8('"')));
}

/* A mask of the quotes, backslashes and bytes below 0x20. */
AVX2 static inline unsigned special_mask(__m256i v)
{
    __m256i backslash = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\'));
    return (unsigned)_mm256_movemask_epi8(_mm256_or_si256(backslash, quote_or_control(v)));
}

AVX2 static size_t avx2_find_special(const char *at, size_t n)
{
    size_t i = 0;
    for (; n - i >= 32; i += 32) {
        unsigned mask = special_mask(LOAD(at + i));
        if (mask) return i + (size_t)__builtin_ctz(mask);
    }
    char last[32] = { 0 }; /* a zero is special: it ends the rest of the text */
    if (n > i) memcpy(last, at + i, n - i);
    return i + (size_t)__builtin_ctz(special_mask(LOAD(last)));
}

/* ---- strings ------------------------------------------------------------------------------- */

typedef struct bytes64 {
    __m256i low, high;
} bytes64;

AVX2 static inline bytes64 load64(const char *at)
{
    return (bytes64){ LOAD(at), LOAD(at + 32) };
}

/* The last bytes of a text, fewer than 64, padded with zeros. */
AVX2 static inline bytes64 load_last(const char *at, size_t n)
{
    char last[64] = { 0 };
    if (n) memcpy(last, at, n);
    return load64(last);
}

AVX2 static inline uint64_t mask_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

AVX2 static inline uint64_t equal_to(bytes64 v, char c)
{
    __m256i all = _mm256_set1_epi8(c);
    return mask_of(_mm256_cmpeq_epi8(v.low, all), _mm256_cmpeq_epi8(v.high, all));
}

/* The mask of escaped bytes, given that of the backslashes of a block and *carry: is its first byte escaped by the last
 * block?  *carry becomes that for the next block.  Within a run of backslashes every second one is escaped: subtracting
 * the starts of escapes from the odd bits carries through each run and ends on the right side of it. */
static inline uint64_t escaped_bytes(uint64_t backslash, uint64_t *carry)
{
    const uint64_t odd = 0xAAAAAAAAAAAAAAAAu;
    uint64_t start = backslash & ~*carry;
    uint64_t both = (((start << 1) | odd) - start) ^ odd; /* escapes and what they escape */
    uint64_t escaped = both ^ (backslash | *carry);
    *carry = (both & backslash) >> 63;
    return escaped;
}

/* The bytes that may follow a backslash, except u: only "\\/bfnrt have a common bit in the tables of their low and high
 * nibbles. */
AVX2 static inline __m256i is_escape_letter(__m256i v)
{
    const __m256i by_low = TABLE(0, 0, 1 | 4 | 8, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1);
    const __m256i by_high = TABLE(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i both = _mm256_and_si256(_mm256_shuffle_epi8(by_low, v),
                                    _mm256_shuffle_epi8(by_high, high_nibble(v)));
    return _mm256_cmpgt_epi8(both, _mm256_setzero_si256());
}

/* Does a string end in the block at at[i]?  Then *end is the offset of its quote, of a control character, or of the
 * backslash of an escape that is invalid or truncated. */
AVX2 static inline bool string_ends_in(bytes64 v, const char *at, size_t n, size_t i,
                                       uint64_t *carry, size_t *end)
{
    uint64_t escaped = escaped_bytes(equal_to(v, '\\'), carry);
    uint64_t stops = mask_of(quote_or_control(v.low), quote_or_control(v.high)) & ~escaped;
    escaped &= stops ^ (stops - 1); /* only before the end */
    uint64_t odd = escaped & ~mask_of(is_escape_letter(v.low), is_escape_letter(v.high));
    for (; odd; odd &= odd - 1) { /* a \u, or invalid */
        size_t slash = i + (size_t)__builtin_ctzll(odd) - 1;
        *end = slash;
        if (maki_escape_len(at + slash, n - slash) == 0) return true;
    }
    if (stops) *end = i + (size_t)__builtin_ctzll(stops);
    return stops != 0;
}

/* Not inlined, so that short strings do not save its registers. */
AVX2 static __attribute__((noinline)) size_t skip_long_string(const char *at, size_t n)
{
    uint64_t carry = 0;
    size_t i = 0, end = 0;
    for (; n - i >= 64; i += 64) {
        if (string_ends_in(load64(at + i), at, n, i, &carry, &end)) return end;
    }
    string_ends_in(load_last(at + i, n - i), at, n, i, &carry, &end); /* the zeros end it at n */
    return end;
}

/* Most strings are keys and short names: they end within 32 bytes and have no escapes.  Returns n for others. */
AVX2 static inline size_t short_string_end(const char *at, size_t n)
{
    unsigned mask = n >= 32 ? special_mask(LOAD(at)) : 0;
    return mask && at[__builtin_ctz(mask)] == '"' ? (size_t)__builtin_ctz(mask) : n;
}

AVX2 static size_t avx2_skip_string(const char *at, size_t n)
{
    size_t end = short_string_end(at, n);
    return end < n ? end : skip_long_string(at, n);
}

AVX2 static __attribute__((noinline)) size_t long_string_end(const char *at, size_t n)
{
    uint64_t carry = 0, quotes = 0;
    size_t i = 0;
    for (; n - i >= 64; i += 64) {
        bytes64 v = load64(at + i);
        quotes = equal_to(v, '"') & ~escaped_bytes(equal_to(v, '\\'), &carry);
        if (quotes) return i + (size_t)__builtin_ctzll(quotes);
    }
    bytes64 last = load_last(at + i, n - i);
    quotes = equal_to(last, '"') & ~escaped_bytes(equal_to(last, '\\'), &carry);
    return quotes ? i + (size_t)__builtin_ctzll(quotes) : n;
}

AVX2 static size_t avx2_string_end(const char *at, size_t n)
{
    size_t end = short_string_end(at, n);
    return end < n ? end : long_string_end(at, n);
}

/* ---- containers ---------------------------------------------------------------------------- */

/* Prefix XOR: each bit becomes the parity of itself and the bits below, so there are ones between two quotes. */
static inline uint64_t prefix_xor(uint64_t bits)
{
    for (int by = 1; by < 64; by *= 2) {
        bits ^= bits << by;
    }
    return bits;
}

typedef struct nesting {
    uint64_t carry;  /* the next byte is escaped */
    uint64_t inside; /* all ones inside a string */
    size_t depth;
} nesting;

/* One past the end of the container, if it ends in this block; else 0. */
AVX2 static inline size_t closed_at(bytes64 v, nesting *nest)
{
    const __m256i bit = _mm256_set1_epi8(0x20); /* between [ and {, ] and } */
    uint64_t quotes = equal_to(v, '"') & ~escaped_bytes(equal_to(v, '\\'), &nest->carry);
    if (quotes == 0 && nest->inside) return 0; /* inside a long string, as most of a log is */
    uint64_t inside = prefix_xor(quotes) ^ nest->inside;
    bytes64 same = { _mm256_or_si256(v.low, bit), _mm256_or_si256(v.high, bit) };
    uint64_t opens = equal_to(same, '{') & ~inside;
    uint64_t closes = equal_to(same, '}') & ~inside;
    nest->inside = (uint64_t)0 - (inside >> 63);
    if ((size_t)__builtin_popcountll(closes) < nest->depth) { /* it cannot end here */
        nest->depth += (size_t)__builtin_popcountll(opens);
        nest->depth -= (size_t)__builtin_popcountll(closes);
        return 0;
    }
    for (uint64_t both = opens | closes; both; both &= both - 1) {
        size_t at = (size_t)__builtin_ctzll(both);
        if (opens >> at & 1) {
            nest->depth++;
        } else if (--nest->depth == 0) {
            return at + 1;
        }
    }
    return 0;
}

AVX2 static size_t avx2_container_len(const char *at, size_t n)
{
    nesting nest = { 0, 0, 0 };
    size_t i = 0, close = 0;
    for (; n - i >= 64; i += 64) {
        close = closed_at(load64(at + i), &nest);
        if (close) return i + close;
    }
    close = closed_at(load_last(at + i, n - i), &nest);
    return close ? i + close : n;
}

/* ---- units --------------------------------------------------------------------------------- */

/* One unit for each first byte of a character, one more if it has four bytes; minus the excess of escapes: one for a
 * backslash and a letter, five for \u and its digits. */
AVX2 static inline uint64_t units_of(bytes64 v, uint64_t *carry)
{
    const __m256i conts = _mm256_set1_epi8(-64); /* signed, continuations are below C0 */
    const __m256i four = _mm256_set1_epi8((char)0xF0);
    uint64_t cont = mask_of(_mm256_cmpgt_epi8(conts, v.low), _mm256_cmpgt_epi8(conts, v.high));
    uint64_t large = mask_of(_mm256_cmpeq_epi8(_mm256_max_epu8(v.low, four), v.low),
                             _mm256_cmpeq_epi8(_mm256_max_epu8(v.high, four), v.high));
    uint64_t escaped = escaped_bytes(equal_to(v, '\\'), carry);
    uint64_t unicode = escaped & equal_to(v, 'u');
    return 64 - (uint64_t)__builtin_popcountll(cont) + (uint64_t)__builtin_popcountll(large) -
           (uint64_t)__builtin_popcountll(escaped) - 4 * (uint64_t)__builtin_popcountll(unicode);
}

AVX2 static uint64_t avx2_escaped_units(const char *at, size_t n)
{
    uint64_t units = 0, carry = 0;
    size_t i = 0;
    for (; n - i >= 64; i += 64) {
        units += units_of(load64(at + i), &carry);
    }
    units += units_of(load_last(at + i, n - i), &carry);
    return units - (64 - (n - i)); /* the padding */
}

/* ---- UTF-8 --------------------------------------------------------------------------------- */

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

/* The errors in `v`, whose bytes follow those of `before`; zero if valid. */
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

AVX2 static size_t avx2_utf8_valid_len(const char *at, size_t n)
{
    __m256i before = _mm256_setzero_si256();
    size_t i = 0;
    bool ascii_before = true;
    for (; i + 32 <= n; i += 32) {
        __m256i v = LOAD(at + i);
        bool ascii = _mm256_movemask_epi8(v) == 0;
        if (!ascii || !ascii_before) {
            __m256i errors = utf8_errors(before, v);
            if (!_mm256_testz_si256(errors, errors)) break;
        }
        before = v;
        ascii_before = ascii;
    }
    /* Plain C checks the rest, and an invalid block, from the last character before it: that one may cross the edge of the
     * block, or be a lead that only the next byte shows to be invalid. */
    size_t back = 0;
    while (back < i && back < 3 && (at[i - 1 - back] & 0xC0) == 0x80)
        back++;
    i -= back < i ? back + 1 : back;
    return i + maki_text_plain.utf8_valid_len(at + i, n - i);
}

const maki_text_kernels maki_text_avx2 = {
    .name = "avx2",
    .find_special = avx2_find_special,
    .skip_string = avx2_skip_string,
    .string_end = avx2_string_end,
    .container_len = avx2_container_len,
    .escaped_utf16_len = avx2_escaped_units,
    .utf8_valid_len = avx2_utf8_valid_len,
};

#endif

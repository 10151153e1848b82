/* scan_avx2.c -- the scanners, 64 bytes at a time.
 *
 * A window of 64 bytes that begins with a piece is made into masks, one bit a byte for each class of
 * ASCII characters; from those come, by a few shifts, the positions where pieces begin, all at once and
 * without a branch.  What that cannot decide is done by scan_rules.h: characters above ASCII, contractions, a
 * slash after a newline, blank lines with white space in them, pieces longer than a window, and the
 * last bytes of a text. */
#include "token/scan.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "token/scan_rules.h"

#define AVX2        __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define AVX2_INLINE AVX2 static inline __attribute__((always_inline))

enum { WIDTH = 64 };

typedef enum pattern { O200K, CL100K, CLAUDE } pattern;

typedef struct window {
    uint64_t upper, lower, digit, newline;
    uint64_t high;  /* not ASCII */
    uint64_t blank; /* white space of ASCII, but no newline */
    uint64_t space; /* ' ' */
    uint64_t quote; /* '\'' */
    uint64_t slash;
} window;

typedef struct half {
    uint32_t upper, lower, digit, newline, high, blank, space, quote, slash;
} half;

AVX2_INLINE __m256i equals(__m256i v, char c)
{
    return _mm256_cmpeq_epi8(v, _mm256_set1_epi8(c));
}

/* Bytes from `first` to `last`; both are below 0x80. */
AVX2_INLINE __m256i between(__m256i v, char first, char last)
{
    return _mm256_and_si256(_mm256_cmpgt_epi8(v, _mm256_set1_epi8((char)(first - 1))),
                            _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(last + 1)), v));
}

AVX2_INLINE uint32_t bits(__m256i v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

AVX2_INLINE half classify(const unsigned char *at)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i folded = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
    uint32_t letter = bits(between(folded, 'a', 'z'));
    uint32_t lowercase = bits(_mm256_slli_epi16(v, 2)); /* bit 5 of each byte */
    uint32_t newline = bits(_mm256_or_si256(equals(v, '\n'), equals(v, '\r')));
    uint32_t space = bits(equals(v, ' '));
    return (half){ .upper = letter & ~lowercase,
                   .lower = letter & lowercase,
                   .digit = bits(between(v, '0', '9')),
                   .newline = newline,
                   .high = bits(v),
                   .blank = (bits(between(v, '\t', '\r')) | space) & ~newline,
                   .space = space,
                   .quote = bits(equals(v, '\'')),
                   .slash = bits(equals(v, '/')) };
}

#define BOTH(field) ((uint64_t)b.field << 32 | a.field)

AVX2_INLINE window window_at(const unsigned char *at)
{
    half a = classify(at), b = classify(at + 32);
    return (window){ .upper = BOTH(upper),
                     .lower = BOTH(lower),
                     .digit = BOTH(digit),
                     .newline = BOTH(newline),
                     .high = BOTH(high),
                     .blank = BOTH(blank),
                     .space = BOTH(space),
                     .quote = BOTH(quote),
                     .slash = BOTH(slash) };
}

/* The bits below the lowest one of `mask`; all when there is none. */
AVX2_INLINE uint64_t below(uint64_t mask)
{
    return _blsmsk_u64(mask) & ~mask;
}

/* A run of numbers is cut after every third. */
AVX2_INLINE uint64_t thirds(uint64_t digit, uint64_t starts)
{
    uint64_t fourth = digit & digit << 1 & digit << 2 & digit << 3, all = starts;
    while ((starts = starts << 3 & fourth) != 0)
        all |= starts;
    return all;
}

/* The positions at which this window decides whether a piece begins.  White space before a character above ASCII, or
 * before the end of the window, may continue: there only its beginning is decided. */
AVX2_INLINE uint64_t decided(uint64_t white, uint64_t high)
{
    unsigned first = (unsigned)_tzcnt_u64(high);
    uint64_t known = _bzhi_u64(~0ull, first);
    unsigned run = WIDTH - (unsigned)_lzcnt_u64(~white & known); /* where the white space begins */
    return known & _bzhi_u64(~0ull, run + 1);
}

/* The first position that needs scan_rules.h, or 0. */
AVX2_INLINE uint64_t irregular(const window *w, uint64_t letter, uint64_t blank, uint64_t newline,
                               pattern kind)
{
    uint64_t found = kind == O200K ? (w->quote & letter << 1) | (w->slash & newline << 1)
                                   : (w->quote & letter >> 1) << 1;
    if (kind == CLAUDE) return found;
    /* white space between newlines belongs to them: adding carries through it to what comes next */
    uint64_t after = blank & newline << 1, next = (blank + after) & ~blank & newline;
    if (next) {
        uint64_t known = below(next);
        found |= 1ull << (WIDTH - _lzcnt_u64(~blank & known));
    }
    return found;
}

/* Where pieces begin in a window that begins with one.  *slow: the last of them needs scan_rules.h. */
AVX2_INLINE uint64_t starts_of(const window *w, bool *slow, pattern kind)
{
    uint64_t letter = w->upper | w->lower, digit = w->digit, high = w->high;
    uint64_t newline = kind == CLAUDE ? 0 : w->newline;
    uint64_t blank = kind == CLAUDE ? w->blank | w->newline : w->blank;
    uint64_t white = blank | newline, sign = ~(letter | digit | white | high);

    uint64_t spaced = w->space << 1; /* after a space that belongs to it */
    uint64_t signs = sign & ~(sign << 1) & ~spaced;
    uint64_t single = kind == CLAUDE ? 0 : signs & letter >> 1; /* a sign that belongs to a word */
    uint64_t attached = kind == CLAUDE ? spaced : (blank | single) << 1;
    uint64_t digits = digit & ~(digit << 1);

    uint64_t starts = signs | (letter & ~(letter << 1) & ~attached);
    if (kind == O200K) starts |= w->upper & w->lower << 1;
    starts |= kind == CLAUDE ? digits & ~spaced : thirds(digit, digits);
    starts |=
        white & ~(white << 1) & ~(newline & sign << 1); /* newlines after signs belong to them */
    starts |= newline << 1 & ~newline;
    starts |= blank & ~(white | high) >>
                          1; /* the last blank begins the next piece, or is a piece by itself */

    uint64_t irregulars = irregular(w, letter, blank, newline, kind);
    *slow = (irregulars | high) != 0;
    return (starts & decided(white, high) & below(irregulars)) | 1;
}

AVX2_INLINE const unsigned char *next_piece(const unsigned char *joins, const unsigned char *at,
                                            const unsigned char *end, maki_spans *spans,
                                            pattern kind)
{
    switch (kind) {
    case O200K: return piece_o200k(joins, at, end, spans);
    case CL100K: return piece_cl100k(joins, at, end, spans);
    case CLAUDE: break;
    }
    return piece_claude(joins, at, end, spans);
}

AVX2_INLINE void scan(const maki_table *table, const unsigned char *at, const unsigned char *end,
                      maki_spans *spans, pattern kind)
{
    const unsigned char *joins = maki_table_part(table, table->joins);
    while (end - at > WIDTH) {
        window w = window_at(at);
        bool slow;
        uint64_t starts = starts_of(&w, &slow, kind);
        unsigned last = WIDTH - 1 - (unsigned)_lzcnt_u64(starts);
        if (spans->n > MAKI_SPANS - WIDTH) spans->flush(spans);
        size_t n = spans->n;
        while ((starts &= starts - 1) != 0) /* each but the first ends a piece */
            spans->ends[n++] = at + _tzcnt_u64(starts);
        spans->n = n;
        at += last;
        if (!slow && last > 0) continue;
        do {
            at = next_piece(joins, at, end, spans, kind);
            maki_spans_add(spans, at);
        } while (at < end && *at >= 0x80);
    }
    while (at < end) {
        at = next_piece(joins, at, end, spans, kind);
        maki_spans_add(spans, at);
    }
    if (spans->n) spans->flush(spans);
}

AVX2 void maki_scan_o200k_avx2(const maki_table *table, const unsigned char *at,
                               const unsigned char *end, maki_spans *spans)
{
    scan(table, at, end, spans, O200K);
}

AVX2 void maki_scan_cl100k_avx2(const maki_table *table, const unsigned char *at,
                                const unsigned char *end, maki_spans *spans)
{
    scan(table, at, end, spans, CL100K);
}

AVX2 void maki_scan_claude_avx2(const maki_table *table, const unsigned char *at,
                                const unsigned char *end, maki_spans *spans)
{
    scan(table, at, end, spans, CLAUDE);
}

#endif

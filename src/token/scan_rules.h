/* scan_rules.h -- where one piece ends, for each expression: the complete rules, which both scanners share.
 *
 * Included by scan.c and scan_avx2.c.  The functions follow the alternatives of the expressions in
 * their order; the comments name them.
 *
 *   o200k   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+('s|...)?
 *           [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*('s|...)?
 *           \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *   cl100k  's|... | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]* | ... the same
 *   claude  's|... | ?\p{L}+ | ?\p{N}+ | ?[^\s\p{L}\p{N}]+ | \s+(?!\S) | \s+
 *
 * The contractions are 's 't 're 've 'm 'll 'd, in o200k and cl100k whatever their case. */
#ifndef MAKI_TOKEN_SCAN_RULES_H
#define MAKI_TOKEN_SCAN_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "token/char_classes.h"
#include "token/scan.h"

/* As in make_tables.c. */
enum { REST, UPPER, LOWER, OTHER, MARK, NUMBER, SPACE };
#define IN(class, set) ((1u << (class) & (set)) != 0)
enum {
    LETTERS = 1 << UPPER | 1 << LOWER | 1 << OTHER,
    UPPERS = 1 << UPPER | 1 << OTHER | 1 << MARK, /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] */
    LOWERS = 1 << LOWER | 1 << OTHER | 1 << MARK, /* [\p{Ll}\p{Lm}\p{Lo}\p{M}] */
    WORDS = UPPERS | LOWERS,
    SIGNS = 1 << REST | 1 << MARK /* [^\s\p{L}\p{N}] */
};

#define INLINE static inline __attribute__((always_inline))

/* A character: its class, its length in bytes, and its code point if `joins` covers it (U+3000 to U+9FFF), else 0. */
typedef struct character {
    unsigned class, len;
    uint32_t cjk;
} character;

INLINE bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

INLINE unsigned class_of(uint32_t code)
{
    return class_of_char[(size_t)class_block[code >> 7] << 7 | (code & 127)];
}

static inline character wide_char(const unsigned char *at, const unsigned char *end)
{
    size_t remaining = (size_t)(end - at);
    uint32_t lead = at[0], code;
    if (lead >= 0xe0 && lead < 0xf0 && remaining >= 3 && is_continuation(at[1]) &&
        is_continuation(at[2])) {
        code = (lead & 15) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u);
        if (code >= 0x800 && (code < 0xd800 || code > 0xdfff)) {
            return (character){ class_of(code), 3, code >= 0x3000 && code < 0xa000 ? code : 0 };
        }
    } else if (lead >= 0xc2 && lead < 0xe0 && remaining >= 2 && is_continuation(at[1])) {
        return (character){ class_of((lead & 31) << 6 | (at[1] & 63u)), 2, 0 };
    } else if (lead >= 0xf0 && lead < 0xf5 && remaining >= 4 && is_continuation(at[1]) &&
               is_continuation(at[2]) && is_continuation(at[3])) {
        code = (lead & 7) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 | (at[3] & 63u);
        if (code >= 0x10000 && code < 0x110000) return (character){ class_of(code), 4, 0 };
    }
    return (character){ REST, 1, 0 };
}

/* The character at `at`; class SPACE and len 0 at the end. */
INLINE character char_at(const unsigned char *at, const unsigned char *end)
{
    if (at == end) return (character){ SPACE, 0, 0 };
    if (*at < 0x80) return (character){ class_of_char[*at], 1, 0 };
    return wide_char(at, end);
}

INLINE bool is_newline(unsigned char byte)
{
    return byte == '\n' || byte == '\r';
}

/* The end of a contraction that begins at `at`, or `at`. */
static inline const unsigned char *contraction(const unsigned char *at, const unsigned char *end,
                                               bool any_case)
{
    size_t remaining = (size_t)(end - at);
    if (remaining < 2 || at[0] != '\'') return at;
    unsigned char fold = any_case ? 0x20 : 0, a = at[1] | fold;
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
    if (remaining < 3) return at;
    if (any_case && at[1] == 0xc5 && at[2] == 0xbf) return at + 3; /* U+017F is an s, too */
    unsigned char b = at[2] | fold;
    bool two_letters = (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l');
    return two_letters ? at + 3 : at;
}

/* ---- runs ---------------------------------------------------------------------------------------- */

/* Inside a word, between two characters: where no token joins them a span ends.  Without a branch, which could not be
 * predicted. */
INLINE void span_boundary(const unsigned char *joins, maki_spans *spans, const unsigned char *at,
                          uint32_t before, uint32_t now)
{
    uint32_t bit = maki_join_bit(before, now);
    bool separate = before && now && !(joins[bit / 8] >> bit % 8 & 1);
    spans->ends[spans->n] = at;
    spans->n += separate;
    if (spans->n == MAKI_SPANS) spans->flush(spans);
}

/* A run of CJK letters from U+3041 to U+9FFF (kana, and all of the kanji); *before is the last. */
INLINE const unsigned char *cjk_run(const unsigned char *joins, const unsigned char *at,
                                    const unsigned char *end, uint32_t *before, maki_spans *spans)
{
    while (end - at >= 3 && at[0] >= 0xe3 && at[0] <= 0xe9 && is_continuation(at[1]) &&
           is_continuation(at[2])) {
        uint32_t code = (at[0] & 15u) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u);
        if (class_of(code) != OTHER) break;
        span_boundary(joins, spans, at, *before, code);
        *before = code;
        at += 3;
    }
    return at;
}

/* The end of a run of characters of the classes in `set`, which includes LOWER and OTHER. */
INLINE const unsigned char *run(const unsigned char *joins, const unsigned char *at,
                                const unsigned char *end, unsigned set, uint32_t before,
                                maki_spans *spans)
{
    for (;;) {
        for (; at < end && *at >= 'a' && *at <= 'z'; at++)
            before = 0;
        at = cjk_run(joins, at, end, &before, spans);
        character c = char_at(at, end);
        if (c.len == 0 || !IN(c.class, set)) return at;
        span_boundary(joins, spans, at, before, c.cjk);
        before = c.cjk;
        at += c.len;
    }
}

/* The two word alternatives of o200k without their first optional character: upper* lower+, else
 * upper+ lower*.  Where the upper run is not followed by a lower letter, the regular expression gives
 * characters back until the last is in both classes.  `at` when neither matches; *first: the
 * first one did. */
INLINE const unsigned char *word(const unsigned char *joins, const unsigned char *at,
                                 const unsigned char *end, uint32_t before, maki_spans *spans,
                                 bool *first)
{
    const unsigned char *both = NULL; /* the end of the last character in both classes */
    *first = true;
    for (;;) {
        const unsigned char *from = at;
        at = cjk_run(joins, at, end, &before, spans);
        if (at > from) both = at;
        character c = char_at(at, end);
        if (c.len == 0 || !IN(c.class, UPPERS)) {
            if (c.len && c.class == LOWER) return run(joins, at, end, LOWERS, 0, spans);
            *first = both != NULL;
            return both ? both : at;
        }
        span_boundary(joins, spans, at, before, c.cjk);
        before = c.cjk;
        at += c.len;
        if (c.class != UPPER) both = at;
    }
}

/* The end of a run of at most `max` numbers. */
INLINE const unsigned char *numbers(const unsigned char *at, const unsigned char *end, size_t max)
{
    for (; max > 0; max--) {
        character c = char_at(at, end);
        if (c.len == 0 || c.class != NUMBER) break;
        at += c.len;
    }
    return at;
}

INLINE const unsigned char *signs(const unsigned char *at, const unsigned char *end)
{
    for (;;) {
        character c = char_at(at, end);
        if (c.len == 0 || !IN(c.class, SIGNS)) return at;
        at += c.len;
    }
}

/* \s*[\r\n]+ | \s+(?!\S) | \s+ (the first only with `newlines`); there is a space at `at`. */
static inline const unsigned char *spaces(const unsigned char *at, const unsigned char *end,
                                          bool newlines)
{
    const unsigned char *from = at, *last = at, *newline = NULL;
    while (at < end) {
        character c = char_at(at, end);
        if (c.class != SPACE) break;
        last = at;
        if (is_newline(*at)) newline = at + 1;
        at += c.len;
    }
    if (newline && newlines) return newline;
    return at == end || last == from ? at : last;
}

/* ---- one piece ------------------------------------------------------------------------------------- */

/* Each returns the end of the piece at `at` (at < end), and adds the ends of the spans inside it. */

INLINE const unsigned char *piece_o200k(const unsigned char *joins, const unsigned char *at,
                                        const unsigned char *end, maki_spans *spans)
{
    character c = char_at(at, end);
    const unsigned char *after = at + c.len, *stop;
    bool first;
    if (IN(c.class, LETTERS)) {
        return contraction(word(joins, at, end, 0, spans, &first), end, true);
    }
    if (c.class == NUMBER) return numbers(at, end, 3);
    if (!is_newline(*at)) {
        stop = word(joins, after, end, c.cjk, spans, &first);
        /* a mark can be the optional character or part of the word: the first alternative is tried
         * both ways before the second */
        if (c.class == MARK && (stop == after || !first)) return contraction(after, end, true);
        if (stop > after) return contraction(stop, end, true);
    }
    if (c.class != SPACE || (*at == ' ' && char_at(after, end).class == REST)) {
        stop = signs(c.class == SPACE ? after : at, end);
        while (stop < end && (is_newline(*stop) || *stop == '/'))
            stop++;
        return stop;
    }
    return spaces(at, end, true);
}

INLINE const unsigned char *piece_cl100k(const unsigned char *joins, const unsigned char *at,
                                         const unsigned char *end, maki_spans *spans)
{
    character c = char_at(at, end);
    const unsigned char *after = at + c.len, *stop;
    if (IN(c.class, LETTERS)) return run(joins, at, end, LETTERS, 0, spans);
    if (c.class == NUMBER) return numbers(at, end, 3);
    if (*at == '\'') {
        stop = contraction(at, end, true);
        if (stop > at) return stop;
    }
    if (!is_newline(*at)) {
        stop = run(joins, after, end, LETTERS, c.cjk, spans);
        if (stop > after) return stop;
    }
    if (IN(c.class, SIGNS) || (*at == ' ' && IN(char_at(after, end).class, SIGNS))) {
        stop = signs(c.class == SPACE ? after : at, end);
        while (stop < end && is_newline(*stop))
            stop++;
        return stop;
    }
    return spaces(at, end, true);
}

INLINE const unsigned char *piece_claude(const unsigned char *joins, const unsigned char *at,
                                         const unsigned char *end, maki_spans *spans)
{
    if (*at == '\'') {
        const unsigned char *stop = contraction(at, end, false);
        if (stop > at) return stop;
    }
    const unsigned char *from = *at == ' ' ? at + 1 : at; /* the optional space */
    character c = char_at(from, end);
    if (IN(c.class, LETTERS)) return run(joins, from, end, LETTERS, 0, spans);
    if (c.class == NUMBER) return numbers(from, end, SIZE_MAX);
    if (c.class != SPACE) return signs(from, end);
    return spaces(at, end, false);
}

#endif

/* scan.c -- the scanners in plain C, and where a text may be cut.
 *
 * In:     any bytes.
 * Out:    the spans in order, without gaps; the AVX2 scanners cut at the same positions. */
#include "token/scan_rules.h"

#define SCAN(name, piece)                                                                 \
    void name(const maki_table *table, const unsigned char *at, const unsigned char *end, \
              maki_spans *spans)                                                          \
    {                                                                                     \
        const unsigned char *joins = maki_table_part(table, table->joins);                \
        while (at < end) {                                                                \
            at = piece(joins, at, end, spans);                                            \
            maki_spans_add(spans, at);                                                    \
        }                                                                                 \
        if (spans->n) spans->flush(spans);                                                \
    }

SCAN(maki_scan_o200k, piece_o200k)
SCAN(maki_scan_cl100k, piece_cl100k)
SCAN(maki_scan_claude, piece_claude)

/* The length of the UTF-8 character that begins with this byte. */
static size_t char_length(unsigned char lead)
{
    return lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
}

/* A piece always ends between a letter or a number and a character that is no letter, mark, number or apostrophe: only
 * those continue it.  An incomplete character at the end may become any. */
const unsigned char *maki_scan_cut(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *next = end; /* where the character after p begins */
    bool next_ends_word = false;     /* that character ends a word or a number */
    for (const unsigned char *p = end; p > at; next = p) {
        do {
            p--;
        } while (is_continuation(*p) && p > at && next - p < 4);
        if (is_continuation(*p) || char_length(*p) > (size_t)(end - p)) {
            next_ends_word = false;
            continue;
        }
        character c = char_at(p, end);
        bool is_complete = p + c.len == next;
        if (is_complete && next_ends_word && IN(c.class, LETTERS | 1 << NUMBER)) return next;
        next_ends_word = is_complete && IN(c.class, 1 << REST | 1 << SPACE) && *p != '\'';
    }
    return at;
}

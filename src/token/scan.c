/* scan.c -- see scan.h. */
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
        if (spans->n) spans->take(spans);                                                 \
    }

SCAN(maki_scan_o200k, piece_o200k)
SCAN(maki_scan_cl100k, piece_cl100k)
SCAN(maki_scan_claude, piece_claude)

/* The bytes of a character that begins with this one. */
static size_t wanted(unsigned char lead)
{
    return lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
}

/* A piece always ends between a letter or a number and a character that is none of letter, mark, number
 * or apostrophe: nothing but those goes on after one.  A character that is not all here may be any. */
const unsigned char *maki_scan_cut(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *next = end; /* where the character after p begins */
    bool stops = false;              /* that one ends a word or a number */
    for (const unsigned char *p = end; p > at; next = p) {
        do {
            p--;
        } while (is_tail(*p) && p > at && next - p < 4);
        if (is_tail(*p) || wanted(*p) > (size_t)(end - p)) {
            stops = false;
            continue;
        }
        character c = char_at(p, end);
        bool whole = p + c.len == next;
        if (whole && stops && IN(c.class, LETTERS | 1 << NUMBER)) return next;
        stops = whole && IN(c.class, 1 << REST | 1 << SPACE) && *p != '\'';
    }
    return at;
}

/* suggest.c -- find the most similar of several names by Levenshtein distance, with one row of the matrix on the
 * stack. */
#include "base/suggest.h"

#include <stdint.h>

#include "base/str_util.h"
#include "base/text.h"

enum { NAME_MAX = 63 };

/* Decode a name to code points in lower case; returns their number, or SIZE_MAX for an invalid or too long name. */
static size_t decode_name(maki_str name, uint32_t out[NAME_MAX])
{
    size_t n = 0;
    if (!maki_utf8_valid(name, NULL)) return SIZE_MAX;
    for (size_t at = 0, len = 0; at < name.len; at += len) {
        if (n == NAME_MAX) return SIZE_MAX;
        uint32_t c = maki_utf8_decode(name, at, &len);
        out[n++] = c >= 'A' && c <= 'Z' ? c + 32 : c;
    }
    return n;
}

size_t maki_edit_distance(maki_str a, maki_str b)
{
    uint32_t left[NAME_MAX], right[NAME_MAX];
    size_t row[NAME_MAX + 1];
    size_t m = decode_name(a, left), n = decode_name(b, right);
    if (m == SIZE_MAX || n == SIZE_MAX) return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t substitution = diagonal + (left[i - 1] != right[j - 1]);
            size_t insertion = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = substitution < insertion ? substitution : insertion;
        }
    }
    return row[n];
}

maki_suggest maki_suggest_for(maki_str name)
{
    uint32_t ignored[NAME_MAX];
    size_t n = decode_name(name, ignored);
    size_t max_errors = n < 2 || n == SIZE_MAX ? 0 : n < 4 ? 1 : n < 12 ? n / 3 + 1 : 5;
    return (maki_suggest){ .name = name, .limit = max_errors + 1 };
}

void maki_suggest_candidate(maki_suggest *best, maki_str candidate)
{
    size_t d = maki_edit_distance(best->name, candidate);
    bool is_prefix = best->name.len >= 3 && maki_str_starts(candidate, best->name);
    if (is_prefix && d > 1) d = 1;                      /* an abbreviation */
    if (d >= best->limit || d >= candidate.len) return; /* nothing of it would be left */
    best->limit = d;
    best->found = candidate;
}

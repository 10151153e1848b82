/* scan.h -- cut a text into spans that are encoded independently.
 *
 * Each encoding has a regular expression that cuts text into pieces; no token lies across two of
 * them.  A scanner finds the same pieces as the expression on every input, and cuts a piece further
 * between two CJK characters that no token joins (`joins` in table.h), because merging cannot cross
 * such a place either.  So a span is a piece or a part of one.
 *
 * Invalid UTF-8 is read byte by byte as if each byte were U+FFFD. */
#ifndef MAKI_TOKEN_SCAN_H
#define MAKI_TOKEN_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "token/table.h"

/* A batch of adjacent spans. */
enum { MAKI_SPANS = 512 };
typedef struct maki_spans maki_spans;
struct maki_spans {
    const unsigned char *start; /* of the first */
    const unsigned char *ends[MAKI_SPANS];
    size_t n;
    void (*flush)(maki_spans *self); /* consumes them: `start` moves behind the last, n becomes 0 */
};

static inline void maki_spans_add(maki_spans *spans, const unsigned char *end)
{
    spans->ends[spans->n++] = end;
    if (spans->n == MAKI_SPANS) spans->flush(spans);
}

/* Cut [at, end) into spans and flush all of them.  spans->start is `at`. */
typedef void maki_scan_fn(const maki_table *table, const unsigned char *at,
                          const unsigned char *end, maki_spans *spans);

/* The three expressions, in plain C ... */
maki_scan_fn maki_scan_o200k, maki_scan_cl100k, maki_scan_claude;
/* ... and with AVX2 and BMI, for processors that have them.  Both give the same spans. */
maki_scan_fn maki_scan_o200k_avx2, maki_scan_cl100k_avx2, maki_scan_claude_avx2;

/* The last position in [at, end) where a piece of every expression ends, whatever comes before and after this text; `at` if
 * there is none. */
const unsigned char *maki_scan_cut(const unsigned char *at, const unsigned char *end);

#endif

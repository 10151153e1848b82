/* term_bitmap.h -- a similarity hash of a text, 256 bits: texts are compared without knowing their language.
 *
 * One bit for each of its first 64 terms: words of three letters or more in lower case; of Chinese, Japanese
 * and Korean text every pair of neighbouring characters, except pairs of hiragana, which are mostly grammar. */
#ifndef MAKI_SUMMARY_TERM_BITMAP_H
#define MAKI_SUMMARY_TERM_BITMAP_H

#include <stdint.h>

#include <maki/str.h>

typedef struct maki_term_bitmap {
    uint64_t bits[4];
} maki_term_bitmap;

/* Set of terms to ignore, as a bitmap of their hashes; zeroed is empty. */
typedef struct maki_term_filter {
    uint64_t bits[64];
} maki_term_filter;
void maki_term_filter_add(maki_term_filter *filter, maki_str text);

/* `text` is valid UTF-8. */
maki_term_bitmap maki_term_bitmap_of(maki_str text);
/* Without the terms of the filter. */
maki_term_bitmap maki_term_bitmap_without(maki_str text, const maki_term_filter *filter);
/* How many terms two texts share; of a text and itself: how many it has. */
unsigned maki_term_bitmap_shared(const maki_term_bitmap *a, const maki_term_bitmap *b);

#endif

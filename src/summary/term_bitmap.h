/* term_bitmap.h -- a bitmap of the terms of a text, 256 bits: two texts are compared by the bits that they share, in
 * any language.
 *
 * One bit for each of its first 64 terms: words of three letters or more in lower case; of Chinese, Japanese
 * and Korean text every pair of neighbouring characters, except pairs of hiragana, which are mostly grammar. */
#ifndef MAKI_SUMMARY_TERM_BITMAP_H
#define MAKI_SUMMARY_TERM_BITMAP_H

#include <stdint.h>

#include <maki/str.h>

/* This bit of a hash: the term is two characters of Japanese, Chinese or Korean, not a word. */
enum { MAKI_TERM_CJK = 1 << 16 };

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
/* The terms themselves, as hashes, in the order of the text; returns how many, at most `capacity`. */
size_t maki_terms_of(maki_str text, const maki_term_filter *filter, uint32_t *terms,
                     size_t capacity);
maki_term_bitmap maki_term_bitmap_of_terms(const uint32_t *terms, size_t count);
/* How many terms two texts share; of a text and itself: how many it has. */
unsigned maki_term_bitmap_shared(const maki_term_bitmap *a, const maki_term_bitmap *b);

#endif

/* terms.h -- what a sentence is about, as numbers: to compare texts without knowing their language.
 *
 * Words of three letters or more in lower case; of Chinese, Japanese and Korean text every pair of
 * neighbouring characters, but pairs of hiragana, which are mostly grammar. */
#ifndef MAKI_SUMMARY_TERMS_H
#define MAKI_SUMMARY_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/str.h>

enum { MAKI_TERMS_MOST = 64 };

typedef struct maki_terms {
    uint32_t at[MAKI_TERMS_MOST]; /* rising, each once */
    size_t count;
} maki_terms;

/* The first MAKI_TERMS_MOST terms of a text that is valid UTF-8. */
void maki_terms_of(maki_str text, maki_terms *out);

/* How many terms two texts share. */
size_t maki_terms_shared(const maki_terms *a, const maki_terms *b);

/* The terms as 256 bits: texts that share terms share bits. */
void maki_terms_sketch(const maki_terms *terms, uint64_t sketch[4]);
unsigned maki_sketch_shared(const uint64_t a[4], const uint64_t b[4]);

/* Is it Chinese, Japanese or Korean?  Is it hiragana? */
bool maki_is_cjk(uint32_t code);
bool maki_is_hiragana(uint32_t code);

#endif

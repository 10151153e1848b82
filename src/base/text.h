/* text.h -- UTF-8: is it valid, how long is it, where may it be cut.
 *
 * "Units" are UTF-16 code units, which is what the reference systems call characters: one for every
 * character up to U+FFFF, two above.  No function here ever cuts inside a character. */
#ifndef MAKI_BASE_TEXT_H
#define MAKI_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/str.h>

/* Valid UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.  If not, *bad_at (unless
 * NULL) is the first byte of the first bad sequence. */
bool maki_utf8_valid(maki_str text, size_t *bad_at);

/* The longest prefix of at most `max` bytes that ends on a character boundary. */
maki_str maki_utf8_cut(maki_str text, size_t max);

/* How many bytes at the end of `text` are the beginning of a character that needs more: 0 to 3. */
size_t maki_utf8_unfinished(maki_str text);

/* The length in units.  `text` is valid. */
uint64_t maki_utf16_len(maki_str text);

/* The character that starts at text.ptr[at] of valid text; *len is its length in bytes. */
uint32_t maki_utf8_char(maki_str text, size_t at, size_t *len);

/* Write `code` as UTF-8; returns 1 to 4.  A surrogate or a value too large becomes U+FFFD. */
size_t maki_utf8_put(uint32_t code, char out[4]);

/* The inner loops, in plain C and, where the processor has them, in AVX2.  Both answer the same for
 * every input, which the tests check; callers take maki_text_kernels_best(). */
typedef struct maki_text_kernels {
    const char *name;
    /* The first byte that ends or complicates a JSON string: a quote, a backslash or a byte below
     * 0x20; n if there is none. */
    size_t (*find_special)(const char *at, size_t n);
    /* The length of the longest valid UTF-8 prefix, n if all is valid. */
    size_t (*utf8_good)(const char *at, size_t n);
} maki_text_kernels;

const maki_text_kernels *maki_text_kernels_best(void);
const maki_text_kernels *maki_text_kernels_plain(void);

#endif

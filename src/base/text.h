/* text.h -- UTF-8: validate, decode, encode, truncate, measure; and the inner loops over JSON strings.
 *
 * "Units" are UTF-16 code units, which the reference systems call characters: one for every character up to U+FFFF, two
 * above.  No function here splits a character. */
#ifndef MAKI_BASE_TEXT_H
#define MAKI_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/str.h>

#include "base/ascii.h"

/* Valid UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.  If not, *bad_at (unless NULL) is the offset of
 * the first invalid sequence. */
bool maki_utf8_valid(maki_str text, size_t *bad_at);

/* Split any bytes: returns the valid prefix of *rest and removes it with the invalid byte after it (*bad: there was
 * one). */
maki_str maki_utf8_next_valid(maki_str *rest, bool *bad);

/* The longest prefix of at most `max` bytes that ends on a character boundary. */
maki_str maki_utf8_truncate(maki_str text, size_t max);

/* The length of an incomplete character at the end of `text`: 0 to 3 bytes. */
size_t maki_utf8_incomplete(maki_str text);

/* 1234567 as "1,234,567", in `out`. */
enum { MAKI_GROUPED_MAX = 32 };
const char *maki_grouped(uint64_t value, char out[MAKI_GROUPED_MAX]);

/* Replace control characters, which would break a line or control a terminal, by spaces. */
void maki_utf8_one_line(char *text, size_t n);

/* The length in units.  `text` is valid. */
uint64_t maki_utf16_len(maki_str text);

/* Decode the character at text.ptr[at] of valid text; *len is its length in bytes. */
uint32_t maki_utf8_decode(maki_str text, size_t at, size_t *len);

/* Encode a code point; returns 1 to 4.  A surrogate or a value that is too large becomes U+FFFD. */
size_t maki_utf8_encode(uint32_t code, char out[4]);

/* The inner loops, in plain C and in AVX2.  Both return the same, which the tests check; callers use
 * maki_text_kernels_best(). */
typedef struct maki_text_kernels {
    const char *name;
    /* The offset of the first quote, backslash or byte below 0x20, or n. */
    size_t (*find_special)(const char *at, size_t n);
    /* The same, skipping valid escapes: it stops at the closing quote, a byte below 0x20, an invalid escape, or one
     * truncated by the end. */
    size_t (*skip_string)(const char *at, size_t n);
    /* The closing quote of a valid string; n when it is not in these bytes. */
    size_t (*string_end)(const char *at, size_t n);
    /* The length of the container that begins at at[0], in valid JSON; n when it does not end in these bytes. */
    size_t (*container_len)(const char *at, size_t n);
    /* The length in units of the escaped bytes of a valid JSON string. */
    uint64_t (*escaped_utf16_len)(const char *at, size_t n);
    /* The length of the longest valid UTF-8 prefix, n if all is valid. */
    size_t (*utf8_valid_len)(const char *at, size_t n);
} maki_text_kernels;

/* The length of the JSON escape whose backslash is at[0]: 2 or 6; 0 when it is invalid or truncated. */
static inline size_t maki_escape_len(const char *at, size_t n)
{
    static const unsigned char simple[128] = {
        ['"'] = 1, ['\\'] = 1, ['/'] = 1, ['b'] = 1, ['f'] = 1, ['n'] = 1, ['r'] = 1, ['t'] = 1
    };
    if (n < 2) return 0;
    unsigned char c = (unsigned char)at[1];
    if (c < 128 && simple[c]) return 2;
    if (c != 'u' || n < 6) return 0;
    for (size_t i = 2; i < 6; i++)
        if (!maki_is_hex(at[i])) return 0;
    return 6;
}

extern const maki_text_kernels maki_text_plain;
#if defined(__x86_64__)
extern const maki_text_kernels maki_text_avx2; /* where the processor has AVX2, BMI and POPCNT */
#endif

/* Needed for every short string, so it is inline. */
static inline const maki_text_kernels *maki_text_kernels_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("popcnt")) {
        return &maki_text_avx2;
    }
#endif
    return &maki_text_plain;
}

#endif

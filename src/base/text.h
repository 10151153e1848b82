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

/* Of any bytes: the valid text that *rest begins with, taken off it together with the byte behind it, which is none
 * (*bad: there is such a byte). */
maki_str maki_utf8_next_valid(maki_str *rest, bool *bad);

/* The longest prefix of at most `max` bytes that ends on a character boundary. */
maki_str maki_utf8_truncate(maki_str text, size_t max);

/* How many bytes at the end of `text` are the beginning of a character that needs more: 0 to 3. */
size_t maki_utf8_incomplete(maki_str text);

/* 1234567 as "1,234,567", in `out`. */
enum { MAKI_GROUPED_MAX = 32 };
const char *maki_grouped(uint64_t value, char out[MAKI_GROUPED_MAX]);

/* Control characters, which would break a line or the terminal that shows it, become spaces. */
void maki_utf8_one_line(char *text, size_t n);

/* The length in units.  `text` is valid. */
uint64_t maki_utf16_len(maki_str text);

/* The character that starts at text.ptr[at] of valid text; *len is its length in bytes. */
uint32_t maki_utf8_decode(maki_str text, size_t at, size_t *len);

/* Write `code` as UTF-8; returns 1 to 4.  A surrogate or a value too large becomes U+FFFD. */
size_t maki_utf8_encode(uint32_t code, char out[4]);

/* The inner loops, in plain C and, where the processor has them, in AVX2.  Both answer the same,
 * which the tests check; callers take maki_text_kernels_best(). */
typedef struct maki_text_kernels {
    const char *name;
    /* The first byte that ends or complicates a JSON string: a quote, a backslash or a byte below
     * 0x20; n if there is none. */
    size_t (*find_special)(const char *at, size_t n);
    /* The same, stepping over escapes that are whole and right: so it stops at the closing quote, at
     * a byte below 0x20, at a bad escape, or at one that runs past the end. */
    size_t (*skip_string)(const char *at, size_t n);
    /* Where a string ends that is known to be right: its closing quote, or n when it goes on past n. */
    size_t (*string_end)(const char *at, size_t n);
    /* A container that begins at at[0], of JSON that is known to be right: its length, or n when it
     * goes on past n. */
    size_t (*container_len)(const char *at, size_t n);
    /* The length in units of what stands between the quotes of a JSON string that is right. */
    uint64_t (*escaped_units)(const char *at, size_t n);
    /* The length of the longest valid UTF-8 prefix, n if all is valid. */
    size_t (*utf8_valid_len)(const char *at, size_t n);
} maki_text_kernels;

/* The length of the JSON escape whose backslash is at[0]: 2 or 6, or 0 when it is bad or not whole. */
static inline size_t maki_escape_len(const char *at, size_t n)
{
    static const unsigned char simple[128] = {
        ['"'] = 1, ['\\'] = 1, ['/'] = 1, ['b'] = 1, ['f'] = 1, ['n'] = 1, ['r'] = 1, ['t'] = 1
    };
    if (n < 2) return 0;
    unsigned char c = (unsigned char)at[1];
    if (c < 128 && simple[c]) return 2;
    if (c != 'u' || n < 6) return 0;
    for (size_t i = 2; i < 6; i++) {
        char d = at[i];
        bool hex = (d >= '0' && d <= '9') || (d >= 'a' && d <= 'f') || (d >= 'A' && d <= 'F');
        if (!hex) return 0;
    }
    return 6;
}

extern const maki_text_kernels maki_text_plain;
#if defined(__x86_64__)
extern const maki_text_kernels maki_text_avx2; /* where the processor has AVX2, BMI and POPCNT */
#endif

/* Asked for every short string, so it costs no call. */
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

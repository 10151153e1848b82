/* utf8_reference.h -- a simple UTF-8 decoder, to test the fast code against. */
#ifndef MAKI_TESTS_UTF8_REFERENCE_H
#define MAKI_TESTS_UTF8_REFERENCE_H

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The length of the character at s (of n bytes), or 0: read the bits as the lead byte says,
 * then accept only the shortest form of a Unicode scalar value. */
static inline size_t reference_char(const unsigned char *s, size_t n)
{
    static const uint32_t min[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = s[0] < 0x80             ? 1
                 : (s[0] & 0xE0) == 0xC0 ? 2
                 : (s[0] & 0xF0) == 0xE0 ? 3
                 : (s[0] & 0xF8) == 0xF0 ? 4
                                         : 0;
    if (len == 0 || len > n) return 0;
    uint32_t code = len == 1 ? s[0] : s[0] & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (s[i] & 0x3F);
    }
    if (code < min[len] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
    return len;
}

/* The length of the longest valid prefix. */
static inline size_t reference_valid_len(const char *text, size_t n)
{
    size_t at = 0;
    while (at < n) {
        size_t len = reference_char((const unsigned char *)text + at, n - at);
        if (len == 0) return at;
        at += len;
    }
    return n;
}

/* The first quote, backslash or byte below 0x20, or n. */
static inline size_t reference_special(const char *text, size_t n)
{
    size_t at = 0;
    while (at < n && text[at] != '"' && text[at] != '\\' && (unsigned char)text[at] >= 0x20)
        at++;
    return at;
}

/* The end of a JSON string: its quote, a byte below 0x20, or an escape that is invalid or cut. */
static inline size_t reference_string_end(const char *text, size_t n)
{
    size_t at = 0;
    while (at < n && text[at] != '"' && (unsigned char)text[at] >= 0x20) {
        if (text[at] != '\\') {
            at++;
            continue;
        }
        if (at + 1 == n || !text[at + 1] || !strchr("\"\\/bfnrtu", text[at + 1])) return at;
        size_t len = text[at + 1] == 'u' ? 6 : 2;
        if (at + len > n) return at;
        for (size_t k = 2; k < len; k++) {
            if (!isxdigit((unsigned char)text[at + k])) return at;
        }
        at += len;
    }
    return at;
}

#endif

/* text.c -- UTF-8 in plain C, the plain kernels, and the longer functions of str_util.h. */
#include "base/text.h"

#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"

/* ---- plain kernels ------------------------------------------------------------------------- */

static const uint64_t low_bits = 0x0101010101010101u;
static const uint64_t high_bits = 0x8080808080808080u;

/* The high bit of every byte of `word` that is zero; bits above the first such byte may be wrong. */
static inline uint64_t zero_bytes(uint64_t word)
{
    return (word - low_bits) & ~word & high_bits;
}

static inline bool is_special(unsigned char c)
{
    return c < 0x20 || c == '"' || c == '\\';
}

static size_t plain_find_special(const char *at, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        uint64_t low = (word - low_bits * 0x20) & ~word & high_bits;
        if (low | zero_bytes(word ^ (low_bits * '"')) | zero_bytes(word ^ (low_bits * '\\'))) break;
    }
    while (i < n && !is_special((unsigned char)at[i]))
        i++;
    return i;
}

static size_t plain_skip_string(const char *at, size_t n)
{
    size_t i = 0;
    for (;;) {
        i += plain_find_special(at + i, n - i);
        if (i == n || at[i] != '\\') return i;
        size_t len = maki_escape_len(at + i, n - i);
        if (len == 0) return i;
        i += len;
    }
}

static size_t plain_string_end(const char *at, size_t n)
{
    size_t i = 0;
    while (i < n && at[i] != '"')
        i += at[i] == '\\' ? 2 : 1;
    return i < n ? i : n;
}

static size_t plain_container_len(const char *at, size_t n)
{
    size_t depth = 0;
    bool in_string = false, escaped = false;
    for (size_t i = 0; i < n; i++) {
        char c = at[i];
        if (c == '"' && !escaped) {
            in_string = !in_string;
        } else if (!in_string && (c == '{' || c == '[')) {
            depth++;
        } else if (!in_string && (c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    return n;
}

/* Counts every byte of an escape as a unit, then subtracts the excess: an escape is one unit.  (A surrogate pair is
 * two escapes and two units.) */
static uint64_t plain_escaped_units(const char *at, size_t n)
{
    uint64_t units = maki_utf16_len((maki_str){ at, n });
    const char *end = at + n;
    while (end > at && (at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        size_t len = end - at >= 6 && at[1] == 'u' ? 6 : 2;
        units -= len - 1;
        at += len;
    }
    return units;
}

static inline bool is_cont(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* The length of the character at s, of n bytes; 0 when it is invalid or truncated. */
static size_t char_len(const unsigned char *s, size_t n)
{
    unsigned char c = s[0];
    if (c < 0x80) return 1;
    if (c < 0xC2 || c > 0xF4) return 0;
    if (n < 2 || !is_cont(s[1])) return 0;
    if (c < 0xE0) return 2;
    if (c == 0xE0 && s[1] < 0xA0) return 0; /* overlong */
    if (c == 0xED && s[1] > 0x9F) return 0; /* a surrogate */
    if (c == 0xF0 && s[1] < 0x90) return 0; /* overlong */
    if (c == 0xF4 && s[1] > 0x8F) return 0; /* above U+10FFFF */
    if (n < 3 || !is_cont(s[2])) return 0;
    if (c < 0xF0) return 3;
    return n >= 4 && is_cont(s[3]) ? 4 : 0;
}

static size_t plain_utf8_valid_len(const char *at, size_t n)
{
    const unsigned char *s = (const unsigned char *)at;
    size_t i = 0;
    while (i < n) {
        uint64_t word;
        while (i + 8 <= n && (memcpy(&word, s + i, 8), (word & high_bits) == 0))
            i += 8;
        if (i == n) break;
        size_t len = char_len(s + i, n - i);
        if (len == 0) return i;
        i += len;
    }
    return n;
}

const maki_text_kernels maki_text_plain = {
    .name = "plain",
    .find_special = plain_find_special,
    .skip_string = plain_skip_string,
    .string_end = plain_string_end,
    .container_len = plain_container_len,
    .escaped_utf16_len = plain_escaped_units,
    .utf8_valid_len = plain_utf8_valid_len,
};

/* ---- UTF-8 --------------------------------------------------------------------------------- */

bool maki_utf8_valid(maki_str text, size_t *bad_at)
{
    if (text.len == 0) return true; /* its pointer may be NULL */
    size_t valid = maki_text_kernels_best()->utf8_valid_len(text.ptr, text.len);
    if (valid == text.len) return true;
    if (bad_at) *bad_at = valid;
    return false;
}

maki_str maki_utf8_next_valid(maki_str *rest, bool *bad)
{
    maki_str text = *rest;
    *bad = !maki_utf8_valid(text, &text.len);
    *rest = maki_str_skip(*rest, text.len + *bad);
    return text;
}

maki_str maki_utf8_truncate(maki_str text, size_t max)
{
    if (text.len <= max) return text;
    while (max > 0 && is_cont((unsigned char)text.ptr[max]))
        max--;
    return maki_str_prefix(text, max);
}

size_t maki_utf8_incomplete(maki_str text)
{
    for (size_t tail_len = 1; tail_len <= 3 && tail_len <= text.len; tail_len++) {
        unsigned char c = (unsigned char)text.ptr[text.len - tail_len];
        if (is_cont(c)) continue;
        /* Can more bytes make it valid?  Complete it with continuation bytes that are valid after its lead byte. */
        unsigned char completed[4] = { c, c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80, 0x80, 0x80 };
        memcpy(completed, text.ptr + text.len - tail_len, tail_len);
        return char_len(completed, sizeof completed) > tail_len ? tail_len : 0;
    }
    return 0;
}

const char *maki_grouped(uint64_t value, char out[MAKI_GROUPED_MAX])
{
    char *at = out + MAKI_GROUPED_MAX;
    *--at = '\0';
    for (unsigned digits = 1;; digits++) {
        *--at = (char)('0' + value % 10);
        value /= 10;
        if (value == 0) return at;
        if (digits % 3 == 0) *--at = ',';
    }
}

void maki_utf8_one_line(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7F) text[i] = ' ';
        if (c == 0xC2 && i + 1 < n && (text[i + 1] & 0xE0) == 0x80)
            text[i] = text[i + 1] = ' '; /* U+0080-9F */
    }
}

uint64_t maki_utf16_len(maki_str text)
{
    enum { BLOCK = 124 }; /* at most two units per byte: the sum of a block fits into a byte */
    uint64_t units = 0;
    const unsigned char *s = (const unsigned char *)text.ptr;
    for (size_t remaining = text.len; remaining > 0;) {
        size_t n = remaining < BLOCK ? remaining : BLOCK;
        unsigned char sum = 0; /* a byte, so that the compiler can add 32 at a time */
        for (size_t i = 0; i < n; i++) {
            sum = (unsigned char)(sum + (unsigned char)!is_cont(s[i]) +
                                  (unsigned char)(s[i] >= 0xF0));
        }
        units += sum;
        s += n;
        remaining -= n;
    }
    return units;
}

uint32_t maki_utf8_decode(maki_str text, size_t at, size_t *len)
{
    const unsigned char *s = (const unsigned char *)text.ptr + at;
    if (s[0] < 0x80) return (*len = 1, s[0]);
    if (s[0] < 0xE0) return (*len = 2, (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu));
    if (s[0] < 0xF0) {
        return (*len = 3, (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu));
    }
    return (*len = 4,
            (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu));
}

size_t maki_utf8_encode(uint32_t code, char out[4])
{
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = 0xFFFD;
    if (code < 0x80) return (out[0] = (char)code, 1);
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* ---- borrowed strings ---------------------------------------------------------------------- */

bool maki_str_in(maki_str text, const char *words)
{
    return maki_str_index(text, words) != SIZE_MAX;
}

size_t maki_str_index(maki_str text, const char *words)
{
    maki_str word;
    for (size_t i = 0; maki_words_next(&words, &word); i++) {
        if (maki_str_equal(text, word)) return i;
    }
    return SIZE_MAX;
}

bool maki_str_contains(maki_str text, maki_str part)
{
    return part.len == 0 || (text.len && memmem(text.ptr, text.len, part.ptr, part.len));
}

size_t maki_str_find_nocase(maki_str text, maki_str part)
{
    for (size_t i = 0; i + part.len <= text.len; i++) {
        size_t k = 0;
        while (k < part.len && maki_lower(text.ptr[i + k]) == maki_lower(part.ptr[k])) {
            k++;
        }
        if (k == part.len) return i;
    }
    return text.len;
}

bool maki_str_glob(maki_str pattern, maki_str text, bool nocase)
{
    size_t p = 0, t = 0, star = pattern.len, star_end = 0; /* the last * and the end of its match */
    while (t < text.len) {
        char a = p < pattern.len ? pattern.ptr[p] : 0;
        char b = text.ptr[t];
        if (p < pattern.len && a == '*') {
            star = p++;
            star_end = t;
        } else if (p < pattern.len && (nocase ? maki_lower(a) == maki_lower(b) : a == b)) {
            p++, t++;
        } else if (star < pattern.len) {
            p = star + 1;
            t = ++star_end;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

bool maki_str_contains_nocase(maki_str text, maki_str part)
{
    return part.len == 0 || maki_str_find_nocase(text, part) < text.len;
}

/* The length in bytes of the character at `at` if JavaScript's trim() removes it, else 0. */
static size_t space_len(maki_str text, size_t at)
{
    unsigned char c = (unsigned char)text.ptr[at];
    size_t len = 0;
    if (c == ' ' || (c >= 0x09 && c <= 0x0D)) return 1;
    if (c < 0xC2) return 0;
    uint32_t code = maki_utf8_decode(text, at, &len);
    bool is_space = code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
                    code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
                    code == 0x3000 || code == 0xFEFF;
    return is_space ? len : 0;
}

maki_str maki_str_trim(maki_str text)
{
    size_t space = 0;
    while (text.len && (space = space_len(text, 0)) > 0)
        text = maki_str_skip(text, space);
    while (text.len) {
        size_t at = text.len - 1;
        while (at > 0 && is_cont((unsigned char)text.ptr[at]))
            at--;
        if (space_len(text, at) == 0) break;
        text = maki_str_prefix(text, at);
    }
    return text;
}

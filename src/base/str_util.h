/* str_util.h -- comparing, slicing, searching and parsing borrowed strings. */
#ifndef MAKI_BASE_STR_UTIL_H
#define MAKI_BASE_STR_UTIL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <maki/str.h>

static inline bool maki_str_equal(maki_str a, maki_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool maki_str_starts(maki_str text, maki_str prefix)
{
    if (prefix.len == 0) return true; /* memcmp must not get NULL, not even with length 0 */
    return text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0;
}

static inline bool maki_str_ends(maki_str text, maki_str end)
{
    return text.len >= end.len &&
           maki_str_equal((maki_str){ text.ptr + text.len - end.len, end.len }, end);
}

/* Without the first `at` bytes; the first `end` bytes. */
static inline maki_str maki_str_skip(maki_str text, size_t at)
{
    return (maki_str){ text.ptr + at, text.len - at };
}

static inline maki_str maki_str_prefix(maki_str text, size_t end)
{
    return (maki_str){ text.ptr, end };
}

/* The last `c` in `text`, or NULL. */
static inline const char *maki_str_last(maki_str text, char c)
{
    for (size_t i = text.len; i > 0; i--) {
        if (text.ptr[i - 1] == c) return text.ptr + i - 1;
    }
    return NULL;
}

/* Split *rest at its first `end`: *piece is what comes before, *rest what follows.  False: there is no `end`, and *piece is
 * all of it. */
static inline bool maki_str_take(maki_str *rest, char end, maki_str *piece)
{
    const char *at = rest->len ? (const char *)memchr(rest->ptr, end, rest->len) : NULL;
    *piece = maki_str_prefix(*rest, at ? (size_t)(at - rest->ptr) : rest->len);
    *rest = maki_str_skip(*rest, piece->len + (at != NULL));
    return at != NULL;
}

/* Does `text` consist of these characters only? */
static inline bool maki_str_only(maki_str text, const char *characters)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!text.ptr[i] || !strchr(characters, text.ptr[i])) return false;
    }
    return true;
}

/* maki_str_take that returns the piece. */
static inline maki_str maki_str_cut(maki_str *rest, char end)
{
    maki_str piece;
    maki_str_take(rest, end, &piece);
    return piece;
}

/* Parse 1 to 18 decimal digits; false, and *out is 0, for anything else. */
static inline bool maki_str_number(maki_str digits, uint64_t *out)
{
    uint64_t value = 0;
    *out = 0;
    if (digits.len == 0 || digits.len > 18) return false;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9') return false;
        value = value * 10 + (uint64_t)(digits.ptr[i] - '0');
    }
    *out = value;
    return true;
}

/* Copy `text` to a C string in out[capacity]; false: it was truncated. */
static inline bool maki_str_copy(maki_str text, char *out, size_t capacity)
{
    size_t n = text.len < capacity ? text.len : capacity - 1;
    if (n) memcpy(out, text.ptr, n);
    out[n] = '\0';
    return n == text.len;
}

/* Append the bytes at *end, which moves behind them; returns the copy. */
static inline maki_str maki_str_push(char **end, maki_str text)
{
    maki_str copy = { *end, text.len };
    if (text.len)
        memcpy(*end, text.ptr, text.len); /* memcpy must not get NULL, not even for nothing */
    *end += text.len;
    return copy;
}

/* Iterate over the words of a list like "user|assistant"; false after the last. */
static inline bool maki_words_next(const char **words, maki_str *word)
{
    const char *bar = strchr(*words, '|');
    *word = (maki_str){ *words, bar ? (size_t)(bar - *words) : strlen(*words) };
    *words += word->len + (bar != NULL);
    return word->len > 0;
}

/* Look up `name` in a table whose rows begin with a C string: the first match, or NULL. */
#define MAKI_TABLE_FIND(rows, name) \
    maki_table_find((rows), sizeof(rows) / sizeof(rows)[0], sizeof(rows)[0], (name))
static inline const void *maki_table_find(const void *rows, size_t count, size_t size,
                                          maki_str name)
{
    const char *row = (const char *)rows;
    for (; count > 0; row += size, count--) {
        if (maki_str_equal(name, maki_str_of(*(const char *const *)(const void *)row))) return row;
    }
    return NULL;
}

/* Is `text` one of these words?  Its index, or SIZE_MAX. */
bool maki_str_in(maki_str text, const char *words);
size_t maki_str_index(maki_str text, const char *words);
/* Does `text` contain `part`?  Every text contains an empty one. */
bool maki_str_contains(maki_str text, maki_str part);
/* The same, ignoring the case of ASCII letters. */
bool maki_str_contains_nocase(maki_str text, maki_str part);
/* The offset of the first `part` in `text`, ignoring the case of ASCII letters; text.len if it is missing. */
size_t maki_str_find_nocase(maki_str text, maki_str part);
/* Does `text` match `pattern`, in which * matches any characters? */
bool maki_str_glob(maki_str pattern, maki_str text, bool nocase);
/* Trim white space at both ends as JavaScript's trim() does.  `text` is valid UTF-8. */
maki_str maki_str_trim(maki_str text);

#endif

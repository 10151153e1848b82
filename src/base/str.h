/* str.h -- small questions to ask a borrowed string. */
#ifndef MAKI_BASE_STR_H
#define MAKI_BASE_STR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <maki/str.h>

/* The two arguments of a "%.*s". */
#define MAKI_PRINTED(text) (int)(text).len, (text).ptr

static inline maki_str maki_str_of(const char *text)
{
    return (maki_str){ text, strlen(text) };
}

static inline bool maki_str_is(maki_str a, maki_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool maki_str_starts(maki_str text, maki_str prefix)
{
    if (prefix.len == 0) return true; /* memcmp takes no NULL, not even for nothing */
    return text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0;
}

static inline bool maki_str_ends(maki_str text, maki_str end)
{
    return text.len >= end.len &&
           maki_str_is((maki_str){ text.ptr + text.len - end.len, end.len }, end);
}

static inline maki_str maki_str_from(maki_str text, size_t at)
{
    return (maki_str){ text.ptr + at, text.len - at };
}

static inline maki_str maki_str_to(maki_str text, size_t end)
{
    return (maki_str){ text.ptr, end };
}

/* Where `c` last stands in `text`, or NULL. */
static inline const char *maki_str_last(maki_str text, char c)
{
    for (size_t i = text.len; i > 0; i--) {
        if (text.ptr[i - 1] == c) return text.ptr + i - 1;
    }
    return NULL;
}

/* What *rest begins with up to `end`, and both taken off it; false: there was no `end`, the piece is all of it. */
static inline bool maki_str_take(maki_str *rest, char end, maki_str *piece)
{
    const char *at = rest->len ? (const char *)memchr(rest->ptr, end, rest->len) : NULL;
    *piece = maki_str_to(*rest, at ? (size_t)(at - rest->ptr) : rest->len);
    *rest = maki_str_from(*rest, piece->len + (at != NULL));
    return at != NULL;
}

/* Is there nothing in it but these characters? */
static inline bool maki_str_only(maki_str text, const char *characters)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!text.ptr[i] || !strchr(characters, text.ptr[i])) return false;
    }
    return true;
}

/* The same; the piece. */
static inline maki_str maki_str_cut(maki_str *rest, char end)
{
    maki_str piece;
    maki_str_take(rest, end, &piece);
    return piece;
}

/* Digits alone, 18 at most; false, and *out is 0: it is no such number. */
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

/* A C string of `text`, as much of it as there is room for; false: that was not all. */
static inline bool maki_str_copy(maki_str text, char *out, size_t capacity)
{
    size_t n = text.len < capacity ? text.len : capacity - 1;
    if (n) memcpy(out, text.ptr, n);
    out[n] = '\0';
    return n == text.len;
}

/* The next of the words between the bars of a list, "user|assistant"; false after the last. */
static inline bool maki_words_next(const char **words, maki_str *word)
{
    const char *bar = strchr(*words, '|');
    *word = (maki_str){ *words, bar ? (size_t)(bar - *words) : strlen(*words) };
    *words += word->len + (bar != NULL);
    return word->len > 0;
}

/* Is `text` one of them?  Which one, from 0 on: SIZE_MAX if it is none. */
bool maki_str_in(maki_str text, const char *words);
size_t maki_str_index(maki_str text, const char *words);
/* Does `text` contain `part`?  An empty part is in every text. */
bool maki_str_has(maki_str text, maki_str part);
/* The same, letters A-Z and a-z being equal. */
bool maki_str_has_nocase(maki_str text, maki_str part);
/* Where `part` first stands in `text`, letters A-Z and a-z being equal, or text.len. */
size_t maki_str_find_nocase(maki_str text, maki_str part);
/* Does `text` look like `pattern`, in which a star stands for any characters? */
bool maki_str_glob(maki_str pattern, maki_str text, bool nocase);
/* Without white space, as JavaScript's trim() sees it, at both ends.  `text` is valid UTF-8. */
maki_str maki_str_trim(maki_str text);

#endif

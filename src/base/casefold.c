/* casefold.c -- fold a text one character at a time; ASCII needs no table. */
#include "base/casefold.h"

#include <stdbool.h>
#include <string.h>

#include <utf8proc.h>

#include "base/ascii.h"

typedef struct fold_writer {
    char *out;
    size_t n, capacity;
    bool full;
} fold_writer;

static void put(fold_writer *w, const void *bytes, size_t n)
{
    w->full = w->full || w->n + n > w->capacity;
    if (w->full) return;
    memcpy(w->out + w->n, bytes, n);
    w->n += n;
}

static void put_space(fold_writer *w)
{
    if (w->n == 0 || w->out[w->n - 1] != ' ') put(w, " ", 1);
}

static void put_code(fold_writer *w, utf8proc_int32_t code)
{
    utf8proc_uint8_t bytes[4];
    if (utf8proc_category(code) == UTF8PROC_CATEGORY_ZS)
        put_space(w);
    else
        put(w, bytes, (size_t)utf8proc_encode_char(code, bytes));
}

/* Full-width letters fold to ASCII; a letter with its marks to one code point, so that both ways to write it are found.
 * `text` is one run of characters outside of ASCII. */
static void put_run(fold_writer *w, maki_str text)
{
    enum { RUN_MAX = 256 };
    const utf8proc_option_t options =
        UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;
    utf8proc_int32_t codes[RUN_MAX];
    utf8proc_ssize_t n = utf8proc_decompose((const utf8proc_uint8_t *)text.ptr,
                                            (utf8proc_ssize_t)text.len, codes, RUN_MAX, options);
    if (n > 0 && n <= RUN_MAX) n = utf8proc_normalize_utf32(codes, n, options);
    if (n < 0 || n > RUN_MAX) {
        put(w, text.ptr, text.len);
        return;
    }
    for (utf8proc_ssize_t i = 0; i < n; i++)
        put_code(w, codes[i]);
}

/* The end of the run at `at`: characters outside of ASCII, with the ASCII letter before them, which they may mark. */
static size_t end_of_run(maki_str text, size_t at)
{
    enum { RUN_BYTES = 96 };
    size_t end = at;
    while (end < text.len && ((unsigned char)text.ptr[end] >= 0x80 || end == at) &&
           (end - at < RUN_BYTES || ((unsigned char)text.ptr[end] & 0xc0) == 0x80))
        end++;
    return end;
}

size_t maki_casefold(maki_str text, char *out, size_t capacity)
{
    fold_writer w = { .out = out, .capacity = capacity };
    for (size_t i = 0; i < text.len;) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool marked = i + 1 < text.len && (unsigned char)text.ptr[i + 1] >= 0x80;
        if (c < 0x80 && (c <= ' ' || !marked)) {
            char lower = maki_lower((char)c);
            if (c <= ' ')
                put_space(&w);
            else
                put(&w, &lower, 1);
            i++;
        } else {
            size_t end = end_of_run(text, i);
            put_run(&w, (maki_str){ text.ptr + i, end - i });
            i = end;
        }
    }
    return w.n;
}

/* import_source.c -- read a file of any size block by block: its lines, or the items of a JSON container.
 *
 * In:    a descriptor.  Out: spans in the buffer, borrowed until the next call.
 * Must stay true: memory is one item and one block, whatever the file; an item is at most MAKI_ROW_MAX bytes. */
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "history/import_internal.h"

enum { BLOCK = 1 << 20 };

maki_status maki_source_open(maki_source *src, const maki_env *env, int fd, maki_err *err)
{
    off_t size = maki_file_size(env->files, fd);
    if (size < 0) return maki_fail_errno(err, "cannot read the size of the source");
    *src = (maki_source){ .env = env,
                          .fd = fd,
                          .size = (uint64_t)size,
                          .text = maki_buf_new(env->alloc, (size_t)MAKI_ROW_MAX + 2 * BLOCK) };
    return MAKI_OK;
}

void maki_source_close(maki_source *src)
{
    maki_buf_free(&src->text);
}

void maki_source_seek(maki_source *src, uint64_t at)
{
    maki_buf_clear(&src->text);
    src->at = at;
    src->pos = 0;
    src->ended = false;
}

uint64_t maki_source_position(const maki_source *src)
{
    return src->at + src->pos;
}

/* Read another block; the bytes before pos are dropped. */
static maki_status fill(maki_source *src, maki_err *err)
{
    maki_buf *text = &src->text;
    size_t read_bytes = 0;
    if (src->pos) {
        memmove(text->ptr, text->ptr + src->pos, text->len - src->pos);
        text->len -= src->pos;
        src->at += src->pos;
        src->pos = 0;
    }
    char *free_space = maki_buf_reserve(text, BLOCK);
    if (!free_space) return maki_buf_status(text, err);
    maki_status st = maki_file_read_at(src->env->files, src->fd, src->at + text->len, free_space,
                                       BLOCK, &read_bytes, err);
    if (st != MAKI_OK) return st;
    text->len += read_bytes;
    src->ended = read_bytes < BLOCK;
    return MAKI_OK;
}

maki_status maki_source_line(maki_source *src, maki_str *line, bool *more, maki_err *err)
{
    size_t seen = 0; /* bytes after pos without a newline */
    for (;;) {
        size_t remaining = src->text.len - src->pos;
        const char *start = src->text.ptr + src->pos;
        const char *newline =
            remaining > seen ? memchr(start + seen, '\n', remaining - seen) : NULL;
        if (newline || src->ended) {
            size_t n = newline ? (size_t)(newline - start) : remaining;
            *more = newline || n > 0;
            *line = (maki_str){ n ? start : "", n };
            src->pos += n + (newline != NULL);
            if (n && line->ptr[n - 1] == '\r') line->len--;
            return MAKI_OK;
        }
        seen = remaining;
        maki_status st = fill(src, err);
        if (st != MAKI_OK) return st;
    }
}

maki_status maki_source_peek(maki_source *src, char *byte, maki_err *err)
{
    for (;;) {
        while (src->pos < src->text.len) {
            char c = src->text.ptr[src->pos];
            if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != ',' && c != ':') {
                *byte = c;
                return MAKI_OK;
            }
            src->pos++;
        }
        *byte = '\0';
        if (src->ended) return MAKI_OK;
        maki_status st = fill(src, err);
        if (st != MAKI_OK) return st;
    }
}

void maki_source_enter(maki_source *src)
{
    src->pos++;
}

/* A scanner for the end of a JSON value, by brackets and strings. */
typedef struct value_scan {
    size_t depth;
    bool in_string, after_backslash, in_scalar, done;
} value_scan;

static bool ends_scalar(char c)
{
    return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Scan more of a value; returns how many of the bytes belong to it. */
static size_t scan_value(value_scan *scan, const char *at, size_t n,
                         const maki_text_kernels *kernels)
{
    size_t i = 0;
    while (i < n && !scan->done) {
        char c = at[i];
        if (scan->after_backslash) {
            scan->after_backslash = false;
        } else if (scan->in_string) {
            i += kernels->find_special(at + i, n - i);
            if (i == n) break;
            scan->after_backslash = at[i] == '\\';
            scan->in_string = at[i] != '"';
            scan->done = !scan->in_string && scan->depth == 0;
        } else if (scan->in_scalar) {
            if (ends_scalar(c)) {
                scan->done = true;
                break;
            }
        } else if (c == '"') {
            scan->in_string = true;
        } else if (c == '{' || c == '[') {
            scan->depth++;
        } else if (c == '}' || c == ']') {
            if (scan->depth) scan->depth--;
            scan->done = scan->depth == 0;
        } else if (scan->depth == 0) {
            scan->in_scalar = true;
        }
        i++;
    }
    return i;
}

size_t maki_import_value_len(maki_str text)
{
    value_scan scan = { 0 };
    return scan_value(&scan, text.ptr, text.len, maki_text_kernels_best());
}

/* Read the value at the current position into *out; without `buffered`, skip it in constant memory. */
static maki_status read_value(maki_source *src, bool buffered, maki_str *out, maki_err *err)
{
    const maki_text_kernels *kernels = maki_text_kernels_best();
    value_scan scan = { 0 };
    size_t len = 0; /* of the value, from pos */
    for (;;) {
        size_t remaining = src->text.len - src->pos;
        len += scan_value(&scan, src->text.ptr + src->pos + len, remaining - len, kernels);
        if (!buffered) {
            src->pos += len;
            len = 0;
        }
        if (scan.done || src->ended) break;
        maki_status st = fill(src, err);
        if (st != MAKI_OK) return st;
    }
    *out = (maki_str){ src->text.ptr + src->pos, len };
    src->pos += len;
    return MAKI_OK;
}

maki_status maki_source_item(maki_source *src, maki_str *item, bool *more, maki_err *err)
{
    char c = 0;
    maki_status st = maki_source_peek(src, &c, err);
    if (st != MAKI_OK) return st;
    *more = c != '\0' && c != ']' && c != '}';
    if (!*more) {
        if (c) src->pos++;
        return MAKI_OK;
    }
    return read_value(src, true, item, err);
}

maki_status maki_source_skip(maki_source *src, maki_err *err)
{
    char c = 0;
    maki_str none;
    maki_status st = maki_source_peek(src, &c, err);
    if (st != MAKI_OK || c == '\0') return st;
    return read_value(src, false, &none, err);
}

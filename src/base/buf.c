/* buf.c -- append to an owned buffer, whose capacity doubles up to its limit; the first failure sticks. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"

enum { MIN_CAPACITY = 256 };

maki_buf maki_buf_new(const maki_alloc *alloc, size_t max)
{
    return (maki_buf){ .alloc = alloc, .max = max, .status = MAKI_OK };
}

void maki_buf_free(maki_buf *buf)
{
    if (buf->ptr) buf->alloc->resize(buf->alloc, buf->ptr, buf->capacity, 0);
    buf->ptr = NULL;
    buf->len = buf->capacity = 0;
}

static char *fail(maki_buf *buf, maki_status status)
{
    buf->status = status;
    return NULL;
}

char *maki_buf_reserve(maki_buf *buf, size_t n)
{
    size_t required = 0;
    if (buf->status != MAKI_OK) return NULL;
    if (!maki_size_add(buf->len, n, &required) || required > buf->max)
        return fail(buf, MAKI_TOOBIG);
    if (required > buf->capacity) {
        size_t capacity = buf->capacity > buf->max / 2 ? buf->max : buf->capacity * 2;
        if (capacity < MIN_CAPACITY) capacity = MIN_CAPACITY < buf->max ? MIN_CAPACITY : buf->max;
        if (capacity < required) capacity = required;
        char *moved = buf->alloc->resize(buf->alloc, buf->ptr, buf->capacity, capacity);
        if (!moved) return fail(buf, MAKI_NOMEM);
        buf->ptr = moved;
        buf->capacity = capacity;
    }
    return buf->ptr ? buf->ptr + buf->len : NULL; /* NULL: 0 bytes reserved in an empty buffer */
}

void maki_buf_add(maki_buf *buf, maki_str bytes)
{
    if (bytes.len == 0) return;
    char *at = maki_buf_reserve(buf, bytes.len);
    if (!at) return;
    memcpy(at, bytes.ptr, bytes.len);
    buf->len += bytes.len;
}

void maki_buf_add_byte(maki_buf *buf, char byte)
{
    maki_buf_add(buf, (maki_str){ &byte, 1 });
}

void maki_buf_print(maki_buf *buf, const char *fmt, ...)
{
    va_list args, copy;
    va_start(args, fmt);
    va_copy(copy, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    char *at = n < 0 ? NULL : maki_buf_reserve(buf, (size_t)n + 1); /* with its NUL */
    if (at) vsnprintf(at, (size_t)n + 1, fmt, copy);
    if (at) buf->len += (size_t)n;
    va_end(copy);
    va_end(args);
}

void maki_buf_clear(maki_buf *buf)
{
    buf->len = 0;
    buf->status = MAKI_OK;
}

maki_str maki_buf_str(const maki_buf *buf)
{
    return (maki_str){ buf->ptr ? buf->ptr : "", buf->len };
}

maki_status maki_buf_status(const maki_buf *buf, maki_err *err)
{
    if (buf->status == MAKI_OK) return MAKI_OK;
    if (buf->status == MAKI_NOMEM) return maki_fail_nomem(err);
    return maki_fail(err, MAKI_TOOBIG, "more than %zu bytes in one buffer", buf->max);
}

maki_status maki_buf_to_arena(maki_buf *buf, maki_arena *arena, maki_str *out, maki_err *err)
{
    maki_status st = maki_buf_status(buf, err);
    if (st == MAKI_OK) {
        *out = maki_arena_copy(arena, maki_buf_str(buf));
        st = maki_arena_status(arena, err);
    }
    maki_buf_free(buf);
    return st;
}

void maki_buf_add_base64(maki_buf *buf, maki_str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        uint32_t group = 0;
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        for (size_t k = 0; k < 3; k++)
            group = group << 8 | (k < n ? (unsigned char)bytes.ptr[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            maki_buf_add_byte(buf, k <= n ? digits[group >> (18 - 6 * k) & 63] : '=');
    }
}

static maki_status sink_write(void *ctx, maki_str bytes, maki_err *err)
{
    maki_buf_add(ctx, bytes);
    return maki_buf_status(ctx, err);
}

maki_sink maki_buf_sink(maki_buf *buf)
{
    return (maki_sink){ sink_write, buf };
}

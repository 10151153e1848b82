/* sse.c -- parse server-sent events: split bytes into lines and lines into fields; an empty line dispatches the event.
 * Only a line that is incomplete at the end of a call is buffered. */
#include "net/sse.h"

#include <string.h>

#include "base/str_util.h"

maki_sse maki_sse_new(const maki_alloc *alloc, size_t max)
{
    return (maki_sse){ .line = maki_buf_new(alloc, max),
                       .name = maki_buf_new(alloc, max),
                       .data = maki_buf_new(alloc, max) };
}

void maki_sse_free(maki_sse *sse)
{
    maki_buf_free(&sse->line);
    maki_buf_free(&sse->name);
    maki_buf_free(&sse->data);
}

/* An empty line: the event is complete. */
static maki_status dispatch(maki_sse *sse, maki_sse_fn fn, void *ctx, maki_err *err)
{
    maki_status st = maki_buf_status(&sse->data, err);
    if (st == MAKI_OK) st = maki_buf_status(&sse->name, err);
    if (st == MAKI_OK && sse->has_data) {
        maki_sse_event event = { maki_buf_str(&sse->name), maki_buf_str(&sse->data) };
        st = fn(ctx, &event, err);
    }
    maki_buf_clear(&sse->name);
    maki_buf_clear(&sse->data);
    sse->has_data = false;
    return st;
}

static maki_status handle_line(maki_sse *sse, maki_str line, maki_sse_fn fn, void *ctx,
                               maki_err *err)
{
    if (!sse->started) { /* skip a byte order mark */
        sse->started = true;
        if (line.len >= 3 && memcmp(line.ptr, "\xef\xbb\xbf", 3) == 0) line.ptr += 3, line.len -= 3;
    }
    if (line.len == 0) return dispatch(sse, fn, ctx, err);
    const char *colon = memchr(line.ptr, ':', line.len);
    maki_str field = { line.ptr, colon ? (size_t)(colon - line.ptr) : line.len };
    maki_str value = { "", 0 };
    if (colon) value = (maki_str){ colon + 1, line.len - field.len - 1 };
    if (value.len && value.ptr[0] == ' ') value.ptr++, value.len--;
    if (maki_str_equal(field, MAKI_LIT("data"))) {
        if (sse->has_data) maki_buf_add_byte(&sse->data, '\n');
        maki_buf_add(&sse->data, value);
        sse->has_data = true;
        return maki_buf_status(&sse->data, err);
    }
    if (maki_str_equal(field, MAKI_LIT("event"))) {
        maki_buf_clear(&sse->name);
        maki_buf_add(&sse->name, value);
        return maki_buf_status(&sse->name, err);
    }
    return MAKI_OK;
}

/* The length of the line at `at`, without its line end; n: no line end in these n bytes. */
static size_t line_length(const char *at, size_t n)
{
    const char *lf = memchr(at, '\n', n), *cr = memchr(at, '\r', lf ? (size_t)(lf - at) : n);
    return cr ? (size_t)(cr - at) : lf ? (size_t)(lf - at) : n;
}

maki_status maki_sse_feed(maki_sse *sse, maki_str bytes, maki_sse_fn fn, void *ctx, maki_err *err)
{
    while (bytes.len) {
        if (sse->after_cr && bytes.ptr[0] == '\n') { /* the second half of a CRLF */
            sse->after_cr = false;
            bytes.ptr++, bytes.len--;
            continue;
        }
        sse->after_cr = false;
        size_t len = line_length(bytes.ptr, bytes.len);
        if (len == bytes.len || sse->line.len)
            maki_buf_add(&sse->line, (maki_str){ bytes.ptr, len });
        maki_status st = maki_buf_status(&sse->line, err);
        if (st != MAKI_OK || len == bytes.len) return st;
        maki_str line = sse->line.len ? maki_buf_str(&sse->line) : (maki_str){ bytes.ptr, len };
        sse->after_cr = bytes.ptr[len] == '\r';
        st = handle_line(sse, line, fn, ctx, err);
        maki_buf_clear(&sse->line);
        if (st != MAKI_OK) return st;
        bytes.ptr += len + 1;
        bytes.len -= len + 1;
    }
    return MAKI_OK;
}

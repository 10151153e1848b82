/* line_reader.c -- see line_reader.h. */
#include "summary/line_reader.h"

#include <string.h>

#include "base/json_access.h"
#include "base/text.h"

/* Where to cut a full line: after the last white space of its second half, else after a character. */
static size_t cut_at(maki_str line)
{
    for (size_t i = line.len; i > line.len / 2; i--) {
        char c = line.ptr[i - 1];
        if (c == ' ' || c == '\t') return i;
    }
    return line.len - maki_utf8_incomplete(line);
}

static void hand_over(maki_line_reader *feed, size_t len, bool more)
{
    feed->fn(feed->ctx, (maki_str){ feed->capacity, len }, more);
    memmove(feed->capacity, feed->capacity + len, feed->len - len);
    feed->len -= len;
}

/* Part of a line, without a newline in it. */
static void add(maki_line_reader *feed, maki_str part)
{
    while (part.len) {
        size_t free = sizeof feed->capacity - feed->len;
        size_t n = part.len < free ? part.len : free;
        memcpy(feed->capacity + feed->len, part.ptr, n);
        feed->len += n;
        part = (maki_str){ part.ptr + n, part.len - n };
        if (part.len) hand_over(feed, cut_at((maki_str){ feed->capacity, feed->len }), true);
    }
}

static maki_status take(void *ctx, maki_str bytes, maki_err *err)
{
    maki_line_reader *feed = ctx;
    (void)err;
    while (bytes.len) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = end ? (size_t)(end - bytes.ptr) : bytes.len;
        add(feed, (maki_str){ bytes.ptr, n });
        if (end) {
            hand_over(feed, feed->len, false);
            n++;
        }
        bytes = (maki_str){ bytes.ptr + n, bytes.len - n };
    }
    return MAKI_OK;
}

void maki_line_reader_string(maki_line_reader *feed, maki_str string, maki_text_line_fn fn,
                             void *ctx)
{
    maki_sink sink = { take, feed };
    feed->len = 0;
    feed->fn = fn;
    feed->ctx = ctx;
    (void)maki_json_text_to(maki_json_inside(string), sink, NULL); /* the sink never fails */
    if (feed->len) hand_over(feed, feed->len, false);
}

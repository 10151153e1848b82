/* line_reader.c -- buffer the unescaped text of a JSON string, and emit it line by line.
 *
 * A full buffer is emitted up to its last white space; the rest stays for the next part of the line. */
#include "summary/line_reader.h"

#include <string.h>

#include "base/json_access.h"
#include "base/text.h"

/* Where to cut a full line: after the last white space of its second half, else after a character. */
static size_t cut_position(maki_str line)
{
    for (size_t i = line.len; i > line.len / 2; i--) {
        char c = line.ptr[i - 1];
        if (c == ' ' || c == '\t') return i;
    }
    return line.len - maki_utf8_incomplete(line);
}

static void emit(maki_line_reader *reader, size_t len, bool more)
{
    reader->fn(reader->ctx, (maki_str){ reader->buffer, len }, more);
    memmove(reader->buffer, reader->buffer + len, reader->len - len);
    reader->len -= len;
}

/* Append a part of a line, without a newline in it. */
static void append(maki_line_reader *reader, maki_str part)
{
    while (part.len) {
        size_t free = sizeof reader->buffer - reader->len;
        size_t n = part.len < free ? part.len : free;
        memcpy(reader->buffer + reader->len, part.ptr, n);
        reader->len += n;
        part = (maki_str){ part.ptr + n, part.len - n };
        if (part.len) emit(reader, cut_position((maki_str){ reader->buffer, reader->len }), true);
    }
}

static maki_status on_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    maki_line_reader *reader = ctx;
    (void)err;
    while (bytes.len) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = end ? (size_t)(end - bytes.ptr) : bytes.len;
        append(reader, (maki_str){ bytes.ptr, n });
        if (end) {
            emit(reader, reader->len, false);
            n++;
        }
        bytes = (maki_str){ bytes.ptr + n, bytes.len - n };
    }
    return MAKI_OK;
}

static void begin(maki_line_reader *reader, maki_text_line_fn fn, void *ctx)
{
    reader->len = 0;
    reader->fn = fn;
    reader->ctx = ctx;
}

void maki_line_reader_text(maki_line_reader *reader, maki_str text, maki_text_line_fn fn, void *ctx)
{
    begin(reader, fn, ctx);
    (void)on_bytes(reader, text, NULL); /* it never fails */
    if (reader->len) emit(reader, reader->len, false);
}

void maki_line_reader_string(maki_line_reader *reader, maki_str string, maki_text_line_fn fn,
                             void *ctx)
{
    maki_sink sink = { on_bytes, reader };
    begin(reader, fn, ctx);
    (void)maki_json_unescape_to(maki_json_strip_quotes(string), sink,
                                NULL); /* the sink never fails */
    if (reader->len) emit(reader, reader->len, false);
}

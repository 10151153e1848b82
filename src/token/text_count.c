/* text_count.c -- counting texts that are put together from parts, from JSON strings and from compact JSON.
 *
 * In:     parts of one text, in order.
 * Out:    the tokens of the whole text, as if it had been in memory at once.
 * Always: up to 8 KB are buffered; what is longer goes through a maki_token_stream.  Each begin needs its end, which frees
 *         the stream. */
#include "token/text_count.h"

#include <stddef.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "token/compact.h"

/* ---- a text in parts ------------------------------------------------------------------------------ */

void maki_text_count_begin(maki_text_count *c, maki_tokenizer *t, maki_err *err)
{
    memset(c, 0, offsetof(maki_text_count, buffer));
    c->tokenizer = t;
    c->err = err;
}

static void stream_bytes(maki_text_count *c, maki_str bytes)
{
    if (c->status != MAKI_OK || bytes.len == 0) return;
    c->status = maki_token_stream_add(&c->stream, c->tokenizer, bytes, NULL, NULL, c->err);
}

void maki_text_count_bytes(maki_text_count *c, maki_str bytes)
{
    if (bytes.len > sizeof c->buffer - c->fill) {
        stream_bytes(c, (maki_str){ c->buffer, c->fill });
        c->fill = 0;
    }
    if (bytes.len > sizeof c->buffer) {
        stream_bytes(c, bytes);
        return;
    }
    if (bytes.len) memcpy(c->buffer + c->fill, bytes.ptr, bytes.len);
    c->fill += bytes.len;
}

maki_status maki_text_count_end(maki_text_count *c, uint64_t *tokens)
{
    maki_str rest = { c->buffer, c->fill };
    bool streamed = c->stream.tokens > 0 || c->stream.len > 0;
    if (c->status == MAKI_OK && !streamed) {
        *tokens = maki_tokenizer_count(c->tokenizer, rest); /* most texts are short */
    } else if (c->status == MAKI_OK) {
        stream_bytes(c, rest);
    }
    maki_status ended = maki_token_stream_end(&c->stream, c->tokenizer, NULL, NULL,
                                              c->status == MAKI_OK ? c->err : NULL);
    if (c->status == MAKI_OK) c->status = ended;
    if (c->status == MAKI_OK && streamed) *tokens = c->stream.tokens;
    return c->status;
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

/* A quote that is not escaped cannot be the first byte between the quotes. */
static maki_str without_quotes(maki_str string)
{
    return string.len >= 2 && string.ptr[0] == '"' ? maki_json_strip_quotes(string) : string;
}

static maki_status add_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    maki_text_count *c = ctx;
    (void)err; /* c has its own */
    maki_text_count_bytes(c, bytes);
    return c->status;
}

void maki_text_count_json_text(maki_text_count *c, maki_str string)
{
    maki_sink sink = { add_bytes, c };
    if (c->status == MAKI_OK)
        c->status = maki_json_unescape_to(without_quotes(string), sink, c->err);
}

void maki_text_count_compact(maki_text_count *c, maki_str value)
{
    maki_sink sink = { add_bytes, c };
    if (c->status == MAKI_OK) c->status = maki_json_compact(value, sink, c->err);
}

maki_status maki_count_json_text(maki_tokenizer *t, maki_str string, uint64_t *tokens,
                                 maki_err *err)
{
    maki_text_count c;
    maki_str escaped = without_quotes(string);
    if (escaped.len == 0 || !memchr(escaped.ptr, '\\', escaped.len)) {
        *tokens = maki_tokenizer_count(t, escaped);
        return MAKI_OK;
    }
    maki_text_count_begin(&c, t, err);
    maki_text_count_json_text(&c, escaped);
    return maki_text_count_end(&c, tokens);
}

maki_status maki_count_compact(maki_tokenizer *t, maki_str value, uint64_t *tokens, maki_err *err)
{
    maki_text_count c;
    maki_text_count_begin(&c, t, err);
    maki_text_count_compact(&c, value);
    return maki_text_count_end(&c, tokens);
}

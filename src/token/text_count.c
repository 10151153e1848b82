/* text_count.c -- see text_count.h. */
#include "token/text_count.h"

#include <stddef.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "base/text.h"
#include "token/compact.h"

/* ---- a text in parts ------------------------------------------------------------------------------ */

void maki_text_count_begin(maki_text_count *c, maki_tokenizer *t, maki_err *err)
{
    memset(c, 0, offsetof(maki_text_count, waiting));
    c->tokenizer = t;
    c->err = err;
}

static void hand_on(maki_text_count *c, maki_str bytes)
{
    if (c->status != MAKI_OK || bytes.len == 0) return;
    c->status = maki_token_stream_add(&c->stream, c->tokenizer, bytes, NULL, NULL, c->err);
}

void maki_text_count_bytes(maki_text_count *c, maki_str bytes)
{
    if (bytes.len > sizeof c->waiting - c->fill) {
        hand_on(c, (maki_str){ c->waiting, c->fill });
        c->fill = 0;
    }
    if (bytes.len > sizeof c->waiting) {
        hand_on(c, bytes);
        return;
    }
    if (bytes.len) memcpy(c->waiting + c->fill, bytes.ptr, bytes.len);
    c->fill += bytes.len;
}

maki_status maki_text_count_end(maki_text_count *c, uint64_t *tokens)
{
    maki_str rest = { c->waiting, c->fill };
    bool streamed = c->stream.tokens > 0 || c->stream.len > 0;
    if (c->status == MAKI_OK && !streamed) {
        *tokens = maki_tokenizer_count(c->tokenizer, rest); /* most texts are short */
    } else if (c->status == MAKI_OK) {
        hand_on(c, rest);
    }
    maki_status ended = maki_token_stream_end(&c->stream, c->tokenizer, NULL, NULL,
                                              c->status == MAKI_OK ? c->err : NULL);
    if (c->status == MAKI_OK) c->status = ended;
    if (c->status == MAKI_OK && streamed) *tokens = c->stream.tokens;
    return c->status;
}

/* ---- strings ---------------------------------------------------------------------------------------- */

static maki_str inside_of(maki_str string)
{
    /* what stands inside never begins with a quote that is not escaped */
    return string.len >= 2 && string.ptr[0] == '"' ? maki_json_inside(string) : string;
}

/* What the letter after a backslash stands for; 0 for u, which is longer. */
static const char letters[256] = { ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                   ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t' };

/* The first backslash of eight bytes, 8 when there is none. */
static size_t find_backslash(const char *at)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word ^= ones * '\\';
    uint64_t hit = (word - ones) & ~word & tops;
    if (!hit) return 8;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_ctzll(hit) / 8;
#else
    size_t i = 0;
    while (at[i] != '\\')
        i++;
    return i;
#endif
}

/* Copy text from *from on without its escapes, up to `end` or until `room` is full but for 8 bytes at
 * most.  Lines of code have an escape every thirty bytes, so there are no calls in here. */
static size_t unescape(const char **from, const char *end, char *out, size_t capacity)
{
    const char *p = *from;
    size_t n = 0;
    while (p < end && capacity - n >= 8) {
        size_t plain = 0;
        if (end - p >= 8) {
            plain = find_backslash(p);
            memcpy(out + n, p, 8); /* a few too many: they are overwritten */
            p += plain;
            n += plain;
            if (plain == 8) continue;
        } else if (*p != '\\') {
            out[n++] = *p++;
            continue;
        }
        if (capacity - n < 8) break;
        char letter = letters[(unsigned char)p[1]];
        if (letter) {
            out[n++] = letter;
            p += 2;
        } else {
            size_t len = 0;
            n += maki_utf8_encode(maki_json_escape_code((maki_str){ p, (size_t)(end - p) }, &len),
                                  out + n);
            p += len;
        }
    }
    *from = p;
    return n;
}

void maki_text_count_json_text(maki_text_count *c, maki_str string)
{
    maki_str inside = inside_of(string);
    const char *p = inside.ptr, *end = inside.ptr + inside.len;
    while (p < end && c->status == MAKI_OK) {
        if (sizeof c->waiting - c->fill < 16) {
            hand_on(c, (maki_str){ c->waiting, c->fill });
            c->fill = 0;
        }
        c->fill += unescape(&p, end, c->waiting + c->fill, sizeof c->waiting - c->fill);
    }
}

maki_status maki_count_json_text(maki_tokenizer *t, maki_str string, uint64_t *tokens,
                                 maki_err *err)
{
    maki_text_count c;
    maki_str inside = inside_of(string);
    if (inside.len == 0 || !memchr(inside.ptr, '\\', inside.len)) {
        *tokens = maki_tokenizer_count(t, inside);
        return MAKI_OK;
    }
    maki_text_count_begin(&c, t, err);
    maki_text_count_json_text(&c, inside);
    return maki_text_count_end(&c, tokens);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static maki_status take(void *ctx, maki_str bytes, maki_err *err)
{
    maki_text_count *c = ctx;
    (void)err; /* c has its own */
    maki_text_count_bytes(c, bytes);
    return c->status;
}

void maki_text_count_compact(maki_text_count *c, maki_str value)
{
    if (c->status == MAKI_OK) c->status = maki_json_compact(value, (maki_sink){ take, c }, c->err);
}

maki_status maki_count_compact(maki_tokenizer *t, maki_str value, uint64_t *tokens, maki_err *err)
{
    maki_text_count c;
    maki_text_count_begin(&c, t, err);
    maki_text_count_compact(&c, value);
    return maki_text_count_end(&c, tokens);
}

/* ids.c -- see ids.h. */
#include "ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_AROUND = 60, IDS_AROUND = 6 };

/* ---- lists --------------------------------------------------------------------------------- */

void ids_add(id_list *list, const uint32_t *more, size_t n)
{
    if (list->count + n > list->capacity) {
        list->capacity = 2 * (list->count + n) + 16;
        list->ids = realloc(list->ids, list->capacity * sizeof *list->ids);
        if (!list->ids) abort();
    }
    if (n) memcpy(list->ids + list->count, more, n * sizeof *more);
    list->count += n;
}

void ids_free(id_list *list)
{
    free(list->ids);
    *list = (id_list){ 0 };
}

bool ids_same(const id_list *a, const id_list *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0);
}

/* ---- making them --------------------------------------------------------------------------- */

static maki_status collect(void *ctx, const uint32_t *more, size_t n, maki_err *err)
{
    (void)err;
    ids_add(ctx, more, n);
    return MAKI_OK;
}

void ids_encode(id_list *out, maki_tokenizer *tokenizer, maki_str text)
{
    maki_err err = { 0 };
    out->count = 0;
    CHECK_STATUS(maki_tokenizer_encode(tokenizer, text, collect, out, &err), MAKI_OK, &err);
}

/* Mostly a few bytes, at times many: a part may end in the middle of anything. */
static size_t part_len(maki_str text, size_t at, tap_random *random)
{
    size_t left = text.len - at;
    size_t most = tap_below(random, 4) ? 9 : text.len > 1000 ? 5000 : 100;
    size_t len = tap_below(random, most);
    if (text.len > 1000)
        len += text.len / 16; /* a long text in some 16 parts: not all in pairs of bytes */
    return len < left ? len : left;
}

static uint64_t stream(maki_tokenizer *tokenizer, maki_str text, tap_random *random, maki_ids_fn fn,
                       void *ctx)
{
    maki_token_stream stream = { 0 };
    maki_err err = { 0 };
    for (size_t at = 0; at < text.len;) {
        size_t len = part_len(text, at, random);
        char *part = malloc(len ? len : 1); /* gone afterwards: the stream must not look back */
        if (!part) abort();
        if (len) memcpy(part, text.ptr + at, len);
        CHECK_STATUS(
            maki_token_stream_add(&stream, tokenizer, (maki_str){ part, len }, fn, ctx, &err),
            MAKI_OK, &err);
        free(part);
        at += len;
    }
    CHECK_STATUS(maki_token_stream_end(&stream, tokenizer, fn, ctx, &err), MAKI_OK, &err);
    return stream.tokens;
}

uint64_t ids_encode_parts(id_list *out, maki_tokenizer *tokenizer, maki_str text,
                          tap_random *random)
{
    out->count = 0;
    return stream(tokenizer, text, random, collect, out);
}

uint64_t ids_count_parts(maki_tokenizer *tokenizer, maki_str text, tap_random *random)
{
    return stream(tokenizer, text, random, NULL, NULL);
}

typedef struct expected {
    maki_str text;
    size_t at;
} expected;

static maki_status expect(void *ctx, maki_str bytes, maki_err *err)
{
    expected *e = ctx;
    (void)err;
    if (bytes.len > e->text.len - e->at || memcmp(e->text.ptr + e->at, bytes.ptr, bytes.len) != 0)
        return MAKI_CORRUPT;
    e->at += bytes.len;
    return MAKI_OK;
}

bool ids_decode_to(const maki_encoding *encoding, const id_list *list, maki_str text)
{
    expected e = { text, 0 };
    maki_sink sink = { expect, &e };
    return maki_encoding_decode(encoding, list->ids, list->count, sink, NULL) == MAKI_OK &&
           e.at == text.len;
}

/* ---- showing them -------------------------------------------------------------------------- */

static void show_text(maki_str text)
{
    putchar('"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < ' ' || c >= 0x7F || c == '\\' || c == '"')
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void show_ids(const maki_encoding *encoding, const char *who, const id_list *list,
                     size_t from)
{
    size_t end = from + IDS_AROUND < list->count ? from + IDS_AROUND : list->count;
    printf("#   %s, %zu tokens, from %zu:", who, list->count, from);
    for (size_t i = from; i < end; i++) {
        printf(" %u ", list->ids[i]);
        show_text(maki_encoding_token(encoding, list->ids[i]));
    }
    printf("%s\n", end < list->count ? " ..." : "");
}

void ids_show_difference(const maki_encoding *encoding, const char *how, maki_str text,
                         const id_list *want, const id_list *have)
{
    size_t same = 0, at = 0;
    while (same < want->count && same < have->count && want->ids[same] == have->ids[same]) {
        at += maki_encoding_token(encoding, want->ids[same]).len;
        same++;
    }
    if (at > text.len) at = text.len;
    size_t from = at > TEXT_AROUND ? at - TEXT_AROUND : 0;
    size_t end = text.len - at > TEXT_AROUND ? at + TEXT_AROUND : text.len;
    printf("# %s, %s: a text of %zu bytes, different from byte %zu on\n#   before ",
           maki_encoding_name(encoding), how, text.len, at);
    show_text((maki_str){ text.ptr + from, at - from });
    printf(" after ");
    show_text((maki_str){ text.ptr + at, end - at });
    putchar('\n');
    show_ids(encoding, "should be", want, same);
    show_ids(encoding, "is", have, same);
    fflush(stdout);
}

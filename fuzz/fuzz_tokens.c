/* fuzz_tokens.c -- every way to count and encode gives the tokens of the slow reference.
 *
 * The input is the text, in all three encodings: with and without a cache, with and without AVX2, in
 * one go and in parts; decoded it is the text again.  A part of it is also merged as if it were one
 * piece: most pieces of an input are too short to find anything. */
#include "fuzz.h"

#include <string.h>

#include "token/encoding.h"
#include "token/merge.h"
#include "token_reference.h"

enum { ENCODINGS = 3, TEXT_MAX = 8192 }; /* the reference takes the square of it */

/* Opened once.  The memory is cleared for each input, so that a crash repeats itself. */
typedef struct subject {
    const maki_encoding *encoding;
    maki_encoding plain_encoding;
    token_reference *reference;
    maki_tokenizer *usual, *bare, *plain, *special;
} subject;

/* ---- lists of ids -------------------------------------------------------------------------- */

typedef struct list {
    uint32_t ids[TEXT_MAX];
    size_t count;
} list;

static maki_status collect(void *ctx, const uint32_t *ids, size_t n, maki_err *err)
{
    list *l = ctx;
    (void)err;
    MUST(n <= TEXT_MAX - l->count); /* no token is empty */
    memcpy(l->ids + l->count, ids, n * sizeof *ids);
    l->count += n;
    return MAKI_OK;
}

static const list *encoded(maki_tokenizer *t, maki_str text)
{
    static list l;
    l.count = 0;
    MUST(maki_tokenizer_encode(t, text, collect, &l, NULL) == MAKI_OK);
    return &l;
}

static bool begins_with(const list *a, const list *b)
{
    return b->count <= a->count && memcmp(a->ids, b->ids, b->count * sizeof *b->ids) == 0;
}

static bool same(const list *a, const list *b)
{
    return a->count == b->count && begins_with(a, b);
}

/* ---- decoding ------------------------------------------------------------------------------ */

typedef struct expected {
    maki_str text;
    size_t at;
} expected;

static maki_status expect(void *ctx, maki_str bytes, maki_err *err)
{
    expected *e = ctx;
    (void)err;
    MUST(bytes.len > 0 && bytes.len <= e->text.len - e->at);
    MUST(memcmp(e->text.ptr + e->at, bytes.ptr, bytes.len) == 0);
    e->at += bytes.len;
    return MAKI_OK;
}

static void decode(const maki_encoding *encoding, const list *l, maki_str text)
{
    expected e = { text, 0 };
    maki_sink sink = { expect, &e };
    MUST(maki_encoding_decode(encoding, l->ids, l->count, sink, NULL) == MAKI_OK);
    MUST(e.at == text.len);
}

/* ---- the properties ------------------------------------------------------------------------ */

/* Each part is in memory of its own, which is gone when the next comes. */
static void in_parts(maki_tokenizer *t, maki_str text, const list *want, fuzz_chance *chance,
                     bool count_only)
{
    static list have;
    maki_token_stream stream = { 0 };
    maki_ids_fn fn = count_only ? NULL : collect;
    size_t most = 1 + fuzz_draw(chance, fuzz_draw(chance, 2) ? 8 : 300);
    have.count = 0;
    for (size_t at = 0; at < text.len;) {
        size_t len = fuzz_draw(chance, most + 1);
        if (len > text.len - at) len = text.len - at;
        char *part = malloc(len ? len : 1);
        MUST(part);
        memcpy(part, text.ptr + at, len);
        MUST(maki_token_stream_add(&stream, t, (maki_str){ part, len }, fn, &have, NULL) ==
             MAKI_OK);
        free(part);
        at += len;
    }
    MUST(maki_token_stream_end(&stream, t, fn, &have, NULL) == MAKI_OK);
    MUST(stream.tokens == want->count);
    MUST(count_only || same(&have, want));
}

/* Up to a cut, nothing depends on what comes after. */
static void cut(maki_tokenizer *t, maki_str text, const list *want, fuzz_chance *chance)
{
    maki_str seen = { text.ptr, fuzz_draw(chance, text.len + 1) };
    size_t at = maki_token_cut(seen);
    MUST(at <= seen.len);
    const list *have = encoded(t, (maki_str){ text.ptr, at });
    MUST(begins_with(want, have));
    uint64_t before = have->count;
    uint64_t after = maki_tokenizer_count(t, (maki_str){ text.ptr + at, text.len - at });
    MUST(before + after == want->count);
}

static void add(void *ctx, const uint32_t *ids, size_t n)
{
    (void)collect(ctx, ids, n, NULL);
}

static void merged_by(maki_merger merge, const subject *s, maki_str part, const list *want)
{
    static maki_merge_scratch merging;
    static list have;
    const maki_table *table = s->encoding->table;
    const unsigned char *bytes = (const unsigned char *)part.ptr;
    have.count = 0;
    MUST(maki_merge_long(merge, table, bytes, part.len, &merging, add, &have) == want->count);
    MUST(same(&have, want));
    if (part.len > MAKI_MERGE_MAX) return;
    MUST(merge.one(table, bytes, part.len, &merging) == want->count);
    MUST(memcmp(merging.ids, want->ids, want->count * sizeof *want->ids) == 0);
}

static void as_one_piece(const subject *s, maki_str text, fuzz_chance *chance)
{
    static list want;
    size_t from = fuzz_draw(chance, text.len + 1), most = fuzz_draw(chance, 2) ? 70 : text.len;
    maki_str part = { text.ptr + from, text.len - from < most ? text.len - from : most };
    if (part.len == 0) return;
    want.count = 0;
    token_reference_merge(s->reference, part, collect, &want);
    merged_by((maki_merger){ maki_merge, NULL }, s, part, &want);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        merged_by((maki_merger){ maki_merge_avx2, maki_merge_two_avx2 }, s, part, &want);
#endif
}

static void check(subject *s, maki_str text, fuzz_chance *chance)
{
    static list want;
    want.count = 0;
    token_reference_encode(s->reference, text, collect, &want);

    maki_tokenizer_clear_cache(s->usual);
    MUST(same(encoded(s->bare, text), &want));
    MUST(same(encoded(s->plain, text), &want));
    MUST(maki_tokenizer_count(s->bare, text) == want.count);
    MUST(maki_tokenizer_count(s->plain, text) == want.count);
    for (int again = 0; again < 2; again++) { /* then from memory */
        MUST(maki_tokenizer_count(s->usual, text) == want.count);
        MUST(same(encoded(s->usual, text), &want));
    }
    in_parts(s->bare, text, &want, chance, false);
    in_parts(s->usual, text, &want, chance, true);
    cut(s->usual, text, &want, chance);
    as_one_piece(s, text, chance);
    decode(s->encoding, &want, text);
    decode(s->encoding, encoded(s->special, text), text);
}

static maki_tokenizer *open_with(const maki_encoding *encoding, bool special, bool no_cache)
{
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    options.special = special;
    options.no_cache = no_cache;
    MUST(maki_tokenizer_open(&env, encoding, &options, &t, NULL) == MAKI_OK);
    return t;
}

static subject *subjects(void)
{
    static subject all[ENCODINGS];
    for (size_t i = 0; i < ENCODINGS && !all[i].usual; i++) {
        subject *s = &all[i];
        s->encoding = maki_encoding_at(i);
        s->plain_encoding = *s->encoding;
        s->plain_encoding.scan_avx2 = s->encoding->scan;
        s->reference = token_reference_open(s->encoding);
        s->usual = open_with(s->encoding, false, false);
        s->bare = open_with(s->encoding, false, true);
        s->plain = open_with(&s->plain_encoding, false, true);
        s->special = open_with(s->encoding, true, true);
    }
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    subject *all = subjects();
    fuzz_chance chance = fuzz_chance_of(data, size);
    if (size > TEXT_MAX) return 0;
    for (size_t i = 0; i < ENCODINGS; i++)
        check(&all[i], (maki_str){ (const char *)data, size }, &chance);
    return 0;
}

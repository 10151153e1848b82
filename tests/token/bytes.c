/* bytes.c -- texts that have no oracle: any bytes, invalid UTF-8, every token, the worst cases.
 *
 * Decoded they are the same bytes again, and the tokens are those of the slow reference of fuzz/. */
#include <stdlib.h>
#include <string.h>

#include <maki/token.h>

#include "ids.h"
#include "tap.h"
#include "token/encoding.h"
#include "token/merge.h"
#include "token_reference.h"

enum { LONGEST = 100000, REFERENCE_MAX = 4000, SHOWN = 5 };

typedef struct subject {
    const maki_encoding *encoding;
    maki_encoding plain_encoding; /* without AVX2 */
    maki_tokenizer *usual, *bare, *plain;
    token_reference *reference;
    tap_random random;
    unsigned differences;
} subject;

static maki_tokenizer *open_with(const maki_encoding *encoding, bool special, bool no_cache)
{
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    maki_err err = { 0 };
    options.special = special;
    options.no_cache = no_cache;
    CHECK_STATUS(maki_tokenizer_open(&env, encoding, &options, &t, &err), MAKI_OK, &err);
    return t;
}

static maki_status collect(void *ctx, const uint32_t *more, size_t n, maki_err *err)
{
    (void)err;
    ids_add(ctx, more, n);
    return MAKI_OK;
}

/* ---- one text ------------------------------------------------------------------------------ */

static void same(subject *s, const char *how, maki_str text, const id_list *want,
                 const id_list *have)
{
    if (CHECK(ids_same(want, have))) return;
    if (s->differences++ < SHOWN) ids_show_difference(s->encoding, how, text, want, have);
}

/* Both ways to merge, on any bytes as if they were one piece. */
static void check_merges(subject *s, maki_str text)
{
    static maki_merge_scratch merging;
    static id_list want, have;
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    if (text.len == 0 || text.len > MAKI_MERGE_MAX || text.len > REFERENCE_MAX) return;
    want.count = have.count = 0;
    token_reference_merge(s->reference, text, collect, &want);
    size_t n = maki_merge(s->encoding->table, bytes, text.len, &merging);
    ids_add(&have, merging.ids, n);
    same(s, "merged", text, &want, &have);
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) return;
    have.count = 0;
    n = maki_merge_avx2(s->encoding->table, bytes, text.len, &merging);
    ids_add(&have, merging.ids, n);
    same(s, "merged with AVX2", text, &want, &have);
#endif
}

/* The text in memory that ends where it ends. */
static void check(subject *s, maki_str bytes)
{
    static id_list want, have;
    char *copy = malloc(bytes.len ? bytes.len : 1);
    if (!copy) abort();
    if (bytes.len) memcpy(copy, bytes.ptr, bytes.len);
    maki_str text = { copy, bytes.len };

    ids_encode(&want, s->bare, text);
    CHECK(ids_decode_to(s->encoding, &want, text));
    CHECK_EQ(maki_tokenizer_count(s->bare, text), want.count);
    CHECK_EQ(maki_tokenizer_count(s->usual, text), want.count);
    ids_encode(&have, s->usual, text);
    same(s, "with memory", text, &want, &have);
    ids_encode(&have, s->plain, text);
    same(s, "without AVX2", text, &want, &have);
    ids_encode_parts(&have, s->usual, text, &s->random);
    same(s, "in parts", text, &want, &have);
    if (text.len <= REFERENCE_MAX) {
        have.count = 0;
        token_reference_encode(s->reference, text, collect, &have);
        same(s, "compared with the reference, which is the second", text, &want, &have);
    }
    check_merges(s, text);
    free(copy);
}

/* ---- bytes --------------------------------------------------------------------------------- */

/* A piece of something at the end of `text`; gives its length, at most 8. */
static size_t odd_bytes(tap_random *random, char *at)
{
    static const maki_str odd[] = {
        { "\xff", 1 },
        { "\x80", 1 },
        { "\xc0\xaf", 2 },
        { "\xe0\x80\xaf", 3 },
        { "\xed\xa0\x80", 3 },
        { "\xed\xbf\xbf", 3 },
        { "\xf0\x80\x80", 3 },
        { "\xf4\x90\x80\x80", 4 },
        { "\xf8\x88\x80", 3 },
        { "\xfe", 1 },
        { "\xe6\x97", 2 },
        { "\xf0\x9f\x98", 3 },
        { "\xc3", 1 },
        { "\xe6\x97\xa5", 3 },
        { "\xe3\x81\x82", 3 },
        { "\xf0\x9f\x98\x80", 4 },
        { "\xed\x95\x9c", 3 },
        { "\xcc\x81", 2 },
        { "'s", 2 },
        { "'\xc5\xbf", 3 },
        { "'\xc5", 2 },
        { " ", 1 },
        { "  ", 2 },
        { "\n", 1 },
        { "\r\n", 2 },
        { "\t", 1 },
        { "\xe3\x80\x80", 3 },
        { "\xe3\x80", 2 },
        { "the", 3 },
        { "A", 1 },
        { "12", 2 },
        { "/", 1 },
        { "!", 1 },
        { "\0", 1 },
        { "\xc2\xa0", 2 },
        { "\xc2", 1 },
    };
    if (tap_below(random, 4) == 0) {
        *at = (char)tap_below(random, 256);
        return 1;
    }
    maki_str piece = odd[tap_below(random, COUNT(odd))];
    memcpy(at, piece.ptr, piece.len);
    return piece.len;
}

static size_t random_text(tap_random *random, char *text, size_t len, bool odd)
{
    size_t n = 0;
    while (n < len) {
        if (odd)
            n += odd_bytes(random, text + n);
        else
            text[n++] = (char)tap_below(random, 256);
    }
    return n;
}

static void test_bytes(subject *s)
{
    char *text = malloc(LONGEST + 8);
    if (!text) abort();
    tap_row("%s: random bytes come back, and are cut as the reference cuts them",
            maki_encoding_name(s->encoding));
    for (size_t len = 0; len < 300; len++) {
        for (int odd = 0; odd < 6; odd++)
            check(s, (maki_str){ text, random_text(&s->random, text, len, odd > 0) });
    }
    for (size_t len = 300; len < LONGEST; len += len) {
        for (int odd = 0; odd < 2; odd++)
            check(s, (maki_str){ text, random_text(&s->random, text, len, odd) });
    }
    check(s, (maki_str){ text, random_text(&s->random, text, LONGEST, true) });
    free(text);
}

static void test_all_pairs_of_bytes(subject *s)
{
    tap_row("%s: every byte between others, every pair of bytes", maki_encoding_name(s->encoding));
    for (unsigned a = 0; a < 256; a++) {
        char text[] = { 'x', (char)a, 'y', ' ', (char)a, (char)a, '\n', (char)a };
        check(s, (maki_str){ text, sizeof text });
        for (unsigned b = 0; b < 256; b++)
            check(s, (maki_str){ (char[]){ (char)a, (char)b }, 2 });
    }
}

/* ---- tokens -------------------------------------------------------------------------------- */

static void test_tokens(subject *s)
{
    uint32_t size = maki_encoding_size(s->encoding);
    char text[1024];
    tap_row("%s: every token, and pairs of tokens, alone", maki_encoding_name(s->encoding));
    for (uint32_t id = 0; id < size; id += 1 + (uint32_t)tap_below(&s->random, 16)) {
        maki_str token = maki_encoding_token(s->encoding, id);
        maki_str other = maki_encoding_token(s->encoding, (uint32_t)tap_below(&s->random, size));
        if (token.len + other.len > sizeof text) continue;
        check(s, token);
        if (token.len) memcpy(text, token.ptr, token.len);
        if (other.len) memcpy(text + token.len, other.ptr, other.len);
        check(s, (maki_str){ text, token.len + other.len });
    }
}

static void test_no_token(void)
{
    maki_err err = { 0 };
    id_list list = { 0 };
    tap_row("what is no token has no bytes and is not decoded");
    for (size_t i = 0; maki_encoding_at(i); i++) {
        const maki_encoding *encoding = maki_encoding_at(i);
        uint32_t none[] = { maki_encoding_size(encoding), UINT32_MAX };
        CHECK(maki_encoding_find(maki_encoding_name(encoding)) == encoding);
        for (size_t k = 0; k < COUNT(none); k++) {
            CHECK_EQ(maki_encoding_token(encoding, none[k]).len, 0);
            list.count = 0;
            ids_add(&list, &none[k], 1);
            CHECK(!ids_decode_to(encoding, &list, MAKI_LIT("")));
        }
    }
    CHECK(maki_encoding_find("no_base") == NULL);
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    CHECK_STATUS(maki_tokenizer_open(&env, NULL, NULL, &t, &err), MAKI_INVALID, &err);
    CHECK(t == NULL);
    ids_free(&list);
}

/* ---- the worst cases ----------------------------------------------------------------------- */

static size_t worst_char(unsigned kind, tap_random *random, char *at)
{
    static const char *const same[] = { "a", " ", "^", "\n", "A", "0", "\xe3\x81\x82", "\xcc\x81" };
    uint32_t kana;
    if (kind < COUNT(same)) {
        size_t len = strlen(same[kind]);
        memcpy(at, same[kind], len);
        return len;
    }
    switch (kind - COUNT(same)) {
    case 0: /* random letters */ *at = (char)('a' + tap_below(random, 26)); return 1;
    case 1: /* of mixed case */
        *at = (char)((tap_below(random, 2) ? 'a' : 'A') + tap_below(random, 26));
        return 1;
    case 2: /* of two, which many tokens are made of */
        *at = tap_below(random, 8) ? 'e' : 't';
        return 1;
    case 3: /* kana */
        kana = (uint32_t)(0x3041 + tap_below(random, 0x56));
        memcpy(at,
               (char[]){ (char)0xe3, (char)(0x80 | (kana >> 6 & 63)), (char)(0x80 | (kana & 63)) },
               3);
        return 3;
    default: /* signs */ *at = "-=*#_.~"[tap_below(random, 7)]; return 1;
    }
}

static void test_worst(subject *s)
{
    char *text = malloc(LONGEST + 8);
    if (!text) abort();
    tap_row("%s: one long piece", maki_encoding_name(s->encoding));
    for (unsigned kind = 0; kind < 13; kind++) {
        static const size_t lengths[] = { 95, 96, 97, 500, 4000, LONGEST };
        for (size_t i = 0; i < COUNT(lengths); i++) {
            size_t n = 0;
            while (n < lengths[i])
                n += worst_char(kind, &s->random, text + n);
            check(s, (maki_str){ text, n });
        }
    }
    free(text);
}

int main(void)
{
    static subject s = { .random = { 4 } };
    test_no_token();
    for (size_t i = 0; (s.encoding = maki_encoding_at(i)); i++) {
        s.plain_encoding = *s.encoding;
        s.plain_encoding.scan_avx2 = s.encoding->scan;
        s.usual = open_with(s.encoding, false, false);
        s.bare = open_with(s.encoding, false, true);
        s.plain = open_with(&s.plain_encoding, false, true);
        s.reference = token_reference_open(s.encoding);
        test_bytes(&s);
        test_all_pairs_of_bytes(&s);
        test_tokens(&s);
        test_worst(&s);
        token_reference_close(s.reference);
        maki_tokenizer_close(s.usual);
        maki_tokenizer_close(s.bare);
        maki_tokenizer_close(s.plain);
    }
    return tap_end();
}

/* text_count_test.c -- texts that stand in JSON: counted as the text they are, however they are spelled,
 * and in whatever pieces they come. */
#include "token/text_count.h"

#include <string.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "samples.h"
#include "tap.h"

static maki_tokenizer *open_o200k(fake_env *fe)
{
    maki_tokenizer *t = NULL;
    maki_err err;
    CHECK_STATUS(maki_tokenizer_open(&fe->env, maki_encoding_find("o200k_base"), NULL, &t, &err),
                 MAKI_OK, &err);
    return t;
}

static uint64_t count_json(maki_tokenizer *t, maki_str string)
{
    uint64_t tokens = 0;
    maki_err err;
    CHECK_STATUS(maki_count_json_text(t, string, &tokens, &err), MAKI_OK, &err);
    return tokens;
}

static const struct text_row {
    const char *name, *json, *text;
} text_rows[] = {
    { "nothing", "\"\"", "" },
    { "no escapes", "\"吾輩は猫である\"", "吾輩は猫である" },
    { "newlines", "\"one\\n\\ttwo\\r\\n\"", "one\n\ttwo\r\n" },
    { "quotes, backslashes, slashes", "\"\\\"a\\\\b\\/c\\\"\"", "\"a\\b/c\"" },
    { "letters by number", "\"\\u543e\\u8F29 \\u00e9\"", "吾輩 é" },
    { "pairs", "\"x\\ud83c\\udf65y\"", "x🍥y" },
    { "a lone surrogate is U+FFFD", "\"\\ud83c!\"", "\xef\xbf\xbd!" },
    { "a lone one before a pair", "\"\\ud83c\\ud83c\\udf65\"", "\xef\xbf\xbd🍥" },
    { "special tokens are text", "\"<|endoftext|>\\n\"", "<|endoftext|>\n" },
};

static void test_rows(void)
{
    fake_env fe;
    fake_env_init(&fe);
    maki_tokenizer *t = open_o200k(&fe);
    for (size_t i = 0; i < COUNT(text_rows); i++) {
        const struct text_row *row = &text_rows[i];
        maki_str json = maki_str_of(row->json);
        uint64_t want = maki_tokenizer_count(t, maki_str_of(row->text));
        tap_row("%s", row->name);
        CHECK_EQ(count_json(t, json), want);
        CHECK_EQ(count_json(t, maki_json_strip_quotes(json)), want);
    }
    maki_tokenizer_close(t);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

/* `n` random characters and samples, as JSON and as the text. */
static void make_text(tap_random *random, size_t n, maki_buf *text, maki_buf *json)
{
    maki_jw w;
    maki_buf_clear(text);
    maki_buf_clear(json);
    while (text->len < n) {
        static const char *const odd[] = { "\n", "\t", "\"", "\\", " ", "猫", "🍥", "/", "word" };
        maki_str part = tap_below(random, 4) ? maki_str_of(odd[tap_below(random, COUNT(odd))])
                                             : samples[tap_below(random, sample_count)].text;
        maki_buf_add(text, part);
    }
    maki_jw_init(&w, maki_buf_sink(json), NULL);
    maki_jw_string(&w, maki_buf_str(text));
    CHECK_STATUS(maki_jw_end(&w), MAKI_OK, NULL);
}

static void test_long(void)
{
    fake_env fe;
    tap_random random = { 7 };
    fake_env_init(&fe);
    maki_tokenizer *t = open_o200k(&fe);
    maki_buf text = maki_buf_new(fe.env.alloc, 1 << 24), json = maki_buf_new(fe.env.alloc, 1 << 24);
    for (size_t n = 10; n < 400000; n = n * 3 + 1) {
        tap_row("about %zu bytes with escapes", n);
        make_text(&random, n, &text, &json);
        CHECK_EQ(count_json(t, maki_buf_str(&json)), maki_tokenizer_count(t, maki_buf_str(&text)));
    }
    tap_row("compact JSON of a long string is the string in quotes");
    make_text(&random, 50000, &text, &json);
    uint64_t tokens = 0;
    maki_err err;
    CHECK_STATUS(maki_count_compact(t, maki_buf_str(&json), &tokens, &err), MAKI_OK, &err);
    maki_buf spelled = maki_buf_new(fe.env.alloc, 1 << 24); /* our writer escapes a little more */
    for (size_t i = 0; i < json.len; i++) {
        bool line = i + 6 <= json.len && memcmp(json.ptr + i, "\\u2028", 6) == 0;
        bool paragraph = i + 6 <= json.len && memcmp(json.ptr + i, "\\u2029", 6) == 0;
        bool next = i + 6 <= json.len && memcmp(json.ptr + i, "\\u0085", 6) == 0;
        if (line) maki_buf_add(&spelled, MAKI_LIT("\xe2\x80\xa8"));
        if (paragraph) maki_buf_add(&spelled, MAKI_LIT("\xe2\x80\xa9"));
        if (next) maki_buf_add(&spelled, MAKI_LIT("\xc2\x85"));
        if (line || paragraph || next)
            i += 5;
        else
            maki_buf_add_byte(&spelled, json.ptr[i]);
    }
    CHECK_EQ(tokens, maki_tokenizer_count(t, maki_buf_str(&spelled)));

    tap_row("memory does not grow with the text");
    maki_buf_free(&spelled);
    make_text(&random, 4000000, &text, &json);
    size_t before = fe.live_bytes;
    fe.peak_bytes = before;
    CHECK_EQ(count_json(t, maki_buf_str(&json)), maki_tokenizer_count(t, maki_buf_str(&text)));
    CHECK(fe.peak_bytes - before < 200000);
    maki_buf_free(&text);
    maki_buf_free(&json);
    maki_tokenizer_close(t);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

static void test_parts(void)
{
    fake_env fe;
    maki_err err;
    maki_text_count c;
    uint64_t tokens = 0;
    fake_env_init(&fe);
    maki_tokenizer *t = open_o200k(&fe);
    tap_row("a text put together from parts is counted as one");
    maki_text_count_begin(&c, t, &err);
    maki_text_count_bytes(&c, MAKI_LIT("Tool: rea"));
    maki_text_count_bytes(&c, MAKI_LIT(""));
    maki_text_count_json_text(&c, MAKI_LIT("\"d_fi\\u006ce\""));
    maki_text_count_bytes(&c, MAKI_LIT("\nArguments: "));
    maki_text_count_compact(&c, MAKI_LIT("{ \"path\" : \"\\/src\\/main.ts\" }"));
    CHECK_STATUS(maki_text_count_end(&c, &tokens), MAKI_OK, &err);
    CHECK_EQ(tokens, maki_tokenizer_count(
                         t, MAKI_LIT("Tool: read_file\nArguments: {\"path\":\"/src/main.ts\"}")));
    maki_tokenizer_close(t);
}

static void test_faults(void)
{
    fake_env fe;
    maki_err err;
    tap_random random = { 3 };
    fake_env_init(&fe);
    maki_tokenizer *t = open_o200k(&fe);
    maki_buf text = maki_buf_new(fe.env.alloc, 1 << 24), json = maki_buf_new(fe.env.alloc, 1 << 24);
    make_text(&random, 60000, &text, &json);
    tap_row("every allocation fails in turn");
    for (int i = 0; i < 4; i++) /* until it has its memory of pieces */
        maki_tokenizer_count(t, maki_buf_str(&json));
    size_t before = fake_alloc_live(&fe);
    for (size_t nth = 1;; nth++) {
        uint64_t tokens = 0;
        fake_alloc_fail_at(&fe, nth);
        maki_status st = maki_count_json_text(t, maki_buf_str(&json), &tokens, &err);
        bool failed = fake_alloc_failed(&fe);
        CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&fe), before);
        if (!failed) break;
    }
    fake_alloc_fail_at(&fe, 0);
    maki_buf_free(&text);
    maki_buf_free(&json);
    maki_tokenizer_close(t);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

int main(void)
{
    test_rows();
    test_long();
    test_parts();
    test_faults();
    return tap_end();
}

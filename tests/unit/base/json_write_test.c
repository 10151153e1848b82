/* json_write_test.c -- the output is valid, compact JSON with the values that were written. */
#include "base/json_write.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "base/text.h"
#include "fake_env.h"
#include "samples.h"
#include "tap.h"

/* A writer into a buffer, and its output. */
typedef struct json_output {
    fake_env fe;
    maki_buf buf;
    maki_err err;
    maki_jw w;
} json_output;

static maki_jw *begin(json_output *p)
{
    fake_env_init(&p->fe);
    p->buf = maki_buf_new(p->fe.env.alloc, 8 << 20);
    maki_jw_init(&p->w, maki_buf_sink(&p->buf), &p->err);
    return &p->w;
}

/* End the text: no failure, and valid JSON. */
static maki_str end(json_output *p)
{
    maki_str value = { "", 0 };
    CHECK_STATUS(maki_jw_end(&p->w), MAKI_OK, &p->err);
    CHECK_EQ(p->w.written, p->buf.len);
    CHECK_STATUS(maki_json_check(maki_buf_str(&p->buf), &value, &p->err), MAKI_OK, &p->err);
    return value;
}

static void done(json_output *p)
{
    maki_buf_free(&p->buf);
    CHECK_EQ(fake_alloc_live(&p->fe), 0);
}

static void test_shapes(void)
{
    json_output p;
    maki_jw *w = begin(&p);
    tap_row("an object with values of every kind");
    maki_jw_begin_object(w);
    maki_jw_key(w, MAKI_LIT("名前"));
    maki_jw_string(w, MAKI_LIT("巻き"));
    maki_jw_key(w, MAKI_LIT("n"));
    maki_jw_int(w, -5);
    maki_jw_key(w, MAKI_LIT("list"));
    maki_jw_begin_array(w);
    maki_jw_bool(w, true);
    maki_jw_bool(w, false);
    maki_jw_null(w);
    maki_jw_begin_object(w);
    maki_jw_end_object(w);
    maki_jw_begin_array(w);
    maki_jw_end_array(w);
    maki_jw_double(w, 0.75);
    maki_jw_end_array(w);
    maki_jw_key(w, MAKI_LIT("raw"));
    maki_jw_raw(w, MAKI_LIT("{ \"안\" : [ 1 ] }"));
    maki_jw_key(w, MAKI_LIT("\"\n"));
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\"a"));
    maki_jw_escape(w, MAKI_LIT("\"😀\n"));
    maki_jw_bytes(w, MAKI_LIT("\\u0041\""));
    maki_jw_end_object(w);
    CHECK_STR(end(&p), "{\"名前\":\"巻き\",\"n\":-5,\"list\":[true,false,null,{},[],0.75],"
                       "\"raw\":{ \"안\" : [ 1 ] },\"\\\"\\n\":\"a\\\"😀\\n\\u0041\"}");
    done(&p);

    tap_row("commas inside and after containers");
    w = begin(&p);
    maki_jw_begin_array(w);
    for (int i = 0; i < 3; i++) {
        maki_jw_begin_array(w);
        for (int k = 0; k < i; k++)
            maki_jw_int(w, k);
        maki_jw_end_array(w);
    }
    maki_jw_int(w, 9);
    maki_jw_end_array(w);
    CHECK_STR(end(&p), "[[],[0],[0,1],9]");
    done(&p);

    tap_row("a value alone");
    w = begin(&p);
    maki_jw_string(w, MAKI_LIT(""));
    CHECK_STR(end(&p), "\"\"");
    done(&p);
}

/* `depth` containers with something before and after the next one; the innermost is empty. */
static void test_depth(size_t depth)
{
    json_output p;
    maki_jw *w = begin(&p);
    tap_row("%zu levels deep, each with items before and after the inner one", depth);
    for (size_t i = 0; i < depth; i++) {
        maki_jw_begin_array(w);
        if (i + 1 < depth) maki_jw_int(w, 1);
    }
    for (size_t i = 0; i < depth; i++) {
        if (i > 0) maki_jw_int(w, 2);
        maki_jw_end_array(w);
    }
    maki_str value = end(&p);
    for (size_t i = 0; i + 1 < depth && value.len; i++) {
        maki_json_iter iter = maki_json_items(value);
        maki_json_item item = { 0 };
        if (!CHECK_EQ(maki_json_count(value), 3)) break;
        maki_json_next(&iter, &item);
        CHECK_STR(item.value, "1");
        maki_json_next(&iter, &item);
        value = item.value;
    }
    done(&p);
}

/* clang-format off */
static const struct escape_row { const char *name; maki_str text; const char *json; } escape_rows[] = {
    { "short escapes",        MAKI_LIT("\"\\\b\f\n\r\t"),   "\"\\\"\\\\\\b\\f\\n\\r\\t\"" },
    { "other controls",       MAKI_LIT("\0\1\v\x1F"),       "\"\\u0000\\u0001\\u000b\\u001f\"" },
    { "a slash and delete stay", MAKI_LIT("/\x7F"),         "\"/\x7F\"" },
    { "ends of lines that are not newlines", MAKI_LIT("\xC2\x85\u2028\u2029"), "\"\\u0085\\u2028\\u2029\"" },
    { "Japanese stays",       MAKI_LIT("日本\n語"),         "\"日本\\n語\"" },
    { "ZWJ emoji stay",       MAKI_LIT("👩\u200D🚀"),       "\"👩\u200D🚀\"" },
};
/* clang-format on */

static void test_escapes(void)
{
    for (size_t i = 0; i < COUNT(escape_rows); i++) {
        json_output p;
        tap_row("escapes: %s", escape_rows[i].name);
        maki_jw_string(begin(&p), escape_rows[i].text);
        CHECK_TEXT(end(&p), maki_str_of(escape_rows[i].json));
        done(&p);
    }
    for (size_t i = 0; i < sample_count; i++) {
        json_output p;
        tap_row("as a key and as a value, and back: %s", samples[i].name);
        maki_jw *w = begin(&p);
        maki_jw_begin_object(w);
        maki_jw_key(w, samples[i].text);
        maki_jw_string(w, samples[i].text);
        maki_jw_end_object(w);
        maki_str value;
        if (CHECK(maki_json_get(end(&p), samples[i].text, &value))) {
            CHECK(maki_json_text_is(value, samples[i].text));
        }
        done(&p);
    }
    tap_row("every byte below 0x80, between Japanese characters");
    for (int byte = 0; byte < 0x80; byte++) {
        json_output p;
        char text[] = "日x本";
        text[3] = (char)byte;
        maki_jw_string(begin(&p), (maki_str){ text, 7 });
        CHECK(maki_json_text_is(end(&p), (maki_str){ text, 7 }));
        done(&p);
    }
}

/* clang-format off */
static const struct number_row { double value; const char *json; } number_rows[] = {
    { 0, "0" }, { 1, "1" }, { -1, "-1" }, { 0.1, "0.1" }, { -2.5, "-2.5" },
    { -0.0, "0" }, /* as JavaScript writes it */
    { 1.0 / 3, "0.3333333333333333" }, { 0.1 + 0.2, "0.30000000000000004" },
    { 9007199254740991, "9007199254740991" }, { 1e21, "1e+21" }, { 123456.789, "123456.789" },
    { 1.7976931348623157e308, "1.7976931348623157e+308" },
    { 2.2250738585072014e-308, "2.2250738585072014e-308" },
    { 5e-324, "5e-324" }, { 1.5e-323, "1.5e-323" },
    { INFINITY, "null" }, { -INFINITY, "null" }, { NAN, "null" },
};
/* clang-format on */

static void test_numbers(void)
{
    for (size_t i = 0; i < COUNT(number_rows); i++) {
        json_output p;
        tap_row("the double %.17g is written %s", number_rows[i].value, number_rows[i].json);
        maki_jw_double(begin(&p), number_rows[i].value);
        CHECK_TEXT(end(&p), maki_str_of(number_rows[i].json));
        done(&p);
    }
    tap_row("integers at the ends");
    json_output p;
    maki_jw *w = begin(&p);
    maki_jw_begin_array(w);
    maki_jw_int(w, INT64_MIN);
    maki_jw_int(w, INT64_MAX);
    maki_jw_int(w, 0);
    maki_jw_end_array(w);
    CHECK_STR(end(&p), "[-9223372036854775808,9223372036854775807,0]");
    done(&p);

    tap_row("random doubles come back the same");
    tap_random random = { 5150 };
    for (int round = 0; round < 20000; round++) {
        uint64_t bits = tap_next(&random);
        double value;
        if (round % 2) bits &= 0xFFFFFFFF00000000u;      /* few digits */
        if (round % 5 == 0) bits &= 0x800FFFFFFFFFFFFFu; /* subnormal */
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value) || value == 0) continue;
        maki_jw_double(begin(&p), value);
        CHECK_DOUBLE(maki_json_double(end(&p)), value);
        done(&p);
    }
}

static void test_long(void)
{
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG);
    tap_row("long spans are passed on directly, in order");
    for (size_t n = 4090; n < LONG; n = n * 5 / 2) {
        json_output p;
        maki_jw *w = begin(&p);
        memset(text, 'x', n);
        memcpy(text + n - 6, "日本", 6);
        maki_jw_begin_array(w);
        maki_jw_string(w, MAKI_LIT("前"));
        maki_jw_string(w, (maki_str){ text, n });
        maki_jw_string(w, MAKI_LIT("後"));
        maki_jw_end_array(w);
        maki_str all = end(&p);
        CHECK_EQ(all.len, n + 16);
        CHECK_STR(maki_str_prefix(all, 9), "[\"前\",\"x");
        CHECK_STR(maki_str_skip(all, all.len - 14), "日本\",\"後\"]");
        done(&p);
    }
    free(text);
}

/* ---- a sink that fails --------------------------------------------------------------------- */

typedef struct bad_sink {
    size_t calls, fail_at, bytes;
    bool empty; /* it was called with nothing, which env.h rules out */
} bad_sink;

static maki_status bad_write(void *ctx, maki_str bytes, maki_err *err)
{
    bad_sink *s = ctx;
    s->empty |= bytes.len == 0;
    if (++s->calls >= s->fail_at) return maki_fail(err, MAKI_FULL, "call %zu", s->calls);
    s->bytes += bytes.len;
    return MAKI_OK;
}

static void test_failing_sink(void)
{
    static char big[10000];
    memset(big, 'y', sizeof big);
    tap_row(
        "the n-th write fails for each n: reported once, with its message, and never called again");
    for (size_t nth = 1;; nth++) {
        bad_sink s = { .fail_at = nth };
        maki_err err = { 0 };
        maki_jw w;
        maki_jw_init(&w, (maki_sink){ bad_write, &s }, &err);
        maki_jw_begin_array(&w);
        for (int i = 0; i < 20; i++) {
            maki_jw_string(&w, MAKI_LIT("小さい"));
            maki_jw_raw(&w, MAKI_LIT("[1, 2]"));
            maki_jw_string(&w, (maki_str){ big, i % 3 ? 700 : sizeof big });
        }
        maki_jw_end_array(&w);
        maki_status st = maki_jw_end(&w);
        CHECK(!s.empty);
        if (s.calls < nth) {
            CHECK_STATUS(st, MAKI_OK, &err);
            CHECK_EQ(s.bytes, w.written);
            CHECK(nth > 10);
            break;
        }
        char words[32];
        snprintf(words, sizeof words, "call %zu", nth);
        CHECK_STATUS(st, MAKI_FULL, &err);
        CHECK_STATUS(maki_jw_end(&w), MAKI_FULL, &err); /* it sticks */
        CHECK_EQ(s.calls, nth);
        CHECK_CSTR(err.msg, words);
    }
    tap_row("no maki_err");
    bad_sink s = { .fail_at = 1 };
    maki_jw w;
    maki_jw_init(&w, (maki_sink){ bad_write, &s }, NULL);
    maki_jw_null(&w);
    CHECK_STATUS(maki_jw_end(&w), MAKI_FULL, NULL);
    tap_row("nothing written, sink not called");
    s = (bad_sink){ .fail_at = 1 };
    maki_jw_init(&w, (maki_sink){ bad_write, &s }, NULL);
    CHECK_STATUS(maki_jw_end(&w), MAKI_OK, NULL);
    CHECK_EQ(s.calls, 0);
}

static void test_fields(void)
{
    fake_env fe;
    fake_env_init(&fe);
    maki_buf buf = maki_buf_new(fe.env.alloc, 4096);
    maki_jw w;
    tap_row("fields of every kind");
    maki_jw_init(&w, maki_buf_sink(&buf), NULL);
    maki_jw_begin_object(&w);
    maki_jw_field_string(&w, "\xE5\x90\x8D", MAKI_LIT("\"\xF0\x9F\x98\x80\""));
    maki_jw_field_text(&w, "model", "m");
    maki_jw_field_text(&w, "none", "");
    maki_jw_field_raw(&w, "raw", MAKI_LIT("[1, 2]"));
    maki_jw_field_count(&w, "count", 9007199254740992u);
    maki_jw_field_number(&w, "number", 0.25);
    maki_jw_field_bool(&w, "yes", true);
    maki_jw_field_array(&w, "list");
    maki_jw_end_array(&w);
    maki_jw_field_object(&w, "inner");
    maki_jw_field_bool(&w, "no", false);
    maki_jw_end_object(&w);
    maki_jw_end_object(&w);
    CHECK_STATUS(maki_jw_end(&w), MAKI_OK, NULL);
    CHECK_TEXT(
        maki_buf_str(&buf),
        MAKI_LIT("{\"\xE5\x90\x8D\":\"\\\"\xF0\x9F\x98\x80\\\"\",\"model\":\"m\",\"raw\":[1, 2],"
                 "\"count\":9007199254740992,\"number\":0.25,\"yes\":true,\"list\":[],"
                 "\"inner\":{\"no\":false}}"));
    maki_buf_free(&buf);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

static void test_lossy(void)
{
    static const struct {
        maki_str in;
        const char *out;
    } rows[] = {
        { { "", 0 }, "\"\"" },
        { { "a\n", 2 }, "\"a\\n\"" },
        { { "\xFF", 1 }, "\"\xEF\xBF\xBD\"" },
        { { "a\xE5\x90z\xC2", 5 }, "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\"" },
    };
    tap_row("every invalid byte becomes U+FFFD");
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_output p;
        begin(&p);
        maki_jw_string_lossy(&p.w, rows[i].in);
        CHECK_TEXT(end(&p), maki_str_of(rows[i].out));
        done(&p);
    }
}

int main(void)
{
    test_lossy();
    test_fields();
    test_shapes();
    test_depth(2);
    test_depth(63);
    test_depth(64);
    test_depth(65);
    test_depth(70);
    test_depth(200);
    test_escapes();
    test_numbers();
    test_long();
    test_failing_sink();
    return tap_end();
}

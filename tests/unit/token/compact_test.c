/* compact_test.c -- JSON as JSON.stringify prints it.  The expectations are node's. */
#include "token/compact.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

static const struct compact_row {
    const char *name, *json, *want;
} compact_rows[] = {
    { "white space goes", " { \"a\" : [ 1 , 2 ] ,\n\t\"b\":{ } }\r\n", "{\"a\":[1,2],\"b\":{}}" },
    { "white space in strings stays", "[\" a \", \"\\t\\n\"]", "[\" a \",\"\\t\\n\"]" },
    { "what is printable is not escaped", "\"\\u00e9\\u732B\\/\\u0041\"", "\"é猫/A\"" },
    { "a pair of surrogates is a character", "\"\\ud83c\\udF65\"", "\"🍥\"" },
    { "a lone surrogate stays an escape", "\"\\uD83Cx\\uDC00\"", "\"\\ud83cx\\udc00\"" },
    { "a high surrogate, then an escape that is none", "\"\\ud83c\\n\"", "\"\\ud83c\\n\"" },
    { "control characters", "\"\\u0000\\u001F\\u0008\\u000a\\b\\u000b\"",
      "\"\\u0000\\u001f\\b\\n\\b\\u000b\"" },
    { "delete and line separators are not escaped", "\"\\u007f\\u2028\"", "\"\x7f\xe2\x80\xa8\"" },
    { "quotes and backslashes", "\"\\u0022\\u005c\\\\\"", "\"\\\"\\\\\\\\\"" },
    { "an escaped backslash before a letter is not an escape", "\"\\\\u0041\"", "\"\\\\u0041\"" },
    { "keys too", "{\"\\u732b\": 1}", "{\"猫\":1}" },
    { "words", "[true, false, null]", "[true,false,null]" },
    { "whole numbers", "[0, -1, 123456789012345]", "[0,-1,123456789012345]" },
    { "minus zero", "[-0, -0.0]", "[0,0]" },
    { "fractions", "[1.50, 0.1, 12.3, 100.0]", "[1.5,0.1,12.3,100]" },
    { "exponents", "[1e2, 1E-2, 1.5e3]", "[100,0.01,1500]" },
    { "large numbers", "[1e20, 1e21, 123456789012345678901234567890]",
      "[100000000000000000000,1e+21,1.2345678901234568e+29]" },
    { "beyond 2^53", "[9007199254740993, 18446744073709551615]",
      "[9007199254740992,18446744073709552000]" },
    { "small numbers", "[0.000001, 0.0000001, 1.5e-10]", "[0.000001,1e-7,1.5e-10]" },
    { "the smallest and the largest", "[5e-324, 1.7976931348623157e308, 2.2250738585072014e-308]",
      "[5e-324,1.7976931348623157e+308,2.2250738585072014e-308]" },
    { "too large for a double", "[1e999, -1e999]", "[null,null]" },
    { "17 digits", "[0.30000000000000004]", "[0.30000000000000004]" },
    { "array indexes come first, in their order", "{\"b\":1,\"10\":2,\"9\":3,\"a\":4}",
      "{\"9\":3,\"10\":2,\"b\":1,\"a\":4}" },
    { "also inside", "[{\"x\":{\"2\":[ ],\"1\":\"\\u0031\"}}]",
      "[{\"x\":{\"1\":\"1\",\"2\":[]}}]" },
    { "what is no index keeps its place", "{\"b\":1,\"01\":2,\"-1\":3,\"4294967295\":4,\"1.5\":5}",
      "{\"b\":1,\"01\":2,\"-1\":3,\"4294967295\":4,\"1.5\":5}" },
    { "the largest index", "{\"b\":1,\"4294967294\":4}", "{\"4294967294\":4,\"b\":1}" },
    { "indexes that are in order already", "{\"1\": 1, \"2\": 2, \"a\": 3}",
      "{\"1\":1,\"2\":2,\"a\":3}" },
};

static maki_str compact(fake_env *fe, maki_buf *buf, maki_str json)
{
    maki_str value;
    maki_err err;
    *buf = maki_buf_new(fe->env.alloc, 1 << 24);
    if (!CHECK_STATUS(maki_json_check(json, &value, &err), MAKI_OK, &err)) return MAKI_LIT("");
    CHECK_STATUS(maki_json_compact(value, maki_buf_sink(buf), &err), MAKI_OK, &err);
    return maki_buf_str(buf);
}

static void test_rows(void)
{
    fake_env fe;
    maki_buf buf;
    fake_env_init(&fe);
    for (size_t i = 0; i < COUNT(compact_rows); i++) {
        tap_row("%s", compact_rows[i].name);
        maki_str got = compact(&fe, &buf, maki_str_of(compact_rows[i].json));
        CHECK_TEXT(got, maki_str_of(compact_rows[i].want));
        maki_buf again;
        CHECK_TEXT(compact(&fe, &again, got), maki_str_of(compact_rows[i].want));
        maki_buf_free(&again);
        maki_buf_free(&buf);
    }
}

/* Deep objects whose keys are out of order at every level, and one with very many indexes: it must end. */
static void test_hostile(void)
{
    enum { DEEP = 500, MANY = 60000 };
    fake_env fe;
    maki_buf in, out;
    fake_env_init(&fe);
    tap_row("keys out of order, 500 levels deep");
    in = maki_buf_new(fe.env.alloc, 1 << 24);
    for (int i = 0; i < DEEP; i++)
        maki_buf_add(&in, MAKI_LIT("{\"a\":0,\"1\":"));
    maki_buf_add(&in, MAKI_LIT("7"));
    for (int i = 0; i < DEEP; i++)
        maki_buf_add_byte(&in, '}');
    maki_str got = compact(&fe, &out, maki_buf_str(&in));
    CHECK_EQ(got.len, in.len);
    CHECK(maki_str_starts(got, MAKI_LIT("{\"1\":{\"1\":")));
    maki_buf_free(&out);

    tap_row("60,000 indexes backwards: as they stand");
    maki_buf_clear(&in);
    for (int i = MANY; i > 0; i--) {
        char item[32];
        int n = snprintf(item, sizeof item, "%s\"%d\": 1", i == MANY ? "{" : ", ", i);
        maki_buf_add(&in, (maki_str){ item, (size_t)n });
    }
    maki_buf_add_byte(&in, '}');
    got = compact(&fe, &out, maki_buf_str(&in));
    CHECK(maki_str_starts(got, MAKI_LIT("{\"60000\":1,\"59999\":1,")));
    maki_buf_free(&out);
    maki_buf_free(&in);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

static maki_status refuse(void *ctx, maki_str bytes, maki_err *err)
{
    (void)bytes;
    ++*(int *)ctx;
    return maki_fail(err, MAKI_IO, "told to fail");
}

static void test_sink(void)
{
    int calls = 0;
    maki_err err;
    tap_row("a sink that fails is not called again");
    CHECK_STATUS(maki_json_compact(MAKI_LIT("[ 1 , 2 , {\"b\":1, \"0\": 2} ]"),
                                   (maki_sink){ refuse, &calls }, &err),
                 MAKI_IO, &err);
    CHECK_EQ(calls, 1);
}

int main(void)
{
    test_rows();
    test_hostile();
    test_sink();
    return tap_end();
}

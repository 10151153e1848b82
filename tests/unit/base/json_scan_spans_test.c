/* json_scan_spans_test.c -- the spans that the scanner reports.
 *
 * Offsets are counted in bytes and were worked out by hand; the way a text is cut into pieces and
 * the kernels in use must not change them. */
#include "base/json_scan.h"

#include "scan_record.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

static const struct span_row {
    const char *name;
    maki_str text;
    unsigned depth;
    bool sequence;
    const char *want;
} span_rows[] = {
    { "a number with white space around it", S("  12.5 "), 0, false, "0 number 2-6 n0\nOK" },
    { "a string", S("\"日本\""), 0, false, "0 string 0-8 n0\nOK" },
    { "depth 0 sees only the whole", S("{\"a\":[1,{}]}"), 0, false, "0 object 0-12 n0\nOK" },
    { "depth 1 sees the fields", S("{\"a\":[1,{}], \"b\" : null}"), 1, false,
      "1 array 5-11 key 1-4 n0\n1 null 19-23 key 13-16 n1\n0 object 0-24 n0\nOK" },
    { "inner values come before outer ones", S("[1,[2,[3,[4]]]]"), 3, false,
      "1 number 1-2 n0\n2 number 4-5 n0\n3 number 7-8 n0\n3 array 9-12 n1\n2 array 6-13 n1\n"
      "1 array 3-14 n1\n0 array 0-15 n0\nOK" },
    { "numbers start again in each container", S("[[1,2],[3]]"), 2, false,
      "2 number 2-3 n0\n2 number 4-5 n1\n1 array 1-6 n0\n2 number 8-9 n0\n1 array 7-10 n1\n"
      "0 array 0-11 n0\nOK" },
    { "every kind", S("[null,true,false,-0,\"\",[],{}]"), 1, false,
      "1 null 1-5 n0\n1 bool 6-10 n1\n1 bool 11-16 n2\n1 number 17-19 n3\n1 string 20-22 n4\n"
      "1 array 23-25 n5\n1 object 26-28 n6\n0 array 0-29 n0\nOK" },
    { "a key in an outer object is not lost in an inner one", S("{\"k\":{\"x\":1},\"l\":[2]}"), 2,
      false,
      "2 number 10-11 key 6-9 n0\n1 object 5-12 key 1-4 n0\n2 number 18-19 n0\n"
      "1 array 17-20 key 13-16 n1\n0 object 0-21 n0\nOK" },
    { "an array in an object in an array has keys only where they are", S("[{\"a\":[{\"b\":0}]}]"),
      3, false,
      "3 object 7-14 n0\n2 array 6-15 key 2-5 n0\n1 object 1-16 n0\n0 array 0-17 n0\nOK" },
    { "Japanese, Korean and emoji keys", S("{\"名\":1,\"이름\":2,\"👩\u200D🚀\":3}"), 1, false,
      "1 number 7-8 key 1-6 n0\n1 number 18-19 key 9-17 n1\n1 number 34-35 key 20-33 n2\n"
      "0 object 0-36 n0\nOK" },
    { "escaped keys keep their escapes", S("{\"\\u0061\\\"\":1}"), 1, false,
      "1 number 12-13 key 1-11 n0\n0 object 0-14 n0\nOK" },
    { "duplicate keys are two fields", S("{\"a\":1,\"a\":2}"), 1, false,
      "1 number 5-6 key 1-4 n0\n1 number 11-12 key 7-10 n1\n0 object 0-13 n0\nOK" },
    { "rows of a sequence are counted", S("1\n \"二\" \n\n[3,4]\n"), 1, true,
      "0 number 0-1 n0\n0 string 3-8 n1\n1 number 12-13 n0\n1 number 14-15 n1\n0 array 11-16 n2\n"
      "OK" },
    { "what is valid before an error is reported", S("[1,\"x\",}"), 1, false,
      "1 number 1-2 n0\n1 string 3-6 n1\nINVALID invalid JSON at byte 7: expected a value" },
};

static void test_rows(void)
{
    static transcript t;
    const maki_text_kernels *kernels[] = { maki_text_kernels_best(), &maki_text_plain };
    for (size_t i = 0; i < COUNT(span_rows); i++) {
        const struct span_row *row = &span_rows[i];
        tap_row("%s", row->name);
        for (size_t cut = 0; cut < 2 * (row->text.len + 3); cut++) {
            maki_json_scan_options options = transcript_options(&t, row->depth);
            options.json_lines = row->sequence;
            options.kernels = kernels[cut % 2];
            size_t at = cut / 2;
            scan_pieces(&t, &options, row->text, at, at > row->text.len ? at - row->text.len : 0);
            if (!CHECK_CSTR(t.text, row->want)) break;
        }
    }
}

static void test_stop(void)
{
    static transcript t;
    tap_row("the callback can stop the scan, and nothing more is reported");
    maki_json_scan_options options = transcript_options(&t, 2);
    t.stop_at = 2;
    scan_pieces(&t, &options, MAKI_LIT("[1,[2,3],4]"), 99, 0);
    CHECK_CSTR(t.text, "1 number 1-2 n0\n2 number 4-5 n0\nCANCELLED stopped by the test");

    tap_row("the last value can stop it too, when the end of the text ends a number");
    options = transcript_options(&t, 2);
    t.stop_at = 1;
    scan_pieces(&t, &options, MAKI_LIT("42"), 99, 0);
    CHECK_CSTR(t.text, "0 number 0-2 n0\nCANCELLED stopped by the test");

    tap_row("a report depth above the maximum is the maximum");
    options = transcript_options(&t, 1000);
    scan_pieces(&t, &options, MAKI_LIT("[[[[[[[[[[1]]]]]]]]]]"), 99, 0);
    CHECK(strstr(t.text, "8 array 8-13 n0\n") == t.text);
}

/* A random value into `out`; returns its end. */
static char *random_value(tap_random *random, char *out, unsigned depth)
{
    static const char *const atoms[] = {
        "0",      "-1.5e-3",      "true", "null", "\"\"", "\"日本\\n語\"", "\"\\ud83d\\ude00😀\"",
        "123456", "\"안\\\"녕\"", "false"
    };
    size_t pick = tap_below(random, depth < 5 ? 14 : 10);
    if (pick < 10) return stpcpy(out, atoms[pick]);
    bool object = pick % 2;
    size_t count = tap_below(random, 4);
    *out++ = object ? '{' : '[';
    for (size_t i = 0; i < count; i++) {
        if (i) *out++ = ',';
        if (tap_below(random, 3) == 0) out = stpcpy(out, " \n\t");
        if (object) out += sprintf(out, "\"鍵%zu\" :", i);
        out = random_value(random, out, depth + 1);
    }
    *out++ = object ? '}' : ']';
    return out;
}

/* Each span, taken alone, is JSON of that kind: offsets cannot be off by one. */
static maki_status span_is_whole(void *ctx, const maki_json_span *span, maki_err *err)
{
    maki_str text = *(const maki_str *)ctx, value;
    maki_str here = { text.ptr + span->start, (size_t)(span->end - span->start) };
    CHECK_STATUS(maki_json_check(here, &value, err), MAKI_OK, err);
    CHECK_TEXT(value, here);
    CHECK_EQ(maki_json_kind_of(here), span->kind);
    if (span->key_end) {
        maki_str key = { text.ptr + span->key_start, (size_t)(span->key_end - span->key_start) };
        char want[32];
        snprintf(want, sizeof want, "\"鍵%llu\"", (unsigned long long)span->index);
        CHECK_TEXT(key, maki_str_of(want));
    }
    return MAKI_OK;
}

static void test_random(void)
{
    static char bytes[1 << 16];
    tap_random random = { 99 };
    tap_row("random values: each span is JSON of its kind, each key the one with its number");
    for (int round = 0; round < 500; round++) {
        maki_str text = { bytes, (size_t)(random_value(&random, bytes, 0) - bytes) };
        maki_json_scan_options options = { .report_depth = 8,
                                           .on_span = span_is_whole,
                                           .ctx = &text };
        maki_err err;
        CHECK_STATUS(maki_json_scan_text(text, &options, &err), MAKI_OK, &err);
    }
}

int main(void)
{
    test_rows();
    test_stop();
    test_random();
    return tap_end();
}

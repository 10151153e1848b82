/* json_string_test.c -- strings in their escaped form: decoded, compared, measured and cut. */
#include "base/json_access.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "base/text.h"
#include "fake_env.h"
#include "samples.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* clang-format off */
static const struct text_row { const char *name; maki_str json, text; uint64_t units; } text_rows[] = {
    { "empty",                        S("\"\""),                     S(""),              0 },
    { "nothing escaped",              S("\"日本語\""),               S("日本語"),        3 },
    { "all short escapes",            S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), S("\"\\/\b\f\n\r\t"), 8 },
    { "an escape after long text",    S("\"0123456789012345678901234567890123456789日本\\n\""), S("0123456789012345678901234567890123456789日本\n"), 43 },
    { "\\u of one byte",              S("\"\\u0041\\u0000\""),       S("A\0"),           2 },
    { "\\u of two bytes",             S("\"\\u00e9\\u00E9\""),       S("éé"),            2 },
    { "\\u of three bytes",           S("\"\\u65e5\\uD55C\""),       S("日한"),          2 },
    { "a pair",                       S("\"\\ud83d\\ude00\""),       S("😀"),            2 },
    { "a pair in upper case",         S("\"\\uD83D\\uDE00x\""),      S("😀x"),           3 },
    { "the first and the last pair",  S("\"\\ud800\\udc00\\udbff\\udfff\""), S("\U00010000\U0010FFFF"), 4 },
    { "an emoji not escaped",         S("\"😀\\n\""),                S("😀\n"),          3 },
    { "a ZWJ sequence, half escaped", S("\"👩\\u200d\\ud83d\\ude80\""), S("👩\u200D🚀"), 5 },
    { "combining marks",              S("\"e\\u0301\""),             S("e\u0301"),       2 },
    { "Arabic",                       S("\"\\u0633لام\""),           S("سلام"),          4 },
    { "a lone high surrogate",        S("\"a\\ud83db\""),            S("a\uFFFD" "b"),   3 },
    { "a lone high one at the end",   S("\"a\\ud83d\""),             S("a\uFFFD"),       2 },
    { "a lone low surrogate",         S("\"\\ude00a\""),             S("\uFFFD" "a"),    2 },
    { "low before high",              S("\"\\ude00\\ud83d\""),       S("\uFFFD\uFFFD"),  2 },
    { "high, then a pair",            S("\"\\ud83d\\ud83d\\ude00\""), S("\uFFFD😀"),     3 },
    { "high, then another escape",    S("\"\\ud83d\\n\\ude00\""),    S("\uFFFD\n\uFFFD"), 3 },
    { "high, then \\u of a letter",   S("\"\\ud83d\\u0041\""),       S("\uFFFD" "A"),    2 },
    { "high, then an escaped backslash", S("\"\\ud83d\\\\ude00\""),  S("\uFFFD\\ude00"), 7 },
    { "a backslash before u0041",     S("\"\\\\u0041\""),            S("\\u0041"),       6 },
    { "U+FFFD itself",                S("\"\uFFFD\\uFFFD\""),        S("\uFFFD\uFFFD"),  2 },
};
/* clang-format on */

static void test_texts(void)
{
    fake_env fe;
    fake_env_init(&fe);
    maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 20);
    for (size_t i = 0; i < COUNT(text_rows); i++) {
        const struct text_row *row = &text_rows[i];
        maki_str text = maki_json_text(row->json, &arena);
        tap_row("text: %s", row->name);
        CHECK_TEXT(text, row->text);
        CHECK(maki_utf8_valid(text, NULL));
        CHECK(maki_json_text_is(row->json, row->text));
        CHECK_EQ(maki_json_utf16_len(maki_json_strip_quotes(row->json)), row->units);
        bool escaped = memchr(row->json.ptr, '\\', row->json.len) != NULL;
        if (!escaped) CHECK(text.ptr == row->json.ptr + 1); /* borrowed, not copied */
        for (size_t k = 0; k < COUNT(text_rows); k++) {
            bool same = maki_str_equal(row->text, text_rows[k].text);
            CHECK(maki_json_text_is(row->json, text_rows[k].text) == same);
        }
    }
    tap_row("a full arena: an empty text, and the arena has the reason");
    maki_arena tiny = maki_arena_new(fe.env.alloc, 0);
    CHECK_STR(maki_json_text(MAKI_LIT("\"\\u65e5\""), &tiny), "");
    CHECK_STATUS(maki_arena_status(&tiny, NULL), MAKI_TOOBIG, NULL);
    maki_arena_free(&arena);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

/* clang-format off */
static const struct same_row { const char *name; maki_str a, b; bool same; } same_rows[] = {
    { "both plain",                       S("\"日本\""),       S("\"日本\""),           true },
    { "both plain, different",            S("\"日本\""),       S("\"日木\""),           false },
    { "one escaped",                      S("\"日本\""),       S("\"\\u65e5本\""),      true },
    { "both escaped, each differently",   S("\"\\n\\u00e9\""), S("\"\\u000A\\u00E9\""), true },
    { "a pair and the emoji",             S("\"\\ud83d\\ude00\""), S("\"😀\""),         true },
    { "a slash",                          S("\"\\/\""),        S("\"/\""),              true },
    { "one is the beginning of the other", S("\"\\u0061\""),   S("\"ab\""),             false },
    { "one has a quote more",             S("\"a\""),          S("\"a\\\"\""),         false },
    { "empty and not",                    S("\"\""),           S("\"\\u0000\""),        false },
    { "an escaped letter and its escape", S("\"\\\\n\""),      S("\"\\n\""),            false },
    { "a letter with a mark, composed and not", S("\"\\u00e9\""), S("\"e\u0301\""),     false },
    { "different lone surrogates differ, as in JavaScript", S("\"\\ud800\""), S("\"\\ud801\""), false },
};
/* clang-format on */

static void test_same(void)
{
    for (size_t i = 0; i < COUNT(same_rows); i++) {
        tap_row("same text: %s", same_rows[i].name);
        CHECK(maki_json_same_text(same_rows[i].a, same_rows[i].b) == same_rows[i].same);
        CHECK(maki_json_same_text(same_rows[i].b, same_rows[i].a) == same_rows[i].same);
        CHECK(maki_json_same_text(same_rows[i].a, same_rows[i].a));
        bool same_hash = maki_json_text_hash(same_rows[i].a) == maki_json_text_hash(same_rows[i].b);
        CHECK(same_hash == same_rows[i].same);
    }
}

/* ---- cuts, against a reference ------------------------------------------------------------- */

/* A character of a random string: where it begins in the escaped text, and its units. */
typedef struct mark {
    size_t at;
    unsigned units;
} mark;

enum { CHARS_MAX = 40 };

/* Write `code` in one of the ways it can be spelled. */
static size_t spell(tap_random *random, uint32_t code, char *out)
{
    bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    bool must_escape = code < 0x20 || code == '"' || code == '\\' || surrogate;
    const char *upper = tap_below(random, 2) ? "\\u%04X" : "\\u%04x";
    if (code == '"' || code == '\\') return (size_t)sprintf(out, "\\%c", (char)code);
    if (code == '\n' && tap_below(random, 2)) return (size_t)sprintf(out, "\\n");
    if (!must_escape && tap_below(random, 2)) return maki_utf8_encode(code, out);
    if (code <= 0xFFFF) return (size_t)sprintf(out, upper, code);
    size_t n = (size_t)sprintf(out, upper, 0xD800 + ((code - 0x10000) >> 10));
    return n + (size_t)sprintf(out + n, upper, 0xDC00 + ((code - 0x10000) & 0x3FF));
}

/* A random escaped text; `marks` gets its characters and, after the last, its end.  Returns how many
 * characters it has; an escaped high surrogate and a low one after it are one. */
static size_t random_text(tap_random *random, char *out, mark *marks)
{
    static const uint32_t codes[] = { 'a',     '"',    '\\',   '\n',   0x01,   'u',     0xE9,
                                      0x0301,  0x0633, 0x65E5, 0xD55C, 0x200D, 0xFFFD,  0x1F600,
                                      0x20BB7, 0xD83D, 0xDE00, 0xD83D, 0xDE00, 0x10FFFF };
    size_t n = 0, count = 0, wish = tap_below(random, CHARS_MAX);
    uint32_t before = 0;
    for (size_t i = 0; i < wish; i++) {
        uint32_t code = codes[tap_below(random, COUNT(codes))];
        if (code == 0xDE00 && before == 0xD83D) {
            marks[count - 1].units = 2; /* joins the lone high one before it */
            before = 0;
        } else {
            marks[count++] = (mark){ n, code > 0xFFFF ? 2 : 1 };
            before = code;
        }
        n += spell(random, code, out + n);
    }
    marks[count].at = n;
    return count;
}

static void test_cuts(void)
{
    tap_random random = { 31337 };
    tap_row("units, heads and tails of random texts, against a count of their characters");
    for (int round = 0; round < 3000; round++) {
        char bytes[CHARS_MAX * 12 + 1];
        mark marks[CHARS_MAX + 1];
        size_t count = random_text(&random, bytes, marks);
        maki_str text = { bytes, marks[count].at };
        uint64_t all = 0;
        for (size_t i = 0; i < count; i++)
            all += marks[i].units;
        CHECK_EQ(maki_json_utf16_len(text), all);
        for (uint64_t units = 0; units <= all + 1; units++) {
            size_t end = 0, start = count;
            uint64_t left = units;
            while (end < count && marks[end].units <= left)
                left -= marks[end++].units;
            left = units;
            while (start > 0 && marks[start - 1].units <= left)
                left -= marks[--start].units;
            CHECK_TEXT(maki_json_head(text, units), maki_str_prefix(text, marks[end].at));
            CHECK_TEXT(maki_json_tail(text, units), maki_str_skip(text, marks[start].at));
        }
    }
}

/* A text without escapes goes another way through the code. */
static void test_plain_cuts(void)
{
    for (size_t i = 0; i < sample_count; i++) {
        maki_str text = samples[i].text;
        if (memchr(text.ptr, '\\', text.len)) continue;
        tap_row("units, heads and tails: %s", samples[i].name);
        CHECK_EQ(maki_json_utf16_len(text), samples[i].units);
        for (uint64_t units = 0; units <= samples[i].units + 1; units++) {
            maki_str head = maki_json_head(text, units), tail = maki_json_tail(text, units);
            CHECK(maki_utf8_valid(head, NULL) && maki_utf8_valid(tail, NULL));
            CHECK(head.ptr == text.ptr && tail.ptr + tail.len == text.ptr + text.len);
            uint64_t h = maki_utf16_len(head), t = maki_utf16_len(tail);
            /* at most what was asked for, and only a pair makes it one less */
            CHECK(h <= units && (h + 1 >= units || h == samples[i].units));
            CHECK(t <= units && (t + 1 >= units || t == samples[i].units));
        }
    }
    tap_row("more units than there are, as many as a number can hold");
    CHECK_STR(maki_json_head(MAKI_LIT("日\\n"), UINT64_MAX), "日\\n");
    CHECK_STR(maki_json_tail(MAKI_LIT("日\\n"), UINT64_MAX), "日\\n");
    tap_row("an emoji does not fit into one unit");
    CHECK_STR(maki_json_head(MAKI_LIT("\\ud83d\\ude00a"), 1), "");
    CHECK_STR(maki_json_tail(MAKI_LIT("a\\ud83d\\ude00"), 1), "");
    CHECK_STR(maki_json_head(MAKI_LIT("😀a"), 1), "");
    CHECK_STR(maki_json_tail(MAKI_LIT("a😀"), 1), "");
}

static maki_status collect(void *ctx, maki_str bytes, maki_err *err)
{
    maki_buf_add(ctx, bytes);
    return maki_buf_status(ctx, err);
}

/* clang-format off */
static const struct order_row { const char *name; maki_str low, high; } order_rows[] = {
    { "letters",                     { "\"a\"", 3 },        { "\"b\"", 3 } },
    { "a beginning comes first",     { "\"a\"", 3 },        { "\"ab\"", 4 } },
    { "nothing comes first",         { "\"\"", 2 },         { "\"a\"", 3 } },
    { "escaped or not",              { "\"\\u0061\"", 8 }, { "\"b\"", 3 } },
    { "by characters, not by units", { "\"\\uffe6\"", 8 }, { "\"\\ud83d\\ude00\"", 14 } },
};
/* clang-format on */

static void test_order(void)
{
    for (size_t i = 0; i < COUNT(order_rows); i++) {
        maki_str low = order_rows[i].low, high = order_rows[i].high;
        tap_row("order: %s", order_rows[i].name);
        CHECK(maki_json_compare(low, high) < 0);
        CHECK(maki_json_compare(high, low) > 0);
        CHECK_EQ(maki_json_compare(low, low), 0);
    }
}

static void test_text_to(void)
{
    maki_env env = maki_env_system();
    maki_buf out = maki_buf_new(env.alloc, 1 << 12);
    maki_err err = { 0 };
    tap_row("a text into a sink: plain runs, runs of escapes, a lone surrogate");
    CHECK_STATUS(maki_json_unescape_to(MAKI_LIT("日本\\n\\t\\\\\\u8a9e \\ud83d\\ude00\\ud83d."),
                                       (maki_sink){ collect, &out }, &err),
                 MAKI_OK, &err);
    CHECK_STR(maki_buf_str(&out), "日本\n\t\\語 😀\xEF\xBF\xBD.");
    maki_buf_clear(&out);
    for (int i = 0; i < 100; i++)
        CHECK_STATUS(maki_json_unescape_to(MAKI_LIT("\\ud83d\\ude00\\u0041"),
                                           (maki_sink){ collect, &out }, &err),
                     MAKI_OK, &err);
    CHECK_EQ(out.len, 500);
    maki_buf_free(&out);
}

int main(void)
{
    test_texts();
    test_same();
    test_order();
    test_text_to();
    test_cuts();
    test_plain_cuts();
    return tap_end();
}

/* text_test.c -- UTF-8: validity, lengths, and where a text may be cut. */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"
#include "samples.h"
#include "tap.h"
#include "utf8_reference.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }
enum { VALID = -1 };

/* clang-format off */
static const struct valid_row { const char *name; maki_str text; long bad_at; } valid_rows[] = {
    { "empty",                           S(""),                     VALID },
    { "NUL",                             S("\0"),                   VALID },
    { "the ends of each length",         S("\x7F\xC2\x80\u07FF\u0800\uFFFF\U00010000\U0010FFFF"), VALID },
    { "a continuation byte alone",       S("\x80"),                 0 },
    { "a continuation byte too many",    S("日\x81本"),             3 },
    { "C0 80, the overlong NUL",         S("a\xC0\x80"),            1 },
    { "C1 BF",                           S("a\xC1\xBF"),            1 },
    { "E0 80 80, overlong",              S("ab\xE0\x80\x80"),       2 },
    { "E0 9F BF, overlong",              S("ab\xE0\x9F\xBF"),       2 },
    { "E0 A0 80, the first of three",    S("ab\xE0\xA0\x80"),       VALID },
    { "F0 8F BF BF, overlong",           S("\xF0\x8F\xBF\xBF"),     0 },
    { "ED 9F BF, before the surrogates", S("\xED\x9F\xBF"),         VALID },
    { "ED A0 80, the first surrogate",   S("\xED\xA0\x80"),         0 },
    { "ED BF BF, the last surrogate",    S("x\xED\xBF\xBF"),        1 },
    { "EE 80 80, after the surrogates",  S("\xEE\x80\x80"),         VALID },
    { "a pair of encoded surrogates",    S("\xED\xA0\xBD\xED\xB8\x80"), 0 },
    { "F4 90 80 80, above U+10FFFF",     S("\xF4\x90\x80\x80"),     0 },
    { "F5",                              S("abc\xF5\x80\x80\x80"),  3 },
    { "FE and FF",                       S("\xFE\xFF"),             0 },
    { "Japanese cut after one byte",     S("日本\xE8"),             6 },
    { "Japanese cut after two bytes",    S("日本\xE8\xAA"),         6 },
    { "an emoji cut after three bytes",  S("😀\xF0\x9F\x98"),       4 },
    { "ASCII where a byte is missing",   S("\xE8\xAA" "a"),         0 },
    { "a lead where a byte is missing",  S("\xE8\xAA\xE8\xAA\x9E"), 0 },
};
/* clang-format on */

static void test_valid(void)
{
    for (size_t i = 0; i < COUNT(valid_rows); i++) {
        const struct valid_row *row = &valid_rows[i];
        size_t bad = 999;
        tap_row("valid: %s", row->name);
        CHECK(maki_utf8_valid(row->text, &bad) == (row->bad_at == VALID));
        CHECK_EQ(bad, row->bad_at == VALID ? 999 : row->bad_at);
        CHECK(maki_utf8_valid(row->text, NULL) == (row->bad_at == VALID));
    }
    for (size_t i = 0; i < sample_count; i++) {
        tap_row("valid: %s", samples[i].name);
        CHECK(maki_utf8_valid(samples[i].text, NULL));
    }
}

/* Every code point, surrogates and values past the end included. */
static void test_code_points(void)
{
    tap_row("every code point is encoded, valid, and decoded again");
    for (uint32_t code = 0; code <= 0x110010; code++) {
        bool scalar = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
        char bytes[4];
        size_t read = 0;
        size_t len = maki_utf8_encode(code, bytes);
        maki_str text = { bytes, len };
        CHECK_EQ(reference_char((const unsigned char *)bytes, len), len);
        CHECK(maki_utf8_valid(text, NULL));
        CHECK_EQ(maki_utf8_decode(text, 0, &read), scalar ? code : 0xFFFD);
        CHECK_EQ(read, len);
        CHECK_EQ(maki_utf16_len(text), scalar && code > 0xFFFF ? 2 : 1);
    }
    tap_row("a value far too large becomes U+FFFD");
    char bytes[4];
    CHECK_EQ(maki_utf8_encode(UINT32_MAX, bytes), 3);
    CHECK_STR(((maki_str){ bytes, 3 }), "\uFFFD");
}

static void test_samples(void)
{
    for (size_t i = 0; i < sample_count; i++) {
        maki_str text = samples[i].text;
        tap_row("units, cuts and incomplete ends: %s", samples[i].name);
        CHECK_EQ(maki_utf16_len(text), samples[i].units);
        for (size_t max = 0; max <= text.len + 2; max++) {
            /* The longest valid prefix of the first max bytes ends where the cut must. */
            size_t here = max < text.len ? max : text.len;
            size_t whole = reference_valid_len(text.ptr, here);
            maki_str cut = maki_utf8_truncate(text, max);
            CHECK_EQ(cut.len, whole);
            CHECK(cut.ptr == text.ptr);
            CHECK_EQ(maki_utf8_incomplete(maki_str_prefix(text, here)), here - whole);
        }
    }
}

/* An incomplete character: bytes that no character begins with are invalid, not incomplete. */
/* clang-format off */
static const struct incomplete_row { const char *name; maki_str text; size_t bytes; } incomplete_rows[] = {
    { "nothing",                            S(""),                 0 },
    { "a whole character",                  S("日"),               0 },
    { "one byte of two",                    S("ab\xC3"),           1 },
    { "one byte of three",                  S("a\xE6"),            1 },
    { "two bytes of three",                 S("\xE6\x97"),         2 },
    { "one byte of four",                   S("\xF0"),             1 },
    { "two bytes of four",                  S("日\xF0\x9F"),       2 },
    { "three bytes of four",                S("\xF0\x9F\x98"),     3 },
    { "only continuation bytes",            S("\x80\x80\x80\x80"), 0 },
    { "a continuation byte too many",       S("é\x80"),            0 },
    { "C0 begins no character",             S("a\xC0"),            0 },
    { "F5 begins no character",             S("a\xF5"),            0 },
    { "FF begins no character",             S("a\xFF"),            0 },
    { "E0 80 is overlong, not incomplete",  S("\xE0\x80"),         0 },
    { "ED A0 is a surrogate",               S("\xED\xA0"),         0 },
    { "F4 90 is above U+10FFFF",            S("\xF4\x90"),         0 },
};
/* clang-format on */

static void test_incomplete(void)
{
    for (size_t i = 0; i < COUNT(incomplete_rows); i++) {
        tap_row("incomplete: %s", incomplete_rows[i].name);
        CHECK_EQ(maki_utf8_incomplete(incomplete_rows[i].text), incomplete_rows[i].bytes);
    }
}

static void test_cut(void)
{
    tap_row("a family emoji is never cut inside a character");
    maki_str family = MAKI_LIT("👨\u200D👩");
    static const size_t ends[] = { 0, 0, 0, 0, 4, 4, 4, 7, 7, 7, 7, 11, 11 };
    for (size_t max = 0; max < COUNT(ends); max++) {
        CHECK_EQ(maki_utf8_truncate(family, max).len, ends[max]);
    }
    tap_row("a cut at the whole length or beyond is no cut");
    CHECK_STR(maki_utf8_truncate(MAKI_LIT("日本"), 6), "日本");
    CHECK_STR(maki_utf8_truncate(MAKI_LIT("日本"), SIZE_MAX), "日本");
    CHECK_STR(maki_utf8_truncate(MAKI_LIT(""), 0), "");
}

int main(void)
{
    test_valid();
    test_code_points();
    test_samples();
    test_cut();
    test_incomplete();
    return tap_end();
}

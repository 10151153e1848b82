/* str_test.c -- comparing, finding and trimming borrowed strings. */
#include "base/str_util.h"

#include "base/text.h"
#include "samples.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

static const maki_str nowhere = { NULL, 0 }; /* what a zeroed struct holds */

/* clang-format off */
static const struct find_row { const char *name; maki_str text, part; bool has; size_t nocase; } find_rows[] = {
    { "empty in empty",              S(""),           S(""),        true,  0 },
    { "empty in any",                S("abc"),        S(""),        true,  0 },
    { "any in empty",                S(""),           S("a"),       false, 0 },
    { "itself",                      S("abc"),        S("abc"),     true,  0 },
    { "longer than the text",        S("abc"),        S("abcd"),    false, 3 },
    { "at the end",                  S("xyzabc"),     S("abc"),     true,  3 },
    { "after a false start",         S("aaab"),       S("aab"),     true,  1 },
    { "the first of two",            S("ab ab"),      S("ab"),      true,  0 },
    { "other case",                  S("Hello World"), S("WORLD"),  false, 6 },
    { "only letters have a case",    S("a@[`{b"),     S("@{`["),    false, 6 },
    { "@ is not ` and [ is not {",   S("`{"),         S("@["),      false, 2 },
    { "a NUL is a byte like others", S("a\0bc"),      S("\0B"),     false, 1 },
    { "Japanese",                    S("日本語です"), S("語"),      true,  6 },
    { "Japanese that is not there",  S("日本語です"), S("誤"),      false, 15 },
    { "Korean",                      S("안녕 세계"),  S("세계"),    true,  7 },
    { "emoji inside a ZWJ sequence", S("👨\u200D👩\u200D👧"), S("👩"), true, 7 },
    { "Latin letters among Arabic",  S("مرحبا ABC"),  S("abc"),     false, 11 },
    { "accents keep their case",     S("É"),          S("é"),       false, 2 },
    { "a mark is not its letter",    S("e\u0301"),    S("é"),       false, 3 },
};
/* clang-format on */

static void test_find(void)
{
    for (size_t i = 0; i < COUNT(find_rows); i++) {
        const struct find_row *row = &find_rows[i];
        tap_row("find: %s", row->name);
        CHECK(maki_str_contains(row->text, row->part) == row->has);
        CHECK_EQ(maki_str_find_nocase(row->text, row->part), row->nocase);
        bool has = row->part.len == 0 || row->nocase < row->text.len;
        CHECK(maki_str_contains_nocase(row->text, row->part) == has);
    }
    tap_row("every byte against every byte: only A-Z and a-z are equal without case");
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            char x = (char)a, y = (char)b;
            bool letters = (a | 32) >= 'a' && (a | 32) <= 'z' && (a | 32) == (b | 32);
            CHECK(maki_str_contains_nocase((maki_str){ &x, 1 }, (maki_str){ &y, 1 }) ==
                  (a == b || letters));
            CHECK(maki_str_contains((maki_str){ &x, 1 }, (maki_str){ &y, 1 }) == (a == b));
        }
    }
}

static void test_compare(void)
{
    tap_row("is and starts");
    CHECK(maki_str_equal(MAKI_LIT("日本"), MAKI_LIT("日本")));
    CHECK(!maki_str_equal(MAKI_LIT("日本"), MAKI_LIT("日木")));
    CHECK(!maki_str_equal(MAKI_LIT("日本"), MAKI_LIT("日本 ")));
    CHECK(!maki_str_equal(MAKI_LIT("a\0b"), MAKI_LIT("a\0c")));
    CHECK(maki_str_starts(MAKI_LIT("日本語"), MAKI_LIT("日本")));
    CHECK(maki_str_starts(MAKI_LIT("日本"), MAKI_LIT("日本")));
    CHECK(maki_str_starts(MAKI_LIT("日本"), MAKI_LIT("")));
    CHECK(!maki_str_starts(MAKI_LIT("日"), MAKI_LIT("日本")));
    CHECK(!maki_str_starts(MAKI_LIT("😀"), MAKI_LIT("😁")));

    tap_row("of, from and to");
    CHECK_STR(maki_str_of("안녕"), "안녕");
    CHECK_STR(maki_str_skip(MAKI_LIT("안녕"), 3), "녕");
    CHECK_STR(maki_str_skip(MAKI_LIT("안녕"), 6), "");
    CHECK_STR(maki_str_prefix(MAKI_LIT("안녕"), 3), "안");

    tap_row("strings that point nowhere are empty");
    CHECK(maki_str_equal(nowhere, nowhere));
    CHECK(maki_str_equal(nowhere, MAKI_LIT("")));
    CHECK(!maki_str_equal(nowhere, MAKI_LIT("a")));
    CHECK(maki_str_contains(nowhere, nowhere));
    CHECK(maki_str_contains_nocase(MAKI_LIT("a"), nowhere));
    CHECK(!maki_str_contains(nowhere, MAKI_LIT("a")));
    CHECK_STR(maki_str_trim(nowhere), "");
    CHECK(maki_str_starts(nowhere, nowhere));
    CHECK(maki_str_starts(MAKI_LIT("a"), nowhere));
    CHECK(!maki_str_starts(nowhere, MAKI_LIT("a")));
}

/* WhiteSpace and LineTerminator of ECMA-262: every other character is not trimmed. */
static bool js_space(uint32_t code)
{
    static const uint32_t spaces[] = { 0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x20,   0xA0,
                                       0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005,
                                       0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029,
                                       0x202F, 0x205F, 0x3000, 0xFEFF };
    for (size_t i = 0; i < COUNT(spaces); i++) {
        if (code == spaces[i]) return true;
    }
    return false;
}

/* clang-format off */
static const struct trim_row { const char *name; maki_str in, out; } trim_rows[] = {
    { "nothing",                        S(""),                   S("") },
    { "nothing to trim",                S("a b"),                S("a b") },
    { "ASCII white space",              S(" \t\n\v\f\r a\r\n"),  S("a") },
    { "only white space",               S(" \u3000\u2028\uFEFF"), S("") },
    { "the ideographic space",          S("\u3000日本\u3000語\u3000"), S("日本\u3000語") },
    { "a byte order mark",              S("\uFEFF한국어\uFEFF"), S("한국어") },
    { "no-break spaces",                S("\u00A0\u202F中文\u2007"), S("中文") },
    { "zero width space stays",         S("\u200Ba\u200B"),      S("\u200Ba\u200B") },
    { "zero width joiner stays",        S(" 👩\u200D "),         S("👩\u200D") },
    { "the Mongolian vowel separator stays", S("\u180Ea"),       S("\u180Ea") },
    { "next line, U+0085, stays",       S("\xC2\x85" "a"),        S("\xC2\x85" "a") },
    { "NUL stays",                      S(" \0 "),               S("\0") },
    { "Arabic",                         S("  مرحبا  "),          S("مرحبا") },
    { "a combining mark alone",         S(" \u0301 "),           S("\u0301") },
};
/* clang-format on */

static void test_trim(void)
{
    for (size_t i = 0; i < COUNT(trim_rows); i++) {
        tap_row("trim: %s", trim_rows[i].name);
        CHECK_TEXT(maki_str_trim(trim_rows[i].in), trim_rows[i].out);
    }
    tap_row("trim: every character there is, at both ends");
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char text[9];
        if (code >= 0xD800 && code <= 0xDFFF) continue;
        size_t len = maki_utf8_encode(code, text);
        text[len] = 'x';
        memcpy(text + len + 1, text, len);
        maki_str got = maki_str_trim((maki_str){ text, 2 * len + 1 });
        CHECK_EQ(got.len, js_space(code) ? 1 : 2 * len + 1);
    }
    for (size_t i = 0; i < sample_count; i++) {
        tap_row("trim leaves words alone: %s", samples[i].name);
        CHECK_TEXT(maki_str_trim(samples[i].text), samples[i].text);
    }
}

static void test_take(void)
{
    maki_str rest = MAKI_LIT("one,,two"), piece;
    tap_row("take: pieces, an empty one, and the last, which has no end");
    CHECK(maki_str_take(&rest, ',', &piece));
    CHECK_STR(piece, "one");
    CHECK(maki_str_take(&rest, ',', &piece));
    CHECK_STR(piece, "");
    CHECK(!maki_str_take(&rest, ',', &piece));
    CHECK_STR(piece, "two");
    CHECK_EQ(rest.len, 0);
    CHECK(!maki_str_take(&rest, ',', &piece));
    CHECK_STR(piece, "");
    tap_row("only");
    CHECK(maki_str_only(MAKI_LIT(""), " \t"));
    CHECK(maki_str_only(MAKI_LIT(" \t "), " \t"));
    CHECK(!maki_str_only(MAKI_LIT(" \0"), " \t"));
    CHECK(!maki_str_only(MAKI_LIT(" x"), " \t"));
}

int main(void)
{
    test_take();
    test_find();
    test_trim();
    test_compare();
    return tap_end();
}

/* fold_test.c -- what a search finds in titles of many languages. */
#include "base/casefold.h"

#include <stdbool.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

/* clang-format off */
static const struct fold_row { const char *name, *text, *part; bool found; } rows[] = {
    { "case",                            "Fix the LOGIN page", "Login",  true },
    { "case of accented letters",        "ÉTÉ à la plage",     "été",    true },
    { "Greek, the last sigma too",       "ΟΔΥΣΣΕΥΣ",           "οδυσσευς", true },
    { "Cyrillic",                        "Ошибка ВХОДА",       "входа",  true },
    { "sharp s",                         "STRASSE",            "straße", true },
    { "a composed letter, decomposed",   "caf\xC3\xA9",        "cafe\xCC\x81", true },
    { "and the other way round",         "CAFE\xCC\x81",       "caf\xC3\xA9",  true },
    { "full width",                      "ＡＰＩ１２の設計",   "api12",  true },
    { "half width",                      "ﾊﾟｽﾜｰﾄﾞを変える",    "パスワード", true },
    { "half width, searched for",        "パスワード",         "ﾊﾟｽ",    true },
    { "Hangul, decomposed",              "\xED\x95\x9C\xEA\xB5\xAD", "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", true },
    { "a ligature",                      "eﬃcient",            "FFI",    true },
    { "a digit in a circle",             "①番目",              "1番",    true },
    { "a soft hyphen does not count",    "co\xC2\xADoperate",  "cooperate", true },
    { "an empty part",                   "a",                  "",       true },
    { "an empty text",                   "",                   "a",      false },
    { "letters with another accent",     "été",                "ete",    false },
    { "kana with another mark",          "ガス",               "カス",   false },
    { "part of a syllable",              "한국",               "하",     false },
    { "hiragana is not katakana",        "すし",               "スシ",   false },
    { "not UTF-8: bytes, ASCII folded",  "\xFF" "AB",          "ab",     true },
    { "not UTF-8 in the part",           "ab",                 "\xFF",   false },
};
/* clang-format on */

/* Does a search for `part` find `text`? */
static bool finds(const char *part, const char *text)
{
    char a[200], b[200];
    maki_str whole = { a, maki_casefold(maki_str_of(text), a, sizeof a) };
    return maki_str_contains(whole, (maki_str){ b, maki_casefold(maki_str_of(part), b, sizeof b) });
}

int main(void)
{
    char out[8];
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s: %s", rows[i].found ? "found" : "not found", rows[i].name);
        CHECK_EQ(finds(rows[i].part, rows[i].text), rows[i].found);
    }
    tap_row("at most as many bytes as fit, in complete characters");
    size_t n = maki_casefold(MAKI_LIT("ＡＢ日本語"), out, sizeof out);
    CHECK_TEXT(((maki_str){ out, n }), MAKI_LIT("ab日本"));
    return tap_end();
}

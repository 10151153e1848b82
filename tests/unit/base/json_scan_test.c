/* json_scan_test.c -- valid and invalid JSON, with the offset and reason of each error.
 *
 * Each text is scanned at once, byte by byte, and cut at every offset, with both kernel sets: the
 * status, the offset and the message are always the same. */
#include "base/json_scan.h"

#include "scan_record.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* All ways to push `text` report the same spans and end with the same message, which is `want`. */
static void check_all_ways(maki_str text, bool sequence, const char *want)
{
    static transcript t, whole;
    const maki_text_kernels *kernels[] = { maki_text_kernels_best(), &maki_text_plain };
    for (size_t k = 0; k < COUNT(kernels); k++) {
        for (size_t cut = 0; cut <= text.len + 3; cut++) {
            maki_json_scan_options options = transcript_options(&t, MAKI_JSON_REPORT_MAX);
            options.json_lines = sequence;
            options.kernels = kernels[k];
            /* the first is not cut; after the cuts come pieces of 1, 2 and 3 bytes */
            scan_pieces(&t, &options, text, cut, cut > text.len ? cut - text.len : 0);
            if (k == 0 && cut == 0) memcpy(&whole, &t, sizeof t);
            const char *last = strrchr(t.text, '\n');
            if (!CHECK_CSTR(last ? last + 1 : t.text, want)) return;
            if (!CHECK_CSTR(t.text, whole.text)) return;
        }
    }
}

/* clang-format off */
static const struct text_row { const char *name; maki_str text; } good_rows[] = {
    { "null",                           S("null") },
    { "true with white space around it", S(" \t\r\n true \n") },
    { "false",                          S("false") },
    { "zero and minus zero",            S("[0,-0]") },
    { "numbers of every form",          S("[1,-1,1.5,-0.25,1e5,1E+5,1e-5,0e0,0.0E-0,123456789012345678901234567890]") },
    { "an empty string",                S("\"\"") },
    { "all escapes",                    S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uD83D\\ude00\"") },
    { "lone surrogates, escaped",       S("[\"\\ud800\",\"\\udc00\",\"\\udc00\\ud800\"]") },
    { "delete and U+2028 in a string",  S("\"\x7F\u2028\"") },
    { "empty containers",               S("[[],{},[ ],{ }]") },
    { "white space everywhere",         S(" { \"a\" : [ 1 , 2 ] , \"b\" : { } } ") },
    { "duplicate keys",                 S("{\"a\":1,\"a\":2}") },
    { "an empty key",                   S("{\"\":0}") },
    { "Japanese keys and values",       S("{\"名前\":\"巻\",\"数\":[1,\"二\"]}") },
    { "Chinese, Korean, Arabic",        S("[\"上下文\",\"안녕\",\"سلام\"]") },
    { "emoji and combining marks",      S("{\"👨\u200D👩\u200D👧\":\"e\u0301🇯🇵\"}") },
    { "a byte order mark in a string",  S("\"\uFEFF\"") },
    { "a string longer than a block",   S("[\"0123456789012345678901234567890123456789\\n日本語日本語日本語日本語\"]") },
};

static const struct bad_row { const char *name; maki_str text; const char *want; } bad_rows[] = {
    { "nothing",                  S(""),              "INVALID invalid JSON at byte 0: the text is empty" },
    { "only white space",         S(" \n\t"),         "INVALID invalid JSON at byte 3: the text is empty" },
    { "a bare word",              S("abc"),           "INVALID invalid JSON at byte 0: expected a value" },
    { "a bare Japanese word",     S("[日本]"),        "INVALID invalid JSON at byte 1: expected a value" },
    { "a byte order mark",        S("\uFEFF[]"),      "INVALID invalid JSON at byte 0: expected a value" },
    { "a full-width digit",       S("１"),            "INVALID invalid JSON at byte 0: expected a value" },
    { "an ideographic space",     S("\u3000[]"),      "INVALID invalid JSON at byte 0: expected a value" },
    { "half a literal",           S("tru"),           "INVALID invalid JSON at byte 3: unexpected end of the text" },
    { "a misspelt literal",       S("[nul1]"),        "INVALID invalid JSON at byte 4: expected true, false or null" },
    { "a literal in upper case",  S("[True]"),        "INVALID invalid JSON at byte 1: expected a value" },
    { "a literal with a tail",    S("truely"),        "INVALID invalid JSON at byte 4: unexpected bytes after the value" },
    { "NaN",                      S("NaN"),           "INVALID invalid JSON at byte 0: expected a value" },
    { "two values",               S("1 2"),           "INVALID invalid JSON at byte 2: unexpected bytes after the value" },
    { "a comma after the end",    S("{},"),           "INVALID invalid JSON at byte 2: unexpected bytes after the value" },
    { "a leading zero",           S("[01]"),          "INVALID invalid JSON at byte 2: expected ',' or the end of the container" },
    { "a plus sign",              S("+1"),            "INVALID invalid JSON at byte 0: expected a value" },
    { "a minus sign alone",       S("[-]"),           "INVALID invalid JSON at byte 2: a digit is missing in this number" },
    { "a point without digits",   S("[1.]"),          "INVALID invalid JSON at byte 3: a digit is missing in this number" },
    { "digits without a zero",    S("[.5]"),          "INVALID invalid JSON at byte 1: expected a value" },
    { "an empty exponent",        S("1e"),            "INVALID invalid JSON at byte 2: a digit is missing in this number" },
    { "an exponent's sign alone", S("1e+"),           "INVALID invalid JSON at byte 3: a digit is missing in this number" },
    { "two points",               S("[1.2.3]"),       "INVALID invalid JSON at byte 4: expected ',' or the end of the container" },
    { "hexadecimal",              S("0x1F"),          "INVALID invalid JSON at byte 1: unexpected bytes after the value" },
    { "a string without an end",  S("\"日本"),        "INVALID invalid JSON at byte 7: unexpected end of the text" },
    { "single quotes",            S("['a']"),         "INVALID invalid JSON at byte 1: expected a value" },
    { "a newline in a string",    S("\"a\nb\""),      "INVALID invalid JSON at byte 2: a control character must be escaped inside a string" },
    { "NUL in a string",          S("\"日\0\""),      "INVALID invalid JSON at byte 4: a control character must be escaped inside a string" },
    { "NUL after the value",      S("[]\0"),          "INVALID invalid JSON at byte 2: unexpected bytes after the value" },
    { "an unknown escape",        S("\"ab\\x41\""),   "INVALID invalid JSON at byte 4: invalid escape" },
    { "an escaped Japanese character", S("\"\\日\""), "INVALID invalid JSON at byte 2: invalid escape" },
    { "an escaped NUL byte",      S("\"\\\0\""),      "INVALID invalid JSON at byte 2: invalid escape" },
    { "a short \\u",              S("\"\\u12\""),     "INVALID invalid JSON at byte 5: \\u needs four hexadecimal digits" },
    { "\\u with a wrong digit",   S("\"\\u12G4\""),   "INVALID invalid JSON at byte 5: \\u needs four hexadecimal digits" },
    { "an end inside an escape",  S("\"\\"),          "INVALID invalid JSON at byte 2: unexpected end of the text" },
    { "an end inside \\u",        S("\"\\uD83D\\u"),  "INVALID invalid JSON at byte 9: unexpected end of the text" },
    { "an open array",            S("[1"),            "INVALID invalid JSON at byte 2: unexpected end of the text" },
    { "an open object",           S("{\"a\":"),       "INVALID invalid JSON at byte 5: unexpected end of the text" },
    { "a trailing comma in an array",  S("[1,]"),     "INVALID invalid JSON at byte 3: expected a value" },
    { "a trailing comma in an object", S("{\"a\":1,}"), "INVALID invalid JSON at byte 7: expected a key in quotes" },
    { "two commas",               S("[1,,2]"),        "INVALID invalid JSON at byte 3: expected a value" },
    { "a comma first",            S("[,1]"),          "INVALID invalid JSON at byte 1: expected a value" },
    { "no comma",                 S("[1 2]"),         "INVALID invalid JSON at byte 3: expected ',' or the end of the container" },
    { "a key without quotes",     S("{a:1}"),         "INVALID invalid JSON at byte 1: expected a key in quotes or '}'" },
    { "a number as a key",        S("{1:1}"),         "INVALID invalid JSON at byte 1: expected a key in quotes or '}'" },
    { "a second key without quotes", S("{\"a\":1,b:2}"), "INVALID invalid JSON at byte 7: expected a key in quotes" },
    { "a key without a colon",    S("{\"名\" 1}"),    "INVALID invalid JSON at byte 7: expected ':' after a key" },
    { "a key without a value",    S("{\"a\":}"),      "INVALID invalid JSON at byte 5: expected a value" },
    { "an array closed by }",     S("[1}"),           "INVALID invalid JSON at byte 2: '}' inside an array" },
    { "an object closed by ]",    S("{\"a\":1]"),     "INVALID invalid JSON at byte 6: ']' inside an object" },
    { "an end without a beginning", S("]"),           "INVALID invalid JSON at byte 0: expected a value" },
    { "a comment",                S("[1/*x*/]"),      "INVALID invalid JSON at byte 2: expected ',' or the end of the container" },
    { "a stray byte",             S("\"ab\xFF" "cd\""), "INVALID invalid JSON at byte 3: invalid UTF-8" },
    { "a stray byte near the end", S("\"ab\xFF\""),   "INVALID invalid JSON at byte 3: invalid UTF-8" },
    { "a lead without its rest",  S("\"\xE3\""),      "INVALID invalid JSON at byte 1: invalid UTF-8" },
    { "half a character and a quote", S("\"日\xE3\x81\""), "INVALID invalid JSON at byte 4: invalid UTF-8" },
    { "an overlong quote",        S("\"\xC0\xA2\""),  "INVALID invalid JSON at byte 1: invalid UTF-8" },
    { "an encoded surrogate",     S("\"\xED\xA0\x80\""), "INVALID invalid JSON at byte 1: invalid UTF-8" },
    { "a character past the last", S("\"\xF4\x90\x80\x80\""), "INVALID invalid JSON at byte 1: invalid UTF-8" },
    { "a continuation byte alone", S("[\x80]"),       "INVALID invalid JSON at byte 1: invalid UTF-8" },
    { "the text ends with an incomplete character", S("\"\xF0\x9F\x98"), "INVALID invalid JSON at byte 1: the text ends with an incomplete character" },
    { "the first mistake counts, not the bad byte after it", S("[1 2,\"\xFF\"]"), "INVALID invalid JSON at byte 3: expected ',' or the end of the container" },
};

/* Many values, each ended by a newline. */
static const struct bad_row sequence_rows[] = {
    { "no rows",                  S(""),              "OK" },
    { "one row, no newline",      S("{\"a\":1}"),     "OK" },
    { "a number as the last byte", S("1\n23"),        "OK" },
    { "rows of every kind",       S("1\n\"二\"\n[3]\n{\"넷\":4}\nnull\ntrue\n"), "OK" },
    { "blank lines",              S("\n\n1\n \t\r\n2\n\n"), "OK" },
    { "carriage returns",         S("1\r\n[2]\r\n"),  "OK" },
    { "two values on a line",     S("1 2\n"),         "INVALID invalid JSON at byte 2: expected a newline after the value" },
    { "a comma between rows",     S("1,\n2\n"),       "INVALID invalid JSON at byte 1: expected a newline after the value" },
    { "a newline inside a row",   S("[1,\n2]\n"),     "INVALID invalid JSON at byte 3: a row may not contain a newline" },
    { "a newline before an end",  S("{\"名\":1\n}\n"), "INVALID invalid JSON at byte 8: a row may not contain a newline" },
    { "a row that is cut",        S("1\n{\"a\":"),    "INVALID invalid JSON at byte 7: unexpected end of the text" },
    { "a mistake in the third row", S("[]\n\"😀\"\n[1,]\n"), "INVALID invalid JSON at byte 13: expected a value" },
    { "a byte order mark",        S("1\n\uFEFF2\n"),  "INVALID invalid JSON at byte 2: expected a value" },
};
/* clang-format on */

static void test_tables(void)
{
    for (size_t i = 0; i < COUNT(good_rows); i++) {
        tap_row("valid: %s", good_rows[i].name);
        check_all_ways(good_rows[i].text, false, "OK");
    }
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        tap_row("invalid: %s", bad_rows[i].name);
        check_all_ways(bad_rows[i].text, false, bad_rows[i].want);
    }
    for (size_t i = 0; i < COUNT(sequence_rows); i++) {
        tap_row("sequence: %s", sequence_rows[i].name);
        check_all_ways(sequence_rows[i].text, true, sequence_rows[i].want);
    }
}

/* A valid text that is cut anywhere is invalid at its end, unless the rest is complete. */
static void test_prefixes(void)
{
    for (size_t i = 0; i < COUNT(good_rows); i++) {
        maki_str text = good_rows[i].text;
        if (text.ptr[text.len - 1] != ']' && text.ptr[text.len - 1] != '}') continue;
        tap_row("cut short: %s", good_rows[i].name);
        for (size_t n = 0; n < text.len; n++) {
            maki_json_scan_options options = { 0 };
            maki_err err;
            maki_str head = maki_str_prefix(text, n);
            CHECK_STATUS(maki_json_scan_text(head, &options, &err), MAKI_INVALID, &err);
        }
    }
}

static void check_depth(size_t brackets, unsigned max_depth, maki_status want, const char *msg)
{
    char *text = malloc(2 * brackets);
    maki_json_scan_options options = { .max_depth = max_depth };
    maki_err err = { 0 };
    memset(text, '[', brackets);
    memset(text + brackets, ']', brackets);
    maki_str all = { text, 2 * brackets };
    CHECK_STATUS(maki_json_scan_text(all, &options, &err), want, &err);
    CHECK_CSTR(err.msg, msg);
    free(text);
}

static void test_depth(void)
{
    tap_row("512 levels are fine, one more is too deep");
    check_depth(512, 0, MAKI_OK, "");
    check_depth(513, 0, MAKI_TOOBIG, "JSON nested deeper than 512 levels at byte 512");
    tap_row("200,000 brackets stop at the limit");
    check_depth(200000, 0, MAKI_TOOBIG, "JSON nested deeper than 512 levels at byte 512");
    tap_row("a custom limit");
    check_depth(3, 3, MAKI_OK, "");
    check_depth(4, 3, MAKI_TOOBIG, "JSON nested deeper than 3 levels at byte 3");
    tap_row("the highest limit there is");
    check_depth(4096, 4096, MAKI_OK, "");
    check_depth(4097, 1000000, MAKI_TOOBIG, "JSON nested deeper than 4096 levels at byte 4096");
    tap_row("sibling values are not deep");
    maki_json_scan_options options = { .max_depth = 2 };
    maki_err err;
    maki_str flat = MAKI_LIT("[[],{},[],{\"深\":1},[[]]]");
    CHECK_STATUS(maki_json_scan_text(flat, &options, &err), MAKI_TOOBIG, &err);
    CHECK_CSTR(err.msg, "JSON nested deeper than 2 levels at byte 21");
    CHECK_STATUS(maki_json_scan_text(MAKI_LIT("[[],{},[],[1,2]]"), &options, &err), MAKI_OK, &err);
}

static void test_nothing(void)
{
    tap_row("a NULL text is an empty one");
    maki_json_scan_options options = { 0 };
    maki_err err;
    CHECK_STATUS(maki_json_scan_text((maki_str){ NULL, 0 }, &options, &err), MAKI_INVALID, &err);
    CHECK_CSTR(err.msg, "invalid JSON at byte 0: the text is empty");
}

/* A text can be resumed between any two values. */
static void test_resume(void)
{
    static const maki_json_scan_options options = { 0 };
    static const struct resume_row {
        const char *name, *text;
        size_t at;
        const char *open;
        maki_status status;
    } rows[] = {
        { "in an array in an object", "{\"a\":[1,2],\"b\":3}", 7, "{[", MAKI_OK },
        { "in an object in an array", "[{\"a\":1,\"b\":2}]", 7, "[{", MAKI_OK },
        { "what is before is not looked at", "########,2],\"b\":3}", 8, "{[", MAKI_OK },
        { "unexpected end of the text", "{\"a\":[1,2]", 7, "{[", MAKI_INVALID },
        { "another container ends", "{\"a\":[1}}", 7, "{[", MAKI_INVALID },
        { "a value without a comma", "{\"a\":[1 2]}", 7, "{[", MAKI_INVALID },
        { "a key in an array", "{\"a\":[1,\"b\":2]}", 7, "{[", MAKI_INVALID },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_str text = maki_str_of(rows[i].text);
        maki_json_scan scan;
        maki_err err = { 0 };
        tap_row("resumed: %s", rows[i].name);
        maki_json_scan_resume(&scan, &options, rows[i].at, rows[i].open);
        maki_status st = maki_json_scan_push(&scan, maki_str_skip(text, rows[i].at), &err);
        if (st == MAKI_OK) st = maki_json_scan_end(&scan, &err);
        CHECK_STATUS(st, rows[i].status, &err);
    }
}

int main(void)
{
    test_tables();
    test_resume();
    test_prefixes();
    test_depth();
    test_nothing();
    return tap_end();
}

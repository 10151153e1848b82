/* json_test.c -- reading valid JSON: items, fields, keys, kinds. */
#include "base/json_access.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* The items as "key=value|key=value|", which shows where each span begins and ends. */
static const struct items_row {
    const char *name;
    maki_str json;
    const char *items;
} items_rows[] = {
    { "an empty array", S("[]"), "" },
    { "an empty object", S("{}"), "" },
    { "empty with white space", S("[ \n\t\r ]"), "" },
    { "a number has no items", S("12"), "" },
    { "a string has no items, whatever it contains", S("\"[1,2]\""), "" },
    { "null has no items", S("null"), "" },
    { "an array", S("[1,true,null]"), "=1|=true|=null|" },
    { "white space everywhere", S("[ 1 ,\n\t2\r,  \"a b\" ]"), "=1|=2|=\"a b\"|" },
    { "an object", S("{\"a\":1,\"b\":[2]}"), "a=1|b=[2]|" },
    { "an object with white space", S("{ \"a\" : 1 ,\n \"b\"\t:\r{ } }"), "a=1|b={ }|" },
    { "containers inside", S("[[1,[2]],{\"x\":[3]},[]]"), "=[1,[2]]|={\"x\":[3]}|=[]|" },
    { "brackets, commas and quotes inside strings", S("[\"]\",\"[,{\",\"\\\"]\",{\"}\":\"}\"}]"),
      "=\"]\"|=\"[,{\"|=\"\\\"]\"|={\"}\":\"}\"}|" },
    { "a backslash at the end of a string", S("[\"\\\\\",\"\\\\\\\\\"]"),
      "=\"\\\\\"|=\"\\\\\\\\\"|" },
    { "keys keep their escapes", S("{\"\\u0061\":1,\"\\\"\":2}"), "\\u0061=1|\\\"=2|" },
    { "colons in keys and values", S("{\":\":\":\"}"), ":=\":\"|" },
    { "duplicate keys are all there", S("{\"a\":1,\"a\":2}"), "a=1|a=2|" },
    { "Japanese and Chinese", S("{\"名前\":\"巻\",\"上下\":\"文\"}"), "名前=\"巻\"|上下=\"文\"|" },
    { "Korean, Arabic, emoji", S("[\"안녕\",\"سلام\",\"👨\u200D👩\u200D👧\"]"),
      "=\"안녕\"|=\"سلام\"|=\"👨\u200D👩\u200D👧\"|" },
    { "a string longer than a block", S("[\"0123456789012345678901234567890123456789日本語\",1]"),
      "=\"0123456789012345678901234567890123456789日本語\"|=1|" },
};

static void test_items(void)
{
    for (size_t i = 0; i < COUNT(items_rows); i++) {
        const struct items_row *row = &items_rows[i];
        maki_json_iter iter = maki_json_items(row->json);
        maki_json_item item;
        char got[400] = "";
        size_t n = 0, count = 0;
        tap_row("items: %s", row->name);
        while (maki_json_next(&iter, &item)) {
            n += (size_t)snprintf(got + n, sizeof got - n, "%.*s=%.*s|", (int)item.key.len,
                                  item.key.ptr, (int)item.value.len, item.value.ptr);
            /* An item begins at its key's quote, or with its value. */
            CHECK(item.start == (item.key.len || *item.start == '"' ? item.start : item.value.ptr));
            if (row->json.ptr[0] == '{')
                CHECK(item.start == item.key.ptr - 1);
            else
                CHECK(item.start == item.value.ptr);
            count++;
        }
        CHECK_CSTR(got, row->items);
        CHECK(!maki_json_next(&iter, &item)); /* it stays at the end */
        CHECK_EQ(maki_json_count(row->json), count);
    }
}

/* clang-format off */
static const struct get_row { const char *name; maki_str json, key; const char *value; } get_rows[] = {
    { "the first field",             S("{\"a\":1,\"b\":2}"),            S("a"),   "1" },
    { "the last field",              S("{\"a\":1,\"b\":2}"),            S("b"),   "2" },
    { "no such field",               S("{\"a\":1}"),                    S("b"),   NULL },
    { "a key that only begins so",   S("{\"abc\":1}"),                  S("ab"),  NULL },
    { "case counts",                 S("{\"A\":1}"),                    S("a"),   NULL },
    { "of two the last counts",      S("{\"a\":1,\"b\":2,\"a\":3}"),    S("a"),   "3" },
    { "of two the last counts, however it is escaped", S("{\"\\u0061\":1,\"a\":2,\"\\u0061\":3}"), S("a"), "3" },
    { "an escaped key",              S("{\"\\u540d\":1}"),              S("名"),  "1" },
    { "a key escaped as a pair",     S("{\"\\ud83d\\ude00\":1}"),       S("😀"),  "1" },
    { "short escapes in a key",      S("{\"a\\n\\t\\\"\\/\":1}"),       S("a\n\t\"/"), "1" },
    { "an escaped key that is longer", S("{\"\\u0061b\":1}"),           S("a"),   NULL },
    { "a backslash is not its escape", S("{\"\\\\u0061\":1}"),          S("a"),   NULL },
    { "a NUL in a key",              S("{\"a\\u0000b\":1,\"a\":2}"),    S("a\0b"), "1" },
    { "an empty key",                S("{\"\":5}"),                     S(""),    "5" },
    { "keys of inner objects do not count", S("{\"x\":{\"a\":1}}"),     S("a"),   NULL },
    { "nor do keys in arrays",       S("[{\"a\":1}]"),                  S("a"),   NULL },
    { "nor in strings",              S("\"{\\\"a\\\":1}\""),            S("a"),   NULL },
    { "a Korean key",                S("{\"이름\":\"값\"}"),            S("이름"), "\"값\"" },
    { "an Arabic key",               S("{\"مفتاح\":[1]}"),              S("مفتاح"), "[1]" },
    { "a ZWJ sequence as a key",     S("{\"👩\":1,\"👩\u200D🚀\":2}"),  S("👩\u200D🚀"), "2" },
    { "a letter and a mark are not the letter with it", S("{\"e\\u0301\":1}"), S("é"), NULL },
    { "white space around all",      S("{ \"k\" : { \"x\" : 1 } }"),    S("k"),   "{ \"x\" : 1 }" },
};
/* clang-format on */

static void test_get(void)
{
    for (size_t i = 0; i < COUNT(get_rows); i++) {
        const struct get_row *row = &get_rows[i];
        maki_str value = MAKI_LIT("untouched");
        tap_row("get: %s", row->name);
        CHECK(maki_json_get(row->json, row->key, &value) == (row->value != NULL));
        CHECK_TEXT(value, row->value ? maki_str_of(row->value) : MAKI_LIT("untouched"));
    }
}

/* clang-format off */
static const struct check_row { const char *name; maki_str text, value; maki_json_kind kind; } check_rows[] = {
    { "null",          S(" null "),          S("null"),    MAKI_JSON_NULL },
    { "true",          S("true"),            S("true"),    MAKI_JSON_BOOL },
    { "false",         S("\tfalse\n"),       S("false"),   MAKI_JSON_BOOL },
    { "zero",          S("0"),               S("0"),       MAKI_JSON_NUMBER },
    { "minus one",     S("\r\n-1\r\n"),      S("-1"),      MAKI_JSON_NUMBER },
    { "a string",      S(" \" 日本 \" "),    S("\" 日本 \""), MAKI_JSON_STRING },
    { "an array",      S(" [ 1 ] "),         S("[ 1 ]"),   MAKI_JSON_ARRAY },
    { "an object",     S("\n{ }\n"),         S("{ }"),     MAKI_JSON_OBJECT },
};
/* clang-format on */

static void test_check(void)
{
    static const char *const names[] = { "null",     "true or false", "a number",
                                         "a string", "an array",      "an object" };
    maki_err err;
    maki_str value;
    for (size_t i = 0; i < COUNT(check_rows); i++) {
        tap_row("check: %s", check_rows[i].name);
        CHECK_STATUS(maki_json_check(check_rows[i].text, &value, &err), MAKI_OK, &err);
        CHECK_TEXT(value, check_rows[i].value);
        CHECK_EQ(maki_json_kind_of(value), check_rows[i].kind);
        CHECK_CSTR(maki_json_kind_name(check_rows[i].kind), names[check_rows[i].kind]);
        CHECK(maki_json_true(value) == (strcmp(check_rows[i].name, "true") == 0));
    }
    tap_row("check: invalid JSON leaves *value unchanged");
    value = MAKI_LIT("untouched");
    CHECK_STATUS(maki_json_check(MAKI_LIT("[1,]"), &value, &err), MAKI_INVALID, &err);
    CHECK_STATUS(maki_json_check(MAKI_LIT(""), &value, &err), MAKI_INVALID, &err);
    CHECK_STR(value, "untouched");

    tap_row("a value that is missing is like null");
    CHECK_EQ(maki_json_kind_of((maki_str){ NULL, 0 }), MAKI_JSON_NULL);
    CHECK(!maki_json_true((maki_str){ NULL, 0 }));
    CHECK_EQ(maki_json_count((maki_str){ NULL, 0 }), 0);
    CHECK(!maki_json_get((maki_str){ NULL, 0 }, MAKI_LIT("a"), &value));
}

static void test_deep(void)
{
    tap_row("a container as deep as the scanner lets through is one item");
    char text[1100];
    maki_str value;
    maki_err err;
    memset(text, '[', 512);
    memset(text + 512, ']', 512);
    CHECK_STATUS(maki_json_check((maki_str){ text, 1024 }, &value, &err), MAKI_OK, &err);
    for (size_t depth = 0; depth < 511; depth++) {
        maki_json_iter iter = maki_json_items(value);
        maki_json_item item = { 0 };
        CHECK(maki_json_next(&iter, &item));
        CHECK_EQ(item.value.len, value.len - 2);
        value = item.value;
    }
    CHECK_STR(value, "[]");
}

static void test_each(void)
{
    maki_str array = MAKI_LIT("[1,2,[3,4],\"五 🍣\",6]"), last = { "", 0 };
    size_t n = 0;
    tap_row("a loop over items, left early, and in one another");
    MAKI_JSON_EACH(outer, maki_json_items(array)) {
        if (n == 1) {
            n = 10;
            continue;
        }
        if (maki_json_kind_of(outer.value) == MAKI_JSON_STRING) break;
        MAKI_JSON_EACH_WHILE(n < 12, inner, maki_json_items(outer.value)) {
            last = inner.value;
            n++;
        }
        if (n < 10) n++;
    }
    CHECK_EQ(n, 12);
    CHECK_STR(last, "4");
    MAKI_JSON_EACH(field, maki_json_fields(array))
        n += field.key.len + 1;
    MAKI_JSON_EACH(item, maki_json_items(MAKI_LIT("[]")))
        n += item.value.len + 1;
    CHECK_EQ(n, 12);
}

static void test_fields_by_kind(void)
{
    maki_str object = MAKI_LIT("{\"s\":\"h\\u0065llo\",\"n\":2.5,\"t\":true,\"z\":null}"), string;
    char text[5];
    tap_row("a field by type");
    CHECK(maki_json_string_field(object, "s", &string));
    CHECK_STR(string, "\"h\\u0065llo\"");
    CHECK(!maki_json_string_field(object, "n", &string));
    CHECK(!maki_json_string_field(object, "none", &string));
    CHECK(!maki_json_string_field(MAKI_LIT("[]"), "s", &string));
    CHECK_STR(maki_str_of(maki_json_text_field(object, "s", text, sizeof text)), "hell");
    CHECK_STR(maki_str_of(maki_json_text_field(object, "z", text, sizeof text)), "");
    CHECK(maki_json_number_field(object, "n") == 2.5);
    CHECK(maki_json_number_field(object, "s") == 0);
    CHECK(maki_json_true_field(object, "t"));
    CHECK(!maki_json_true_field(object, "n"));
    CHECK(maki_json_field_in(object, "s", "hello"));
    CHECK(!maki_json_field_in(object, "s", "hell"));
    CHECK(!maki_json_field_in(object, "t", "true"));
}

int main(void)
{
    test_each();
    test_fields_by_kind();
    test_check();
    test_items();
    test_get();
    test_deep();
    return tap_end();
}

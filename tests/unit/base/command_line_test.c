/* command_line_test.c -- valid and invalid command lines, parsed by a table. */
#include "base/command_line.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

enum { MAX = 8 };

typedef struct given {
    const char *name, *text;
    bool json;
} given;

static const maki_option table[] = {
    { "--name NAME", offsetof(given, name), "who it is\nor was" },
    { "-p TEXT", offsetof(given, text), NULL },
    { "--json", offsetof(given, json), "as JSON" },
};

/* clang-format off */
static const struct row {
    const char *title, *args[MAX];
    maki_status status;
    const char *want; /* "name text json: arguments", or a part of the error */
} rows[] = {
    { "nothing",               { NULL },                               MAKI_OK, "- - 0:" },
    { "a value",               { "--name", "さくら" },                  MAKI_OK, "さくら - 0:" },
    { "a value behind =",      { "--name=철수=x" },                     MAKI_OK, "철수=x - 0:" },
    { "an empty one",          { "--name=" },                          MAKI_OK, " - 0:" },
    { "one like an option",    { "-p", "--json" },                     MAKI_OK, "- --json 0:" },
    { "the last counts",       { "-p", "a", "-p", "b" },               MAKI_OK, "- b 0:" },
    { "arguments between",         { "一", "--json", "-", "🍣" },            MAKI_OK, "- - 1: 一 - 🍣" },
    { "arguments behind --",       { "--json", "--", "--name", "-x" },     MAKI_OK, "- - 1: --name -x" },
    { "a second --",           { "--", "--" },                         MAKI_OK, "- - 0: --" },
    { "a typing error",              { "--nam", "x" },                       MAKI_INVALID, "unknown option --nam: did you mean --name; see maki try --help" },
    { "similar to none",        { "--寿司" },                            MAKI_INVALID, "unknown option --寿司; see" },
    { "its value is hidden",   { "--nmae=secret" },                    MAKI_INVALID, "unknown option --nmae: did you mean --name;" },
    { "a missing value",       { "--name" },                           MAKI_INVALID, "a value is missing: --name NAME" },
    { "a value for a flag",    { "--json=1" },                         MAKI_INVALID, "it takes no value: --json" },
    { "too many arguments",        { "1", "2", "3", "4" },                 MAKI_INVALID, "too many arguments: 4" },
};
/* clang-format on */

static maki_status add_text(void *ctx, maki_str bytes, maki_err *err)
{
    char *text = ctx;
    (void)err;
    strncat(text, bytes.ptr, bytes.len);
    return MAKI_OK;
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *argv[MAX + 1] = { "try" }, args[MAX][40], *arguments[3], got[200];
        int argc = 1;
        for (; rows[i].args[argc - 1]; argc++) {
            snprintf(args[argc], sizeof args[argc], "%s", rows[i].args[argc - 1]);
            argv[argc] = args[argc];
        }
        given out = { "-", "-", false };
        size_t count;
        maki_err err = { 0 };
        maki_option_list list = MAKI_OPTIONS("maki try", table, argc, argv);
        tap_row("%s", rows[i].title);
        CHECK_STATUS(maki_options_read(&list, &out, arguments, 3, &count, &err), rows[i].status,
                     &err);
        if (rows[i].status != MAKI_OK) {
            CHECK(maki_str_contains(maki_str_of(err.msg), maki_str_of(rows[i].want)));
            CHECK(!strstr(err.msg, "secret"));
            continue;
        }
        snprintf(got, sizeof got, "%s %s %d:", out.name, out.text, out.json);
        for (size_t k = 0; k < count; k++)
            strcat(strcat(got, " "), arguments[k]);
        CHECK_CSTR(got, rows[i].want);
    }
    char help[400] = "";
    maki_option_list list = MAKI_OPTIONS("maki try", table, 0, NULL);
    tap_row("the help comes from the table");
    maki_options_help(&list, (maki_sink){ add_text, help });
    CHECK_CSTR(help, "  --name NAME                  who it is\n"
                     "                               or was\n"
                     "  --json                       as JSON\n");
    return tap_end();
}

/* expand_test.c -- variables in values. */
#include "config/expand.h"

#include <string.h>

#include "base/str_util.h"
#include "tap.h"

static char *environment[] = { (char *)(uintptr_t) "A=1",
                               (char *)(uintptr_t) "名=無効",
                               (char *)(uintptr_t) "EMPTY=",
                               (char *)(uintptr_t) "KEY=鍵🔑",
                               (char *)(uintptr_t) "AB=${A}",
                               (char *)(uintptr_t) "ODD",
                               NULL };

/* clang-format off */
static const struct expand_row { const char *text, *want, *variable, *missing, *wrong; } rows[] = {
    { "",                     "",            "",    "",     NULL },
    { "plain $A $ text",      "plain $A $ text", "", "",    NULL },
    { "${A}",                 "1",           "A",   "",     NULL },
    { "x${A}y${KEY}z",        "x1y鍵🔑z",     "A",   "",     NULL },
    { "${AB}",                "${A}",        "AB",  "",     NULL }, /* not once more */
    { "${EMPTY}",             "",            "EMPTY", "",   NULL },
    { "${EMPTY:-d}",          "d",           "",    "",     NULL },
    { "${NOT:-漢字 :-x}",      "漢字 :-x",     "",    "",     NULL },
    { "${NOT:-}",             "",            "",    "",     NULL },
    { "${NOT}${ALSO}",        "",            "",    "NOT",  NULL },
    { "${ODD}",               "",            "",    "ODD",  NULL },
    { "$${A}",                "${A}",        "",    "",     NULL },
    { "$$${A}",               "$${A}",       "",    "",     NULL },
    { "${A",                  "",            "",    "",     "not closed" },
    { "${}",                  "",            "",    "",     "stands a name" },
    { "${1A}",                "",            "",    "",     "stands a name" },
    { "${A-x}",               "",            "",    "",     "stands a name" },
    { "${A b}",               "",            "",    "",     "stands a name" },
    { "${名}",                "",            "",    "",     "stands a name" },
};
/* clang-format on */

int main(void)
{
    maki_env env = maki_env_system();
    maki_arena arena = maki_arena_new(env.alloc, 1 << 16);
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("\"%s\"", rows[i].text);
        maki_expanded got = maki_expand(maki_str_of(rows[i].text), environment, &arena);
        CHECK(rows[i].wrong ? got.wrong && strstr(got.wrong, rows[i].wrong) : !got.wrong);
        CHECK_TEXT(got.text, maki_str_of(rows[i].want));
        if (got.wrong) continue;
        CHECK_TEXT(got.variable, maki_str_of(rows[i].variable));
        CHECK_TEXT(got.missing, maki_str_of(rows[i].missing));
    }
    tap_row("no environment");
    CHECK_STR(maki_expand(MAKI_LIT("${A}"), NULL, &arena).missing, "A");
    maki_arena_free(&arena);
    return tap_end();
}

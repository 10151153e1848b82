/* inserted_text_test.c -- what of a text an agent inserted, at both ends, and what is left for a person. */
#include "wire/inserted_text.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

/* clang-format off */
static const struct inserted_row { const char *name, *text; size_t head, tail; const char *person; } rows[] = {
    { "nothing inserted", "Fix the build.", 0, 0, "Fix the build." },
    { "empty", "", 0, 0, "" },
    { "only white space", " \n", 0, 0, "" },
    { "a reminder before the words", "<system-reminder>today</system-reminder>\nGo on.", 41, 0, "Go on." },
    { "two, and white space around", " <system-reminder>a</system-reminder>\n\n<command-name>/x</command-name> 続けて", 71, 0, "続けて" },
    { "after the words", "Go on.\n<environment_details>cwd</environment_details>\n", 0, 48, "Go on." },
    { "two after the words", "Go on. <ide_selection>x</ide_selection><system-reminder>y</system-reminder>", 0, 69, "Go on." },
    { "nothing else", "<environment_context>cwd</environment_context>", 46, 46, "" },
    { "in the middle it is a text", "why is <system-reminder>x</system-reminder> there?", 0, 0, "why is <system-reminder>x</system-reminder> there?" },
    { "without an end it is a text", "<system-reminder>x", 0, 0, "<system-reminder>x" },
    { "a tag that is not in the table", "<div>x</div> is broken", 0, 0, "<div>x</div> is broken" },
    { "Codex: rules with a heading", "# AGENTS.md instructions for /src\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>\n\nhello", 69, 0, "hello" },
    { "Roo Code: a task and the environment", "<task>\nAdd a test.\n</task>\n\n<environment_details>\nx\n</environment_details>", 0, 48, "Add a test." },
    { "Cursor: a query after files", "<additional_data>f</additional_data>\n<user_query>\nwhy?\n</user_query>", 37, 0, "why?" },
};
/* clang-format on */

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_str text = maki_str_of(rows[i].text);
        tap_row("%s", rows[i].name);
        CHECK_EQ(maki_inserted_head(text), rows[i].head);
        CHECK_EQ(maki_inserted_tail(text), rows[i].tail);
        CHECK_TEXT(maki_inserted_none(text), maki_str_of(rows[i].person));
    }
    tap_row("each tag of the table begins and ends a block");
    size_t count;
    const maki_inserted_tags *tags = maki_inserted_table(&count);
    for (size_t i = 0; i < count; i++) {
        char text[200];
        snprintf(text, sizeof text, "%.*sx%.*s", MAKI_PRINTED(tags[i].open),
                 MAKI_PRINTED(tags[i].close));
        CHECK_EQ(tags[i].open.len, strlen(tags[i].open.ptr));
        CHECK_EQ(tags[i].close.len, strlen(tags[i].close.ptr));
        CHECK_EQ(maki_inserted_head(maki_str_of(text)), strlen(text));
    }
    return tap_end();
}

/* focus_test.c -- the words of a focus, the sentences that have them, and what a short summary keeps because of it. */
#include "summary/focus.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "summary/offline.h"
#include "talk.h"

/* clang-format off */
static const struct focus_row { const char *name, *focus, *sentence; unsigned words, found; } rows[] = {
    { "none",                       "", "anything", 0, 0 },
    { "only words that join",       "and of the", "and of the", 0, 0 },
    { "a word in another case",     "the Migration plan", "We run the MIGRATION at night.", 2, 1 },
    { "an abbreviation, a number",  "DB on 5432", "postgres (db) listens on 5432", 2, 2 },
    { "Japanese: kanji and katakana", "データベースの移行について", "明日、データベースを移行します。", 2, 2 },
    { "Chinese",                    "数据库迁移", "今晚做数据库迁移。", 1, 1 },
    { "half-width letters",         "Ｐａｓｓｗｏｒｄ rotation", "the password is new", 2, 1 },
    { "another subject",            "migration", "The menu is green.", 1, 0 },
};
/* clang-format on */

/* Forty sentences about anything, and between them one that is asked for. */
static void write_talk(maki_buf *talk)
{
    for (int i = 0; i < 40; i++) {
        char row[400];
        snprintf(row, sizeof row,
                 USER("Please look at src/module_%d.c, function number %d.")
                     SAYS("I read src/module_%d.c: its table has %d rows and works well."),
                 i, i, i, i * 7);
        maki_buf_add(talk, maki_str_of(row));
        if (i == 20)
            maki_buf_add(talk, MAKI_LIT(SAYS("The walnut shelf stays closed while it rains.")));
    }
}

static bool keeps_shelf(maki_str talk, const char *focus)
{
    fake_env fe;
    fake_env_init(&fe);
    maki_offline_options how = { .ratio = 0.75, .budget = 300, .focus = maki_str_of(focus) };
    maki_summarizer offline = maki_summarizer_offline_with(&how);
    maki_summary_request request = talk_request(&talk);
    maki_summary summary = { .text = { "", 0 } };
    maki_arena arena = maki_arena_new(fe.env.alloc, 64 << 20);
    maki_err err = { 0 };
    CHECK_STATUS(offline.run(&offline, &request, &arena, &summary, &err), MAKI_OK, &err);
    bool kept = maki_str_contains(summary.text, MAKI_LIT("walnut shelf"));
    maki_arena_free(&arena);
    return kept;
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_focus focus;
        tap_row("%s", rows[i].name);
        maki_focus_set(&focus, maki_str_of(rows[i].focus));
        CHECK_EQ(focus.count, rows[i].words);
        CHECK_EQ(maki_focus_count_matches(&focus, maki_str_of(rows[i].sentence)), rows[i].found);
    }
    tap_row("a text that is too long");
    char text[8000];
    maki_focus focus;
    for (size_t i = 0; i + 5 < sizeof text; i += 5)
        memcpy(text + i, "abcd ", 5);
    maki_focus_set(&focus, (maki_str){ text, sizeof text - 5 });
    CHECK_EQ(focus.count, MAKI_FOCUS_WORDS);

    fake_env fe;
    fake_env_init(&fe);
    maki_buf talk = maki_buf_new(fe.env.alloc, 1 << 20);
    write_talk(&talk);
    tap_row("a short summary of a long conversation omits a sentence without facts");
    CHECK(!keeps_shelf(maki_buf_str(&talk), ""));
    tap_row("unless somebody asks for its subject");
    CHECK(keeps_shelf(maki_buf_str(&talk), "the walnut shelf"));
    maki_buf_free(&talk);
    return tap_end();
}

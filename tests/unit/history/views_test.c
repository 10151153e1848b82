/* views_test.c -- an open handle reads each event once: the number of reads for a view, and that it is right. */
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "history/conv.h"
#include "tap.h"

enum { ROWS = 12, NOTES = 300 };

static void say(maki_conv *conv, const char *text)
{
    char json[200];
    maki_change change;
    maki_err err = { 0 };
    snprintf(json, sizeof json, "{\"role\":\"user\",\"content\":\"%s\"}", text);
    maki_str row = maki_str_of(json);
    CHECK_STATUS(maki_conv_append(conv, NULL, &row, 1, &change, &err), MAKI_OK, &err);
}

static void note(maki_conv *conv)
{
    maki_change change;
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_add_event(conv, "usage", MAKI_LIT("\"model\":\"猫-1\",\"input\":12"),
                                     &change, &err),
                 MAKI_OK, &err);
}

static void pin(maki_conv *conv, uint64_t seq)
{
    maki_change change;
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_pin(conv, NULL, seq, true, &change, &err), MAKI_OK, &err);
}

static const maki_view *see(maki_conv *conv)
{
    const maki_view *view = NULL;
    maki_err err = { 0 };
    CHECK_STATUS(maki_log_refresh(maki_conv_log(conv), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err);
    return view;
}

/* The number of reads for a view after one more event. */
static size_t reads_of_one_more(fake_env *fe, maki_conv *writer, maki_conv *reader)
{
    note(writer);
    size_t before = fe->files.calls;
    see(reader);
    return fe->files.calls - before;
}

/* ---- the tokens of the newest view, cached ---------------------------------------------------------- */

/* By a handle of its own, as the list of sessions asks: the calls that it takes in addition to opening. */
static size_t calls_of_cached(fake_env *fe, const char *path)
{
    maki_conv *conv = NULL;
    maki_conv_options options = { .read_only = true, .share_index = true };
    maki_view_totals total;
    maki_err err = { 0 };
    uint64_t tokens = 0;
    CHECK_STATUS(maki_conv_open(&fe->env, path, &options, &conv, &err), MAKI_OK, &err);
    size_t before = fe->files.calls;
    CHECK_STATUS(maki_conv_tokens_cached(conv, &tokens, &err), MAKI_OK, &err);
    size_t calls = fe->files.calls - before;
    CHECK_STATUS(maki_conv_total_now(conv, &total, &err), MAKI_OK, &err);
    CHECK_EQ(tokens, total.tokens);
    maki_conv_close(conv);
    return calls;
}

static void cached(fake_env *fe, maki_conv *writer, const char *path)
{
    maki_change change;
    maki_err err = { 0 };
    tap_row("the tokens of the newest view: nothing is read for them again");
    (void)calls_of_cached(fe, path);
    CHECK_EQ(calls_of_cached(fe, path), 0);
    tap_row("and little after a message and what is not a step, however much came before");
    say(writer, "안녕하세요 🍙");
    note(writer);
    size_t calls = calls_of_cached(fe, path);
    CHECK(calls > 0);
    for (int i = 0; i < NOTES; i++)
        note(writer);
    (void)calls_of_cached(fe, path);
    say(writer, "你好，再见 🍚");
    note(writer);
    CHECK_EQ(calls_of_cached(fe, path), calls);
    tap_row("a step is counted");
    CHECK_STATUS(maki_conv_truncate(writer, NULL, 0.5, &change, &err), MAKI_OK, &err);
    CHECK(calls_of_cached(fe, path) > 0);
    CHECK_EQ(calls_of_cached(fe, path), 0);
}

static void words(void)
{
    static const struct {
        maki_view_change change;
        const char *text;
    } rows[] = {
        { { 0 }, "" },
        { { .hidden = 1 }, "1 message out of view" },
        { { .hidden = 4, .behind = 4 }, "4 messages out of view" },
        { { .hidden = 3, .behind = 7 }, "3 messages out of view, 7 behind the marker" },
        { { .restored = 2, .behind = 4 }, "2 messages back in view" },
        { { .shortened = 1, .seq = 12 }, "message 12 shortened" },
        { { .shortened = 9, .seq = 12 }, "9 messages shortened" },
        { { .hidden = 2, .restored = 1, .expanded = 1, .seq = 3 },
          "2 messages out of view, 1 message back in view, message 3 expanded" },
    };
    tap_row("what a step did, in words");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[MAKI_VIEW_CHANGE_MAX];
        maki_view_change_text(&rows[i].change, text);
        CHECK_CSTR(text, rows[i].text);
    }
}

int main(void)
{
    fake_env fe;
    directory f;
    maki_env env = maki_env_system();
    maki_conv *writer = NULL, *reader = NULL;
    maki_conv_options writing = { .create = true, .durability = MAKI_DURABILITY_AT_END };
    maki_conv_options reading = { .read_only = true };
    maki_err err = { 0 };
    fake_env_init(&fe);
    directory_open(&f);
    const char *path = directory_file(&f, "話.jsonl");
    CHECK_STATUS(maki_conv_open(&env, path, &writing, &writer, &err), MAKI_OK, &err);
    for (int i = 0; i < ROWS; i++)
        say(writer, "こんにちは 👋");
    pin(writer, 3);
    CHECK_STATUS(maki_conv_open(&fe.env, path, &reading, &reader, &err), MAKI_OK, &err);
    see(reader);

    tap_row("events that do not change the view take no memory");
    size_t live = fake_alloc_live(&fe), reads = reads_of_one_more(&fe, writer, reader);
    for (int i = 0; i < NOTES; i++)
        note(writer);
    CHECK_EQ(maki_view_count(see(reader)), ROWS);
    CHECK_EQ(fake_alloc_live(&fe), live);

    tap_row("they are not read again: a view reads only newer events");
    CHECK_EQ(reads_of_one_more(&fe, writer, reader), reads);

    tap_row("events that change it are applied, also after a failed allocation");
    pin(writer, 5);
    CHECK_EQ(see(reader)->pin_count, 2);
    for (size_t nth = 1;; nth++) {
        const maki_view *view = NULL;
        maki_conv_free_view(reader);
        fake_alloc_fail_at(&fe, nth);
        maki_status st = maki_conv_view(reader, MAKI_NEWEST, MAKI_NEWEST, &view, &err);
        bool failed = fake_alloc_failed(&fe);
        CHECK_EQ(st, failed ? MAKI_NOMEM : MAKI_OK);
        fake_alloc_fail_at(&fe, 0);
        CHECK_EQ(see(reader)->pin_count, 2);
        if (!failed) break;
    }
    maki_conv_close(reader);
    cached(&fe, writer, path);
    words();
    maki_conv_close(writer);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
    return tap_end();
}

/* manage_test.c -- a run begins when it is due, and leaves a valid view that fits. */
#include "manage/manage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "summary/offline.h"
#include "talk_kit.h"
#include "tap.h"

/* ---- conversations ----------------------------------------------------------------------------------------- */

static const char *const words[] = { "the file", "関数を",      "修正する",  "测试失败", "다시 ",
                                     "error: ",  "path/to/a.c", " returns ", "なので、", "因此",
                                     "🐟🍣",       "42 ",         "\\n",       "それでは" };

static void add_text(char *out, size_t units, tap_random *random)
{
    for (size_t n = strlen(out), end = n + units; n < end; n = strlen(out))
        strcat(out + n, words[tap_below(random, COUNT(words))]);
}

static maki_conv *open_talk(const maki_env *env, const char *path)
{
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    maki_conv_options options = { .create = true,
                                  .durability = MAKI_DURABILITY_AT_END,
                                  .threads = 1 };
    CHECK_STATUS(maki_conv_open(env, path, &options, &conv, &err), MAKI_OK, &err);
    return conv;
}

static void append(maki_conv *conv, const char *row)
{
    maki_str one = maki_str_of(row);
    maki_change change;
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_append(conv, NULL, &one, 1, &change, &err), MAKI_OK, &err);
}

/* Turns with tool calls in both shapes, of random lengths. */
static void talk(maki_conv *conv, size_t turns, size_t longest, tap_random *random)
{
    static char row[1 << 20];
    for (size_t i = 0; i < turns; i++) {
        strcpy(row, "{\"role\":\"user\",\"content\":\"");
        add_text(row, 10 + tap_below(random, 200), random);
        strcat(row, "\"}");
        append(conv, row);
        if (tap_below(random, 2)) {
            sprintf(
                row,
                "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t%zu\",\"name\":\"read\",\"input\":{}}]}",
                i);
            append(conv, row);
            sprintf(
                row,
                "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t%zu\",\"content\":\"",
                i);
            add_text(row, 1 + tap_below(random, longest), random);
            strcat(row, "\"}]}");
            append(conv, row);
        } else if (tap_below(random, 2)) {
            sprintf(
                row,
                "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%zu\",\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]}",
                i);
            append(conv, row);
            sprintf(row, "{\"role\":\"tool\",\"tool_call_id\":\"c%zu\",\"content\":\"", i);
            add_text(row, 1 + tap_below(random, longest), random);
            strcat(row, "\"}");
            append(conv, row);
        }
        strcpy(row, "{\"role\":\"assistant\",\"content\":\"");
        add_text(row, 10 + tap_below(random, 400), random);
        strcat(row, "\"}");
        append(conv, row);
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------- */

static maki_manage_report manage(maki_conv *conv, const char *policy, double window, double other)
{
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    maki_manage_report report = { 0 };
    maki_err err = { 0 };
    maki_manage_options in = { .window = window,
                               .max_tokens = 100,
                               .other_tokens = other,
                               .threshold = 75,
                               .policy = maki_policy_find(maki_str_of(policy)),
                               .summarizer = &offline };
    CHECK_STATUS(maki_manage_conversation(conv, &in, &report, &err), MAKI_OK, &err);
    return report;
}

static void check_rows(fake_env *fe, const directory *f)
{
    tap_random random = { 5 };
    maki_conv *conv = open_talk(&fe->env, directory_file(f, "rows.jsonl"));
    talk(conv, 30, 3000, &random);

    tap_row("below the threshold nothing is done");
    maki_manage_report r = manage(conv, "maki", 1000000, 0);
    CHECK_CSTR(maki_reason_name(r.reason), "none");
    CHECK_CSTR(maki_step_name(r.action), "none");
    CHECK_EQ(maki_log_events(maki_conv_log(conv)), 0);

    tap_row("at the threshold the middle is condensed, and that can be undone");
    r = manage(conv, "maki", r.tokens_before / 0.8, 0);
    CHECK_CSTR(maki_reason_name(r.reason), "threshold");
    CHECK_CSTR(maki_step_name(r.action), "condense");
    CHECK(r.fits && r.tokens_after < 0.8 * r.tokens_before);
    CHECK_EQ(talk_inspect(conv, NULL).broken, 0);
    maki_change change;
    maki_err err = { 0 };
    double before = r.tokens_before;
    CHECK_STATUS(maki_conv_undo(conv, NULL, r.taken[0].event, &change, &err), MAKI_OK, &err);
    CHECK(manage(conv, "maki", 1000000, 0).tokens_before == before);

    tap_row("other tokens of the prompt count, too");
    CHECK_CSTR(maki_reason_name(manage(conv, "maki", 1000000, 0).reason), "none");
    CHECK_CSTR(maki_reason_name(manage(conv, "roo", 1000000, 999000).reason), "over");
    maki_conv_close(conv);
}

static void check_small_window(fake_env *fe, const directory *f)
{
    tap_random random = { 6 };
    maki_conv *conv = open_talk(&fe->env, directory_file(f, "small.jsonl"));
    talk(conv, 20, 500, &random);
    tap_row("a small window is not condensed: a summary would fill it");
    maki_manage_report r = manage(conv, "maki", 3000, 0);
    for (size_t i = 0; i < r.taken_count; i++)
        CHECK(r.taken[i].kind != MAKI_STEP_CONDENSE || r.taken[i].event == 0);
    CHECK(r.fits);
    CHECK_EQ(talk_inspect(conv, NULL).broken, 0);
    maki_conv_close(conv);

    tap_row("one message larger than the window is trimmed");
    conv = open_talk(&fe->env, directory_file(f, "one.jsonl"));
    talk(conv, 1, 100000, &random);
    append(conv, "{\"role\":\"user\",\"content\":\"続けて\"}");
    static char row[200000] =
        "{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"x\":1},{\"type\":\"text\",\"text\":\"";
    add_text(row, 150000, &random);
    strcat(row, "\"}]}");
    append(conv, row);
    r = manage(conv, "maki", 4000, 0);
    CHECK(r.fits);
    CHECK_CSTR(maki_step_name(r.action), "trim");
    maki_conv_close(conv);
}

/* Random conversations and windows: the view is valid, and fits unless nothing more may be hidden. */
static void check_random(fake_env *fe)
{
    enum { TIMES = 60 };
    static const char *const policies[] = { "maki", "roo", "files" };
    tap_random random = { 7 };
    size_t not_within = 0;
    tap_row("%d conversations with windows from 2,000 to 1,000,000", TIMES);
    for (int i = 0; i < TIMES; i++) {
        directory f;
        directory_open(&f);
        maki_conv *conv = open_talk(&fe->env, directory_file(&f, "t.jsonl"));
        maki_change change;
        maki_err err = { 0 };
        uint64_t pinned = 1;
        for (int round = 0; round < 4; round++) {
            talk(conv, 1 + tap_below(&random, 25), 1 + tap_below(&random, 6000), &random);
            if (round == 1) {
                pinned = 1 + tap_below(&random, (size_t)maki_log_last(maki_conv_log(conv)));
                if (maki_conv_pin(conv, NULL, pinned, true, &change, &err) != MAKI_OK) pinned = 1;
            }
            double window = 2000.0 * (double)(1u << tap_below(&random, 10));
            const char *policy = policies[tap_below(&random, 3)];
            maki_manage_report r = manage(conv, policy, window, (double)tap_below(&random, 500));
            talk_inspection l = talk_inspect(conv, (const uint64_t[]){ pinned, 0 });
            CHECK_EQ(l.broken, 0);
            CHECK(l.all && l.first == 1);
            not_within += !r.fits;
        }
        maki_conv_close(conv);
        directory_close(&f);
    }
    CHECK(not_within < TIMES); /* a pinned message may be too large for a small window */
}

int main(void)
{
    static fake_env fe;
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 3);
    directory_open(&f);
    check_rows(&fe, &f);
    check_small_window(&fe, &f);
    check_random(&fe);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
    return tap_end();
}

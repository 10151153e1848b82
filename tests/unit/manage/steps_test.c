/* steps_test.c -- what each step of a policy does to a view, and the presets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"
#include "summary/offline.h"
#include "talk_kit.h"
#include "tap.h"

static maki_policy policy_of(maki_step step)
{
    return (maki_policy){ .name = "one", .from = 0.001, .step_count = 1, .steps = { step } };
}

static maki_step step_of(maki_step_kind kind)
{
    maki_step step = maki_step_of(kind);
    step.when = 0;
    return step;
}

/* Add turns, so that the messages before them count as old. */
static void add_turns(talk_kit *t, int turns)
{
    for (int i = 0; i < turns; i++) {
        talk_say(t, "user", "続けてください");
        talk_say(t, "assistant", "はい、続けます。");
    }
}

static maki_manage_report run(talk_kit *t, maki_step step, double window)
{
    maki_policy policy = policy_of(step);
    t->force = true;
    maki_manage_report report = talk_manage(t, &policy, window);
    CHECK_EQ(talk_tokens(t), talk_recounted(t));
    CHECK(talk_valid(t, (const uint64_t[]){ 1, 0 }));
    return report;
}

/* Undo the events of a run, newest first: the view has the same bytes as before. */
static void check_undone(talk_kit *t, const char *before)
{
    maki_change change;
    maki_err err = { 0 };
    while (strcmp(talk_view(t), before) != 0) {
        maki_status st = maki_conv_undo(t->conv, NULL, 0, &change, &err);
        if (!CHECK_STATUS(st, MAKI_OK, &err)) return;
    }
}

static void check_tools(void)
{
    talk_kit t;
    maki_change change;
    maki_err err = { 0 };
    talk_open(&t);
    talk_say(&t, "user", "始めましょう");
    uint64_t first = talk_call(&t, "bash", "{\"command\":\"make\"}", talk_prose(30000, 1));
    uint64_t pinned = talk_call(&t, "bash", "{\"command\":\"env\"}", talk_prose(9000, 2));
    talk_call_openai(&t, "grep", "{\"q\":1}", talk_prose(8000, 3));
    talk_call(&t, "Read_Secret", "{}", talk_prose(7000, 4));
    add_turns(&t, 4);
    uint64_t newest = talk_call(&t, "bash", "{}", talk_prose(9000, 5));
    CHECK_STATUS(maki_conv_pin(t.conv, NULL, pinned, true, &change, &err), MAKI_OK, &err);
    char *before = strdup(talk_view(&t));

    tap_row("prune_tools: long output of tools keeps its head and tail, with one event");
    maki_step step = step_of(MAKI_STEP_PRUNE_TOOLS);
    step.hard_clear = false;
    uint64_t events = maki_log_events(maki_conv_log(t.conv));
    maki_manage_report r = run(&t, step, 40000);
    CHECK_CSTR(talk_steps(&r), "prune_tools");
    CHECK_EQ(maki_log_events(maki_conv_log(t.conv)), events + 2); /* and the record of the run */
    CHECK(talk_view_has(&t, "characters left out; maki history expand 3 shows them"));
    CHECK(talk_view_has(&t, "maki history expand 7 shows"));

    tap_row("prune_tools: pinned messages and the newest are not changed");
    CHECK(!talk_view_has(&t, "expand 5 shows"));
    char wanted[40];
    snprintf(wanted, sizeof wanted, "expand %d shows", (int)newest);
    CHECK(!talk_view_has(&t, wanted));

    tap_row("prune_tools: a second run finds nothing more");
    r = run(&t, step, 40000);
    CHECK_CSTR(talk_steps(&r), "prune_tools:NOTHING_TO_DO");

    tap_row("expand restores one message, and the next run skips it");
    CHECK_STATUS(maki_conv_expand(t.conv, NULL, first, &change, &err), MAKI_OK, &err);
    CHECK(!talk_view_has(&t, "expand 3 shows") && talk_view_has(&t, "expand 7 shows"));
    CHECK_EQ(talk_tokens(&t), talk_recounted(&t));
    r = run(&t, step, 40000);
    CHECK_CSTR(talk_steps(&r), "prune_tools:NOTHING_TO_DO");

    tap_row("prune_tools: when trimming is not enough, results are cleared, oldest first");
    check_undone(&t, before);
    step.hard_clear = true;
    step.min_prunable_chars = 1000;
    step.target = 0.22;
    r = run(&t, step, 40000);
    CHECK(talk_view_has(&t, "[Old tool result content cleared]"));
    CHECK(r.tokens_after <= 0.22 * 40000 && talk_view_has(&t, "characters left out"));

    tap_row("prune_tools: results are not cleared when they have too few characters in all");
    check_undone(&t, before);
    step.min_prunable_chars = 1000000;
    run(&t, step, 40000);
    CHECK(!talk_view_has(&t, "content cleared"));

    tap_row("prune_tools: only tools that are allowed and not denied");
    check_undone(&t, before);
    maki_str deny[] = { MAKI_LIT("read_*") }, allow[] = { MAKI_LIT("*") };
    step.deny = deny;
    step.deny_count = 1;
    step.allow = allow;
    step.allow_count = 1;
    run(&t, step, 40000);
    CHECK(talk_view_has(&t, "expand 7 shows") && !talk_view_has(&t, "expand 9 shows"));
    check_undone(&t, before);
    free(before);
    talk_close(&t);
}

static void check_repeats(void)
{
    static const char *const path = "{\"file_path\":\"src/購入.c\"}";
    static const char *const part = "{\"file_path\":\"src/購入.c\",\"offset\":10,\"limit\":5}";
    talk_kit t;
    talk_open(&t);
    talk_say(&t, "user", "ファイルを見て");
    talk_call(&t, "Read", path, talk_prose(2000, 1));                             /* 3 */
    talk_call(&t, "Read", part, talk_prose(900, 2));                              /* 5 */
    talk_call_openai(&t, "read_file", "{\"path\":\"b.c\"}", talk_prose(2000, 3)); /* 7 */
    talk_call(&t, "bash", "{\"command\":\"make\"}", talk_prose(1500, 4));         /* 9 */
    talk_image(&t, "AAAA");                                                       /* 11 */
    talk_call(&t, "Read", path, talk_prose(2100, 5));                             /* 13 */
    talk_call(&t, "bash", "{\"command\":\"make\"}", talk_prose(1500, 4));         /* 15 */
    talk_call_openai(&t, "read_file", "{\"path\":\"c.c\"}", talk_prose(2000, 6)); /* 17 */
    talk_image(&t, "BBBB");                                                       /* 19 */
    add_turns(&t, 4);
    char *before = strdup(talk_view(&t));
    uint64_t events = maki_log_events(maki_conv_log(t.conv));

    tap_row("prune_repeats: of a file that was read twice the newest copy stays");
    run(&t, step_of(MAKI_STEP_PRUNE_REPEATS), 40000);
    CHECK_EQ(maki_log_events(maki_conv_log(t.conv)), events + 2); /* and the record of the run */
    CHECK(talk_view_has(&t, "[This file was read again later, src/購入.c: see message 13. "
                            "maki history expand 3 brings this copy back.]"));
    CHECK(talk_view_has(&t, "see message 13. maki history expand 5"));

    tap_row("prune_repeats: other files, and the newest copy, are not changed");
    CHECK(!talk_view_has(&t, "expand 7 ") && !talk_view_has(&t, "expand 13 ") &&
          !talk_view_has(&t, "expand 17 "));

    tap_row("prune_repeats: repeated output, and older images");
    CHECK(talk_view_has(&t, "[The same output came again later: see message 15. "
                            "maki history expand 9 brings this copy back.]"));
    CHECK(talk_view_has(&t, "see message 19. maki history expand 11 "));
    CHECK(!talk_view_has(&t, "AAAA") && talk_view_has(&t, "BBBB"));
    CHECK(talk_view_has(&t, "{\"type\":\"text\",\"text\":\"[An older image; "));
    check_undone(&t, before);
    free(before);
    talk_close(&t);

    tap_row("prune_repeats: a later read that is much shorter replaces nothing");
    talk_open(&t);
    talk_say(&t, "user", "看一下文件");
    talk_call(&t, "Read", path, talk_prose(3000, 1));
    talk_call(&t, "Read", path,
              "(File unchanged since it was last read. The content from the "
              "earlier call is still current, and there is no need to read it "
              "again. 文件未更改。 변경 사항 없음. ファイルは前回から変わっていません。"
              "The content from the earlier call in this conversation is current.)");
    add_turns(&t, 4);
    maki_manage_report r = run(&t, step_of(MAKI_STEP_PRUNE_REPEATS), 40000);
    CHECK_CSTR(talk_steps(&r), "prune_repeats:NOTHING_TO_DO");
    talk_close(&t);
}

static void check_code(void)
{
    talk_kit t;
    talk_open(&t);
    talk_say(&t, "user", talk_code("c first.c", 90));
    talk_say(&t, "assistant", talk_code("c src/long.c", 41)); /* 2 */
    talk_say(&t, "assistant", talk_code("python", 40));       /* 3 */
    talk_say(&t, "user", "`src/購入.ts` はこう:\\n~~~ts\\n"); /* no end: no code */
    char both[1 << 16];
    snprintf(both, sizeof both, "一つ目\\n\\n`src/購入.ts`\\n%s",
             strstr(talk_code("ts", 50), "```"));
    talk_say(&t, "assistant", both); /* 5 */
    add_turns(&t, 4);
    talk_say(&t, "assistant", talk_code("c new.c", 60));
    char *before = strdup(talk_view(&t));

    tap_row("shrink_code: name, language, number of lines and first line stay");
    run(&t, step_of(MAKI_STEP_SHRINK_CODE), 40000);
    CHECK(talk_view_has(
        &t, "ここです:\\n[Code left out: src/long.c, c, 41 lines, the first: int line_0(void); "
            "/* 行 */; maki history expand 2 shows it]\\n以上"));

    tap_row("shrink_code: the file name may be in the line before");
    CHECK(talk_view_has(&t, "[Code left out: src/購入.ts, ts, 50 lines, "));

    tap_row("shrink_code: shorter code, the first message and the newest are not changed");
    CHECK(!talk_view_has(&t, "expand 1 ") && !talk_view_has(&t, "expand 3 ") &&
          !talk_view_has(&t, "new.c, "));
    check_undone(&t, before);
    free(before);
    talk_close(&t);
}

static void check_hiding(void)
{
    talk_kit t;
    talk_open(&t);
    talk_say(&t, "system", "あなたは助手です");
    talk_say(&t, "user", "最初の依頼: src/a.c を直す");
    for (int i = 0; i < 8; i++) {
        talk_call(&t, "bash", "{}", talk_prose(600, (unsigned)i));
        talk_say(&t, "assistant", talk_prose(300, 40 + (unsigned)i));
    }
    char *before = strdup(talk_view(&t));

    tap_row("soft_trim: the summary as a system message, and the last messages, within the target");
    maki_step step = step_of(MAKI_STEP_SOFT_TRIM);
    step.target = 0.2;
    maki_manage_report r = run(&t, step, 10000);
    CHECK(
        talk_view_has(&t, "{\"role\":\"system\",\"content\":\"[Previous conversation summary]\\n"));
    CHECK(r.tokens_after <= 2000);
    check_undone(&t, before);

    tap_row("soft_trim: a summary that is too long is cut");
    step.target = 0.2 * 0.45;
    r = run(&t, step, 10000);
    CHECK(r.tokens_after <= 900);
    CHECK(talk_view_has(&t, "[Previous conversation summary]"));

    tap_row(
        "hard_clear: only the last, the first and system messages stay; summaries are hidden, too");
    step = step_of(MAKI_STEP_HARD_CLEAR);
    step.keep = 1;
    run(&t, step, 10000);
    CHECK(talk_view_has(&t, "[Truncation: ") &&
          !talk_view_has(&t, "[Previous conversation summary]"));
    CHECK(talk_valid(&t, (const uint64_t[]){ 1, 2, 0 }));
    check_undone(&t, before);

    tap_row("window: hides all but the last messages");
    step = step_of(MAKI_STEP_WINDOW);
    step.keep = 7;
    r = run(&t, step, 10000);
    CHECK_EQ(r.effect.hidden, 17);
    check_undone(&t, before);

    tap_row("truncate: hides a share of the messages");
    step = step_of(MAKI_STEP_TRUNCATE);
    step.share = 0.25;
    run(&t, step, 10000);
    CHECK(talk_view_has(&t, "[Truncation: 6 messages hidden]"));
    check_undone(&t, before);
    free(before);
    talk_close(&t);
}

static void check_last(void)
{
    talk_kit t;
    maki_change change;
    maki_err err = { 0 };
    talk_open(&t);
    talk_say(&t, "user", talk_prose(3000, 1));
    talk_call(&t, "bash", "{}", talk_prose(3000, 2));
    uint64_t big = talk_call(&t, "bash", "{}", talk_prose(40000, 3));

    tap_row("last: only the newest message stays, and the largest text in view is trimmed");
    maki_step step = step_of(MAKI_STEP_LAST_RESORT);
    maki_manage_report r = run(&t, step, 6000);
    CHECK(r.fits);
    CHECK_CSTR(maki_step_name(r.action), "trim");
    CHECK(talk_view_has(&t, "characters trimmed ..."));
    CHECK(talk_valid(&t, (const uint64_t[]){ 1, big, 0 }));

    tap_row("last: a pinned message that is too large is reported, not changed");
    uint64_t pinned = talk_say(&t, "user", talk_prose(50000, 4));
    CHECK_STATUS(maki_conv_pin(t.conv, NULL, pinned, true, &change, &err), MAKI_OK, &err);
    r = run(&t, step, 6000);
    CHECK(!r.fits);
    CHECK(talk_view_has(&t, talk_prose(50000, 4)));
    talk_close(&t);
}

/* ---- presets ------------------------------------------------------------------------------------------ */

static const maki_policy *preset(const char *name)
{
    return maki_policy_find(maki_str_of(name));
}

/* must_reach may be set on any step. */
static void check_must_reach(void)
{
    static const maki_step_kind kinds[] = { MAKI_STEP_WINDOW, MAKI_STEP_CONDENSE,
                                            MAKI_STEP_LAST_RESORT };
    talk_kit t;
    maki_change change;
    maki_err err = { 0 };
    talk_open(&t);
    talk_say(&t, "user", "直してください");
    for (unsigned i = 0; i < 12; i++) {
        uint64_t pinned = talk_call(&t, "bash", "{}", talk_prose(9000, i));
        CHECK_STATUS(maki_conv_pin(t.conv, NULL, pinned, true, &change, &err), MAKI_OK, &err);
        talk_say(&t, "user", talk_prose(2000, 40 + i));
        talk_say(&t, "assistant", talk_prose(2000, 80 + i));
    }
    char *before = strdup(talk_view(&t));
    double window = (double)talk_tokens(&t) / 0.76;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        tap_row("must_reach: a %s that does not is undone, and the report says so",
                maki_step_name(kinds[i]));
        maki_step step = step_of(kinds[i]);
        step.keep = 4;
        step.must_reach = true;
        maki_manage_report r = run(&t, step, window);
        CHECK(r.taken_count == 1 && r.taken[0].undone);
        CHECK_CSTR(talk_view(&t), before);
        CHECK_CSTR(maki_step_name(r.action), "none");
        CHECK_EQ(r.effect.hidden, 0);
        CHECK(!r.coverage.measured);
    }
    free(before);
    talk_close(&t);
}

static void check_maki(void)
{
    talk_kit t;
    talk_open(&t);
    talk_say(&t, "user", "直してください");
    for (unsigned i = 0; i < 12; i++) {
        talk_call(&t, "bash", "{}", talk_prose(12000, i));
        talk_say(&t, "assistant", "次へ");
    }
    char *before = strdup(talk_view(&t));
    double tokens = (double)talk_tokens(&t);

    tap_row("maki: when pruning reaches the target, no other step is taken");
    maki_manage_report r = talk_manage(&t, preset("maki"), tokens / 0.76);
    CHECK_CSTR(talk_steps(&r), "prune_repeats:NOTHING_TO_DO prune_tools");
    CHECK_CSTR(maki_step_name(r.action), "prune_tools");
    CHECK(r.tokens_after <= r.target && r.target <= 0.5 * tokens / 0.76);
    check_undone(&t, before);
    free(before);
    talk_close(&t);

    tap_row("maki: when it does not, it is undone before the summary");
    talk_open(&t);
    talk_say(&t, "user", "直してください");
    for (unsigned i = 0; i < 12; i++) {
        talk_say(&t, "user", talk_prose(7000, 50 + i));
        talk_call(&t, "bash", "{}", talk_prose(14000, i));
        talk_say(&t, "assistant", talk_prose(7000, 90 + i));
    }
    tokens = (double)talk_tokens(&t);
    r = talk_manage(&t, preset("maki"), tokens / 0.76);
    CHECK_CSTR(talk_steps(&r),
               "prune_repeats:NOTHING_TO_DO prune_tools- shrink_code:NOTHING_TO_DO condense");
    CHECK_CSTR(maki_step_name(r.action), "condense");
    CHECK(!talk_view_has(&t, "characters left out"));
    CHECK(r.fits && r.tokens_after <= 0.8 * tokens);
    talk_close(&t);

    tap_row("maki: when it cannot, nothing is pruned");
    talk_open(&t);
    talk_say(&t, "user", "直してください");
    for (unsigned i = 0; i < 20; i++)
        talk_say(&t, i % 2 ? "user" : "assistant", talk_prose(2500, i));
    r = talk_manage(&t, preset("maki"), (double)talk_tokens(&t) / 0.76);
    CHECK_CSTR(talk_steps(&r), "prune_repeats:TARGET_TOO_FAR prune_tools:TARGET_TOO_FAR "
                               "shrink_code:TARGET_TOO_FAR condense");
    talk_close(&t);

    tap_row("maki: windows under 8,000 are not condensed");
    talk_open(&t);
    talk_say(&t, "user", "直してください");
    for (unsigned i = 0; i < 40; i++)
        talk_say(&t, i % 2 ? "user" : "assistant", talk_prose(700, i));
    r = talk_manage(&t, preset("maki"), 7999);
    CHECK(strstr(talk_steps(&r), "condense:WINDOW_TOO_SMALL window"));
    CHECK(r.fits);
    talk_close(&t);
}

static void check_other_presets(void)
{
    talk_kit t;
    talk_open(&t);
    talk_say(&t, "user", "最初");
    for (unsigned i = 0; i < 20; i++)
        talk_say(&t, i % 2 ? "user" : "assistant", talk_prose(500, i));
    char *before = strdup(talk_view(&t));
    double tokens = (double)talk_tokens(&t);
    static const struct {
        const char *name, *policy;
        double usage;
        const char *reason, *steps;
    } rows[] = {
        { "clawdbot: below 30 % no step", "clawdbot", 0.29, "none", "" },
        { "clawdbot: from 30 % a soft trim", "clawdbot", 0.31, "threshold", "soft_trim" },
        { "clawdbot: from 50 % a hard clear", "clawdbot", 0.51, "threshold", "hard_clear" },
        { "files: up to 70 % no step", "files", 0.69, "none", "" },
        { "files: over 70 % a condense", "files", 0.71, "threshold", "condense" },
        { "roo: below 75 % no step", "roo", 0.74, "none", "" },
        { "roo: from 75 % a condense", "roo", 0.76, "threshold", "condense" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s", rows[i].name);
        t.force = rows[i].steps[0]; /* else it would wait, because the run before was undone */
        maki_manage_report r = talk_manage(&t, preset(rows[i].policy), tokens / rows[i].usage);
        CHECK_CSTR(maki_reason_name(r.reason), rows[i].reason);
        CHECK_CSTR(talk_steps(&r), rows[i].steps);
        CHECK_EQ(talk_tokens(&t), talk_recounted(&t));
        check_undone(&t, before);
    }
    tap_row("files: exactly 70 percent is not over the threshold");
    t.force = false;
    CHECK_CSTR(maki_reason_name(talk_manage(&t, preset("files"), tokens / 0.7).reason), "none");
    free(before);
    talk_close(&t);

    tap_row("files: with fewer than ten messages nothing is done");
    talk_open(&t);
    for (unsigned i = 0; i < 9; i++)
        talk_say(&t, i % 2 ? "assistant" : "user", talk_prose(900, i));
    maki_manage_report r = talk_manage(&t, preset("files"), (double)talk_tokens(&t) / 0.8);
    CHECK_CSTR(talk_steps(&r), "condense:NOT_ENOUGH_MESSAGES");
    talk_close(&t);

    tap_row("roo: after a failed condense, truncate only when the view does not fit");
    talk_open(&t);
    for (unsigned i = 0; i < 4; i++)
        talk_say(&t, i % 2 ? "assistant" : "user", talk_prose(900, i));
    talk_say(&t, "user", "次は?");
    r = talk_manage(&t, preset("roo"), (double)talk_tokens(&t) / 0.8);
    CHECK_CSTR(talk_steps(&r), "condense:NOT_ENOUGH_MESSAGES");
    CHECK_CSTR(maki_step_name(r.action), "none");
    r = talk_manage(&t, preset("roo"), (double)talk_tokens(&t) / 1.1);
    CHECK(strstr(talk_steps(&r), "condense:NOT_ENOUGH_MESSAGES truncate") && r.fits);
    talk_close(&t);
}

/* ---- any conversation, any window ------------------------------------------------------------------------ */

static void random_turns(talk_kit *t, tap_random *random)
{
    static const char *const files[] = { "{\"path\":\"a.c\"}", "{\"path\":\"b.c\"}" };
    for (size_t i = 1 + tap_below(random, 20); i > 0; i--) {
        unsigned seed = (unsigned)tap_below(random, 40);
        const char *long_text = talk_prose(tap_below(random, 20000), seed);
        talk_say(t, "user", talk_prose(20 + tap_below(random, 400), seed));
        switch (tap_below(random, 5)) {
        case 0: talk_call(t, "Read", files[tap_below(random, 2)], long_text); break;
        case 1: talk_call_openai(t, "bash", "{}", long_text); break;
        case 2: talk_image(t, tap_below(random, 2) ? "AAAA" : "BBBB"); break;
        case 3: talk_say(t, "assistant", talk_code("c x.c", tap_below(random, 80))); break;
        default: break;
        }
        talk_say(t, "assistant", talk_prose(20 + tap_below(random, 600), seed));
    }
}

/* A run leaves a valid view with the reported tokens; when it does not fit, a second run cannot improve much. */
static void check_run(talk_kit *t, const maki_policy *policy, double window, uint64_t pinned)
{
    char *before = strdup(talk_view(t));
    maki_manage_report r = talk_manage(t, policy, window);
    CHECK_EQ(talk_tokens(t), talk_recounted(t));
    CHECK_EQ((long long)r.tokens_after, talk_tokens(t));
    CHECK(r.fits == (r.tokens_after <= r.allowed));
    CHECK(talk_valid(t, (const uint64_t[]){ 1, pinned, 0 }));
    if (!r.fits) {
        maki_manage_report again = talk_manage(t, policy, window);
        CHECK(!again.fits && again.tokens_after <= r.tokens_after);
    }
    if ((int)window % 3 == 0) check_undone(t, before);
    free(before);
}

static void check_random(void)
{
    enum { TIMES = 40 };
    tap_random random = { 77 };
    tap_row("%d conversations, every preset, windows from 2,000 to 1,000,000", TIMES);
    for (int i = 0; i < TIMES; i++) {
        talk_kit t;
        maki_change change;
        maki_err err = { 0 };
        talk_open(&t);
        talk_say(&t, "user", "始め");
        uint64_t pinned = 0;
        for (size_t round = 0; round < 4; round++) {
            random_turns(&t, &random);
            if (round == 1) {
                pinned = maki_log_last(maki_conv_log(t.conv));
                CHECK_STATUS(maki_conv_pin(t.conv, NULL, pinned, true, &change, &err), MAKI_OK,
                             &err);
            }
            double window =
                2000.0 * (double)(1u << tap_below(&random, 9)) + (double)tap_below(&random, 1000);
            check_run(&t, maki_policy_at(tap_below(&random, 4)), window, pinned);
        }
        talk_close(&t);
    }
}

/* Each allocation of a run fails in turn: nothing leaks, and the conversation stays valid. */
static void check_faults(void)
{
    talk_kit t;
    tap_random random = { 5 };
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    size_t failed = 0;
    tap_row("each allocation of a run fails in turn");
    for (size_t nth = 1; nth < 4000; nth += nth < 60 ? 1 : 37) {
        talk_open(&t);
        talk_say(&t, "user", "始め");
        random_turns(&t, &random);
        maki_manage_report report;
        maki_manage_options in = {
            .window = 3000, .threshold = 75, .policy = maki_policy_at(0), .summarizer = &offline
        };
        fake_alloc_fail_at(&t.fe, nth);
        maki_status st = maki_manage_conversation(t.conv, &in, &report, NULL);
        bool injected = fake_alloc_failed(&t.fe);
        fake_alloc_fail_at(&t.fe, 0);
        CHECK(st == (injected ? MAKI_NOMEM : MAKI_OK) || (injected && st == MAKI_OK));
        failed += st == MAKI_NOMEM;
        CHECK_EQ(talk_tokens(&t), talk_recounted(&t));
        CHECK(talk_valid(&t, (const uint64_t[]){ 1, 0 }));
        talk_close(&t);
        if (!injected && nth > 100) break;
    }
    CHECK(failed > 20);
}

int main(void)
{
    check_tools();
    check_repeats();
    check_code();
    check_hiding();
    check_last();
    check_must_reach();
    check_maki();
    check_other_presets();
    check_random();
    check_faults();
    return tap_end();
}

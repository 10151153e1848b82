/* run_history_test.c -- runs of the manager: recorded, not repeated when they failed, previewed, cancelled, undone. */
#include "manage/run_history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "summary/offline.h"
#include "tap.h"

static fake_env fe;
static maki_buf lines; /* of the log */

/* ---- helpers ------------------------------------------------------------------------------------------------- */

static maki_conv *open_talk(const char *path, bool dry_run)
{
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    maki_conv_options options = {
        .create = !dry_run, .dry_run = dry_run, .durability = MAKI_DURABILITY_AT_END, .threads = 1
    };
    CHECK_STATUS(maki_conv_open(&fe.env, path, &options, &conv, &err), MAKI_OK, &err);
    return conv;
}

static void talk(maki_conv *conv, size_t turns)
{
    char row[4000];
    maki_change change;
    maki_err err = { 0 };
    for (size_t i = 0; i < 2 * turns; i++) {
        int n = snprintf(row, sizeof row, "{\"role\":\"%s\",\"content\":\"",
                         i % 2 ? "assistant" : "user");
        for (int k = 0; k < 20; k++)
            n += snprintf(row + n, sizeof row - (size_t)n,
                          "%zu: 質問 %d と答え，测试 결과 src/a%d.c 🐟 ", i, k, k);
        snprintf(row + n, sizeof row - (size_t)n, "\"}");
        maki_str one = maki_str_of(row);
        CHECK_STATUS(maki_conv_append(conv, NULL, &one, 1, &change, &err), MAKI_OK, &err);
    }
}

static double tokens_of(maki_conv *conv)
{
    maki_view_totals totals = { 0 };
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_total_now(conv, &totals, &err), MAKI_OK, &err);
    return (double)totals.tokens;
}

static uint64_t events_of(maki_conv *conv)
{
    return maki_log_events(maki_conv_log(conv));
}

/* A summarizer whose summary is a prefix of the messages. */
static maki_status run_wordy(const maki_summarizer *self, const maki_summary_request *request,
                             maki_arena *arena, maki_summary *out, maki_err *err)
{
    static char much[400000];
    (void)self;
    (void)request;
    (void)arena;
    (void)err;
    for (size_t i = 0; i + 8 < sizeof much; i += 8)
        memcpy(much + i, "a 1 b 2 ", 8);
    *out = (maki_summary){ .text = maki_str_of(much) };
    return MAKI_OK;
}
static const maki_summarizer wordy = { true, run_wordy, NULL };

static const maki_logger *logger(void)
{
    static maki_logger to;
    to = (maki_logger){ fe.env.clock, maki_buf_sink(&lines), MAKI_DEBUG };
    return &to;
}

static bool logged(const char *text)
{
    return maki_str_contains(maki_buf_str(&lines), maki_str_of(text));
}

/* Policy roo, in a window that is `usage` percent full: under 80 there is time, over 90 there is none. */
static maki_manage_options in_window(maki_conv *conv, double usage,
                                     const maki_summarizer *summarizer)
{
    maki_buf_clear(&lines);
    return (maki_manage_options){ .window = tokens_of(conv) * 100 / usage,
                                  .max_tokens = 100,
                                  .threshold = 75,
                                  .policy = maki_policy_find(MAKI_LIT("roo")),
                                  .summarizer = summarizer,
                                  .logger = logger() };
}

static maki_manage_report manage(maki_conv *conv, const maki_manage_options *in)
{
    maki_manage_report report = { 0 };
    maki_err err = { 0 };
    CHECK_STATUS(maki_manage_conversation(conv, in, &report, &err), MAKI_OK, &err);
    return report;
}

/* ---- back-off ------------------------------------------------------------------------------------------------- */

static void check_back_off(const directory *f)
{
    maki_conv *conv = open_talk(directory_file(f, "wait.jsonl"), false);
    talk(conv, 20);
    maki_manage_options in = in_window(conv, 76, &wordy);
    double window = in.window;

    tap_row("a failed run is recorded");
    maki_manage_report r = manage(conv, &in);
    CHECK_CSTR(maki_reason_name(r.reason), "threshold");
    CHECK_CSTR(maki_step_name(r.action), "none");
    CHECK(r.failed && !r.backing_off && r.run == events_of(conv));
    CHECK(logged("warn condense_failed reason=CONTEXT_GREW fallback=none"));
    CHECK(logged("warn compress_insufficient reduction=0 "));

    tap_row("it is not repeated, by any process, before the conversation has grown");
    maki_conv_close(conv);
    conv = open_talk(directory_file(f, "wait.jsonl"), false);
    talk(conv, 1);
    uint64_t events = events_of(conv);
    in = in_window(conv, 76, &wordy);
    in.window = window;
    r = manage(conv, &in);
    CHECK_CSTR(maki_reason_name(r.reason), "threshold");
    CHECK(r.backing_off && r.run == 0 && events_of(conv) == events);
    CHECK(logged(" action=none "));

    tap_row("except when forced");
    in.force = true;
    r = manage(conv, &in);
    CHECK(!r.backing_off && r.failed && events_of(conv) > events);
    in.force = false;

    tap_row("the record is found among many events, but only in the newest 64 KB");
    static const size_t sizes[] = { 500, 66 << 10 };
    static char text[68 << 10];
    for (size_t i = 0; i < COUNT(sizes); i++) {
        maki_change change;
        maki_err err = { 0 };
        int n = snprintf(text, sizeof text, "\"of\":\"%0*d\"", (int)sizes[i], 0);
        for (int k = 0; k < 100 && sizes[i] * (size_t)(k + 1) < sizes[1] + 1; k++)
            CHECK_STATUS(
                maki_conv_add_event(conv, "usage", (maki_str){ text, (size_t)n }, &change, &err),
                MAKI_OK, &err);
        r = manage(conv, &in);
        CHECK_EQ(r.backing_off, i == 0);
    }

    tap_row("when the conversation has grown, it is repeated");
    talk(conv, 3);
    r = manage(conv, &in);
    CHECK(!r.backing_off && r.run);

    tap_row("over the limit a run is always made");
    in = in_window(conv, 99, &wordy);
    r = manage(conv, &in);
    CHECK_CSTR(maki_reason_name(r.reason), "over");
    CHECK_CSTR(maki_step_name(r.action), "truncate");
    CHECK(r.fits && !r.failed);
    CHECK(logged("condense_failed reason=CONTEXT_GREW fallback=truncate"));
    CHECK(logged("info compress_done reduction=0."));
    maki_conv_close(conv);
}

/* A summary shorter than what it replaces, but not by a fifth of the view: six tokens are eight bytes. */
static maki_status run_long(const maki_summarizer *self, const maki_summary_request *request,
                            maki_arena *arena, maki_summary *out, maki_err *err)
{
    maki_status st = run_wordy(self, request, arena, out, err);
    out->text.len = (size_t)request->tokens * 7 / 6;
    return st;
}

static void check_saved_too_little(const directory *f)
{
    const maki_summarizer summarizer = { true, run_long, NULL };
    maki_conv *conv = open_talk(directory_file(f, "little.jsonl"), false);
    tap_row(
        "a condense that saves too little is logged with its reduction, and another step follows");
    talk(conv, 40);
    maki_manage_options in = in_window(conv, 76, &summarizer);
    in.policy = maki_policy_find(MAKI_LIT("maki"));
    in.keep = 3;
    maki_manage_report r = manage(conv, &in);
    CHECK(strcmp(maki_step_name(r.action), "condense") != 0);
    CHECK(logged("warn compress_insufficient reduction=0."));
    CHECK(logged("warn condense_failed reason=SAVED_TOO_LITTLE"));
    maki_conv_close(conv);
}

/* The offline summarizer with a budget in which no fact has space. */
static void check_no_facts(const directory *f)
{
    maki_offline_options options = MAKI_OFFLINE_INIT;
    options.budget = 3;
    maki_summarizer summarizer = maki_summarizer_offline_with(&options);
    maki_conv *conv = open_talk(directory_file(f, "nofacts.jsonl"), false);
    maki_change change;
    maki_err err = { 0 };
    talk(conv, 40);
    uint64_t events = events_of(conv);
    tap_row("by hand, a summary that keeps no fact is refused, and nothing is written");
    CHECK_EQ(maki_conv_condense(conv, NULL, 3, &summarizer, &change, &err), MAKI_REFUSED);
    CHECK_CSTR(err.code, "SUMMARY_EMPTY");
    CHECK_EQ(events_of(conv), events);
    tap_row("in a run the next step of the policy follows");
    maki_manage_options in = in_window(conv, 99, &summarizer);
    maki_manage_report r = manage(conv, &in);
    CHECK_CSTR(maki_step_name(r.action), "truncate");
    CHECK(logged("condense_failed reason=SUMMARY_EMPTY fallback=truncate"));
    maki_conv_close(conv);
}

/* ---- dry run -------------------------------------------------------------------------------------------------- */

static void check_dry_run(const directory *f)
{
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    const char *path = directory_file(f, "try.jsonl");
    char kept[300];
    snprintf(kept, sizeof kept, "%s", path);
    maki_conv *conv = open_talk(kept, false);
    talk(conv, 20);
    for (int round = 0; round < 2; round++) { /* without an events file, and with one */
        maki_manage_options in = in_window(conv, 80, &offline);
        uint64_t events = events_of(conv);
        size_t files = directory_count(f);
        maki_conv *trial = open_talk(kept, true);
        tap_row("a dry run reports what the run will do (%d)", round);
        maki_manage_report would = manage(trial, &in);
        CHECK(tokens_of(trial) == would.tokens_after);
        maki_manage_report again = manage(trial, &in);
        CHECK_CSTR(maki_reason_name(again.reason), "none");
        maki_err err = { 0 };
        maki_change change;
        maki_str row = MAKI_LIT("{\"role\":\"user\",\"content\":\"x\"}");
        CHECK_STATUS(maki_conv_append(trial, NULL, &row, 1, &change, &err), MAKI_DENIED, NULL);
        maki_conv_close(trial);
        CHECK_EQ(directory_count(f), files);
        CHECK_STATUS(maki_log_refresh(maki_conv_log(conv), &err), MAKI_OK, &err);
        CHECK_EQ(events_of(conv), events);
        CHECK(tokens_of(conv) == would.tokens_before);

        maki_manage_report does = manage(conv, &in);
        CHECK(does.action == would.action);
        CHECK_DOUBLE(does.tokens_after, would.tokens_after);
        CHECK_EQ(does.taken_count, would.taken_count);
        CHECK_EQ(does.effect.hidden, would.effect.hidden);
        talk(conv, 20);
    }
    maki_conv_close(conv);
}

/* ---- cancel ----------------------------------------------------------------------------------------------------- */

typedef struct patience {
    int asked, most;
} patience;

static bool impatient(void *ctx)
{
    patience *p = ctx;
    return ++p->asked > p->most;
}

static void check_cancel(const directory *f)
{
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    maki_conv *conv = open_talk(directory_file(f, "stop.jsonl"), false);
    talk(conv, 20);
    double before = tokens_of(conv);
    maki_status st = MAKI_CANCELLED;
    tap_row("cancelled at any point, a run leaves only its record");
    for (int most = 0; st == MAKI_CANCELLED && most < 1000; most++) {
        patience p = { 0, most };
        maki_manage_report r;
        maki_err err = { 0 };
        maki_manage_options in = in_window(conv, 80, &offline);
        in.cancelled = impatient;
        in.cancel_ctx = &p;
        uint64_t events = events_of(conv);
        st = maki_manage_conversation(conv, &in, &r, &err);
        if (st != MAKI_CANCELLED) break;
        CHECK(tokens_of(conv) == before && r.tokens_after == before && !r.backing_off);
        CHECK_EQ(events_of(conv), events + 1);
        CHECK_EQ(r.run, events + 1);
        CHECK_CSTR(maki_step_name(r.action), "none");
        CHECK(p.asked == most + 1);
    }
    CHECK_EQ(st, MAKI_OK);
    CHECK(tokens_of(conv) < before);
    maki_conv_close(conv);
}

/* ---- undo ------------------------------------------------------------------------------------------------------ */

static void check_undo(const directory *f)
{
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    maki_conv *conv = open_talk(directory_file(f, "back.jsonl"), false);
    maki_run_undo_report undone;
    maki_err err = { 0 };
    tap_row("without a run there is nothing to undo");
    talk(conv, 20);
    CHECK_STATUS(maki_run_history_undo(conv, 0, &undone, &err), MAKI_REFUSED, NULL);
    CHECK_CSTR(err.code, "NOTHING_TO_DO");

    tap_row("two runs are undone one after the other, each as a whole");
    maki_manage_options in = in_window(conv, 300, &wordy); /* truncated again and again */
    double first = tokens_of(conv);
    maki_manage_report one = manage(conv, &in);
    CHECK(one.taken_count > 2 && one.run);
    CHECK_EQ(events_of(conv), 2); /* a truncation, however often it was taken, and the record */
    talk(conv, 20);
    double second = tokens_of(conv), came = second - one.tokens_after;
    in = in_window(conv, 80, &offline);
    maki_manage_report two = manage(conv, &in);
    CHECK(two.run > one.run);
    CHECK_STATUS(maki_run_history_undo(conv, 0, &undone, &err), MAKI_OK, &err);
    CHECK_EQ(undone.run, two.run);
    CHECK(undone.tokens_after == second && tokens_of(conv) == second);
    CHECK_STATUS(maki_run_history_undo(conv, 0, &undone, &err), MAKI_OK, &err);
    CHECK_EQ(undone.run, one.run);
    CHECK_EQ(undone.events, 1);
    CHECK_DOUBLE(tokens_of(conv), first + came);
    CHECK_STATUS(maki_run_history_undo(conv, 0, &undone, &err), MAKI_REFUSED, NULL);
    CHECK_STATUS(maki_run_history_undo(conv, one.run, &undone, &err), MAKI_REFUSED, NULL);

    tap_row("what a person undid is not done again at once");
    in = in_window(conv, 76, &offline);
    maki_manage_report r = manage(conv, &in);
    CHECK(r.backing_off && r.run == 0);
    maki_conv_close(conv);
}

/* ---- faults ----------------------------------------------------------------------------------------------------- */

static maki_status run_and_undo(maki_conv *conv, const maki_manage_options *in)
{
    maki_manage_report report;
    maki_run_undo_report undone;
    maki_err err = { 0 };
    maki_status st = maki_manage_conversation(conv, in, &report, &err);
    return st == MAKI_OK ? maki_run_history_undo(conv, 0, &undone, &err) : st;
}

static void check_faults(const directory *f)
{
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    char path[300];
    snprintf(path, sizeof path, "%s", directory_file(f, "fail.jsonl"));
    maki_conv *conv = open_talk(path, false);
    talk(conv, 6);
    double before = tokens_of(conv);
    maki_conv_close(conv);
    tap_row("each allocation of a dry run fails in turn");
    for (size_t nth = 1;; nth++) {
        conv = open_talk(path, true);
        maki_manage_options in = in_window(conv, 80, &offline);
        fake_alloc_fail_at(&fe, nth);
        maki_status st = run_and_undo(conv, &in);
        bool injected = fake_alloc_failed(&fe);
        fake_alloc_fail_at(&fe, 0);
        CHECK(st == MAKI_OK || (injected && st == MAKI_NOMEM));
        maki_conv_close(conv);
        if (!injected) break;
    }
    tap_row("each file call fails in turn");
    for (size_t nth = 1;; nth++) {
        conv = open_talk(path, true);
        maki_manage_options in = in_window(conv, 80, &offline);
        fake_files_fail_at(&fe, nth, EIO);
        maki_status st = run_and_undo(conv, &in);
        bool injected = fake_files_failed(&fe);
        fake_files_fail_at(&fe, 0, 0);
        CHECK(st == MAKI_OK || (injected && st == MAKI_IO));
        maki_conv_close(conv);
        CHECK_EQ(fake_files_live(&fe), 0);
        if (!injected) break;
    }
    conv = open_talk(path, false);
    CHECK(tokens_of(conv) == before && events_of(conv) == 0);
    maki_conv_close(conv);
}

/* A record of a run whose events are those after number `before`. */
static uint64_t note_run(maki_conv *conv, uint64_t before)
{
    char fields[200];
    maki_change change;
    maki_err err = { 0 };
    int n = snprintf(fields, sizeof fields,
                     "\"of\":\"manage\",\"reason\":\"forced\",\"action\":\"trim\","
                     "\"tokensBefore\":2,\"tokensAfter\":1,\"failed\":false,\"first\":%llu,"
                     "\"last\":%llu",
                     (unsigned long long)before + 1, (unsigned long long)events_of(conv));
    CHECK_STATUS(
        maki_conv_add_event(conv, "manifest", (maki_str){ fields, (size_t)n }, &change, &err),
        MAKI_OK, &err);
    return change.event;
}

/* Runs of former versions wrote an event for each step, and undid some of them. */
static void check_former_runs(const directory *f)
{
    maki_conv *conv = open_talk(directory_file(f, "former.jsonl"), false);
    maki_err err = { 0 };
    maki_change change;
    maki_run_undo_report undone;
    talk(conv, 10);
    double whole = tokens_of(conv);
    for (int round = 0; round < 2; round++) {
        uint64_t before = events_of(conv);
        CHECK_STATUS(maki_conv_trim(conv, NULL, 3, 0, 20, 20, &change, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_conv_undo(conv, NULL, change.event, &change, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_conv_trim(conv, NULL, 4, 0, 20, 20, &change, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_conv_truncate(conv, NULL, 0.5, &change, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_conv_truncate(conv, NULL, 0.5, &change, &err), MAKI_OK, &err);
        uint64_t record = note_run(conv, before);
        double made = tokens_of(conv);
        if (round == 0) {
            tap_row("a run of a former version is undone as a whole");
            CHECK_STATUS(maki_run_history_undo(conv, record, &undone, &err), MAKI_OK, &err);
            CHECK(undone.run == record && undone.events == 3);
        } else {
            tap_row("also by undoing the newest event; and that can be undone");
            CHECK_STATUS(maki_conv_undo(conv, NULL, 0, &change, &err), MAKI_OK, &err);
            CHECK_CSTR(change.undone_type, "run");
        }
        CHECK_EQ(events_of(conv), record + 1);
        CHECK_DOUBLE(tokens_of(conv), whole);
        if (round == 0) continue;
        CHECK_STATUS(maki_conv_undo(conv, NULL, change.event, &change, &err), MAKI_OK, &err);
        CHECK_DOUBLE(tokens_of(conv), made);
    }
    maki_conv_close(conv);
}

/* Runs of one trim each. */
static void check_many_runs(directory *f)
{
    enum { RUNS = 70 };
    maki_conv *conv = open_talk(directory_file(f, "many.jsonl"), false);
    maki_err err = { 0 };
    maki_change change;
    maki_run_undo_report undone;
    uint64_t first = 0;
    talk(conv, RUNS / 2);
    double whole = tokens_of(conv);
    for (uint64_t seq = 1; seq <= RUNS; seq++) {
        uint64_t before = events_of(conv);
        CHECK_STATUS(maki_conv_trim(conv, NULL, seq, 0, 20, 20, &change, &err), MAKI_OK, &err);
        uint64_t record = note_run(conv, before);
        if (seq == 1) first = record;
    }
    tap_row("the oldest of many runs is undone by its number, once");
    CHECK_STATUS(maki_run_history_undo(conv, first, &undone, &err), MAKI_OK, &err);
    CHECK(undone.run == first && undone.events == 1);
    CHECK_STATUS(maki_run_history_undo(conv, first, &undone, &err), MAKI_REFUSED, &err);
    tap_row("the others are undone newest first");
    for (int i = 1; i < RUNS; i++) {
        CHECK_STATUS(maki_run_history_undo(conv, 0, &undone, &err), MAKI_OK, &err);
        CHECK_EQ(undone.events, 1);
    }
    CHECK_STATUS(maki_run_history_undo(conv, 0, &undone, &err), MAKI_REFUSED, &err);
    CHECK_DOUBLE(tokens_of(conv), whole);
    maki_conv_close(conv);
}

int main(void)
{
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 3);
    directory_open(&f);
    maki_env env = maki_env_system();
    lines = maki_buf_new(env.alloc, 1 << 20);
    check_saved_too_little(&f);
    check_no_facts(&f);
    check_back_off(&f);
    check_dry_run(&f);
    check_cancel(&f);
    check_undo(&f);
    check_former_runs(&f);
    check_many_runs(&f);
    check_faults(&f);
    maki_buf_free(&lines);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
    return tap_end();
}

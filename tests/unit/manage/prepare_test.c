/* prepare_test.c -- a summary prepared in advance is used while it is valid, and ignored when the messages that it
 * covers have changed. */
#include "manage/prepare.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "manage/manage.h"
#include "tap.h"

enum { ROWS = 24, KEEP = 3 };

/* ---- a summarizer that records calls ---------------------------------------------------------------------- */

typedef struct scribe {
    maki_summarizer summarizer;
    const char *text;
    atomic_int calls;
    atomic_ullong messages; /* that it read */
    void (*during)(void *); /* called while it works; or NULL */
    void *ctx;
    bool fallback_reason;
} scribe;

static maki_status count_message(void *ctx, maki_str json, maki_err *err)
{
    (void)json;
    (void)err;
    ++*(uint64_t *)ctx;
    return MAKI_OK;
}

static maki_status write_summary(const maki_summarizer *self, const maki_summary_request *request,
                                 maki_arena *arena, maki_summary *out, maki_err *err)
{
    scribe *s = (scribe *)(uintptr_t)self->ctx;
    atomic_fetch_add(&s->calls, 1);
    uint64_t messages = 0;
    maki_status st = request->each(request->source, count_message, &messages, err);
    atomic_store(&s->messages, messages);
    if (s->during) s->during(s->ctx);
    out->text = maki_arena_copy(arena, maki_str_of(s->text));
    out->usage.cost = 0.5;
    if (s->fallback_reason) maki_fail(&out->fallback_reason, MAKI_UPSTREAM, "overloaded");
    return st == MAKI_OK ? maki_arena_status(arena, err) : st;
}

static void scribe_init(scribe *s, const char *text)
{
    memset(s, 0, sizeof *s);
    s->text = text;
    s->summarizer = (maki_summarizer){ .usable = true, .run = write_summary, .ctx = s };
}

/* ---- conversations ------------------------------------------------------------------------------------------ */

static maki_conv *open_talk(const maki_env *env, const char *path)
{
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    maki_conv_options options = { .create = true,
                                  .durability = MAKI_DURABILITY_BY_CALLER,
                                  .threads = 1 };
    CHECK_STATUS(maki_conv_open(env, path, &options, &conv, &err), MAKI_OK, &err);
    return conv;
}

static void append(maki_conv *conv, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        char row[400];
        maki_change change;
        maki_err err = { 0 };
        snprintf(
            row, sizeof row,
            "{\"role\":\"%s\",\"content\":\"メッセージ %zu about src/file%zu.c: 测试 다시 🐟 and some more words so "
            "that a summary is shorter than what it stands for, whoever counts them\"}",
            i % 2 ? "assistant" : "user", i, i);
        maki_str one = maki_str_of(row);
        CHECK_STATUS(maki_conv_append(conv, NULL, &one, 1, &change, &err), MAKI_OK, &err);
    }
}

static uint64_t visible(maki_conv *conv, uint64_t *tokens)
{
    const maki_view *view;
    maki_view_totals totals = { 0 };
    maki_err err = { 0 };
    CHECK_STATUS(maki_log_refresh(maki_conv_log(conv), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_total(conv, view, &totals, &err), MAKI_OK, &err);
    if (tokens) *tokens = totals.tokens;
    return totals.messages;
}

typedef struct kit {
    directory here;
    char path[300];
    maki_env env;
    maki_conv *conv;
    scribe early, late; /* who prepares, and who would be asked otherwise */
    maki_prepare_report report;
    maki_change change;
    maki_err err;
} kit;

static void kit_open(kit *k)
{
    memset(k, 0, sizeof *k);
    directory_open(&k->here);
    snprintf(k->path, sizeof k->path, "%s", directory_file(&k->here, "talk.jsonl"));
    k->env = maki_env_system();
    k->conv = open_talk(&k->env, k->path);
    append(k->conv, 1, ROWS);
    scribe_init(&k->early, "prepared, with src/file2.c in it");
    scribe_init(&k->late, "made at the last minute");
}

static void kit_close(kit *k)
{
    maki_conv_close(k->conv);
    directory_close(&k->here);
}

static maki_status prepare(kit *k)
{
    return maki_prepare(&k->env, k->path, KEEP, &k->early.summarizer, &k->report, &k->err);
}

static maki_status condense(kit *k, double aim)
{
    return maki_prepared_condense(k->conv, NULL, KEEP, aim, &k->late.summarizer, &k->change,
                                  &k->err);
}

/* ---- due ------------------------------------------------------------------------------------------------------ */

static void test_due(void)
{
    static const struct {
        const char *name;
        bool background;
        double at, percent, threshold;
        bool due;
    } rows[] = {
        { "summary.background_percent: 10 below the threshold by default", true, 0, 65, 75, true },
        { "not before that", true, 0, 64.9, 75, false },
        { "at the threshold it is too late", true, 0, 75, 75, false },
        { "summary.background_percent: where it says", true, 40, 41, 75, true },
        { "and not before", true, 70, 69, 75, false },
        { "summary.background: false", false, 0, 70, 75, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_summary_settings s = maki_summary_defaults;
        tap_row("due: %s", rows[i].name);
        s.background = rows[i].background;
        s.background_percent = rows[i].at;
        CHECK(maki_prepare_due(&s, rows[i].percent, rows[i].threshold) == rows[i].due);
    }
}

/* ---- used ----------------------------------------------------------------------------------------------------- */

static void test_used(void)
{
    kit k;
    uint64_t before = 0, after = 0;
    tap_row("the prepared summary is used, and newer messages stay");
    kit_open(&k);
    visible(k.conv, &before);
    CHECK_STATUS(prepare(&k), MAKI_OK, &k.err);
    CHECK(k.report.written && k.report.event > 0);
    CHECK_DOUBLE(k.report.usage.cost, 0.5);
    CHECK_EQ(atomic_load(&k.early.messages), ROWS - 1 - KEEP);
    CHECK_EQ(visible(k.conv, &after), ROWS);
    CHECK_EQ(after, before); /* no view was changed */
    CHECK_STATUS(prepare(&k), MAKI_OK, &k.err);
    CHECK(!k.report.written && k.report.event > 0); /* once is enough */
    CHECK_EQ(atomic_load(&k.early.calls), 1);
    append(k.conv, ROWS + 1, 4);
    CHECK_STATUS(condense(&k, 1e9), MAKI_OK, &k.err);
    CHECK_EQ(atomic_load(&k.late.calls), 0);
    CHECK_EQ(visible(k.conv, NULL), 1 + 1 + KEEP + 4);
    CHECK(k.change.coverage.measured);
    /* src/file2.c; the newest of the statements that differ in a name and a number is added, with both */
    CHECK_EQ(k.change.coverage.kept, 3);
    CHECK(k.change.coverage.lost > 0 && k.change.coverage.list_len > 0);
    CHECK_DOUBLE(k.change.usage.cost, 0); /* told when it arose */
    tap_row("after an undo it is valid again");
    CHECK_STATUS(maki_conv_undo(k.conv, NULL, 0, &k.change, &k.err), MAKI_OK, &k.err);
    CHECK_STATUS(condense(&k, 1e9), MAKI_OK, &k.err);
    CHECK_EQ(atomic_load(&k.late.calls), 0);
    kit_close(&k);

    tap_row("when it would not free enough, it is not used");
    kit_open(&k);
    CHECK_STATUS(prepare(&k), MAKI_OK, &k.err);
    append(k.conv, ROWS + 1, 10);
    CHECK_STATUS(condense(&k, 100), MAKI_OK, &k.err);
    CHECK_EQ(atomic_load(&k.late.calls), 1);
    CHECK_EQ(visible(k.conv, NULL), 1 + 1 + KEEP);
    CHECK_DOUBLE(k.change.usage.cost, 0.5);
    kit_close(&k);

    tap_row("a manage run uses it");
    kit_open(&k);
    CHECK_STATUS(prepare(&k), MAKI_OK, &k.err);
    append(k.conv, ROWS + 1, 2);
    maki_manage_report report;
    maki_manage_options in = { .window = 100000,
                               .threshold = 75,
                               .force = true,
                               .policy = maki_policy_find(MAKI_LIT("roo")),
                               .summarizer = &k.late.summarizer };
    CHECK_STATUS(maki_manage_conversation(k.conv, &in, &report, &k.err), MAKI_OK, &k.err);
    CHECK_EQ(atomic_load(&k.late.calls), 0);
    CHECK_CSTR(maki_step_name(report.action), "condense");
    CHECK_EQ(report.coverage.kept, 3);
    CHECK_DOUBLE(report.usage.cost, 0);
    kit_close(&k);

    tap_row("a fallback's summary is not stored");
    kit_open(&k);
    k.early.fallback_reason = true;
    CHECK_STATUS(prepare(&k), MAKI_OK, &k.err);
    CHECK(!k.report.written && k.report.event == 0);
    CHECK_EQ(k.report.fallback_reason.status, MAKI_UPSTREAM);
    CHECK_EQ(maki_log_events(maki_conv_log(k.conv)), 0);
    kit_close(&k);

    tap_row("too few messages to condense");
    kit_open(&k);
    CHECK_STATUS(maki_prepare(&k.env, k.path, ROWS, &k.early.summarizer, &k.report, &k.err),
                 MAKI_REFUSED, &k.err);
    CHECK_CSTR(k.err.code, "NOT_ENOUGH_MESSAGES");
    kit_close(&k);
}

/* ---- ignored ---------------------------------------------------------------------------------------------------- */

typedef enum meddling {
    REWIND,
    EDIT,
    PIN,
    TRIM,
    CONDENSE,
    TRUNCATE,
    UNDO,
    NOTHING,
    AFTER
} meddling;

static const struct {
    const char *name;
    meddling what;
    bool holds;
} meddlings[] = {
    { "a rewind into it", REWIND, false },
    { "an edit in it", EDIT, false },
    { "a pin in it", PIN, false },
    { "a trim in it", TRIM, false },
    { "another condense", CONDENSE, false },
    { "a truncation", TRUNCATE, false },
    { "an undo of what it was made on", UNDO, false },
    { "nothing", NOTHING, true },
    { "an edit behind it", AFTER, true },
};

static maki_status meddle(kit *k, meddling what)
{
    maki_str message = MAKI_LIT("{\"role\":\"user\",\"content\":\"another\"}");
    maki_change change;
    switch (what) {
    case REWIND: return maki_conv_rewind(k->conv, NULL, 12, MAKI_NEWEST, &change, &k->err);
    case EDIT: return maki_conv_edit(k->conv, NULL, 9, message, &change, &k->err);
    case PIN: return maki_conv_pin(k->conv, NULL, 9, true, &change, &k->err);
    case TRIM: return maki_conv_trim(k->conv, NULL, 9, 0, 10, 10, &change, &k->err);
    case CONDENSE:
        return maki_conv_condense(k->conv, NULL, 10, &k->late.summarizer, &change, &k->err);
    case TRUNCATE: return maki_conv_truncate(k->conv, NULL, 0.25, &change, &k->err);
    case UNDO: return maki_conv_undo(k->conv, NULL, 1, &change, &k->err);
    case AFTER: return maki_conv_edit(k->conv, NULL, ROWS + 2, message, &change, &k->err);
    default: return MAKI_OK;
    }
}

static void test_ignored(void)
{
    for (size_t i = 0; i < COUNT(meddlings); i++) {
        kit k;
        maki_prepared found;
        tap_row("changed in between: %s", meddlings[i].name);
        kit_open(&k);
        if (meddlings[i].what == UNDO)
            CHECK_STATUS(maki_conv_trim(k.conv, NULL, 9, 0, 10, 10, &k.change, &k.err), MAKI_OK,
                         &k.err);
        CHECK_STATUS(prepare(&k), MAKI_OK, &k.err);
        append(k.conv, ROWS + 1, 4);
        CHECK_STATUS(meddle(&k, meddlings[i].what), MAKI_OK, &k.err);
        append(k.conv, ROWS + 5, 6);
        atomic_store(&k.late.calls, 0);
        CHECK_STATUS(maki_prepared_find(k.conv, KEEP, &found, &k.err), MAKI_OK, &k.err);
        CHECK((found.event != 0) == meddlings[i].holds);
        CHECK_STATUS(condense(&k, 1e9), MAKI_OK, &k.err);
        CHECK_EQ(atomic_load(&k.late.calls), meddlings[i].holds ? 0 : 1);
        kit_close(&k);
    }
}

/* ---- concurrency -------------------------------------------------------------------------------------------------- */

typedef struct job {
    kit *k;
    maki_prepare_report report;
    maki_status status;
} job;

static void *prepare_thread(void *arg)
{
    job *j = arg;
    j->status =
        maki_prepare(&j->k->env, j->k->path, KEEP, &j->k->early.summarizer, &j->report, NULL);
    return NULL;
}

static void meet(void *ctx)
{
    pthread_barrier_wait(ctx);
}

static void test_threads(void)
{
    kit k;
    pthread_t threads[2];
    pthread_barrier_t barrier;
    tap_row("two concurrent handles both summarize, and one summary is stored");
    kit_open(&k);
    job jobs[2] = { { &k, { 0 }, MAKI_IO }, { &k, { 0 }, MAKI_IO } };
    pthread_barrier_init(&barrier, NULL, 2);
    k.early.during = meet;
    k.early.ctx = &barrier;
    for (size_t i = 0; i < 2; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, prepare_thread, &jobs[i]), 0);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        CHECK_STATUS(jobs[i].status, MAKI_OK, NULL);
        CHECK(jobs[i].report.event > 0);
    }
    CHECK(jobs[0].report.written || jobs[1].report.written);
    CHECK_STATUS(condense(&k, 1e9), MAKI_OK, &k.err);
    CHECK_EQ(atomic_load(&k.late.calls), 0);
    kit_close(&k);

    tap_row("the conversation grows while a summary is prepared");
    kit_open(&k);
    job one = { &k, { 0 }, MAKI_IO };
    k.early.during = meet;
    k.early.ctx = &barrier;
    CHECK_EQ(pthread_create(&threads[0], NULL, prepare_thread, &one), 0);
    append(k.conv, ROWS + 1, 8); /* before it has read all, or after: it does not matter */
    pthread_barrier_wait(&barrier);
    append(k.conv, ROWS + 9, 8);
    pthread_join(threads[0], NULL);
    CHECK_STATUS(one.status, MAKI_OK, NULL);
    CHECK(one.report.written);
    CHECK_STATUS(condense(&k, 1e9), MAKI_OK, &k.err);
    CHECK_EQ(atomic_load(&k.late.calls), 0);
    CHECK(visible(k.conv, NULL) >= 1 + 1 + KEEP + 8);
    pthread_barrier_destroy(&barrier);
    kit_close(&k);
}

/* ---- kills and faults ---------------------------------------------------------------------------------------------- */

static void die(void *ctx)
{
    (void)ctx;
    kill(getpid(), SIGKILL);
}

static void test_killed(void)
{
    kit k;
    int how = 0;
    tap_row("a killed process leaves nothing");
    kit_open(&k);
    size_t files = directory_count(&k.here);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        k.early.during = die;
        _exit(prepare(&k) == MAKI_OK ? 0 : 1);
    }
    CHECK(waitpid(child, &how, 0) == child && WIFSIGNALED(how));
    CHECK_EQ(directory_count(&k.here), files);
    CHECK_EQ(visible(k.conv, NULL), ROWS);
    CHECK_EQ(maki_log_events(maki_conv_log(k.conv)), 0);
    CHECK_STATUS(prepare(&k), MAKI_OK, &k.err); /* the next one is not held up */
    CHECK(k.report.written);
    kit_close(&k);
}

static void test_faults(void)
{
    tap_row("each allocation failing in turn");
    for (size_t nth = 1;; nth++) {
        kit k;
        fake_env fe;
        kit_open(&k);
        fake_env_init(&fe);
        fake_alloc_fail_at(&fe, nth);
        maki_status st =
            maki_prepare(&fe.env, k.path, KEEP, &k.early.summarizer, &k.report, &k.err);
        bool injected = fake_alloc_failed(&fe);
        CHECK(st == MAKI_OK || (injected && st == MAKI_NOMEM));
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(fake_files_live(&fe), 0);
        CHECK_EQ(visible(k.conv, NULL), ROWS);
        kit_close(&k);
        if (!injected) break;
    }
}

int main(void)
{
    test_due();
    test_used();
    test_ignored();
    test_threads();
    test_killed();
    test_faults();
    return tap_end();
}

/* log_faults_test.c -- a conversation whose every allocation and every file call fails once, and one
 * whose process dies at every change of a file.
 *
 * The work is a list of steps, each one group.  After the fault the log is reopened without faults: it
 * must verify, and have each step completely or not at all; a step that returned MAKI_OK must be there. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "history/conv.h"
#include "log/verify.h"
#include "logs.h"
#include "tap.h"

static maki_status short_summary(const maki_summarizer *self, const maki_summary_request *request,
                                 maki_arena *arena, maki_summary *out, maki_err *err)
{
    (void)self;
    (void)request;
    (void)err;
    out->text = maki_arena_copy(arena, MAKI_LIT("short"));
    return maki_arena_status(arena, err);
}

static maki_status append(maki_conv *conv, size_t rows, maki_err *err)
{
    char text[4][200];
    maki_str messages[4];
    maki_change change;
    uint64_t last = maki_log_last(maki_conv_log(conv));
    for (size_t i = 0; i < rows; i++) {
        int n =
            snprintf(text[i], sizeof text[i],
                     "{\"role\":\"%s\",\"content\":\"message %d of some length, so that a summary "
                     "of it is shorter than it\"}",
                     (last + i) % 2 ? "assistant" : "user", (int)(last + i + 1));
        messages[i] = (maki_str){ text[i], (size_t)n };
    }
    return maki_conv_append(conv, NULL, messages, rows, &change, err);
}

enum { STEPS = 8 };

/* Rows and events after each step. */
static const struct {
    uint64_t rows, events;
} after[STEPS + 1] = { { 0, 0 }, { 4, 0 }, { 8, 0 }, { 8, 1 }, { 8, 2 },
                       { 8, 3 }, { 9, 4 }, { 9, 5 }, { 12, 5 } };

static maki_status step(maki_conv *conv, size_t n, maki_err *err)
{
    maki_change change;
    maki_summarizer summarizer = { .usable = true, .run = short_summary };
    switch (n) {
    case 0: return append(conv, 4, err);
    case 1: return append(conv, 4, err);
    case 2: return maki_conv_condense(conv, NULL, 2, &summarizer, &change, err);
    case 3: return maki_conv_rewind(conv, NULL, 7, MAKI_NEWEST, &change, err);
    case 4: return maki_conv_undo(conv, NULL, 0, &change, err);
    case 5:
        return maki_conv_edit(conv, NULL, 8, MAKI_LIT("{\"role\":\"user\",\"content\":\"edited\"}"),
                              &change, err);
    case 6: return maki_conv_pin(conv, NULL, 1, true, &change, err);
    default: return append(conv, 3, err);
    }
}

/* Run all steps; *done are those that returned MAKI_OK, *tried those that were begun. */
static maki_status work(logs *l, size_t *done, size_t *tried, maki_err *err)
{
    maki_conv_options options = { .create = true, .durability = MAKI_DURABILITY_SYNC };
    maki_conv *conv = NULL;
    maki_status st = MAKI_OK;
    *done = *tried = 0;
    for (size_t i = 0; st == MAKI_OK && i < STEPS; i++) {
        if (i % 3 == 0) {
            maki_conv_close(conv);
            conv = NULL;
            st = maki_conv_open(&l->env, l->path, &options, &conv, err);
        }
        if (st != MAKI_OK) break;
        *tried = i + 1;
        st = step(conv, i, err);
        if (st == MAKI_OK) *done = i + 1;
    }
    maki_conv_close(conv);
    return st;
}

static bool verified(logs *l, maki_err *err)
{
    maki_log_options options = logs_options(l);
    return maki_log_verify(&l->env, l->path, &options, NULL, NULL, NULL, err) == MAKI_OK;
}

/* The log has the first `done` steps, or one more. */
static bool has_complete_steps(logs *l, size_t done, size_t tried, bool killed)
{
    maki_err err = { 0 };
    maki_conv_options options = { .create = true, .durability = MAKI_DURABILITY_SYNC };
    maki_conv *conv = NULL;
    const maki_view *view;
    if (!CHECK_STATUS(maki_conv_open(&l->env, l->path, &options, &conv, &err), MAKI_OK, &err))
        return false;
    maki_log *log = maki_conv_log(conv);
    uint64_t rows = maki_log_last(log);
    uint64_t events = maki_log_events(log) - logs_events(log, "damage");
    bool ok = false;
    for (size_t n = done; n <= tried; n++) {
        bool part = killed && n > done && rows >= after[done].rows && rows <= after[n].rows &&
                    events >= after[done].events && events <= after[n].events;
        if (part || (rows == after[n].rows && events == after[n].events)) ok = true;
    }
    if (!ok)
        printf("# %" PRIu64 " rows, %" PRIu64 " events after %zu of %zu\n", rows, events, done,
               tried);
    ok = CHECK_STATUS(maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err) &&
         ok;
    maki_conv_close(conv);
    if (!verified(l, &err)) {
        printf("# %s\n", err.msg);
        ok = false;
    }
    return ok;
}

static void test_clean(void)
{
    logs l;
    maki_err err = { 0 };
    size_t done = 0, tried = 0;
    tap_row("without a fault every step is done");
    logs_open(&l, "messages.jsonl");
    CHECK_STATUS(work(&l, &done, &tried, &err), MAKI_OK, &err);
    CHECK_EQ(done, STEPS);
    CHECK(has_complete_steps(&l, done, tried, false));
    CHECK_EQ(directory_count(&l.f), 3);
    logs_close(&l);
}

static void test_allocations(void)
{
    tap_row("each allocation fails in turn");
    for (size_t nth = 1;; nth++) {
        logs l;
        maki_err err = { 0 };
        size_t done = 0, tried = 0;
        logs_open(&l, "messages.jsonl");
        fake_alloc_fail_at(&l.fe, nth);
        maki_status st = work(&l, &done, &tried, &err);
        bool injected = fake_alloc_failed(&l.fe);
        fake_alloc_fail_at(&l.fe, 0);
        /* one that only kept a step from reporting its effect leaves no trace */
        if (st != MAKI_OK || !injected) CHECK_STATUS(st, injected ? MAKI_NOMEM : MAKI_OK, &err);
        if (st == MAKI_OK) CHECK_EQ(done, STEPS);
        CHECK_EQ(fake_alloc_live(&l.fe), 0);
        CHECK_EQ(fake_files_live(&l.fe), 0);
        /* exactly what was acknowledged: a step that failed has done nothing */
        if (!CHECK(has_complete_steps(&l, done, done, false))) printf("# allocation %zu\n", nth);
        logs_close(&l);
        if (!injected) break;
    }
}

/* A call transfers at most `max` bytes, so a group takes several calls. */
static void test_file_calls(int code, size_t max)
{
    tap_row("each file call fails in turn with errno %d, transfers of %zu bytes", code, max);
    for (size_t nth = 1;; nth++) {
        logs l;
        maki_err err = { 0 };
        size_t done = 0, tried = 0;
        logs_open(&l, "messages.jsonl");
        fake_files_short(&l.fe, max);
        fake_files_fail_at(&l.fe, nth, code);
        maki_status st = work(&l, &done, &tried, &err);
        bool injected = fake_files_failed(&l.fe);
        fake_files_fail_at(&l.fe, 0, 0);
        fake_files_short(&l.fe, 0);
        if (!injected) CHECK_STATUS(st, MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&l.fe), 0);
        CHECK_EQ(fake_files_live(&l.fe), 0);
        if (!CHECK(has_complete_steps(&l, done, tried, false))) {
            printf("# file call %zu, %s %s\n", nth, maki_status_name(st), st ? err.msg : "");
        }
        logs_close(&l);
        if (!injected) break;
    }
}

static void test_kills(bool half)
{
    tap_row("the process is killed at each change of a file%s",
            half ? ", in the middle of it" : "");
    for (size_t nth = 1;; nth++) {
        logs l;
        maki_err err = { 0 };
        size_t done = 0, tried = 0;
        logs_open(&l, "messages.jsonl");
        l.disk.dies_at = nth;
        l.disk.half = half;
        maki_status st = work(&l, &done, &tried, &err);
        bool died = l.disk.changes >= nth;
        l.disk.dies_at = 0;
        if (!died) CHECK_STATUS(st, MAKI_OK, &err);
        if (!CHECK(has_complete_steps(&l, done, tried, true))) {
            printf("# change %zu, %s %s\n", nth, maki_status_name(st), st ? err.msg : "");
        }
        logs_close(&l);
        if (!died) break;
    }
}

int main(void)
{
    test_clean();
    test_allocations();
    test_file_calls(EIO, 0);
    test_file_calls(ENOSPC, 150);
    test_kills(false);
    test_kills(true);
    return tap_end();
}

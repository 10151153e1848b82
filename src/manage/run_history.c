/* run_history.c -- see run_history.h. */
#include "manage/run_history.h"

#include <inttypes.h>
#include <math.h>

#include "base/err.h"
#include "base/json.h"
#include "base/json_build.h"
#include "base/json_print.h"
#include "base/str.h"
#include "token/family.h"

#define GROWN 0.1 /* a failed run is tried again when what is sent has changed by this share */

enum {
    NEWEST = 64 << 10, /* bytes of events in which the newest record is looked for */
    RECORD_MAX = 8 << 10
};

/* ---- records ---------------------------------------------------------------------------------------------- */

typedef struct record {
    uint64_t ev;
    uint64_t first, last; /* events of the run; 0: none */
    bool failed;
    double tokens;
} record;

static bool text_is(maki_str event, const char *name, maki_str text)
{
    maki_str value;
    return maki_json_get(event, maki_str_of(name), &value) &&
           maki_json_kind_of(value) == MAKI_JSON_STRING && maki_json_text_is(value, text);
}

/* Is this row a record of ours?  Most are not, and are not parsed. */
static bool read_record(maki_str row, record *out)
{
    maki_str event, failed;
    if (!maki_str_has(row, MAKI_LIT("\"of\":\"manage\"")) ||
        maki_json_check(row, &event, NULL) != MAKI_OK ||
        !text_is(event, "type", MAKI_LIT("manifest")) || !text_is(event, "of", MAKI_LIT("manage")))
        return false;
    *out = (record){ .ev = maki_json_uint_field(event, MAKI_LIT("ev")),
                     .first = maki_json_uint_field(event, MAKI_LIT("first")),
                     .last = maki_json_uint_field(event, MAKI_LIT("last")),
                     .tokens = (double)maki_json_uint_field(event, MAKI_LIT("tokensAfter")) };
    out->failed = maki_json_get(event, MAKI_LIT("failed"), &failed) && maki_json_true(failed);
    return true;
}

static void write_record(maki_jw *w, const maki_manage_in *in, const maki_manage_report *r,
                         maki_status why)
{
    maki_jw_print(w,
                  "{'of':'manage','reason':%z,'action':%z,'tokensBefore':%i,'tokensAfter':%i,"
                  "'messagesRemoved':%i,'ms':%i",
                  maki_reason_name(r->reason), maki_step_name(r->action),
                  (int64_t)maki_scaled_tokens(r->tokens_before, in->scale),
                  (int64_t)maki_scaled_tokens(r->tokens_after, in->scale), r->messages_removed,
                  r->ms);
    maki_summary_usage_write(w, &r->usage);
    if (r->survey.measured)
        maki_jw_print(w, "'factsKept':%i,'factsLost':%i", r->survey.kept, r->survey.lost);
    if (why == MAKI_CANCELLED) maki_jw_field_bool(w, "cancelled", true);
    if (why != MAKI_OK && why != MAKI_CANCELLED)
        maki_jw_field_text(w, "error", maki_status_name(why));
    maki_jw_field_bool(w, "failed", r->failed);
    maki_jw_end_object(w);
}

maki_status maki_run_history_record(maki_conv *conv, maki_plan *plan, const maki_manage_in *in,
                                    maki_manage_report *report, maki_status why, maki_err *err)
{
    maki_json_build made;
    maki_str json;
    maki_change change = { 0 };
    maki_arena arena = maki_arena_new(maki_log_env(maki_conv_log(conv))->alloc, RECORD_MAX);
    maki_json_build_begin(&made, &arena, err);
    write_record(&made.w, in, report, why);
    maki_status st = maki_json_build_end(&made, &arena, &json, err);
    if (st == MAKI_OK && plan)
        st = maki_plan_write(plan, "manifest", maki_json_inside(json), &change.event, err);
    else if (st == MAKI_OK)
        st = maki_conv_add_event(conv, "manifest", maki_json_inside(json), &change, err);
    if (st == MAKI_OK) report->run = change.event;
    maki_arena_free(&arena);
    return st;
}

/* ---- back-off ------------------------------------------------------------------------------------------- */

/* The newest record, and the newest undo behind it. */
typedef struct newest {
    record run;
    bool undone;
    uint64_t at, ev; /* of the undo */
} newest;

static void look(newest *n, maki_str row)
{
    maki_str event;
    if (read_record(row, &n->run)) n->undone = false;
    if (!maki_str_has(row, MAKI_LIT("\"type\":\"undo\"")) ||
        maki_json_check(row, &event, NULL) != MAKI_OK)
        return;
    n->undone = true;
    n->at = maki_json_uint_field(event, MAKI_LIT("at"));
    n->ev = maki_json_uint_field(event, MAKI_LIT("ev"));
}

/* A run that a person took back counts as failed: else the next request would do it again at once. */
static maki_status take_undo(maki_conv *conv, newest *n, const maki_manage_in *in, maki_err *err)
{
    const maki_view *view;
    maki_view_totals then;
    if (!n->undone || !n->run.first || maki_conv_active_events(conv, n->run.first, n->run.last))
        return MAKI_OK;
    maki_status st = maki_conv_view(conv, n->at, n->ev, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(conv, view, &then, err);
    if (st != MAKI_OK) return st;
    n->run.failed = true;
    n->run.tokens = maki_scaled_tokens((double)then.tokens + in->other_tokens, in->scale);
    return MAKI_OK;
}

maki_status maki_run_history_backoff(maki_conv *conv, double tokens, const maki_manage_in *in,
                                     bool *out, maki_err *err)
{
    maki_log *log = maki_conv_log(conv);
    maki_buf rows = maki_buf_new(maki_log_env(log)->alloc, NEWEST);
    maki_status st = maki_log_newest_events(log, NEWEST, &rows, err);
    maki_str rest = maki_buf_str(&rows);
    newest found = { .undone = false };
    while (st == MAKI_OK && rest.len) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.ptr) : rest.len;
        look(&found, maki_str_to(rest, len));
        rest = maki_str_from(rest, newline ? len + 1 : len);
    }
    maki_buf_free(&rows);
    if (st == MAKI_OK) st = take_undo(conv, &found, in, err);
    tokens = maki_scaled_tokens(tokens, in->scale);
    *out = found.run.failed && fabs(tokens - found.run.tokens) < GROWN * found.run.tokens;
    return st;
}

/* ---- undo ----------------------------------------------------------------------------------------------- */

typedef struct search {
    maki_conv *conv;
    uint64_t run; /* the one that is meant; 0: the newest */
    record found;
} search;

/* Runs of which nothing counts any more were taken back. */
static maki_status gather(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    search *s = ctx;
    record one;
    (void)at;
    (void)err;
    if ((!s->run || ev == s->run) && read_record(row, &one) && one.first &&
        maki_conv_active_events(s->conv, one.first, one.last))
        s->found = one;
    return MAKI_OK;
}

maki_status maki_run_history_undo(maki_conv *conv, uint64_t run, maki_run_undone *out,
                                  maki_err *err)
{
    search s = { .conv = conv, .run = run };
    maki_change change;
    maki_view_totals now;
    *out = (maki_run_undone){ 0 };
    maki_status st = maki_log_refresh(maki_conv_log(conv), err);
    if (st == MAKI_OK) st = maki_conv_total_now(conv, &now, err);
    if (st == MAKI_OK) st = maki_log_each_event(maki_conv_log(conv), gather, &s, err);
    if (st == MAKI_OK && !s.found.ev && run == 0)
        return maki_refuse(err, "NOTHING_TO_DO", "there is no run to take back");
    if (st == MAKI_OK && !s.found.ev)
        return maki_refuse(err, "NOTHING_TO_DO",
                           "event %" PRIu64 " is not the record of a run, or that was taken back",
                           run);
    if (st != MAKI_OK) return st;
    out->run = s.found.ev;
    out->events = maki_conv_active_events(conv, s.found.first, s.found.last);
    st = maki_conv_undo_run(conv, s.found.first, s.found.last, &change, err);
    out->tokens_before = (double)change.tokens_before;
    out->tokens_after = (double)change.tokens_after;
    return st;
}

/* run_history.c -- write and read the records of runs, events `manifest` {"of": "manage", ...}.
 *
 * The log has no index of records: back-off scans the newest bytes of the events, undo all of them.  A row is parsed only
 * when it contains the words of a record. */
#include "manage/run_history.h"

#include <inttypes.h>
#include <math.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/json_builder.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "token/family.h"

#define RETRY_CHANGE \
    0.1 /* a failed run is retried when the tokens sent have changed by this share */

enum {
    NEWEST_BYTES = 64 << 10, /* of the events, in which the newest record is searched */
    RECORD_MAX = 8 << 10
};

/* ---- records ---------------------------------------------------------------------------------------------- */

typedef struct record {
    uint64_t ev;
    uint64_t first, last; /* events of the run; 0: none */
    bool failed;
    double tokens;
} record;

/* Parse a record of a run; false: the row is not one.  Most are not, and are not parsed. */
static bool read_record(maki_str row, record *out)
{
    maki_str event;
    if (!maki_str_contains(row, MAKI_LIT("\"of\":\"manage\"")) ||
        maki_json_check(row, &event, NULL) != MAKI_OK ||
        !maki_json_field_is(event, "type", "manifest") ||
        !maki_json_field_is(event, "of", "manage"))
        return false;
    *out = (record){ .ev = maki_json_uint_field(event, MAKI_LIT("ev")),
                     .first = maki_json_uint_field(event, MAKI_LIT("first")),
                     .last = maki_json_uint_field(event, MAKI_LIT("last")),
                     .failed = maki_json_true_field(event, "failed"),
                     .tokens = (double)maki_json_uint_field(event, MAKI_LIT("tokensAfter")) };
    return true;
}

static void write_record(maki_jw *w, const maki_manage_options *in, const maki_manage_report *r,
                         maki_status why)
{
    maki_jw_print(w,
                  "{'of':'manage','reason':%z,'action':%z,'tokensBefore':%i,'tokensAfter':%i,"
                  "'messagesRemoved':%i,'ms':%i",
                  maki_reason_name(r->reason), maki_step_name(r->action),
                  (int64_t)maki_scaled_tokens(r->tokens_before, in->scale),
                  (int64_t)maki_scaled_tokens(r->tokens_after, in->scale), r->effect.hidden, r->ms);
    maki_summary_usage_write(w, &r->usage);
    if (r->coverage.measured)
        maki_jw_print(w, "'factsKept':%i,'factsLost':%i", r->coverage.kept, r->coverage.lost);
    maki_fallback_write(w, &r->fallback_reason);
    if (why == MAKI_CANCELLED) maki_jw_field_bool(w, "cancelled", true);
    if (why != MAKI_OK && why != MAKI_CANCELLED)
        maki_jw_field_text(w, "error", maki_status_name(why));
    maki_jw_field_bool(w, "failed", r->failed);
    maki_jw_end_object(w);
}

maki_status maki_run_history_record(maki_conv *conv, maki_transaction *tx,
                                    const maki_manage_options *in, maki_manage_report *report,
                                    maki_status why, maki_err *err)
{
    maki_json_builder build;
    maki_str json;
    maki_change change = { 0 };
    maki_arena arena = maki_arena_new(maki_log_env(maki_conv_log(conv))->alloc, RECORD_MAX);
    maki_json_builder_begin(&build, &arena, err);
    write_record(&build.w, in, report, why);
    maki_status st = maki_json_builder_end(&build, &arena, &json, err);
    if (st == MAKI_OK && tx)
        st = maki_transaction_commit(tx, "manifest", maki_json_strip_quotes(json), &change.event,
                                     err);
    else if (st == MAKI_OK)
        st = maki_conv_add_event(conv, "manifest", maki_json_strip_quotes(json), &change, err);
    if (st == MAKI_OK) report->run = change.event;
    maki_arena_free(&arena);
    return st;
}

/* ---- back-off ------------------------------------------------------------------------------------------- */

/* The newest record, and the newest undo after it. */
typedef struct newest {
    record run;
    bool undone;
    uint64_t at, ev; /* of the undo */
} newest;

static void read_row(newest *n, maki_str row)
{
    maki_str event;
    if (read_record(row, &n->run)) n->undone = false;
    if (!maki_str_contains(row, MAKI_LIT("\"type\":\"undo\"")) ||
        maki_json_check(row, &event, NULL) != MAKI_OK)
        return;
    n->undone = true;
    n->at = maki_json_uint_field(event, MAKI_LIT("at"));
    n->ev = maki_json_uint_field(event, MAKI_LIT("ev"));
}

/* A run that was undone counts as failed: else the next request would do it again at once. */
static maki_status apply_undo(maki_conv *conv, newest *n, const maki_manage_options *in,
                              maki_err *err)
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

maki_status maki_run_history_backoff(maki_conv *conv, double tokens, const maki_manage_options *in,
                                     bool *out, maki_err *err)
{
    maki_log *log = maki_conv_log(conv);
    maki_buf rows = maki_buf_new(maki_log_env(log)->alloc, NEWEST_BYTES);
    maki_status st = maki_log_newest_events(log, NEWEST_BYTES, &rows, err);
    maki_str rest = maki_buf_str(&rows);
    newest found = { .undone = false };
    while (st == MAKI_OK && rest.len)
        read_row(&found, maki_str_cut(&rest, '\n'));
    maki_buf_free(&rows);
    if (st == MAKI_OK) st = apply_undo(conv, &found, in, err);
    tokens = maki_scaled_tokens(tokens, in->scale);
    *out = found.run.failed && fabs(tokens - found.run.tokens) < RETRY_CHANGE * found.run.tokens;
    return st;
}

/* ---- undo ----------------------------------------------------------------------------------------------- */

typedef struct search {
    maki_conv *conv;
    uint64_t run; /* the event of its record; 0: the newest */
    record found;
} search;

/* A run without any event that still counts is already undone. */
static maki_status match_run(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    search *s = ctx;
    record candidate;
    (void)at;
    (void)err;
    if ((!s->run || ev == s->run) && read_record(row, &candidate) && candidate.first &&
        maki_conv_active_events(s->conv, candidate.first, candidate.last))
        s->found = candidate;
    return MAKI_OK;
}

maki_status maki_run_history_undo(maki_conv *conv, uint64_t run, maki_run_undo_report *out,
                                  maki_err *err)
{
    search s = { .conv = conv, .run = run };
    maki_change change;
    maki_view_totals now;
    *out = (maki_run_undo_report){ 0 };
    maki_status st = maki_log_refresh(maki_conv_log(conv), err);
    if (st == MAKI_OK) st = maki_conv_total_now(conv, &now, err);
    if (st == MAKI_OK) st = maki_log_each_event(maki_conv_log(conv), match_run, &s, err);
    if (st == MAKI_OK && !s.found.ev && run == 0)
        return maki_refuse(err, "NOTHING_TO_DO", "there is no run to undo");
    if (st == MAKI_OK && !s.found.ev)
        return maki_refuse(err, "NOTHING_TO_DO",
                           "event %" PRIu64 " is not the record of a run, or it is already undone",
                           run);
    if (st != MAKI_OK) return st;
    out->run = s.found.ev;
    out->events = maki_conv_active_events(conv, s.found.first, s.found.last);
    st = maki_conv_undo_run(conv, s.found.first, s.found.last, &change, err);
    out->effect = change.effect;
    out->tokens_before = (double)change.tokens_before;
    out->tokens_after = (double)change.tokens_after;
    return st;
}

/* manage.c -- one run: decide whether it is due, run its steps in a transaction, then commit it or roll it back.
 *
 * In:     a conversation, its limits and a policy; all tokens are converted to those of the index at the beginning, and
 *         back to the model's at the end.
 * Out:    the report, and at most one group of events.
 * Always: a view that another process changed meanwhile (MAKI_CONFLICT) starts the run again; a run that saved nothing
 *         leaves the view as it was. */
#include "manage/manage.h"

#include "base/err.h"
#include "base/str_util.h"
#include "history/transaction.h"
#include "manage/run_history.h"
#include "manage/run_limits.h"
#include "manage/steps.h"
#include "manage/thresholds.h"
#include "token/family.h"

enum { VIEW_MAX = 256 << 20 };

static int64_t now_ms(maki_conv *conv)
{
    const maki_clock *clock = maki_log_env(maki_conv_log(conv))->clock;
    return clock->now_ms(clock);
}

/* Inside a run tokens are those of the index; what is logged and reported are the model's. */
static double model_tokens(const maki_manage_options *in, double counted)
{
    return maki_scaled_tokens(counted, in->scale);
}

/* The share of the model's own window, as the log prints it. */
static double usage_of(const maki_manage_options *in, double counted)
{
    return counted * in->scale / in->model_window;
}

/* ---- is a run due? -------------------------------------------------------------------------------------------- */

static bool is_due(const maki_manage_options *in, double tokens)
{
    double usage = tokens / in->window, from = in->policy->from;
    if (in->threshold_tokens > 0 && tokens >= in->threshold_tokens) return true;
    if (from > 0) /* the policy has a threshold of its own */
        return in->policy->over ? usage > from : usage >= from;
    return in->threshold <= MAKI_THRESHOLD_MAX && 100 * usage >= in->threshold;
}

const char *maki_reason_name(maki_manage_reason reason)
{
    static const char *const names[] = { "none", "threshold", "over", "forced" };
    return names[reason];
}

static maki_manage_reason reason_of(const maki_manage_options *in, double tokens, double allowed)
{
    if (tokens > allowed) return MAKI_REASON_OVER;
    if (is_due(in, tokens)) return MAKI_REASON_THRESHOLD;
    return in->force ? MAKI_REASON_FORCED : MAKI_REASON_NONE;
}

static maki_status count_before(maki_manage_state *work, uint64_t *messages, maki_err *err)
{
    maki_view_totals totals;
    maki_status st = maki_conv_total_now(work->conv, &totals, err);
    if (st != MAKI_OK) return st;
    work->report->tokens_before = (double)totals.tokens + work->in->other_tokens;
    work->report->tokens_after = work->report->tokens_before;
    *messages = totals.messages;
    return MAKI_OK;
}

/* The reason for a run, and whether it backs off after one that failed. */
static maki_status decide(maki_manage_state *work, bool *must_run, maki_err *err)
{
    const maki_manage_options *in = work->in;
    maki_manage_report *out = work->report;
    uint64_t messages = 0;
    maki_status st = count_before(work, &messages, err);
    if (st != MAKI_OK) return st;
    out->reason = reason_of(in, out->tokens_before, out->allowed);
    if (out->reason == MAKI_REASON_THRESHOLD && !in->force)
        st = maki_run_history_backoff(work->conv, out->tokens_before, in, &out->backing_off, err);
    *must_run = out->reason != MAKI_REASON_NONE && !out->backing_off;
    maki_kv values[] = { MAKI_KV_I("total_tokens", model_tokens(in, out->tokens_before)),
                         MAKI_KV_I("context_window", in->model_window),
                         MAKI_KV_N("usage", usage_of(in, out->tokens_before)),
                         MAKI_KV_I("messages", messages),
                         MAKI_KV_S("action", maki_str_of(*must_run ? "compress" : "none")),
                         MAKI_KV_S("session", maki_conv_id(work->conv)) };
    maki_log_event(in->logger, MAKI_INFO, "context_check", values, 6);
    return st;
}

/* ---- a summarizer that can be cancelled ------------------------------------------------------------------------ */

typedef struct cancellable {
    maki_summarizer base;
    const maki_manage_options *in;
} cancellable;

/* The messages of a request, and the function they are forwarded to. */
typedef struct forwarding {
    const maki_manage_options *in;
    const maki_summary_request *request;
    maki_message_fn fn;
    void *ctx;
} forwarding;

static maki_status check_cancelled(const maki_manage_options *in, maki_err *err)
{
    if (!in->cancelled || !in->cancelled(in->cancel_ctx)) return MAKI_OK;
    return maki_fail(err, MAKI_CANCELLED, "the run was cancelled");
}

static maki_status forward_message(void *ctx, maki_str json, maki_err *err)
{
    const forwarding *r = ctx;
    maki_status st = check_cancelled(r->in, err);
    return st == MAKI_OK ? r->fn(r->ctx, json, err) : st;
}

static maki_status forward_messages(const void *source, maki_message_fn fn, void *ctx,
                                    maki_err *err)
{
    forwarding r = *(const forwarding *)source;
    r.fn = fn;
    r.ctx = ctx;
    return r.request->each(r.request->source, forward_message, &r, err);
}

static maki_status run_cancellable(const maki_summarizer *self, const maki_summary_request *request,
                                   maki_arena *arena, maki_summary *out, maki_err *err)
{
    const cancellable *s = (const cancellable *)self;
    forwarding r = { .in = s->in, .request = request };
    maki_summary_request forwarded = *request;
    forwarded.each = forward_messages;
    forwarded.source = &r;
    maki_status st = check_cancelled(s->in, err);
    return st == MAKI_OK ? s->in->summarizer->run(s->in->summarizer, &forwarded, arena, out, err)
                         : st;
}

/* ---- a run ----------------------------------------------------------------------------------------------------- */

static void log_condenses(const maki_manage_options *in, const maki_manage_report *out,
                          maki_str session)
{
    for (size_t i = 0; i < out->taken_count; i++) {
        const maki_step_result *result = &out->taken[i];
        if (!(maki_step_needs(result->kind) & MAKI_STEP_SUMMARIZES) ||
            (!result->undone && !result->refused[0]))
            continue;
        maki_kv values[] = { MAKI_KV_S("reason", maki_str_of(result->undone ? "SAVED_TOO_LITTLE"
                                                                            : result->refused)),
                             MAKI_KV_S("fallback", maki_str_of(maki_step_name(out->action))),
                             MAKI_KV_S("session", session) };
        maki_log_event(in->logger, MAKI_WARN, "condense_failed", values, 3);
    }
}

static void log_end(const maki_manage_options *in, const maki_manage_report *out, maki_str session)
{
    maki_kv values[] = {
        MAKI_KV_N("reduction", maki_reduction(out->tokens_before, out->tokens_after)),
        MAKI_KV_I("tokens_after", model_tokens(in, out->tokens_after)),
        MAKI_KV_S("action", maki_str_of(maki_step_name(out->action))), MAKI_KV_S("session", session)
    };
    log_condenses(in, out, session);
    maki_log_event(in->logger, out->failed ? MAKI_WARN : MAKI_INFO,
                   out->failed ? "compress_insufficient" : "compress_done", values, 4);
}

/* Nothing was saved, it does not fit, or a run is still due. */
static bool has_failed(const maki_manage_options *in, const maki_manage_report *out)
{
    if (out->tokens_after >= out->tokens_before || out->tokens_after > out->allowed) return true;
    return out->reason != MAKI_REASON_FORCED && is_due(in, out->tokens_after);
}

/* The steps of the policy, then the trimming of the largest messages while it does not fit; the total change of the
 * view is measured once, at the end. */
static maki_status run_steps(maki_manage_state *work, maki_err *err)
{
    const maki_view *view;
    maki_view before;
    maki_log *log = maki_conv_log(work->conv);
    uint64_t last = maki_log_last(log);
    maki_arena arena = maki_arena_new(maki_log_env(log)->alloc, VIEW_MAX);
    maki_status st = maki_conv_view(work->conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = maki_view_copy(view, &arena, &before, err);
    if (st == MAKI_OK) st = maki_manage_steps(work, err);
    if (st == MAKI_OK && maki_manage_is_over_limit(work)) st = maki_manage_trim(work, err);
    if (st == MAKI_OK) st = maki_conv_view(work->conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) work->report->effect = maki_view_compare(&before, view, last);
    maki_arena_free(&arena);
    return st;
}

/* Replace the event numbers of the dry run by those in the log. */
static void renumber(maki_manage_report *out, const maki_transaction *tx)
{
    for (size_t i = 0; i < out->taken_count; i++) {
        maki_step_result *result = &out->taken[i];
        result->event = result->event && !result->undone
                            ? maki_transaction_written_event(tx, result->event)
                            : 0;
    }
}

/* Of a run that was cancelled, failed or saved nothing only the record is written. */
static maki_status record_failure(maki_manage_state *work, maki_transaction *tx, maki_status why,
                                  maki_err *err)
{
    maki_manage_report *out = work->report;
    maki_transaction_rollback(tx);
    renumber(out, tx);
    out->tokens_after = out->tokens_before;
    out->effect = (maki_view_change){ 0 };
    out->action = MAKI_STEP_NONE;
    out->failed = why != MAKI_CANCELLED;
    maki_status st =
        maki_run_history_record(work->conv, NULL, work->in, out, why, why == MAKI_OK ? err : NULL);
    return why == MAKI_OK ? st : why;
}

static maki_status run(maki_manage_state *work, maki_err *err)
{
    const maki_manage_options *in = work->in;
    maki_manage_report *out = work->report;
    maki_transaction tx;
    maki_str session = maki_conv_id(work->conv);
    maki_kv values[] = { MAKI_KV_N("usage", usage_of(in, out->tokens_before)),
                         MAKI_KV_S("reason", maki_str_of(maki_reason_name(out->reason))),
                         MAKI_KV_S("session", session) };
    maki_log_event(in->logger, MAKI_INFO, "compress_start", values, 3);
    if (in->on_start)
        in->on_start(in->start_ctx, maki_reason_name(out->reason),
                     model_tokens(in, out->tokens_before), model_tokens(in, in->window));
    maki_status st = maki_transaction_begin(&tx, work->conv, err);
    if (st == MAKI_OK) st = run_steps(work, err);
    out->ms = now_ms(work->conv) - work->began;
    out->failed = has_failed(in, out);
    if (st != MAKI_OK || out->tokens_after >= out->tokens_before) {
        st = record_failure(work, &tx, st, err);
    } else {
        st = maki_run_history_record(work->conv, &tx, in, out, MAKI_OK, err);
        renumber(out, &tx);
    }
    maki_transaction_free(&tx);
    if (st == MAKI_OK) log_end(in, out, session);
    return st;
}

/* Decide and run.  MAKI_CONFLICT: another process changed the view in the meantime. */
static maki_status decide_and_run(maki_manage_state *work, maki_err *err)
{
    bool must_run = false;
    maki_summary_usage usage = work->report->usage;
    *work->report =
        (maki_manage_report){ .allowed = work->allowed, .target = work->target, .usage = usage };
    maki_status st = decide(work, &must_run, err);
    return st == MAKI_OK && must_run ? run(work, err) : st;
}

/* The input with its tokens in those of the index. */
static maki_manage_options scale_input(const maki_manage_options *in,
                                       const maki_summarizer *summarizer)
{
    maki_manage_options own = *in;
    own.scale = in->scale > 0 ? in->scale : 1;
    own.window /= own.scale;
    if (!(in->model_window > 0)) own.model_window = in->window;
    own.max_tokens /= own.scale;
    own.threshold_tokens /= own.scale;
    own.summarizer = summarizer;
    return own;
}

maki_status maki_manage_conversation(maki_conv *conv, const maki_manage_options *in,
                                     maki_manage_report *out, maki_err *err)
{
    enum { ATTEMPTS_MAX = 8 };
    cancellable summarizer = { { in->summarizer && in->summarizer->usable, run_cancellable, NULL },
                               in };
    maki_manage_options own = scale_input(in, &summarizer.base);
    double allowed = maki_run_limits_allowed(in->window, in->max_tokens);
    double target = maki_run_limits_target(in->window, in->max_tokens);
    maki_status st = MAKI_CONFLICT;
    int64_t began = now_ms(conv);
    *out = (maki_manage_report){ 0 };
    if (!(in->window >= 1) || in->other_tokens < 0)
        return maki_fail(err, MAKI_INVALID, "the window must be a number of tokens");
    for (int i = 0; st == MAKI_CONFLICT && i < ATTEMPTS_MAX; i++) {
        maki_manage_state work = { .conv = conv,
                                   .in = &own,
                                   .report = out,
                                   .began = began,
                                   .allowed = allowed / own.scale,
                                   .target = target / own.scale };
        st = decide_and_run(&work, err);
        out->fits = !maki_manage_is_over_limit(&work);
    }
    out->ms = now_ms(conv) - began;
    out->counted = out->tokens_after;
    out->tokens_before = model_tokens(&own, out->tokens_before);
    out->tokens_after = model_tokens(&own, out->tokens_after);
    out->allowed = allowed;
    out->target = target;
    return st;
}

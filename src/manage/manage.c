/* manage.c -- see manage.h. */
#include "manage/manage.h"

#include "base/err.h"
#include "base/str.h"
#include "history/plan.h"
#include "manage/run_history.h"
#include "manage/run_limits.h"
#include "manage/steps.h"
#include "manage/thresholds.h"
#include "token/family.h"

static int64_t now_of(maki_conv *conv)
{
    const maki_clock *clock = maki_log_env(maki_conv_log(conv))->clock;
    return clock->now_ms(clock);
}

/* Inside a run tokens are those of the index; what is told are the model's. */
static double told(const maki_manage_in *in, double counted)
{
    return maki_scaled_tokens(counted, in->scale);
}

/* ---- is it time? -------------------------------------------------------------------------------------------- */

static bool is_due(const maki_manage_in *in, double tokens)
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

static maki_manage_reason reason_of(const maki_manage_in *in, double tokens, double allowed)
{
    if (tokens > allowed) return MAKI_REASON_OVER;
    if (is_due(in, tokens)) return MAKI_REASON_THRESHOLD;
    return in->force ? MAKI_REASON_FORCED : MAKI_REASON_NONE;
}

static maki_status count_first(maki_manage_work *work, uint64_t *messages, maki_err *err)
{
    maki_view_totals totals;
    maki_status st = maki_conv_total_now(work->conv, &totals, err);
    if (st != MAKI_OK) return st;
    work->report->tokens_before = (double)totals.tokens + work->in->other_tokens;
    work->report->tokens_after = work->report->tokens_before;
    *messages = totals.messages;
    return MAKI_OK;
}

/* Decide: the reason, and whether a failed run is still too near. */
static maki_status decide(maki_manage_work *work, bool *acts, maki_err *err)
{
    const maki_manage_in *in = work->in;
    maki_manage_report *out = work->report;
    uint64_t messages = 0;
    maki_status st = count_first(work, &messages, err);
    if (st != MAKI_OK) return st;
    out->reason = reason_of(in, out->tokens_before, out->allowed);
    if (out->reason == MAKI_REASON_THRESHOLD && !in->force)
        st = maki_run_history_backoff(work->conv, out->tokens_before, in, &out->waits, err);
    *acts = out->reason != MAKI_REASON_NONE && !out->waits;
    maki_kv values[] = { MAKI_KV_I("total_tokens", told(in, out->tokens_before)),
                         MAKI_KV_I("context_window", told(in, in->window)),
                         MAKI_KV_N("usage", out->tokens_before / in->window),
                         MAKI_KV_I("messages", messages),
                         MAKI_KV_S("action", maki_str_of(*acts ? "compress" : "none")),
                         MAKI_KV_S("session", maki_conv_id(work->conv)) };
    maki_log_event(in->logger, MAKI_INFO, "context_check", values, 6);
    return st;
}

/* ---- a summariser that can be stopped ------------------------------------------------------------------------ */

typedef struct stoppable {
    maki_summarizer base;
    const maki_manage_in *in;
} stoppable;

/* The messages of a request, and the function they go to in the end. */
typedef struct relay {
    const maki_manage_in *in;
    const maki_summary_request *request;
    maki_message_fn fn;
    void *ctx;
} relay;

static maki_status stop_here(const maki_manage_in *in, maki_err *err)
{
    if (!in->cancelled || !in->cancelled(in->cancel_ctx)) return MAKI_OK;
    return maki_fail(err, MAKI_CANCELLED, "the run was cancelled");
}

static maki_status pass_message(void *ctx, maki_str json, maki_err *err)
{
    const relay *r = ctx;
    maki_status st = stop_here(r->in, err);
    return st == MAKI_OK ? r->fn(r->ctx, json, err) : st;
}

static maki_status each_relayed(const void *source, maki_message_fn fn, void *ctx, maki_err *err)
{
    relay r = *(const relay *)source;
    r.fn = fn;
    r.ctx = ctx;
    return r.request->each(r.request->source, pass_message, &r, err);
}

static maki_status run_stoppable(const maki_summarizer *self, const maki_summary_request *request,
                                 maki_arena *arena, maki_summary *out, maki_err *err)
{
    const stoppable *s = (const stoppable *)self;
    relay r = { .in = s->in, .request = request };
    maki_summary_request relayed = *request;
    relayed.each = each_relayed;
    relayed.source = &r;
    maki_status st = stop_here(s->in, err);
    return st == MAKI_OK ? s->in->summarizer->run(s->in->summarizer, &relayed, arena, out, err)
                         : st;
}

/* ---- a run ----------------------------------------------------------------------------------------------------- */

static void log_condenses(const maki_manage_in *in, const maki_manage_report *out, maki_str session)
{
    for (size_t i = 0; i < out->taken_count; i++) {
        const maki_step_result *taken = &out->taken[i];
        if (!(maki_step_needs(taken->kind) & MAKI_STEP_SUMMARISES) ||
            (!taken->undone && !taken->refused[0]))
            continue;
        maki_kv values[] = { MAKI_KV_S("reason", maki_str_of(taken->undone ? "SAVED_TOO_LITTLE"
                                                                           : taken->refused)),
                             MAKI_KV_S("fallback", maki_str_of(maki_step_name(out->action))),
                             MAKI_KV_S("session", session) };
        maki_log_event(in->logger, MAKI_WARN, "condense_failed", values, 3);
    }
}

static void log_end(const maki_manage_in *in, const maki_manage_report *out, maki_str session)
{
    maki_kv values[] = {
        MAKI_KV_N("reduction", maki_reduction(out->tokens_before, out->tokens_after)),
        MAKI_KV_I("tokens_after", told(in, out->tokens_after)),
        MAKI_KV_S("action", maki_str_of(maki_step_name(out->action))), MAKI_KV_S("session", session)
    };
    log_condenses(in, out, session);
    maki_log_event(in->logger, out->failed ? MAKI_WARN : MAKI_INFO,
                   out->failed ? "compress_insufficient" : "compress_done", values, 4);
}

/* Nothing was saved, it does not fit, or it is still time. */
static bool has_failed(const maki_manage_in *in, const maki_manage_report *out)
{
    if (out->tokens_after >= out->tokens_before || out->tokens_after > out->allowed) return true;
    return out->reason != MAKI_REASON_FORCED && is_due(in, out->tokens_after);
}

/* The steps, tried on a plan. */
static maki_status try_steps(maki_manage_work *work, maki_err *err)
{
    maki_status st = maki_manage_steps(work, err);
    return st == MAKI_OK && maki_manage_over(work) ? maki_manage_trim(work, err) : st;
}

/* The numbers of the events as they were written. */
static void renumber(maki_manage_report *out, const maki_plan *plan)
{
    for (size_t i = 0; i < out->taken_count; i++) {
        maki_step_result *taken = &out->taken[i];
        taken->event = taken->event && !taken->undone ? maki_plan_event(plan, taken->event) : 0;
    }
}

/* A run that was stopped, failed or saved nothing leaves its record alone. */
static maki_status give_up(maki_manage_work *work, maki_plan *plan, maki_status why, maki_err *err)
{
    maki_manage_report *out = work->report;
    maki_plan_rollback(plan);
    renumber(out, plan);
    out->tokens_after = out->tokens_before;
    out->messages_removed = 0;
    out->action = MAKI_STEP_NONE;
    out->failed = why != MAKI_CANCELLED;
    maki_status st =
        maki_run_history_record(work->conv, NULL, work->in, out, why, why == MAKI_OK ? err : NULL);
    return why == MAKI_OK ? st : why;
}

static maki_status run(maki_manage_work *work, maki_err *err)
{
    const maki_manage_in *in = work->in;
    maki_manage_report *out = work->report;
    maki_plan plan;
    maki_str session = maki_conv_id(work->conv);
    maki_kv values[] = { MAKI_KV_N("usage", out->tokens_before / in->window),
                         MAKI_KV_S("reason", maki_str_of(maki_reason_name(out->reason))),
                         MAKI_KV_S("session", session) };
    maki_log_event(in->logger, MAKI_INFO, "compress_start", values, 3);
    maki_status st = maki_plan_begin(&plan, work->conv, err);
    if (st == MAKI_OK) st = try_steps(work, err);
    out->ms = now_of(work->conv) - work->began;
    out->failed = has_failed(in, out);
    if (st != MAKI_OK || out->tokens_after >= out->tokens_before) {
        st = give_up(work, &plan, st, err);
    } else {
        st = maki_run_history_record(work->conv, &plan, in, out, MAKI_OK, err);
        renumber(out, &plan);
    }
    maki_plan_end(&plan);
    if (st == MAKI_OK) log_end(in, out, session);
    return st;
}

/* Decide, and do what has to be done.  MAKI_CONFLICT: somebody else changed the view in the meantime. */
static maki_status try_once(maki_manage_work *work, maki_err *err)
{
    bool acts = false;
    maki_summary_usage usage = work->report->usage;
    *work->report =
        (maki_manage_report){ .allowed = work->allowed, .target = work->target, .usage = usage };
    maki_status st = decide(work, &acts, err);
    return st == MAKI_OK && acts ? run(work, err) : st;
}

/* The figures of a run, as the index counts. */
static maki_manage_in counted_in(const maki_manage_in *in, const maki_summarizer *summarizer)
{
    maki_manage_in own = *in;
    own.scale = in->scale > 0 ? in->scale : 1;
    own.window /= own.scale;
    own.max_tokens /= own.scale;
    own.threshold_tokens /= own.scale;
    own.summarizer = summarizer;
    return own;
}

maki_status maki_manage_conversation(maki_conv *conv, const maki_manage_in *in,
                                     maki_manage_report *out, maki_err *err)
{
    enum { TRIES = 8 };
    stoppable summarizer = { { in->summarizer && in->summarizer->usable, run_stoppable, NULL },
                             in };
    maki_manage_in own = counted_in(in, &summarizer.base);
    double allowed = maki_run_limits_allowed(in->window, in->max_tokens);
    double target = maki_run_limits_target(in->window, in->max_tokens);
    maki_status st = MAKI_CONFLICT;
    int64_t began = now_of(conv);
    *out = (maki_manage_report){ 0 };
    if (!(in->window >= 1) || in->other_tokens < 0)
        return maki_fail(err, MAKI_INVALID, "the window must be a number of tokens");
    for (int i = 0; st == MAKI_CONFLICT && i < TRIES; i++) {
        maki_manage_work work = { .conv = conv,
                                  .in = &own,
                                  .report = out,
                                  .began = began,
                                  .allowed = allowed / own.scale,
                                  .target = target / own.scale };
        st = try_once(&work, err);
        out->within = !maki_manage_over(&work);
    }
    out->ms = now_of(conv) - began;
    out->counted = out->tokens_after;
    out->tokens_before = told(&own, out->tokens_before);
    out->tokens_after = told(&own, out->tokens_after);
    out->allowed = allowed;
    out->target = target;
    return st;
}

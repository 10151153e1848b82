/* steps.c -- decide which steps of a policy run, keep or undo their effects; the steps that hide messages.
 *
 * In:     a run (maki_manage_state) in a transaction: nothing is written to the log here.
 * Out:    the dry run with the effects of the steps that stay; a result for each step in the report.
 * Always: a step that saves less than min_saving is undone; steps with must_reach are pending until the first step
 *         without it, and are then undone together unless they reached the target.  The pruning steps are in step_*.c. */
#include "manage/steps.h"

#include <stdio.h>

#include "base/err.h"
#include "manage/prepare.h"
#include "manage/pruning.h"
#include "manage/thresholds.h"

enum {
    REPEATS_MAX = 24
}; /* of one step: each halves the messages, so no conversation needs more */

maki_status maki_manage_count(maki_manage_state *r, double *tokens, maki_err *err)
{
    maki_view_totals totals;
    if (r->in->cancelled && r->in->cancelled(r->in->cancel_ctx))
        return maki_fail(err, MAKI_CANCELLED, "the run was cancelled");
    maki_status st = maki_conv_total_now(r->conv, &totals, err);
    if (st == MAKI_OK) *tokens = (double)totals.tokens + r->in->other_tokens;
    return st;
}

static maki_status count_again(maki_manage_state *r, maki_err *err)
{
    return maki_manage_count(r, &r->report->tokens_after, err);
}

bool maki_manage_is_over_limit(const maki_manage_state *r)
{
    return r->report->tokens_after > r->report->allowed;
}

double maki_step_target(const maki_manage_state *r, const maki_step *step)
{
    return step->target > 0 ? step->target * r->in->window : r->report->target;
}

void maki_step_effect_event(maki_step_effect *effect, const maki_change *change)
{
    effect->count++;
    effect->event = change->event;
}

/* ---- what each step does ---------------------------------------------------------------------------------- */

static size_t keep_of(const maki_manage_state *r, const maki_step *step)
{
    return step->keep ? step->keep : r->in->keep ? r->in->keep : MAKI_CONDENSE_KEEP;
}

/* The effect of a step that hides messages. */
static maki_status finish_hide(maki_manage_state *r, maki_status st, const maki_change *change,
                               maki_step_effect *effect)
{
    maki_summary_usage_add(&r->report->usage, &change->usage);
    if (st != MAKI_OK) return st;
    maki_step_effect_event(effect, change);
    effect->coverage = change->coverage;
    effect->fallback_reason = change->fallback_reason;
    return MAKI_OK;
}

maki_status maki_step_condense(maki_manage_state *r, const maki_step *step,
                               maki_step_effect *effect, maki_err *err)
{
    maki_change change = { 0 };
    double target = maki_step_target(r, step) - r->in->other_tokens;
    maki_status st =
        r->in->focused
            ? maki_conv_condense(r->conv, NULL, keep_of(r, step), r->in->summarizer, &change, err)
            : maki_prepared_condense(r->conv, NULL, keep_of(r, step), target, r->in->summarizer,
                                     &change, err);
    return finish_hide(r, st, &change, effect);
}

maki_status maki_step_soft_trim(maki_manage_state *r, const maki_step *step,
                                maki_step_effect *effect, maki_err *err)
{
    maki_change change = { 0 };
    double target = maki_step_target(r, step) - r->in->other_tokens;
    maki_status st =
        maki_conv_soft_trim(r->conv, NULL, keep_of(r, step), target > 1 ? (uint64_t)target : 1,
                            r->in->summarizer, &change, err);
    return finish_hide(r, st, &change, effect);
}

maki_status maki_step_hard_clear(maki_manage_state *r, const maki_step *step,
                                 maki_step_effect *effect, maki_err *err)
{
    maki_change change = { 0 };
    maki_status st = maki_conv_clear(r->conv, NULL, keep_of(r, step), &change, err);
    return finish_hide(r, st, &change, effect);
}

maki_status maki_step_window(maki_manage_state *r, const maki_step *step, maki_step_effect *effect,
                             maki_err *err)
{
    maki_change change = { 0 };
    maki_status st = maki_conv_keep_newest(r->conv, NULL, keep_of(r, step), &change, err);
    return finish_hide(r, st, &change, effect);
}

maki_status maki_step_truncate(maki_manage_state *r, const maki_step *step,
                               maki_step_effect *effect, maki_err *err)
{
    maki_change change = { 0 };
    double share = step->share > 0 ? step->share : 0.5;
    maki_status st = maki_conv_truncate(r->conv, NULL, share, &change, err);
    return finish_hide(r, st, &change, effect);
}

static maki_status call_step(maki_manage_state *r, const maki_step *step, maki_step_effect *effect,
                             maki_err *err)
{
    typedef maki_status (*step_fn)(maki_manage_state *, const maki_step *, maki_step_effect *,
                                   maki_err *);
#define FN(kind, name, fn, ...) [MAKI_STEP_##kind] = fn,
    static const step_fn fns[MAKI_STEP_KINDS] = { MAKI_STEP_MAP(FN) };
#undef FN
    return fns[step->kind](r, step, effect, err);
}

/* ---- running one --------------------------------------------------------------------------------------------- */

static maki_step_result *add_result(maki_manage_state *r, maki_step_kind kind)
{
    maki_manage_report *report = r->report;
    maki_step_result *result = report->taken_count < MAKI_STEP_RESULTS_MAX
                                   ? &report->taken[report->taken_count++]
                                   : &r->unreported;
    *result = (maki_step_result){ .kind = kind };
    return result;
}

static void set_refused(maki_step_result *result, const char *code)
{
    snprintf(result->refused, sizeof result->refused, "%.39s", code[0] ? code : "REFUSED");
}

/* Undo the changes since `tx` began. */
static maki_status undo_step(maki_manage_state *r, maki_transaction *tx, maki_err *err)
{
    maki_transaction_rollback(tx);
    return count_again(r, err);
}

/* Save the report before the first of the steps that may have to be undone. */
static void save_report(maki_manage_state *r, const maki_transaction *before,
                        const maki_step_result *result)
{
    const maki_manage_report *report = r->report;
    if (r->pending) return;
    r->before = *before;
    r->saved.action = report->action;
    r->saved.coverage = report->coverage;
    r->saved.fallback_reason = report->fallback_reason;
    r->pending_from =
        result == &r->unreported ? report->taken_count : (size_t)(result - report->taken);
}

/* After the last of the steps that must reach the target together: undo them if they did not. */
static maki_status resolve_pending(maki_manage_state *r, maki_err *err)
{
    bool pending = r->pending;
    r->pending = false;
    if (!pending || r->report->tokens_after <= r->pending_target) return MAKI_OK;
    maki_status st = undo_step(r, &r->before, err);
    for (size_t i = r->pending_from; i < r->report->taken_count; i++)
        r->report->taken[i].undone = r->report->taken[i].event != 0;
    r->report->action = r->saved.action;
    r->report->coverage = r->saved.coverage;
    r->report->fallback_reason = r->saved.fallback_reason;
    r->failed = true;
    return st;
}

/* Measure a step that was not refused: undo it, or report it. */
static maki_status measure_step(maki_manage_state *r, const maki_step *step,
                                const maki_step_effect *effect, maki_transaction *tx, double before,
                                maki_step_result *result, bool *progress, maki_err *err)
{
    result->event = effect->event;
    maki_status st = count_again(r, err);
    if (st != MAKI_OK) return st;
    r->failed = maki_reduction(before, r->report->tokens_after) < step->min_saving;
    if (r->failed) {
        maki_kv values[] = { MAKI_KV_N("reduction",
                                       maki_reduction(before, r->report->tokens_after)),
                             MAKI_KV_S("action", maki_str_of(maki_step_name(step->kind))),
                             MAKI_KV_S("session", maki_conv_id(r->conv)) };
        if (maki_step_needs(step->kind) & MAKI_STEP_SUMMARIZES)
            maki_log_event(r->in->logger, MAKI_WARN, "compress_insufficient", values, 3);
        result->undone = true;
        return undo_step(r, tx, err);
    }
    *progress = r->report->tokens_after < before;
    if (*progress && step->kind != MAKI_STEP_LAST_RESORT) /* it sets the action itself */
        r->report->action = step->kind;
    if (effect->coverage.measured) {
        r->report->coverage = effect->coverage;
        r->report->fallback_reason = effect->fallback_reason;
    }
    if (step->must_reach) {
        r->pending = true;
        r->pending_target = maki_step_target(r, step);
    }
    return MAKI_OK;
}

/* Run a step.  *progress: tokens were saved.  A refused step is not a failure of the run. */
static maki_status run_step(maki_manage_state *r, const maki_step *step, bool *progress,
                            maki_err *err)
{
    maki_step_effect effect = { .count = 0 };
    maki_err why = { 0 };
    maki_step_result *result = add_result(r, step->kind);
    double before = r->report->tokens_after;
    maki_transaction tx;
    *progress = false;
    maki_status st = maki_transaction_begin(&tx, r->conv, &why);
    if (st == MAKI_OK && step->must_reach) save_report(r, &tx, result);
    if (st == MAKI_OK) st = call_step(r, step, &effect, &why);
    r->failed = st != MAKI_OK;
    if (st == MAKI_REFUSED && effect.count == 0) {
        set_refused(result, why.code);
        return MAKI_OK;
    }
    if (st == MAKI_OK || st == MAKI_REFUSED)
        return measure_step(r, step, &effect, &tx, before, result, progress, err);
    if (err) *err = why;
    return st;
}

/* ---- which steps run ---------------------------------------------------------------------------------------- */

/* A forced run does something even when it is not needed.  Steps that must reach a target which is reached
 * already would not. */
static bool is_forced(const maki_manage_state *r, const maki_step *step)
{
    return r->in->force && !step->must_reach && r->report->tokens_after == r->report->tokens_before;
}

static bool is_due(const maki_manage_state *r, const maki_step *step)
{
    double tokens = r->report->tokens_after, usage = tokens / r->in->window;
    bool needed = tokens > maki_step_target(r, step) || is_forced(r, step);
    if (step->from > 0 && usage < step->from && !is_forced(r, step)) return false;
    if (step->below > 0 && usage >= step->below) return false;
    if ((step->when & MAKI_WHEN_NEEDED) && !needed) return false;
    if ((step->when & MAKI_WHEN_FAILED) && !r->failed) return false;
    return !(step->when & MAKI_WHEN_OVER) || maki_manage_is_over_limit(r);
}

/* Why a step that is due cannot do anything; *code NULL: it can. */
static maki_status find_obstacle(maki_manage_state *r, const maki_step *step, const char **code,
                                 maki_err *err)
{
    const maki_view *view;
    double bound = 0, required = r->report->tokens_after - maki_step_target(r, step);
    *code = NULL;
    if (r->in->window * r->in->scale < step->min_window) *code = "WINDOW_TOO_SMALL";
    if (r->in->truncate_only && (maki_step_needs(step->kind) & MAKI_STEP_SUMMARIZES))
        *code = "AUTO_CONDENSE_OFF";
    if (step->min_messages) {
        maki_status st = maki_conv_view(r->conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
        if (st != MAKI_OK) return st;
        if (maki_view_count(view) < step->min_messages) *code = "NOT_ENOUGH_MESSAGES";
    }
    if (*code || !step->must_reach || r->pending) return MAKI_OK;
    maki_status st = maki_pruning_limit(r, step, &bound, err);
    if (bound < required) *code = "TARGET_TOO_FAR";
    return st;
}

static maki_status run_if_due(maki_manage_state *r, const maki_step *step, maki_err *err)
{
    bool progress = true;
    const char *code = NULL;
    maki_status st = step->must_reach ? MAKI_OK : resolve_pending(r, err);
    if (st != MAKI_OK || !is_due(r, step)) return st;
    st = find_obstacle(r, step, &code, err);
    if (st != MAKI_OK) return st;
    if (code) {
        set_refused(add_result(r, step->kind), code);
        r->failed = true;
        return MAKI_OK;
    }
    st = run_step(r, step, &progress, err);
    bool again = step->when & MAKI_WHEN_OVER;
    for (int i = 1;
         st == MAKI_OK && again && progress && maki_manage_is_over_limit(r) && i < REPEATS_MAX; i++)
        st = run_step(r, step, &progress, err);
    return st;
}

maki_status maki_manage_steps(maki_manage_state *r, maki_err *err)
{
    const maki_policy *policy = r->in->policy;
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < policy->step_count; i++)
        st = run_if_due(r, &policy->steps[i], err);
    return st == MAKI_OK ? resolve_pending(r, err) : st;
}

/* manage.c -- see manage.h. */
#include "manage/manage.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "history/message.h"
#include "manage/decide.h"

enum {
    AGAIN_MOST = 24,  /* halvings of one step: more than any conversation has */
    BLOCKS_MOST = 64, /* of a message that are looked at */
    SHORTEST = 400,   /* units: a block of this length is not shortened any more */
    ROW_MAX = 512 << 20
};

typedef struct run {
    maki_conv *conv;
    const maki_manage_in *in;
    maki_manage_report *report;
    bool failed;     /* the step before */
    maki_taken more; /* the last step of a run that took more than can be told */
} run;

static maki_status count(run *r, double *tokens, maki_err *err)
{
    const maki_view *view;
    maki_view_totals totals;
    maki_status st = maki_conv_view(r->conv, MAKI_NOW, MAKI_NOW, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(r->conv, view, &totals, err);
    if (st == MAKI_OK) *tokens = (double)totals.tokens + r->in->other_tokens;
    return st;
}

/* ---- is it time? --------------------------------------------------------------------------------------- */

static double allowed_of(const maki_manage_in *in)
{
    double wanted = in->max_tokens > 0 ? in->max_tokens : MAKI_RESERVED_OUTPUT;
    double reserved = wanted < in->window / 4 ? wanted : in->window / 4;
    return 0.9 * in->window - reserved;
}

static const char *reason_of(const maki_manage_in *in, double tokens, double allowed)
{
    if (tokens > allowed) return "over";
    if (in->threshold <= 100 && 100 * tokens / in->window >= in->threshold) return "threshold";
    if (in->threshold_tokens > 0 && tokens >= in->threshold_tokens) return "threshold";
    return in->force ? "forced" : "none";
}

/* ---- one step ------------------------------------------------------------------------------------------ */

static maki_status act(run *r, const maki_step *step, maki_change *change, maki_err *err)
{
    size_t keep = r->in->keep ? r->in->keep : step->keep;
    switch (step->kind) {
    case MAKI_STEP_CONDENSE:
        return maki_conv_condense(r->conv, NULL, keep, r->in->summarizer, change, err);
    case MAKI_STEP_WINDOW: return maki_conv_window(r->conv, NULL, step->keep, change, err);
    default: return maki_conv_truncate(r->conv, NULL, step->fraction, change, err);
    }
}

static maki_taken *note(run *r, maki_step_kind kind)
{
    maki_manage_report *report = r->report;
    maki_taken *taken =
        report->taken_count < MAKI_TAKEN_MOST ? &report->taken[report->taken_count++] : &r->more;
    *taken = (maki_taken){ .kind = kind };
    return taken;
}

/* Take a step.  *progress: it hid something.  Refused is not a failure of the run. */
static maki_status take(run *r, const maki_step *step, bool *progress, maki_err *err)
{
    maki_change change = { 0 };
    maki_err why = { 0 };
    double before = r->report->tokens_after;
    maki_status st = act(r, step, &change, &why);
    maki_taken *taken = note(r, step->kind);
    *progress = false;
    r->failed = st != MAKI_OK;
    if (st == MAKI_REFUSED) {
        snprintf(taken->refused, sizeof taken->refused, "%.39s",
                 why.code[0] ? why.code : "REFUSED");
        return MAKI_OK;
    }
    if (st != MAKI_OK) {
        if (err) *err = why;
        return st;
    }
    taken->event = change.event;
    st = count(r, &r->report->tokens_after, err);
    if (st != MAKI_OK) return st;
    r->failed = maki_reduction(before, r->report->tokens_after) < step->min_reduction;
    if (r->failed) {
        taken->undone = true;
        st = maki_conv_undo(r->conv, NULL, change.event, &change, err);
        return st == MAKI_OK ? count(r, &r->report->tokens_after, err) : st;
    }
    *progress = r->report->tokens_after < before;
    r->report->action = maki_step_name(step->kind);
    r->report->messages_removed += change.removed;
    return MAKI_OK;
}

static bool over(const run *r)
{
    return r->report->tokens_after > r->report->allowed;
}

static maki_status take_steps(run *r, maki_err *err)
{
    const maki_policy *policy = r->in->policy;
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < policy->step_count; i++) {
        const maki_step *step = &policy->steps[i];
        bool progress = true;
        if (step->kind == MAKI_STEP_CONDENSE && r->in->window < policy->condense_from) {
            r->failed = true;
            continue;
        }
        if (step->when == MAKI_WHEN_FAILED && !r->failed) continue;
        if (step->when != MAKI_WHEN_OVER) {
            st = take(r, step, &progress, err);
            continue;
        }
        for (int again = 0; st == MAKI_OK && progress && over(r) && again < AGAIN_MOST; again++)
            st = take(r, step, &progress, err);
    }
    return st;
}

/* ---- the last resort ------------------------------------------------------------------------------------- */

/* The row of the view with the most tokens that was not found too short before. */
typedef struct largest {
    uint64_t seq;
    uint32_t tokens;
    uint32_t below; /* only rows with fewer tokens than this */
} largest;

static maki_status find_largest(void *ctx, const maki_seen *seen, maki_err *err)
{
    largest *l = ctx;
    (void)err;
    if (seen->seq && seen->row.tokens > l->tokens && seen->row.tokens < l->below) {
        l->seq = seen->seq;
        l->tokens = seen->row.tokens;
    }
    return MAKI_OK;
}

/* The longest text block of a row. */
static bool longest_block(maki_str row, uint32_t *block, uint64_t *units)
{
    maki_str string;
    *units = 0;
    for (uint32_t i = 0; i < BLOCKS_MOST; i++) {
        if (!maki_conv_block_text(row, i, &string)) continue;
        uint64_t n = maki_json_units(maki_json_inside(string));
        if (n <= *units) continue;
        *units = n;
        *block = i;
    }
    return *units > SHORTEST;
}

/* Shorten the largest message to a quarter, and again, until it fits. */
static maki_status trim_largest(run *r, maki_err *err)
{
    maki_status st = MAKI_OK;
    uint32_t below = UINT32_MAX;
    maki_buf row = maki_buf_new(maki_log_env(maki_conv_log(r->conv))->alloc, ROW_MAX);
    while (st == MAKI_OK && over(r)) {
        const maki_view *view;
        largest l = { .below = below };
        maki_change change;
        uint32_t block = 0;
        uint64_t units = 0;
        st = maki_conv_view(r->conv, MAKI_NOW, MAKI_NOW, &view, err);
        if (st == MAKI_OK) st = maki_conv_each(r->conv, view, find_largest, &l, err);
        if (st != MAKI_OK || l.seq == 0) break;
        below = l.tokens;
        maki_buf_clear(&row);
        st = maki_log_read(maki_conv_log(r->conv), l.seq, &row, err);
        if (st != MAKI_OK || !longest_block(maki_buf_str(&row), &block, &units)) continue;
        double share = (r->report->tokens_after - r->report->allowed) / l.tokens;
        uint64_t kept = share < 0.9 ? (uint64_t)((double)units * (0.95 - share)) : SHORTEST;
        if (kept < SHORTEST) kept = SHORTEST;
        st = maki_conv_trim(r->conv, NULL, l.seq, block, (uint32_t)(kept * 3 / 4),
                            (uint32_t)(kept / 4), &change, err);
        if (st == MAKI_REFUSED || st == MAKI_INVALID) st = MAKI_OK; /* not this one */
        if (st == MAKI_OK) st = count(r, &r->report->tokens_after, err);
        r->report->action = "trim";
    }
    maki_buf_free(&row);
    return st;
}

maki_status maki_manage_conversation(maki_conv *conv, const maki_manage_in *in,
                                     maki_manage_report *out, maki_err *err)
{
    const maki_clock *clock = maki_log_env(maki_conv_log(conv))->clock;
    int64_t began = clock->now_ms(clock);
    run r = { .conv = conv, .in = in, .report = out };
    *out = (maki_manage_report){ .reason = "none", .action = "none", .allowed = allowed_of(in) };
    if (!(in->window >= 1) || in->other_tokens < 0)
        return maki_fail(err, MAKI_INVALID, "the window must be a number of tokens");
    maki_status st = count(&r, &out->tokens_before, err);
    out->tokens_after = out->tokens_before;
    if (st != MAKI_OK) return st;
    out->reason = reason_of(in, out->tokens_before, out->allowed);
    if (strcmp(out->reason, "none") != 0) {
        st = take_steps(&r, err);
        if (st == MAKI_OK && over(&r)) st = trim_largest(&r, err);
    }
    out->within = !over(&r);
    out->ms = clock->now_ms(clock) - began;
    return st;
}

/* step_tools.c -- old tool output gives way before anything a person said.
 *
 * First every long output keeps its head and tail only; that is done for all of them at once, because each
 * time something old changes a provider reads everything behind it again.  When the target is still not
 * reached, and there is enough to make it worth while, outputs are cleared, oldest first, until it is. */
#include <inttypes.h>

#include "base/err.h"
#include "base/json.h"
#include "manage/pruning.h"

typedef struct tools {
    uint64_t chars; /* of the outputs that may be cleared, as they are shown */
} tools;

static bool listed(const maki_str *patterns, size_t count, maki_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (maki_str_glob(patterns[i], name, true)) return true;
    }
    return false;
}

/* An output of a tool that the step may touch.  One with images is left to prune_repeats. */
static bool prunable(const maki_step *step, const maki_pruning_part *piece)
{
    maki_str name = { "", 0 };
    if (!piece->old || !piece->result || piece->image || piece->with_image) return false;
    if (piece->call) name = (maki_str){ piece->call->name, piece->call->name_len };
    if (listed(step->deny, step->deny_count, name)) return false;
    return step->allow_count == 0 || listed(step->allow, step->allow_count, name);
}

static uint64_t units_of(const maki_pruning_part *piece)
{
    return maki_json_units(maki_json_inside(piece->value));
}

/* ---- head and tail ---------------------------------------------------------------------------------- */

static uint64_t shown(const maki_trim *trim, uint64_t units)
{
    uint64_t gone = 0;
    if (trim && trim->cut_count == 0) return (uint64_t)trim->head + trim->tail;
    for (size_t i = 0; trim && i < trim->cut_count; i++)
        gone += trim->cuts[i].to - trim->cuts[i].from;
    return gone < units ? units - gone : 0;
}

static maki_status shorten(maki_pruning *p, const maki_pruning_part *piece, maki_err *err)
{
    tools *t = p->ctx;
    const maki_step *step = p->step;
    if (!prunable(step, piece)) return MAKI_OK;
    uint64_t units = units_of(piece), kept = step->head_chars + step->tail_chars;
    maki_cut cut = { step->head_chars, units - step->tail_chars, { "", 0 } };
    if (units <= step->max_chars || kept >= units) {
        t->chars += shown(piece->trim, units);
        return MAKI_OK;
    }
    t->chars += kept < shown(piece->trim, units) ? kept : shown(piece->trim, units);
    maki_status st = maki_pruning_text(p, &cut.text, err,
                                       "\n\n[... %" PRIu64 " of %" PRIu64
                                       " characters left out; maki history expand %" PRIu64
                                       " shows them ...]\n\n",
                                       units - kept, units, piece->seq);
    return st == MAKI_OK ? maki_pruning_add(p, piece, &cut, 1, err) : st;
}

/* ---- clearing ------------------------------------------------------------------------------------------ */

static maki_status clear(maki_pruning *p, const maki_pruning_part *piece, maki_err *err)
{
    const maki_step *step = p->step;
    double target = maki_step_target(p->work, step);
    if (p->work->report->tokens_after - p->saved <= target) p->enough = true;
    if (p->enough || !prunable(step, piece)) return MAKI_OK;
    maki_cut cut = { 0, units_of(piece), { "", 0 } };
    maki_status st = maki_pruning_text(p, &cut.text, err, "%.*s", (int)step->placeholder.len,
                                       step->placeholder.ptr);
    return st == MAKI_OK ? maki_pruning_add(p, piece, &cut, 1, err) : st;
}

maki_status maki_step_prune_tools(maki_manage_work *work, const maki_step *step,
                                  maki_step_effect *took, maki_err *err)
{
    tools t = { 0 };
    maki_status st = maki_pruning_run(work, step, shorten, &t, took, err);
    bool enough = work->report->tokens_after <= maki_step_target(work, step);
    if (st == MAKI_OK && step->hard_clear && !enough && t.chars >= step->min_prunable_chars)
        st = maki_pruning_run(work, step, clear, &t, took, err);
    if (st == MAKI_OK && took->count == 0)
        return maki_refuse(err, "NOTHING_TO_DO", "there is no old tool output to shorten");
    return st;
}

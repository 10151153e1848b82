/* step_tools.c -- the step prune_tools: trim old tool output, then clear it; messages of the user are not changed.
 *
 * First every long output is cut to its head and tail, all of them at once: each change of an old message makes the
 * provider read everything after it again.  When the target is still not reached, and at least min_prunable_chars
 * can be cleared, outputs are replaced by the placeholder, oldest first, until it is. */
#include <inttypes.h>

#include "base/err.h"
#include "base/json_access.h"
#include "manage/pruning.h"

typedef struct tools {
    uint64_t chars; /* of the outputs that may be cleared, with their trims */
} tools;

static bool matches_any(const maki_str *patterns, size_t count, maki_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (maki_str_glob(patterns[i], name, true)) return true;
    }
    return false;
}

/* A tool output that the step may edit.  One with images is left to prune_repeats. */
static bool prunable(const maki_step *step, const maki_pruning_part *piece)
{
    maki_str name = { "", 0 };
    if (!piece->old || !piece->result || piece->image || piece->with_image) return false;
    if (piece->call) name = (maki_str){ piece->call->name, piece->call->name_len };
    if (matches_any(step->deny, step->deny_count, name)) return false;
    return step->allow_count == 0 || matches_any(step->allow, step->allow_count, name);
}

static uint64_t units_of(const maki_pruning_part *piece)
{
    return maki_json_utf16_len(maki_json_strip_quotes(piece->value));
}

/* ---- head and tail ---------------------------------------------------------------------------------- */

static maki_status trim_output(maki_pruning *p, const maki_pruning_part *piece, maki_err *err)
{
    tools *t = p->ctx;
    const maki_step *step = p->step;
    if (!prunable(step, piece)) return MAKI_OK;
    uint64_t units = units_of(piece), kept = step->head_chars + step->tail_chars;
    uint64_t shown = maki_pruning_shown_units(piece->trim, units);
    maki_cut cut = { step->head_chars, units - step->tail_chars, { "", 0 } };
    if (units <= step->max_chars || kept >= units) {
        t->chars += shown;
        return MAKI_OK;
    }
    t->chars += kept < shown ? kept : shown;
    maki_status st = maki_pruning_text(p, &cut.text, err,
                                       "\n\n[... %" PRIu64 " of %" PRIu64
                                       " characters left out; maki history expand %" PRIu64
                                       " shows them ...]\n\n",
                                       units - kept, units, piece->seq);
    return st == MAKI_OK ? maki_pruning_add(p, piece, &cut, 1, err) : st;
}

/* ---- clearing ------------------------------------------------------------------------------------------ */

static maki_status clear_output(maki_pruning *p, const maki_pruning_part *piece, maki_err *err)
{
    const maki_step *step = p->step;
    double target = maki_step_target(p->work, step);
    if (p->work->report->tokens_after - p->saved <= target) p->done = true;
    if (p->done || !prunable(step, piece)) return MAKI_OK;
    maki_cut cut = { 0, units_of(piece), { "", 0 } };
    maki_status st = maki_pruning_text(p, &cut.text, err, "%.*s", (int)step->placeholder.len,
                                       step->placeholder.ptr);
    return st == MAKI_OK ? maki_pruning_add(p, piece, &cut, 1, err) : st;
}

maki_status maki_step_prune_tools(maki_manage_state *work, const maki_step *step,
                                  maki_step_effect *effect, maki_err *err)
{
    tools t = { 0 };
    maki_status st = maki_pruning_run(work, step, trim_output, &t, effect, err);
    bool reached = work->report->tokens_after <= maki_step_target(work, step);
    if (st == MAKI_OK && step->hard_clear && !reached && t.chars >= step->min_prunable_chars)
        st = maki_pruning_run(work, step, clear_output, &t, effect, err);
    if (st == MAKI_OK && effect->count == 0)
        return maki_refuse(err, "NOTHING_TO_DO", "there is no old tool output to trim");
    return st;
}

/* run.c -- one manage run of policy `roo` over a list of messages: count, decide, condense, else truncate.
 *
 * A refused condense is recorded in the report and followed by a truncation only when the context is over its limit. */
#include "reference/run.h"

static maki_status count_one(const maki_run_input *in, maki_msg *msg, maki_arena *arena,
                             double *tokens, maki_err *err)
{
    maki_msgs one = { &msg, 1, 1 };
    maki_blocks blocks = maki_msg_blocks(msg);
    maki_str block;
    *tokens = 0;
    if (!maki_blocks_next(&blocks, &block)) return MAKI_OK; /* the counter is not called */
    return maki_count_messages(in->condense.counter, NULL, 0, one, arena, tokens, err);
}

/* The system prompt and every message that is not truncated away, one call each because the counter
 * may round each.  The marker is not counted, as in the reference. */
static maki_status count_visible(const maki_run_input *in, maki_msgs list, maki_arena *arena,
                                 double *tokens, maki_err *err)
{
    const maki_counter *counter = in->condense.counter;
    maki_status st = counter->count(counter, &in->condense.system_prompt, 1, tokens, err);
    for (size_t i = 0; st == MAKI_OK && i < list.count; i++) {
        double one = 0;
        if (list.at[i]->truncation_parent.value.len || list.at[i]->is_marker) continue;
        st = count_one(in, list.at[i], arena, &one, err);
        *tokens += one;
    }
    return st;
}

/* MAKI_OK also when the condense is refused: out->condense_failed is set then. */
static maki_status try_condense(const maki_run_input *in, maki_arena *arena, maki_run_report *out,
                                maki_err *err)
{
    maki_condense_input condense = in->condense;
    maki_err error = { 0 };
    condense.tokens_before = out->decision.tokens;
    condense.min_reduction = in->min_reduction;
    maki_status st = maki_condense(&condense, arena, &out->condensed, &error);
    if (st == MAKI_OK) {
        out->action = MAKI_ACTION_CONDENSE;
        out->messages = out->condensed.messages;
        return MAKI_OK;
    }
    if (st != MAKI_REFUSED) {
        if (err) *err = error;
        return st;
    }
    out->condense_failed = true;
    out->condense_error = error;
    return MAKI_OK;
}

maki_status maki_manage_run(const maki_run_input *in, maki_arena *arena, maki_run_report *out,
                            maki_err *err)
{
    maki_decide_input decide = in->decide;
    maki_msgs list = in->condense.messages;
    maki_status st = MAKI_OK;
    *out = (maki_run_report){ .messages = list, .condensed = { .summary = { "", 0 } } };
    if (list.count > 0) {
        st = count_one(in, list.at[list.count - 1], arena, &decide.last_message_tokens, err);
    }
    if (st != MAKI_OK) return st;
    out->decision = maki_decide(&decide);
    if (out->decision.condense) st = try_condense(in, arena, out, err);
    if (st != MAKI_OK || out->action == MAKI_ACTION_CONDENSE || !out->decision.over) return st;

    st = maki_truncate(list, MAKI_HIDE_FRACTION, in->condense.now, in->condense.random, arena,
                       &out->truncated, err);
    if (st != MAKI_OK) return st;
    out->action = MAKI_ACTION_TRUNCATE;
    out->messages = out->truncated.messages;
    return count_visible(in, out->messages, arena, &out->tokens_after_truncation, err);
}

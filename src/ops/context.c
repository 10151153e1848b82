/* context.c -- the fields `model` and `window` of a call, over what the conversation itself says. */
#include "ops/context.h"

#include "manage/thresholds.h"
#include "ops/op_common.h"

maki_status maki_context_use_read(const maki_op_call *call, maki_conv *conv, maki_context_use *out,
                                  maki_err *err)
{
    maki_run_limits_in given = { .config = call->m->config,
                                 .model = maki_in_text(call, "model"),
                                 .window = maki_in_number(call, "window", 0) };
    maki_status st = maki_arena_status(call->arena, err);
    return st == MAKI_OK ? maki_context_use_of(conv, &given, out, err) : st;
}

void maki_put_threshold(maki_jw *out, const maki_run_limits *limits, const maki_policy *policy)
{
    double percent = maki_policy_threshold(policy, limits->threshold);
    if (percent <= MAKI_THRESHOLD_MAX) maki_jw_field_number(out, "threshold", percent);
    if (limits->threshold_tokens > 0)
        maki_jw_field_number(out, "thresholdTokens", limits->threshold_tokens);
}

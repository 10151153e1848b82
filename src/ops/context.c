/* context.c -- see context.h. */
#include "ops/context.h"

#include "manage/thresholds.h"
#include "ops/op_common.h"

maki_status maki_context_use_read(const maki_op_call *call, maki_conv *conv, maki_context_use *out,
                                  maki_err *err)
{
    maki_run_limits_in said = { .config = call->m->config,
                                .model = maki_json_text(maki_in_string(call, "model"), call->arena),
                                .window = maki_in_number(call, "window", 0) };
    maki_status st = maki_arena_status(call->arena, err);
    return st == MAKI_OK ? maki_context_use_of(conv, &said, out, err) : st;
}

void maki_put_threshold(maki_jw *out, const maki_run_limits *figures, const maki_policy *policy)
{
    double percent = maki_policy_threshold(policy, figures->threshold);
    if (percent <= MAKI_THRESHOLD_MAX) maki_put_number(out, "threshold", percent);
    if (figures->threshold_tokens > 0)
        maki_put_number(out, "thresholdTokens", figures->threshold_tokens);
}

/* context.c -- compute and write the context use of a conversation; the fields `model` and `window` of a call have
 * precedence. */
#include "ops/context.h"

#include <stdio.h>

#include "base/json_print.h"
#include "base/str_util.h"
#include "manage/thresholds.h"
#include "ops/op_common.h"

maki_status maki_context_use_read(const maki_op_call *call, maki_conv *conv, maki_context_use *out,
                                  maki_err *err)
{
    maki_run_limits_options given = { .config = call->m->config,
                                      .model = maki_input_text(call, "model"),
                                      .window = maki_input_number(call, "window", 0) };
    maki_status st = maki_arena_status(call->arena, err);
    return st == MAKI_OK ? maki_context_use_of(conv, &given, out, err) : st;
}

void maki_write_threshold(maki_jw *out, const maki_run_limits *limits, const maki_policy *policy)
{
    double percent = maki_policy_threshold(policy, limits->threshold);
    if (percent <= MAKI_THRESHOLD_MAX) maki_jw_field_number(out, "threshold", percent);
    if (limits->threshold_tokens > 0)
        maki_jw_field_number(out, "thresholdTokens", limits->threshold_tokens);
}

void maki_write_context_use(maki_jw *out, const maki_context_use *use, double tokens)
{
    char percent[24];
    double window = use->limits.window;
    snprintf(percent, sizeof percent, "%.0f%%", 100 * tokens / window);
    maki_jw_print(out, "'contextUsage':%z,'tokens':%f,'window':%f", percent, tokens, window);
}

void maki_write_view_change(maki_jw *out, const maki_view_change *effect)
{
    char words[MAKI_VIEW_CHANGE_MAX];
    maki_view_change_text(did, words);
    maki_jw_print(out, "'restored':%I,'shortened':%I,'expanded':%I,'effect':%z", did->restored,
                  did->shortened, did->expanded, words);
}

void maki_put_only_in(maki_jw *out, const char *name, const maki_view *view, const maki_view *other)
{
    maki_jw_field_array(out, name);
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        for (uint64_t seq = item->from; item->from && seq <= item->to; seq++) {
            uint64_t first = seq;
            while (seq <= item->to && !maki_view_has(other, seq))
                seq++;
            if (seq == first) continue;
            maki_jw_print(out, "[%i,%i]", first, seq - 1);
        }
    }
    maki_jw_end_array(out);
}

bool maki_view_has_synthetic(const maki_view *view, uint64_t ev)
{
    for (size_t i = 0; i < view->count; i++) {
        if (view->items[i].from == 0 && view->items[i].synthetic->ev == ev) return true;
    }
    return false;
}

/* decide.c -- condense at the threshold or when the window is over its limit; the profile's threshold wins if it is valid. */
#include "reference/decide.h"

#include "manage/thresholds.h"

maki_window_decision maki_decide(const maki_decide_input *in)
{
    maki_window_decision d = { .threshold = in->threshold };
    double reserved = in->max_tokens != 0 ? in->max_tokens : MAKI_RESERVED_OUTPUT;
    if (in->has_profile && in->profile_threshold != MAKI_THRESHOLD_INHERIT) {
        d.profile_invalid = in->profile_threshold < MAKI_THRESHOLD_MIN ||
                            in->profile_threshold > MAKI_THRESHOLD_MAX;
        if (!d.profile_invalid) d.threshold = in->profile_threshold;
    }
    d.tokens = in->total_tokens + in->last_message_tokens;
    d.allowed = in->window * 0.9 - reserved;
    d.percent = 100 * d.tokens / in->window;
    d.over = d.tokens > d.allowed;
    d.condense = in->auto_condense && (d.over || d.percent >= d.threshold);
    d.manage = d.over || d.condense;
    return d;
}

/* truncate.c -- count the visible messages, insert the marker, tag what it hides; a failure changes nothing.
 *
 * "Visible" means not truncated: messages that a summary hides are counted and may be hidden
 * again, which frees nothing.  The reference does so and the recorded cases keep it. */
#include "reference/truncate.h"

#include <math.h>

#include "history/synthetic.h"

static bool visible(const maki_msg *m)
{
    return m->truncation_parent.value.len == 0 && !m->is_marker;
}

/* How many of `count` visible messages to hide: an even number, so that turns stay complete. */
static size_t hidden_count(size_t count, double fraction)
{
    if (count < 2 || !(fraction > 0)) return 0;
    double raw = floor((double)(count - 1) * (fraction < 1 ? fraction : 1));
    return (size_t)raw / 2 * 2;
}

maki_status maki_truncate(maki_msgs list, double fraction, double now, const maki_random *random,
                          maki_arena *arena, maki_truncated *out, maki_err *err)
{
    size_t count = 0, nth = 0, boundary = list.count;
    maki_msgs result = { 0 };
    maki_msg *marker = NULL;
    maki_str json;
    *out = (maki_truncated){ .messages = list };
    for (size_t i = 0; i < list.count; i++)
        count += visible(list.at[i]);
    out->removed = hidden_count(count, fraction);
    maki_status st = maki_synthetic_id(random, arena, &out->id, err);
    if (st != MAKI_OK || out->removed == 0) return st;

    for (size_t i = 0; i < list.count;
         i++) { /* the first one that stays visible after the hidden ones */
        if (visible(list.at[i]) && nth++ == out->removed + 1) {
            boundary = i;
            break;
        }
    }
    bool has_time = boundary < list.count && list.at[boundary]->has_ts;
    double ts = (has_time ? list.at[boundary]->ts : now) - 1;
    st = maki_synthetic_marker(out->removed, out->id, ts, arena, &json, err);
    if (st == MAKI_OK) st = maki_msg_synthetic(json, arena, &marker, err);
    if (st == MAKI_OK) st = maki_msgs_with(list, boundary, marker, arena, &result, err);
    nth = 0;
    if (st != MAKI_OK) return st;
    for (size_t i = 0; i < boundary; i++) { /* last, so that a failure changes nothing */
        if (visible(list.at[i]) && nth++ > 0) list.at[i]->truncation_parent.value = out->id;
    }
    out->messages = result;
    return MAKI_OK;
}

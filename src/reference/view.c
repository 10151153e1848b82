/* view.c -- index the summaries and markers of a list, then test the tags of each message against that index.
 *
 * Lists are new, messages are shared; only maki_view_cleanup changes messages. */
#include "reference/view.h"

static maki_status find_parents(maki_msgs list, maki_arena *arena, maki_parents *out, maki_err *err)
{
    *out = (maki_parents){ 0 };
    for (size_t i = 0; i < list.count; i++) {
        const maki_msg *m = list.at[i];
        maki_status st = MAKI_OK;
        if (m->is_summary) st = maki_id_map_add(&out->summaries, m->condense_id, i, arena, err);
        if (st == MAKI_OK && m->is_marker) {
            st = maki_id_map_add(&out->markers, m->truncation_id, i, arena, err);
        }
        if (st != MAKI_OK) return st;
    }
    return MAKI_OK;
}

maki_status maki_view_effective(maki_msgs list, maki_arena *arena, maki_msgs *out, maki_err *err)
{
    maki_parents parents;
    maki_msgs visible = { 0 };
    maki_status st = find_parents(list, arena, &parents, err);
    for (size_t i = 0; st == MAKI_OK && i < list.count; i++) {
        maki_msg *m = list.at[i];
        if (maki_id_map_find(&parents.summaries, m->condense_parent.value, NULL)) continue;
        if (maki_id_map_find(&parents.markers, m->truncation_parent.value, NULL)) continue;
        st = maki_msgs_add(&visible, m, arena, err);
    }
    *out = visible;
    return st;
}

/* The synthetic user message that opens a view without its first one. */
static maki_status build_continue(double ts, maki_arena *arena, maki_msg **out, maki_err *err)
{
    maki_str json;
    maki_status st = maki_json_build_print(
        arena, &json, err,
        "{'role':'user','content':'Go on from the summary that follows.','ts':%f}", ts);
    return st == MAKI_OK ? maki_msg_synthetic(json, arena, out, err) : st;
}

maki_status maki_view_since_summary(maki_msgs list, double now, maki_arena *arena, maki_msgs *out,
                                    maki_err *err)
{
    size_t last = list.count;
    while (last > 0 && !list.at[last - 1]->is_summary)
        last--;
    *out = list;
    if (last == 0) return MAKI_OK;

    maki_msgs since = maki_msgs_slice(list, last - 1, list.count);
    maki_msg *first = list.at[0];
    *out = since;
    if (since.at[0]->role == MAKI_ROLE_USER) return MAKI_OK;
    if (first->role != MAKI_ROLE_USER) {
        /* time 0 counts as none here, as in the reference */
        double ts = first->has_ts && first->ts != 0 ? first->ts - 1 : now;
        maki_status st = build_continue(ts, arena, &first, err);
        if (st != MAKI_OK) return st;
    }
    return maki_msgs_with(since, 0, first, arena, out, err);
}

static bool is_orphan(const maki_id_map *parents, const maki_tag *tag)
{
    return tag->value.len > 0 && !maki_id_map_find(parents, tag->value, NULL);
}

maki_status maki_view_cleanup(maki_msgs list, maki_arena *arena, size_t *cleaned, maki_err *err)
{
    maki_parents parents;
    maki_status st = find_parents(list, arena, &parents, err);
    *cleaned = 0;
    for (size_t i = 0; st == MAKI_OK && i < list.count; i++) {
        maki_msg *m = list.at[i];
        bool summary_gone = is_orphan(&parents.summaries, &m->condense_parent);
        bool marker_gone = is_orphan(&parents.markers, &m->truncation_parent);
        if (summary_gone) m->condense_parent.value = (maki_str){ 0 };
        if (marker_gone) m->truncation_parent.value = (maki_str){ 0 };
        *cleaned += summary_gone || marker_gone;
    }
    return st;
}

maki_msgs maki_view_limit_turns(maki_msgs list, size_t limit)
{
    if (limit == 0 || list.count / 2 < limit || list.count <= limit * 2) return list;
    return maki_msgs_slice(list, list.count - limit * 2, list.count);
}

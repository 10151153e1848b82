/* rewind.c -- parse the events, find the position to cut, truncate both lists.
 *
 * Events are cut by index, messages by the time of the event at the cut; then the summaries and markers of the cut events
 * are removed, and the tags that name them.  Messages without a time are kept. */
#include "reference/rewind.h"

#include "base/err.h"
#include "base/str_util.h"
#include "reference/view.h"

/* ---- events --------------------------------------------------------------------------------- */

/* event[field][id] of an event whose `say` is this. */
static maki_str context_id(maki_str event, maki_str said, const char *say, const char *field,
                           const char *id)
{
    maki_str value = { "", 0 };
    if (said.len && maki_json_text_is(said, maki_str_of(say)))
        value = maki_json_string(maki_json_field(event, field), id);
    return value.len > 2 ? value : (maki_str){ "", 0 };
}

static maki_status read_event(maki_str object, maki_where where, size_t index, maki_ui_event *e,
                              maki_err *err)
{
    maki_str ts = maki_json_field(object, "ts"), said = maki_json_string(object, "say");
    size_t offset = (size_t)(object.ptr - where.base);
    if (maki_json_kind_of(object) != MAKI_JSON_OBJECT) {
        return maki_fail(err, MAKI_INVALID, "%s[%zu]: an event must be an object, at byte %zu",
                         where.list, index, offset);
    }
    e->raw = object;
    e->condense_id = context_id(object, said, "condense_context", "contextCondense", "condenseId");
    e->truncation_id =
        context_id(object, said, "sliding_window_truncation", "contextTruncation", "truncationId");
    if (maki_json_kind_of(ts) == MAKI_JSON_NULL) return MAKI_OK;
    if (maki_json_kind_of(ts) != MAKI_JSON_NUMBER) {
        return maki_fail(err, MAKI_INVALID, "%s[%zu].ts: must be a number, at byte %zu", where.list,
                         index, (size_t)(ts.ptr - where.base));
    }
    e->has_ts = true;
    e->ts = maki_json_double(ts);
    return MAKI_OK;
}

maki_status maki_ui_read(maki_str array, maki_where where, maki_arena *arena, maki_ui *out,
                         maki_err *err)
{
    size_t count = maki_json_count(array), i = 0;
    maki_json_iter iter = maki_json_items(array);
    maki_json_item item;
    maki_ui_event *events = maki_arena_array(arena, count, sizeof *events);
    if (!events) return maki_arena_status(arena, err);
    for (; maki_json_next(&iter, &item); i++) {
        maki_status st = read_event(item.value, where, i, &events[i], err);
        if (st != MAKI_OK) return st;
    }
    *out = (maki_ui){ events, count };
    return MAKI_OK;
}

/* ---- position of the cut --------------------------------------------------------------------------- */

typedef struct cut {
    size_t ui;     /* events from this index on are cut */
    double cutoff; /* messages from this time on are cut */
} cut;

static maki_status find_cut(const maki_rewind_input *in, cut *out, maki_err *err)
{
    const maki_ui *ui = &in->ui;
    if (in->by_index) {
        bool in_range = in->value >= 0 && in->value < (double)ui->count;
        size_t i = in_range ? (size_t)in->value : ui->count;
        if (in->value < 0) i = 0;
        bool has_time = i < ui->count && ui->at[i].has_ts;
        *out = (cut){ i, has_time ? ui->at[i].ts : in->now };
        return MAKI_OK;
    }
    for (size_t i = 0; i < ui->count; i++) {
        if (!ui->at[i].has_ts || ui->at[i].ts != in->value) continue;
        *out = (cut){ i + (in->include_target ? 1 : 0), in->value };
        return MAKI_OK;
    }
    return maki_refuse(err, "TIMESTAMP_NOT_FOUND", "no event has the time %.0f", in->value);
}

/* An event can be stamped before the answer it reacts to is stored.  Then no message has its time,
 * and cutting there would remove that answer too: the next user message is the true boundary. */
static double adjust_cutoff(maki_msgs api, double cutoff)
{
    bool exact = false, has_earlier = false;
    for (size_t i = 0; i < api.count; i++) {
        exact |= api.at[i]->has_ts && api.at[i]->ts == cutoff;
        has_earlier |= api.at[i]->has_ts && api.at[i]->ts < cutoff;
    }
    if (exact || !has_earlier) return cutoff;
    for (size_t i = 0; i < api.count; i++) {
        const maki_msg *m = api.at[i];
        if (m->role == MAKI_ROLE_USER && m->has_ts && m->ts >= cutoff) return m->ts;
    }
    return cutoff;
}

/* The ids of the summaries and markers whose events are cut. */
static maki_status collect_removed(const maki_ui *ui, size_t from, maki_arena *arena,
                                   maki_parents *removed, maki_err *err)
{
    maki_status st = MAKI_OK;
    *removed = (maki_parents){ 0 };
    for (size_t i = from; st == MAKI_OK && i < ui->count; i++) {
        st = maki_id_map_add(&removed->summaries, ui->at[i].condense_id, i, arena, err);
        if (st == MAKI_OK) {
            st = maki_id_map_add(&removed->markers, ui->at[i].truncation_id, i, arena, err);
        }
    }
    return st;
}

static bool is_kept(const maki_msg *m, double cutoff, const maki_parents *removed)
{
    if (m->has_ts && m->ts != 0 && m->ts >= cutoff) return false; /* time 0 counts as none */
    if (m->is_summary && maki_id_map_find(&removed->summaries, m->condense_id, NULL)) return false;
    return !(m->is_marker && maki_id_map_find(&removed->markers, m->truncation_id, NULL));
}

maki_status maki_rewind(const maki_rewind_input *in, maki_arena *arena, maki_rewound *out,
                        maki_err *err)
{
    cut where = { 0 };
    maki_parents removed;
    maki_msgs kept = { 0 };
    size_t cleaned = 0;
    maki_status st = find_cut(in, &where, err);
    if (st == MAKI_OK) st = collect_removed(&in->ui, where.ui, arena, &removed, err);
    if (st != MAKI_OK) return st;

    double cutoff = adjust_cutoff(in->api, where.cutoff);
    for (size_t i = 0; st == MAKI_OK && i < in->api.count; i++) {
        if (is_kept(in->api.at[i], cutoff, &removed))
            st = maki_msgs_add(&kept, in->api.at[i], arena, err);
    }
    if (st == MAKI_OK && !in->skip_cleanup) st = maki_view_cleanup(kept, arena, &cleaned, err);
    *out = (maki_rewound){ .ui_count = where.ui,
                           .api = kept,
                           .api_changed = kept.count != in->api.count || cleaned > 0 };
    return st;
}

/* export_tags.c -- the tags of roo: for each message the summary and the marker that hide it.
 *
 * In:    the events of a conversation and its parents; then the numbers of rows, in order.
 * Out:   for a row, or a synthetic message, at most one tag of each kind: the oldest event that hides it.
 * Must stay true: tags of an import that name nothing (orphans) are exported unchanged. */
#include <inttypes.h>

#include "base/sort.h"
#include "base/str_util.h"
#include "history/export_internal.h"

const export_kind export_kinds[EXPORT_KINDS] = {
    { "condense", "isSummary", "condenseId", "condenseParent" },
    { "truncate", "isTruncationMarker", "truncationId", "truncationParent" }
};

bool export_string(maki_str object, const char *name, maki_str *value)
{
    return maki_json_get(object, maki_str_of(name), value) &&
           maki_json_kind_of(*value) == MAKI_JSON_STRING && value->len > 2;
}

static maki_status add_tag(export_tags *x, export_tag t, maki_err *err)
{
    return maki_arena_add(x->arena, &x->list, &x->count, &x->capacity, &t, sizeof t, err);
}

/* The state while the events of one log are read. */
typedef struct log_reader {
    export_tags *x;
    const maki_events *events; /* with `dead` set for the view */
    size_t next;
    uint32_t up;
} log_reader;

/* Add the orphans that an import recorded: tags whose id belongs to no summary or marker. */
static maki_status add_orphans(log_reader *l, maki_str list, maki_err *err)
{
    maki_json_item part;
    maki_status st = MAKI_OK;
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(list)) {
        maki_str tag, id, rows = { "", 0 }, evs = { "", 0 };
        if (!export_string(item.value, "tag", &tag) || !export_string(item.value, "id", &id))
            continue;
        unsigned kind = maki_json_text_is(tag, MAKI_LIT("truncationParent"));
        export_tag t = { .order = SIZE_MAX, .kind = kind, .id = maki_arena_copy(l->x->arena, id) };
        st = maki_arena_status(l->x->arena, err);
        maki_json_get(item.value, MAKI_LIT("rows"), &rows);
        maki_json_get(item.value, MAKI_LIT("events"), &evs);
        MAKI_JSON_EACH_WHILE(st == MAKI_OK, span, maki_json_items(rows)) {
            maki_json_iter pair = maki_json_items(span.value);
            t.from = t.to = 0;
            if (maki_json_next(&pair, &part)) (void)maki_json_uint(part.value, &t.from);
            if (maki_json_next(&pair, &part)) (void)maki_json_uint(part.value, &t.to);
            if (t.from) st = add_tag(l->x, t, err);
        }
        t.from = t.to = 0;
        t.up = l->up;
        MAKI_JSON_EACH_WHILE(st == MAKI_OK, ev, maki_json_items(evs)) {
            t.ev = 0;
            (void)maki_json_uint(ev.value, &t.ev);
            st = add_tag(l->x, t, err);
        }
    }
    return st;
}

/* The id of an event: that of its message, its own field, or one derived from its number. */
static maki_str id_of(log_reader *l, uint64_t ev, maki_str event, unsigned kind)
{
    maki_str message, id;
    bool has = maki_json_get(event, MAKI_LIT("message"), &message);
    if ((has && export_string(message, export_kinds[kind].id, &id)) ||
        export_string(event, "id", &id)) {
        return maki_arena_copy(l->x->arena, id);
    }
    return maki_arena_print(l->x->arena, "\"maki-%u-%" PRIu64 "\"", (unsigned)l->up, ev);
}

static maki_status add_hidden(log_reader *l, const maki_event *e, maki_str id, maki_err *err)
{
    export_tags *x = l->x;
    maki_status st = MAKI_OK;
    export_tag t = { .order = x->orders++, .kind = e->type == MAKI_EVENT_TRUNCATE, .id = id };
    for (size_t i = 0; st == MAKI_OK && i < e->hidden_count; i++) {
        t.from = e->hidden[i].from;
        t.to = e->hidden[i].to;
        if (t.from) st = add_tag(x, t, err);
    }
    t.from = t.to = 0;
    for (size_t i = 0; st == MAKI_OK && i < e->hidden_ev_count; i++) {
        t.up = l->up;
        t.ev = e->hidden_evs[i];
        st = add_tag(x, t, err);
    }
    for (size_t i = 0; st == MAKI_OK && i < e->hidden_above_count; i++) {
        t.up = l->up + e->hidden_above[i].from;
        t.ev = e->hidden_above[i].to;
        st = add_tag(x, t, err);
    }
    return st;
}

static maki_status add_event_tags(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    log_reader *l = ctx;
    maki_str event, list;
    (void)at;
    while (l->next < l->events->count && l->events->at[l->next].ev < ev)
        l->next++;
    const maki_event *e = l->next < l->events->count ? &l->events->at[l->next] : NULL;
    if (e && e->ev != ev) e = NULL;
    bool hides =
        e && !e->dead && (e->type == MAKI_EVENT_CONDENSE || e->type == MAKI_EVENT_TRUNCATE);
    if (e && !hides) return MAKI_OK;
    if (maki_json_check(row, &event, NULL) != MAKI_OK)
        return MAKI_OK; /* reported when the view was made */
    if (!e) {
        bool has = maki_json_get(event, MAKI_LIT("orphans"), &list);
        return has ? add_orphans(l, list, err) : MAKI_OK;
    }
    maki_str id = id_of(l, ev, event, e->type == MAKI_EVENT_TRUNCATE);
    maki_status st = maki_arena_status(l->x->arena, err);
    return st == MAKI_OK ? add_hidden(l, e, id, err) : st;
}

/* Add the tags of all events that are active in the view made last, oldest log first. */
static maki_status add_log_tags(export_tags *x, maki_conv *conv, uint32_t up, maki_err *err)
{
    log_reader l = { .x = x, .events = &conv->events, .up = up };
    maki_status st = conv->parent ? add_log_tags(x, conv->parent, up + 1, err) : MAKI_OK;
    return st == MAKI_OK ? maki_log_each_event(conv->log, add_event_tags, &l, err) : st;
}

static bool is_before(const void *a, const void *b)
{
    const export_tag *x = a, *y = b;
    if ((x->from == 0) != (y->from == 0)) return y->from == 0;
    if (x->from != y->from) return x->from < y->from;
    if (x->up != y->up) return x->up < y->up;
    return x->ev < y->ev;
}

maki_status export_tags_read(export_tags *x, maki_conv *conv, maki_err *err)
{
    maki_status st = add_log_tags(x, conv, 0, err);
    if (st != MAKI_OK || !x->count) return st;
    return maki_sort(x->list, x->count, sizeof *x->list, is_before, x->arena, err);
}

/* ---- by message ------------------------------------------------------------------------------------------ */

/* Keep the tag if its event is the oldest of this kind so far. */
static void set_oldest(export_tags_of *t, const export_tag *tag)
{
    const export_tag **oldest = &t->kind[tag->kind];
    if (!*oldest || tag->order < (*oldest)->order) *oldest = tag;
}

maki_status export_tags_row(export_tags *x, uint64_t seq, export_tags_of *out, uint64_t *until,
                            maki_err *err)
{
    *out = (export_tags_of){ 0 };
    *until = UINT64_MAX;
    for (; x->next < x->count && x->list[x->next].from && x->list[x->next].from <= seq; x->next++) {
        maki_status st = maki_arena_add(x->arena, &x->open, &x->open_count, &x->open_capacity,
                                        &x->next, sizeof x->next, err);
        if (st != MAKI_OK) return st;
    }
    for (size_t i = 0; i < x->open_count; i++) {
        const export_tag *tag = &x->list[x->open[i]];
        if (tag->to < seq) {
            x->open[i--] = x->open[--x->open_count];
            continue;
        }
        set_oldest(out, tag);
        if (tag->to < *until) *until = tag->to;
    }
    if (x->next < x->count && x->list[x->next].from && x->list[x->next].from <= *until) {
        *until = x->list[x->next].from - 1;
    }
    return MAKI_OK;
}

export_tags_of export_tags_synthetic(const export_tags *x, uint32_t up, uint64_t ev)
{
    export_tags_of out = { 0 };
    size_t low = 0, high = x->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const export_tag *t = &x->list[mid];
        bool less = t->from || t->up < up || (t->up == up && t->ev < ev);
        if (less)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < x->count && x->list[low].up == up && x->list[low].ev == ev; low++) {
        set_oldest(&out, &x->list[low]);
    }
    return out;
}

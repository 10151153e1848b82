/* timeline.c -- see timeline.h. */
#include "history/timeline.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

/* ---- reading events ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    maki_event_type type;
} types[] = {
    { "fork", MAKI_EVENT_FORK },         { "condense", MAKI_EVENT_CONDENSE },
    { "truncate", MAKI_EVENT_TRUNCATE }, { "trim", MAKI_EVENT_TRIM },
    { "pin", MAKI_EVENT_PIN },           { "unpin", MAKI_EVENT_UNPIN },
    { "rewind", MAKI_EVENT_REWIND },     { "undo", MAKI_EVENT_UNDO },
    { "damage", MAKI_EVENT_DAMAGE },
};

static maki_event_type type_of(maki_str event)
{
    maki_str type;
    if (!maki_json_get(event, MAKI_LIT("type"), &type) ||
        maki_json_kind_of(type) != MAKI_JSON_STRING) {
        return MAKI_EVENT_OTHER;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (maki_json_text_is(type, maki_str_of(types[i].name))) return types[i].type;
    }
    return MAKI_EVENT_OTHER;
}

static uint64_t number(maki_str object, const char *name)
{
    maki_str value;
    if (!maki_json_get(object, maki_str_of(name), &value)) return 0;
    double d = maki_json_kind_of(value) == MAKI_JSON_NUMBER ? maki_json_double(value) : 0;
    return d > 0 && d < 9e15 ? (uint64_t)d : 0;
}

/* "hidden": [[2, 9], [11, 12]] and "hiddenEvents": [3] */
static maki_status read_hidden(maki_str event, maki_arena *arena, maki_event *e, maki_err *err)
{
    maki_str list, pair;
    maki_json_item item, part;
    if (maki_json_get(event, MAKI_LIT("hidden"), &list)) {
        maki_span64 *spans = maki_arena_array(arena, maki_json_count(list), sizeof *spans);
        if (!spans) return maki_arena_status(arena, err);
        maki_json_iter iter = maki_json_items(list);
        while (maki_json_next(&iter, &item)) {
            maki_json_iter two = maki_json_items(item.value);
            maki_span64 *span = &spans[e->hidden_count++];
            if (maki_json_next(&two, &part)) span->from = (uint64_t)maki_json_double(part.value);
            if (maki_json_next(&two, &part)) span->to = (uint64_t)maki_json_double(part.value);
        }
        e->hidden = spans;
    }
    if (maki_json_get(event, MAKI_LIT("hiddenEvents"), &pair)) {
        uint64_t *evs = maki_arena_array(arena, maki_json_count(pair), sizeof *evs);
        if (!evs) return maki_arena_status(arena, err);
        maki_json_iter iter = maki_json_items(pair);
        while (maki_json_next(&iter, &item)) {
            evs[e->hidden_ev_count++] = (uint64_t)maki_json_double(item.value);
        }
        e->hidden_evs = evs;
    }
    return MAKI_OK;
}

typedef struct reading {
    maki_arena *arena;
    maki_events *out;
} reading;

static maki_status read_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    reading *r = ctx;
    maki_str event, message;
    maki_err why = { 0 };
    if (maki_json_check(row, &event, &why) != MAKI_OK) {
        return maki_fail(err, MAKI_CORRUPT, "event %" PRIu64 ": %s", ev, why.msg);
    }
    maki_event_type type = type_of(event);
    if (type == MAKI_EVENT_OTHER) return MAKI_OK;
    maki_events *list = r->out;
    void *moved = maki_arena_grow(r->arena, list->at, list->count, &list->room, sizeof(maki_event));
    if (!moved) return maki_arena_status(r->arena, err);
    list->at = moved;
    maki_event *e = &list->at[list->count++];
    *e = (maki_event){ .type = type,
                       .ev = ev,
                       .at = number(event, "at"),
                       .before = number(event, "before"),
                       .tokens = (uint32_t)number(event, "tokens"),
                       .seq = number(event, "seq"),
                       .block = (uint32_t)number(event, "block"),
                       .head = (uint32_t)number(event, "headUnits"),
                       .tail = (uint32_t)number(event, "tailUnits"),
                       .to = number(event, "to"),
                       .to_ev = number(event, "toEv"),
                       .with = number(event, "with"),
                       .target = number(event, "target") };
    if (maki_json_get(event, MAKI_LIT("message"), &message)) {
        e->made_at = at + (uint64_t)(message.ptr - row.ptr);
        e->made_len = message.len;
    }
    return read_hidden(event, r->arena, e, err);
}

maki_status maki_events_read(maki_log *log, maki_arena *arena, maki_events *out, maki_err *err)
{
    reading r = { arena, out };
    *out = (maki_events){ 0 };
    return maki_log_each_event(log, read_event, &r, err);
}

/* ---- building the view ------------------------------------------------------------------------------ */

typedef struct building {
    maki_view *view;
    maki_arena *arena;
    maki_err *err;
    maki_status status;
} building;

static void insert_item(building *b, size_t at, maki_view_item item)
{
    maki_view *v = b->view;
    if (b->status != MAKI_OK) return;
    void *moved = maki_arena_grow(b->arena, v->items, v->count, &v->room, sizeof item);
    if (!moved) {
        b->status = maki_arena_status(b->arena, b->err);
        return;
    }
    v->items = moved;
    memmove(v->items + at + 1, v->items + at, (v->count - at) * sizeof item);
    v->items[at] = item;
    v->count++;
}

static void remove_item(building *b, size_t at)
{
    maki_view *v = b->view;
    memmove(v->items + at, v->items + at + 1, (v->count - at - 1) * sizeof v->items[0]);
    v->count--;
}

/* Take messages [from, to] out. */
static void hide(building *b, uint64_t from, uint64_t to)
{
    maki_view *v = b->view;
    for (size_t i = 0; b->status == MAKI_OK && i < v->count; i++) {
        maki_view_item *item = &v->items[i];
        if (item->from == 0 || item->to < from || item->from > to) continue;
        bool left = item->from<from, right = item->to> to;
        if (left && right) {
            maki_view_item rest = *item;
            rest.from = to + 1;
            item->to = from - 1;
            insert_item(b, i + 1, rest);
        } else if (left) {
            item->to = from - 1;
        } else if (right) {
            item->from = to + 1;
        } else {
            remove_item(b, i--);
        }
    }
}

/* Put a made message in before message `before`, after others that stand there already. */
static void put_in(building *b, maki_log *log, const maki_event *event)
{
    maki_view *v = b->view;
    maki_view_item made = { .log = log, .made = event };
    size_t i = 0;
    while (i < v->count && (v->items[i].from ? v->items[i].to < event->before
                                             : v->items[i].made->before <= event->before)) {
        i++;
    }
    if (i < v->count && v->items[i].from && v->items[i].from < event->before) {
        maki_view_item rest = v->items[i];
        rest.from = event->before;
        v->items[i].to = event->before - 1;
        insert_item(b, ++i, rest);
    }
    insert_item(b, i, made);
}

static void apply_hiding(building *b, maki_log *log, const maki_event *event)
{
    maki_view *v = b->view;
    for (size_t i = 0; i < event->hidden_count; i++) {
        hide(b, event->hidden[i].from, event->hidden[i].to);
    }
    for (size_t h = 0; h < event->hidden_ev_count; h++) {
        for (size_t i = 0; i < v->count; i++) {
            bool it = v->items[i].from == 0 && v->items[i].made->ev == event->hidden_evs[h];
            if (it) remove_item(b, i--);
        }
    }
    if (event->made_len) put_in(b, log, event);
}

static void add_pin(building *b, uint64_t seq)
{
    maki_view *v = b->view;
    if (maki_view_pinned(v, seq)) return;
    void *moved = maki_arena_grow(b->arena, v->pins, v->pin_count, &v->pin_room, sizeof seq);
    if (!moved) {
        b->status = maki_arena_status(b->arena, b->err);
        return;
    }
    v->pins = moved;
    v->pins[v->pin_count++] = seq;
}

static void remove_pin(maki_view *v, uint64_t seq)
{
    for (size_t i = 0; i < v->pin_count; i++) {
        if (v->pins[i] == seq) v->pins[i--] = v->pins[--v->pin_count];
    }
}

static void add_trim(building *b, const maki_event *event)
{
    maki_view *v = b->view;
    void *moved = maki_arena_grow(b->arena, v->trims, v->trim_count, &v->trim_room, sizeof event);
    if (!moved) {
        b->status = maki_arena_status(b->arena, b->err);
        return;
    }
    v->trims = moved;
    v->trims[v->trim_count++] = event;
}

static void apply(building *b, maki_log *log, const maki_event *event)
{
    switch (event->type) {
    case MAKI_EVENT_CONDENSE:
    case MAKI_EVENT_TRUNCATE: apply_hiding(b, log, event); break;
    case MAKI_EVENT_PIN: add_pin(b, event->seq); break;
    case MAKI_EVENT_UNPIN: remove_pin(b->view, event->seq); break;
    case MAKI_EVENT_TRIM: add_trim(b, event); break;
    case MAKI_EVENT_DAMAGE:
        if (event->seq) hide(b, event->seq, event->seq);
        break;
    default: break;
    }
}

static maki_event *event_of(maki_events *events, uint64_t ev)
{
    for (size_t i = events->count; i > 0 && events->at[i - 1].ev >= ev; i--) {
        if (events->at[i - 1].ev == ev) return &events->at[i - 1];
    }
    return NULL;
}

/* Newest to oldest: which events count at this moment, and which messages are in at all.  The ranges
 * come out newest first. */
static void walk_back(building *b, maki_log *log, maki_events *events, uint64_t seq, uint64_t ev,
                      uint64_t *below_seq)
{
    uint64_t base = maki_log_base(log);
    uint64_t top = seq;
    for (size_t i = 0; i < events->count; i++)
        events->at[i].dead = false;
    for (size_t i = events->count; i > 0; i--) {
        maki_event *e = &events->at[i - 1];
        if (e->ev > ev) {
            e->dead = true; /* after the moment, or between a rewind and where it went back to */
        } else if (e->type == MAKI_EVENT_UNDO && !e->dead) {
            maki_event *target = event_of(events, e->target);
            if (target) target->dead = true;
        } else if (e->type == MAKI_EVENT_REWIND && !e->dead) {
            uint64_t from = e->at > base ? e->at + 1 : base + 1;
            if (from <= top)
                insert_item(b, 0, (maki_view_item){ .log = log, .from = from, .to = top });
            top = e->to < top ? e->to : top;
            ev = e->to_ev;
        }
    }
    if (base + 1 <= top) {
        insert_item(b, 0, (maki_view_item){ .log = log, .from = base + 1, .to = top });
    }
    *below_seq = top < base ? top : base;
}

/* The view of the parent, without what a rewind of ours took back. */
static void put_below(building *b, const maki_view *below, uint64_t seq)
{
    size_t n = 0;
    for (size_t i = 0; i < below->count; i++) {
        maki_view_item item = below->items[i];
        if (item.from == 0 && item.made->before > seq + 1) continue;
        if (item.from > seq) continue;
        if (item.to > seq) item.to = seq;
        insert_item(b, n++, item);
    }
    for (size_t i = 0; i < below->pin_count; i++)
        add_pin(b, below->pins[i]);
    for (size_t i = 0; i < below->trim_count; i++)
        add_trim(b, below->trims[i]);
}

maki_status maki_view_make(maki_log *log, maki_events *events, const maki_view *below, uint64_t seq,
                           uint64_t ev, maki_arena *arena, maki_view *out, maki_err *err)
{
    building b = { .view = out, .arena = arena, .err = err, .status = MAKI_OK };
    uint64_t below_seq = 0;
    *out = (maki_view){ 0 };
    walk_back(&b, log, events, seq, ev, &below_seq);
    if (below) put_below(&b, below, below_seq);
    for (size_t i = 0; b.status == MAKI_OK && i < events->count; i++) {
        const maki_event *e = &events->at[i];
        /* an edit that was undone: the text it went on with goes too */
        if (e->type == MAKI_EVENT_REWIND && e->dead && e->with && e->ev <= ev) {
            hide(&b, e->with, e->with);
        }
        if (!e->dead) apply(&b, log, e);
    }
    return b.status;
}

/* ---- asking it ------------------------------------------------------------------------------------------ */

bool maki_view_pinned(const maki_view *view, uint64_t seq)
{
    for (size_t i = 0; i < view->pin_count; i++) {
        if (view->pins[i] == seq) return true;
    }
    return false;
}

bool maki_view_has(const maki_view *view, uint64_t seq)
{
    for (size_t i = 0; i < view->count; i++) {
        if (view->items[i].from && seq >= view->items[i].from && seq <= view->items[i].to)
            return true;
    }
    return false;
}

maki_status maki_view_total(const maki_view *view, maki_view_totals *out, maki_err *err)
{
    *out = (maki_view_totals){ 0 };
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        maki_row first, last;
        if (item->from == 0) {
            out->messages++;
            out->tokens += item->made->tokens;
            continue;
        }
        maki_status st = maki_log_row(item->log, item->from, &first, err);
        if (st == MAKI_OK) st = maki_log_row(item->log, item->to, &last, err);
        if (st != MAKI_OK) return st;
        out->messages += item->to - item->from + 1;
        out->tokens += last.tokens_so_far - first.tokens_so_far + first.tokens;
    }
    for (size_t i = 0; i < view->trim_count; i++) {
        uint64_t saved = view->trims[i]->tokens;
        if (!maki_view_has(view, view->trims[i]->seq)) continue;
        out->tokens -= saved < out->tokens ? saved : out->tokens;
    }
    return MAKI_OK;
}

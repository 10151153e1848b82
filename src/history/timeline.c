/* timeline.c -- see timeline.h. */
#include "history/timeline.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/sort.h"
#include "base/str.h"
#include "history/tally.h"

/* ---- reading events ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    maki_event_type type;
} types[] = {
    { "fork", MAKI_EVENT_FORK },         { "condense", MAKI_EVENT_CONDENSE },
    { "truncate", MAKI_EVENT_TRUNCATE }, { "trim", MAKI_EVENT_TRIM },
    { "prune", MAKI_EVENT_PRUNE },       { "pin", MAKI_EVENT_PIN },
    { "unpin", MAKI_EVENT_UNPIN },       { "rewind", MAKI_EVENT_REWIND },
    { "undo", MAKI_EVENT_UNDO },         { "damage", MAKI_EVENT_DAMAGE },
};

const char *maki_event_name(maki_event_type type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].type == type) return types[i].name;
    }
    return "";
}

/* The fields of an event that are read, found in one pass over it. */
enum {
    TYPE,
    AT,
    BEFORE,
    TOKENS,
    SEQ,
    BLOCK,
    HEAD,
    TAIL,
    TO,
    TO_EV,
    WITH,
    TARGET,
    HIDDEN,
    HIDDEN_EVENTS,
    HIDDEN_ABOVE,
    MESSAGE,
    FAMILY,
    EDITS,
    MESSAGES,
    FIELDS
};
static const char *const field_names[FIELDS] = {
    "type",        "at",      "before", "tokens", "seq",      "block",  "headUnits",
    "tailUnits",   "to",      "toEv",   "with",   "target",   "hidden", "hiddenEvents",
    "hiddenAbove", "message", "family", "edits",  "messages",
};

static void read_fields(maki_str event, maki_str fields[FIELDS])
{
    maki_json_iter iter = maki_json_items(event);
    maki_json_item item;
    memset(fields, 0, FIELDS * sizeof fields[0]);
    while (iter.object && maki_json_next(&iter, &item)) {
        for (size_t i = 0; i < FIELDS; i++) {
            if (maki_str_is(item.key, maki_str_of(field_names[i]))) fields[i] = item.value;
        }
    }
}

static maki_event_type type_of(maki_str type)
{
    if (type.len == 0 || maki_json_kind_of(type) != MAKI_JSON_STRING) return MAKI_EVENT_OTHER;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (maki_json_text_is(type, maki_str_of(types[i].name))) return types[i].type;
    }
    return MAKI_EVENT_OTHER;
}

/* A number that can be a seq, else 0. */
static uint64_t whole(maki_str value)
{
    uint64_t n = 0;
    (void)maki_json_whole(value, &n);
    return n;
}

/* The tokens of an event that names no vocabulary are from when there was only an estimate. */
static bool counted_by(maki_str family)
{
    return family.len > 0 && maki_json_kind_of(family) == MAKI_JSON_STRING &&
           maki_json_text_is(family, MAKI_LIT(MAKI_FAMILY));
}

/* A list of pairs. */
static maki_status read_pairs(maki_str list, maki_arena *arena, const maki_span64 **out,
                              size_t *count, maki_err *err)
{
    maki_json_item item, part;
    maki_span64 *spans = maki_arena_array(arena, maki_json_count(list), sizeof *spans);
    if (!spans) return maki_arena_status(arena, err);
    maki_json_iter iter = maki_json_items(list);
    while (maki_json_next(&iter, &item)) {
        maki_json_iter two = maki_json_items(item.value);
        maki_span64 *span = &spans[(*count)++];
        if (maki_json_next(&two, &part)) span->from = whole(part.value);
        if (maki_json_next(&two, &part)) span->to = whole(part.value);
    }
    *out = spans;
    return MAKI_OK;
}

/* "hidden": [[2, 9], [11, 12]], "hiddenEvents": [3] and "hiddenAbove": [[1, 3]] */
static maki_status read_hidden(const maki_str *fields, maki_arena *arena, maki_event *e,
                               maki_err *err)
{
    maki_json_item item;
    maki_status st = MAKI_OK;
    if (fields[HIDDEN].len) {
        st = read_pairs(fields[HIDDEN], arena, &e->hidden, &e->hidden_count, err);
    }
    if (st == MAKI_OK && fields[HIDDEN_ABOVE].len) {
        st = read_pairs(fields[HIDDEN_ABOVE], arena, &e->hidden_above, &e->hidden_above_count, err);
    }
    if (st == MAKI_OK && fields[HIDDEN_EVENTS].len) {
        maki_str list = fields[HIDDEN_EVENTS];
        uint64_t *evs = maki_arena_array(arena, maki_json_count(list), sizeof *evs);
        if (!evs) return maki_arena_status(arena, err);
        maki_json_iter iter = maki_json_items(list);
        while (maki_json_next(&iter, &item)) {
            evs[e->hidden_ev_count++] = whole(item.value);
        }
        e->hidden_evs = evs;
    }
    return st;
}

/* Three items each: from, to, the text between them. */
static maki_status read_cuts(maki_json_iter *items, maki_arena *arena, maki_trim *trim,
                             maki_err *err)
{
    maki_json_item item;
    size_t room = 0;
    maki_cut *cuts = NULL, cut;
    while (maki_json_next(items, &item)) {
        cut.from = whole(item.value);
        cut.to = maki_json_next(items, &item) ? whole(item.value) : 0;
        if (!maki_json_next(items, &item) || maki_json_kind_of(item.value) != MAKI_JSON_STRING)
            break;
        cut.text = maki_arena_copy(arena, item.value);
        cuts = maki_arena_grow(arena, cuts, trim->cut_count, &room, sizeof cut);
        if (!cuts) return maki_arena_status(arena, err);
        cuts[trim->cut_count++] = cut;
    }
    trim->cuts = cuts;
    return maki_arena_status(arena, err);
}

/* "edits": [[seq, block, part, tokens saved, from, to, "text" ...] ...] */
static maki_status read_edits(maki_str list, bool counted, maki_arena *arena, maki_event *e,
                              maki_err *err)
{
    maki_json_item item, part;
    maki_trim *trims = maki_arena_array(arena, maki_json_count(list), sizeof *trims);
    if (!trims) return maki_arena_status(arena, err);
    maki_json_iter iter = maki_json_items(list);
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_json_next(&iter, &item)) {
        maki_json_iter parts = maki_json_items(item.value);
        uint64_t numbers[4] = { 0 };
        for (size_t i = 0; i < 4 && maki_json_next(&parts, &part); i++)
            numbers[i] = whole(part.value);
        maki_trim *trim = &trims[e->trim_count++];
        *trim = (maki_trim){ .seq = numbers[0],
                             .block = (uint32_t)numbers[1],
                             .part = (uint32_t)numbers[2],
                             .tokens = (uint32_t)numbers[3],
                             .counted = counted };
        st = read_cuts(&parts, arena, trim, err);
        if (st == MAKI_OK && trim->cut_count == 0) trim->restores = true;
    }
    e->trims = trims;
    return st;
}

/* What is shortened: of a trim event the one block that it names itself. */
static maki_status read_trims(const maki_str *fields, maki_arena *arena, maki_event *e,
                              maki_err *err)
{
    bool counted = counted_by(fields[FAMILY]);
    if (e->type == MAKI_EVENT_PRUNE && fields[EDITS].len &&
        maki_json_kind_of(fields[EDITS]) == MAKI_JSON_ARRAY)
        return read_edits(fields[EDITS], counted, arena, e, err);
    if (e->type != MAKI_EVENT_TRIM) return MAKI_OK;
    maki_trim *trim = maki_arena_get(arena, sizeof *trim);
    if (!trim) return maki_arena_status(arena, err);
    *trim = (maki_trim){ .seq = e->seq,
                         .block = (uint32_t)whole(fields[BLOCK]),
                         .head = (uint32_t)whole(fields[HEAD]),
                         .tail = (uint32_t)whole(fields[TAIL]),
                         .tokens = (uint32_t)whole(fields[TOKENS]),
                         .counted = counted };
    e->trims = trim;
    e->trim_count = 1;
    return MAKI_OK;
}

typedef struct reading {
    maki_arena *arena;
    maki_events *out;
} reading;

static maki_status read_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    reading *r = ctx;
    maki_str event;
    maki_err why = { 0 };
    if (maki_json_check(row, &event, &why) != MAKI_OK) {
        return maki_fail(err, MAKI_CORRUPT, "event %" PRIu64 ": %s", ev, why.msg);
    }
    maki_str fields[FIELDS];
    read_fields(event, fields);
    maki_event_type type = type_of(fields[TYPE]);
    if (type == MAKI_EVENT_OTHER) return MAKI_OK;
    maki_events *list = r->out;
    void *moved = maki_arena_grow(r->arena, list->at, list->count, &list->room, sizeof(maki_event));
    if (!moved) return maki_arena_status(r->arena, err);
    list->at = moved;
    maki_event *e = &list->at[list->count++];
    *e = (maki_event){ .type = type,
                       .ev = ev,
                       .at = whole(fields[AT]),
                       .before = whole(fields[BEFORE]),
                       .tokens = (uint32_t)whole(fields[TOKENS]),
                       .counted = counted_by(fields[FAMILY]),
                       .messages = whole(fields[MESSAGES]),
                       .seq = whole(fields[SEQ]),
                       .to = whole(fields[TO]),
                       .to_ev = whole(fields[TO_EV]),
                       .with = whole(fields[WITH]),
                       .target = whole(fields[TARGET]) };
    if (fields[MESSAGE].len) {
        e->made_at = at + (uint64_t)(fields[MESSAGE].ptr - row.ptr);
        e->made_len = fields[MESSAGE].len;
    }
    if (type == MAKI_EVENT_FORK) e->at = e->seq; /* it was written before the log knew its base */
    maki_status st = read_hidden(fields, r->arena, e, err);
    return st == MAKI_OK ? read_trims(fields, r->arena, e, err) : st;
}

maki_status maki_events_read(maki_log *log, maki_arena *arena, maki_events *out, maki_err *err)
{
    reading r = { arena, out };
    *out = (maki_events){ 0 };
    return maki_log_each_event(log, read_event, &r, err);
}

uint64_t maki_events_at(const maki_events *events, uint64_t seq)
{
    uint64_t ev = 0;
    for (size_t i = 0; i < events->count; i++) {
        if (events->at[i].at <= seq) ev = events->at[i].ev;
    }
    return ev;
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

/* Does the event hide this made message?  Events of parents have numbers of their own. */
static bool hides_made(const maki_event *event, const maki_view_item *item)
{
    for (size_t i = 0; item->up == 0 && i < event->hidden_ev_count; i++) {
        if (event->hidden_evs[i] == item->made->ev) return true;
    }
    for (size_t i = 0; item->up > 0 && i < event->hidden_above_count; i++) {
        const maki_span64 *above = &event->hidden_above[i];
        if (above->from == item->up && above->to == item->made->ev) return true;
    }
    return false;
}

static void apply_hiding(building *b, maki_log *log, const maki_event *event)
{
    maki_view *v = b->view;
    for (size_t i = 0; i < event->hidden_count; i++) {
        hide(b, event->hidden[i].from, event->hidden[i].to);
    }
    for (size_t i = 0; i < v->count; i++) {
        if (v->items[i].from == 0 && hides_made(event, &v->items[i])) remove_item(b, i--);
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

static void add_trim(building *b, const maki_trim *trim)
{
    maki_view *v = b->view;
    if (b->status != MAKI_OK) return;
    void *moved = maki_arena_grow(b->arena, v->trims, v->trim_count, &v->trim_room, sizeof trim);
    if (!moved) {
        b->status = maki_arena_status(b->arena, b->err);
        return;
    }
    v->trims = moved;
    v->trims[v->trim_count++] = trim;
}

static bool by_text(const void *a, const void *b)
{
    const maki_trim *x = *(const maki_trim *const *)a, *y = *(const maki_trim *const *)b;
    if (x->seq != y->seq) return x->seq < y->seq;
    if (x->block != y->block) return x->block < y->block;
    return x->part < y->part;
}

/* In order, and of those for one text the newest: it is shortened anew, from its whole text. */
static void settle_trims(building *b)
{
    maki_view *v = b->view;
    size_t n = 0;
    if (b->status != MAKI_OK || v->trim_count == 0) return;
    b->status = maki_sort(v->trims, v->trim_count, sizeof *v->trims, by_text, b->arena, b->err);
    for (size_t i = 0; i < v->trim_count; i++) {
        bool newest = i + 1 == v->trim_count || by_text(&v->trims[i], &v->trims[i + 1]);
        if (newest) v->trims[n++] = v->trims[i];
    }
    v->trim_count = n;
}

static void apply(building *b, maki_log *log, const maki_event *event)
{
    switch (event->type) {
    case MAKI_EVENT_CONDENSE:
    case MAKI_EVENT_TRUNCATE: apply_hiding(b, log, event); break;
    case MAKI_EVENT_PIN: add_pin(b, event->seq); break;
    case MAKI_EVENT_UNPIN: remove_pin(b->view, event->seq); break;
    case MAKI_EVENT_TRIM:
    case MAKI_EVENT_PRUNE:
        for (size_t i = 0; i < event->trim_count; i++)
            add_trim(b, &event->trims[i]);
        break;
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
 * come out newest first.  Gives how far the view reaches into the parent. */
static uint64_t walk_back(building *b, maki_log *log, maki_events *events, uint64_t seq,
                          uint64_t ev)
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
            if (b && from <= top) {
                insert_item(b, 0, (maki_view_item){ .log = log, .from = from, .to = top });
            }
            top = e->to < top ? e->to : top;
            ev = e->to_ev;
        }
    }
    if (b && base + 1 <= top) {
        insert_item(b, 0, (maki_view_item){ .log = log, .from = base + 1, .to = top });
    }
    return top < base ? top : base;
}

uint64_t maki_view_below(maki_log *log, maki_events *events, uint64_t seq, uint64_t ev)
{
    return walk_back(NULL, log, events, seq, ev);
}

/* The view of the parent, up to where we left it. */
static void put_below(building *b, const maki_view *below, uint64_t seq)
{
    size_t n = 0;
    for (size_t i = 0; i < below->count; i++) {
        maki_view_item item = below->items[i];
        if (item.from > seq) continue;
        if (item.to > seq) item.to = seq;
        item.up++;
        insert_item(b, n++, item);
    }
    for (size_t i = 0; i < below->pin_count; i++)
        add_pin(b, below->pins[i]);
    for (size_t i = 0; i < below->trim_count; i++)
        add_trim(b, below->trims[i]);
}

/* An edit that is void: the text it went on with goes too, and the results of its calls. */
static void hide_edit(building *b, maki_log *log, uint64_t with)
{
    maki_row row;
    uint64_t to = with;
    while (b->status == MAKI_OK && to < maki_log_last(log)) {
        b->status = maki_log_row(log, to + 1, &row, b->err);
        if (row.call_seq != with) break;
        to++;
    }
    hide(b, with, to);
}

maki_status maki_view_make(maki_log *log, maki_events *events, const maki_view *below, uint64_t seq,
                           uint64_t ev, maki_arena *arena, maki_view *out, maki_err *err)
{
    building b = { .view = out, .arena = arena, .err = err, .status = MAKI_OK };
    *out = (maki_view){ 0 };
    uint64_t below_seq = walk_back(&b, log, events, seq, ev);
    if (below) put_below(&b, below, below_seq);
    for (size_t i = 0; b.status == MAKI_OK && i < events->count; i++) {
        const maki_event *e = &events->at[i];
        if (e->type == MAKI_EVENT_REWIND && e->dead && e->with && e->ev <= ev) {
            hide_edit(&b, log, e->with);
        }
        if (!e->dead) apply(&b, log, e);
    }
    settle_trims(&b);
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

size_t maki_view_trims_from(const maki_view *view, uint64_t seq)
{
    size_t low = 0, high = view->trim_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (view->trims[mid]->seq < seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const maki_trim *maki_view_trim(const maki_view *view, uint64_t seq, uint32_t block, uint32_t part)
{
    for (size_t i = maki_view_trims_from(view, seq);
         i < view->trim_count && view->trims[i]->seq == seq; i++) {
        if (view->trims[i]->block == block && view->trims[i]->part == part) return view->trims[i];
    }
    return NULL;
}

uint64_t maki_view_messages(const maki_view *view)
{
    uint64_t n = 0;
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        n += item->from ? item->to - item->from + 1 : 1;
    }
    return n;
}

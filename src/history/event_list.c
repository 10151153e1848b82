/* event_list.c -- read the events file into the list of events that may change a view.
 *
 * In:    a log, and the list as far as it was read before.
 * Out:   the list with the events appended since; strings and arrays in the caller's arena.
 * Must stay true: the list is in the order of the file; an unknown type of event is skipped, invalid JSON is
 *        MAKI_CORRUPT; the bytes of a synthetic message are not read, only where they are. */
#include "history/event_list.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "history/token_counter.h"

#define NAMED(NAME, name) #name,
static const char *const names[] = { "", MAKI_EVENT_MAP(NAMED) };

const char *maki_event_name(maki_event_type type)
{
    return names[type];
}

/* The fields of an event that are read, found in one walk. */
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
    TS,
    SINCE,
    FIELDS
};
static const char *const field_names[FIELDS] = {
    "type",        "at",      "before", "tokens", "seq",      "block",  "headUnits",
    "tailUnits",   "to",      "toEv",   "with",   "target",   "hidden", "hiddenEvents",
    "hiddenAbove", "message", "family", "edits",  "messages", "ts",     "since",
};

static void read_fields(maki_str event, maki_str fields[FIELDS])
{
    memset(fields, 0, FIELDS * sizeof fields[0]);
    MAKI_JSON_EACH(item, maki_json_fields(event)) {
        for (size_t i = 0; i < FIELDS; i++) {
            if (maki_str_equal(item.key, maki_str_of(field_names[i]))) fields[i] = item.value;
        }
    }
}

static maki_event_type type_of(maki_str type)
{
    if (type.len == 0 || maki_json_kind_of(type) != MAKI_JSON_STRING) return MAKI_EVENT_OTHER;
    for (size_t i = 1; i < sizeof names / sizeof names[0]; i++) {
        if (maki_json_text_is(type, maki_str_of(names[i]))) return (maki_event_type)i;
    }
    return MAKI_EVENT_OTHER;
}

/* An unsigned integer, else 0. */
static uint64_t uint_or_zero(maki_str value)
{
    uint64_t n = 0;
    (void)maki_json_uint(value, &n);
    return n;
}

/* Were an event's tokens counted in MAKI_LOG_ENCODING?  Events of former versions, without a `family`, have an
 * estimate. */
static bool is_counted_in_log_encoding(maki_str family)
{
    return family.len > 0 && maki_json_kind_of(family) == MAKI_JSON_STRING &&
           maki_json_text_is(family, MAKI_LIT(MAKI_LOG_ENCODING));
}

/* Read a list of pairs. */
static maki_status read_pairs(maki_str list, maki_arena *arena, const maki_span64 **out,
                              size_t *count, maki_err *err)
{
    maki_json_item part;
    maki_span64 *spans = maki_arena_array(arena, maki_json_count(list), sizeof *spans);
    if (!spans) return maki_arena_status(arena, err);
    MAKI_JSON_EACH(item, maki_json_items(list)) {
        maki_json_iter pair = maki_json_items(item.value);
        maki_span64 *span = &spans[(*count)++];
        if (maki_json_next(&pair, &part)) span->from = uint_or_zero(part.value);
        if (maki_json_next(&pair, &part)) span->to = uint_or_zero(part.value);
    }
    *out = spans;
    return MAKI_OK;
}

/* "hidden": [[2, 9], [11, 12]], "hiddenEvents": [3] and "hiddenAbove": [[1, 3]] */
static maki_status read_hidden(const maki_str *fields, maki_arena *arena, maki_event *e,
                               maki_err *err)
{
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
        MAKI_JSON_EACH(item, maki_json_items(list)) {
            evs[e->hidden_ev_count++] = uint_or_zero(item.value);
        }
        e->hidden_evs = evs;
    }
    return st;
}

/* Read cuts of three items each: from, to, and the text that replaces what is between them. */
static maki_status read_cuts(maki_json_iter *items, maki_arena *arena, maki_trim *trim,
                             maki_err *err)
{
    maki_json_item item;
    size_t capacity = 0;
    maki_cut *cuts = NULL, cut;
    while (maki_json_next(items, &item)) {
        cut.from = uint_or_zero(item.value);
        cut.to = maki_json_next(items, &item) ? uint_or_zero(item.value) : 0;
        if (!maki_json_next(items, &item) || maki_json_kind_of(item.value) != MAKI_JSON_STRING)
            break;
        cut.text = maki_arena_copy(arena, item.value);
        if (maki_arena_add(arena, &cuts, &trim->cut_count, &capacity, &cut, sizeof cut, err) !=
            MAKI_OK)
            break;
    }
    trim->cuts = cuts;
    return maki_arena_status(arena, err);
}

/* "edits": [[seq, block, part, tokens saved, from, to, "text" ...] ...] */
static maki_status read_edits(maki_str list, bool counted, maki_arena *arena, maki_event *e,
                              maki_err *err)
{
    maki_json_item part;
    maki_trim *trims = maki_arena_array(arena, maki_json_count(list), sizeof *trims);
    if (!trims) return maki_arena_status(arena, err);
    maki_status st = MAKI_OK;
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(list)) {
        maki_json_iter parts = maki_json_items(item.value);
        uint64_t numbers[4] = { 0 };
        for (size_t i = 0; i < 4 && maki_json_next(&parts, &part); i++)
            numbers[i] = uint_or_zero(part.value);
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

/* Read what is shortened: the edits of a prune, or the one block of a trim. */
static maki_status read_trims(const maki_str *fields, maki_arena *arena, maki_event *e,
                              maki_err *err)
{
    bool counted = is_counted_in_log_encoding(fields[FAMILY]);
    if (e->type == MAKI_EVENT_PRUNE && fields[EDITS].len &&
        maki_json_kind_of(fields[EDITS]) == MAKI_JSON_ARRAY)
        return read_edits(fields[EDITS], counted, arena, e, err);
    if (e->type != MAKI_EVENT_TRIM) return MAKI_OK;
    maki_trim *trim = maki_arena_get(arena, sizeof *trim);
    if (!trim) return maki_arena_status(arena, err);
    *trim = (maki_trim){ .seq = e->seq,
                         .block = (uint32_t)uint_or_zero(fields[BLOCK]),
                         .head = (uint32_t)uint_or_zero(fields[HEAD]),
                         .tail = (uint32_t)uint_or_zero(fields[TAIL]),
                         .tokens = (uint32_t)uint_or_zero(fields[TOKENS]),
                         .counted = counted };
    e->trims = trim;
    e->trim_count = 1;
    return MAKI_OK;
}

typedef struct event_reader {
    maki_arena *arena;
    maki_events *out;
} event_reader;

static maki_status add_event(event_reader *r, uint64_t ev, maki_event_type type,
                             const maki_str *fields, maki_err *err)
{
    maki_events *list = r->out;
    void *moved =
        maki_arena_grow(r->arena, list->at, list->count, &list->capacity, sizeof(maki_event));
    if (!moved) return maki_arena_status(r->arena, err);
    list->at = moved;
    maki_event *e = &list->at[list->count];
    *e = (maki_event){ .type = type,
                       .ev = ev,
                       .at = uint_or_zero(fields[AT]),
                       .ts = (int64_t)uint_or_zero(fields[fields[SINCE].len ? SINCE : TS]),
                       .before = uint_or_zero(fields[BEFORE]),
                       .tokens = (uint32_t)uint_or_zero(fields[TOKENS]),
                       .counted = is_counted_in_log_encoding(fields[FAMILY]),
                       .messages = uint_or_zero(fields[MESSAGES]),
                       .seq = uint_or_zero(fields[SEQ]),
                       .to = uint_or_zero(fields[TO]),
                       .to_ev = uint_or_zero(fields[TO_EV]),
                       .with = uint_or_zero(fields[WITH]),
                       .target = uint_or_zero(fields[TARGET]) };
    if (type == MAKI_EVENT_FORK)
        e->at = e->seq; /* a fork event is written before the log has its base */
    maki_status st = read_hidden(fields, r->arena, e, err);
    if (st == MAKI_OK) st = read_trims(fields, r->arena, e, err);
    if (st == MAKI_OK) list->count++;
    return st;
}

/* The record of a run (manifest {"of":"manage"}) names its first and last event: mark those between. */
static void mark_run(maki_events *list, maki_str event)
{
    maki_str of;
    uint64_t first = maki_json_uint_field(event, MAKI_LIT("first"));
    uint64_t last = maki_json_uint_field(event, MAKI_LIT("last"));
    if (!maki_json_get(event, MAKI_LIT("of"), &of) || !maki_json_text_is(of, MAKI_LIT("manage")))
        return;
    for (size_t i = list->count; first && i > 0 && list->at[i - 1].ev >= first; i--) {
        maki_event *e = &list->at[i - 1];
        if (e->ev <= last && maki_event_frees_context(e->type)) e->run = first;
    }
}

/* Is it one of the events about requests to a model, which are most of all?  They change no view: their fields are not
 * looked up. */
static bool is_about_requests(maki_str row)
{
    maki_event_head head;
    if (!maki_event_head_of(row, &head)) return false;
    return maki_str_equal(head.type, MAKI_LIT("usage")) ||
           (maki_str_equal(head.type, MAKI_LIT("manifest")) &&
            !maki_str_contains(row, MAKI_LIT("manage")));
}

static maki_status read_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    event_reader *r = ctx;
    maki_str event, fields[FIELDS];
    maki_err why = { 0 };
    if (maki_json_check(row, &event, &why) != MAKI_OK) {
        return maki_fail(err, MAKI_CORRUPT, "event %" PRIu64 ": %s", ev, why.msg);
    }
    r->out->ev = ev;
    r->out->end = at + row.len + 1;
    if (is_about_requests(row)) return MAKI_OK;
    read_fields(event, fields);
    maki_event_type type = type_of(fields[TYPE]);
    maki_status st = type == MAKI_EVENT_OTHER ? MAKI_OK : add_event(r, ev, type, fields, err);
    if (st != MAKI_OK) return st;
    if (type == MAKI_EVENT_OTHER && maki_json_text_is(fields[TYPE], MAKI_LIT("manifest")))
        mark_run(r->out, event);
    if (type != MAKI_EVENT_OTHER && fields[MESSAGE].len) {
        maki_event *e = &r->out->at[r->out->count - 1];
        e->synthetic_at = at + (uint64_t)(fields[MESSAGE].ptr - row.ptr);
        e->synthetic_len = fields[MESSAGE].len;
    }
    return MAKI_OK;
}

maki_status maki_events_read(maki_log *log, maki_arena *arena, maki_events *events, maki_err *err)
{
    event_reader r = { arena, events };
    return maki_log_each_event_from(log, events->ev, events->end, read_event, &r, err);
}

bool maki_event_changes_view(maki_str row)
{
    maki_str event;
    return maki_json_check(row, &event, NULL) != MAKI_OK ||
           type_of(maki_json_field(event, "type")) != MAKI_EVENT_OTHER;
}

uint64_t maki_events_at(const maki_events *events, uint64_t seq)
{
    uint64_t ev = 0;
    for (size_t i = 0; i < events->count; i++) {
        if (events->at[i].at <= seq) ev = events->at[i].ev;
    }
    return ev;
}

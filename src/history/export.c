/* export.c -- the tagged array of roo, and its UI messages; see export.h.
 *
 * The view is made once more with events that hide nothing: that gives every message in its place,
 * rewinds and undos respected.  What each event hides becomes tags, found in one sweep over the rows. */
#include "history/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/sort.h"
#include "base/str.h"
#include "history/blocks.h"
#include "history/conv_inside.h"

enum { ARENA_MAX = 1 << 30, KINDS = 2 };

static const char *const names[] = { "roo", "lines", "openai", "anthropic" };

static const struct {
    const char *type, *flag, *id, *tag;
} kinds[KINDS] = { { "condense", "isSummary", "condenseId", "condenseParent" },
                   { "truncate", "isTruncationMarker", "truncationId", "truncationParent" } };

maki_status maki_export_named(maki_str name, maki_export_format *out, maki_err *err)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!maki_str_is(name, maki_str_of(names[i]))) continue;
        *out = (maki_export_format)i;
        return MAKI_OK;
    }
    return maki_fail(err, MAKI_UNSUPPORTED,
                     "no format \"%.*s\"; there are roo, roo-ui, lines, openai, anthropic",
                     (int)(name.len < 40 ? name.len : 40), name.ptr);
}

/* ---- what is tagged with what ----------------------------------------------------------------------- */

/* A tag on a span of rows, or on the message that event `ev` made `up` forks above. */
typedef struct tagging {
    uint64_t from, to; /* rows; from 0: a made message */
    uint64_t up, ev;
    size_t order; /* of its event among all */
    unsigned kind;
    maki_str id;
} tagging;

typedef struct exporting {
    maki_conv *conv;
    maki_arena arena;
    tagging *list; /* by rows first, then by event */
    size_t count, room;
    size_t next;  /* the first one not reached by the sweep */
    size_t *open; /* numbers of those that reach over the row at hand */
    size_t open_count, open_room;
    size_t orders;
    maki_buf row;
    maki_jw w;
    bool at_start; /* of a row that is being copied */
} exporting;

static maki_status add_tagging(exporting *x, tagging t, maki_err *err)
{
    void *moved = maki_arena_grow(&x->arena, x->list, x->count, &x->room, sizeof t);
    if (!moved) return maki_arena_status(&x->arena, err);
    x->list = moved;
    x->list[x->count++] = t;
    return MAKI_OK;
}

/* Reading the events of one log. */
typedef struct level {
    exporting *x;
    const maki_events *events; /* dead or alive at this moment */
    size_t next;
    uint32_t up;
} level;

static bool string_field(maki_str object, const char *name, maki_str *value)
{
    return maki_json_get(object, maki_str_of(name), value) &&
           maki_json_kind_of(*value) == MAKI_JSON_STRING && value->len > 2;
}

/* Orphans: tags that name nothing, kept by the import. */
static maki_status note_orphans(level *l, maki_str list, maki_err *err)
{
    maki_json_iter iter = maki_json_items(list);
    maki_json_item item, part;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_json_next(&iter, &item)) {
        maki_str tag, id, rows = { "", 0 }, evs = { "", 0 };
        if (!string_field(item.value, "tag", &tag) || !string_field(item.value, "id", &id))
            continue;
        unsigned kind = maki_json_text_is(tag, MAKI_LIT("truncationParent"));
        tagging t = { .order = SIZE_MAX, .kind = kind, .id = maki_arena_copy(&l->x->arena, id) };
        st = maki_arena_status(&l->x->arena, err);
        maki_json_get(item.value, MAKI_LIT("rows"), &rows);
        maki_json_get(item.value, MAKI_LIT("events"), &evs);
        maki_json_iter spans = maki_json_items(rows), made = maki_json_items(evs);
        while (st == MAKI_OK && maki_json_next(&spans, &item)) {
            maki_json_iter two = maki_json_items(item.value);
            t.from = t.to = 0;
            if (maki_json_next(&two, &part)) (void)maki_json_whole(part.value, &t.from);
            if (maki_json_next(&two, &part)) (void)maki_json_whole(part.value, &t.to);
            if (t.from) st = add_tagging(l->x, t, err);
        }
        t.from = t.to = 0;
        t.up = l->up;
        while (st == MAKI_OK && maki_json_next(&made, &item)) {
            t.ev = 0;
            (void)maki_json_whole(item.value, &t.ev);
            st = add_tagging(l->x, t, err);
        }
    }
    return st;
}

/* The id of an event: as its message has it, or as it says itself, or a made-up one. */
static maki_str id_of(level *l, uint64_t ev, maki_str event, unsigned kind)
{
    maki_str message, id;
    bool has = maki_json_get(event, MAKI_LIT("message"), &message);
    if ((has && string_field(message, kinds[kind].id, &id)) || string_field(event, "id", &id)) {
        return maki_arena_copy(&l->x->arena, id);
    }
    return maki_arena_print(&l->x->arena, "\"maki-%u-%" PRIu64 "\"", (unsigned)l->up, ev);
}

static maki_status note_hidden(level *l, const maki_event *e, maki_str id, maki_err *err)
{
    exporting *x = l->x;
    maki_status st = MAKI_OK;
    tagging t = { .order = x->orders++, .kind = e->type == MAKI_EVENT_TRUNCATE, .id = id };
    for (size_t i = 0; st == MAKI_OK && i < e->hidden_count; i++) {
        t.from = e->hidden[i].from;
        t.to = e->hidden[i].to;
        if (t.from) st = add_tagging(x, t, err);
    }
    t.from = t.to = 0;
    for (size_t i = 0; st == MAKI_OK && i < e->hidden_ev_count; i++) {
        t.up = l->up;
        t.ev = e->hidden_evs[i];
        st = add_tagging(x, t, err);
    }
    for (size_t i = 0; st == MAKI_OK && i < e->hidden_above_count; i++) {
        t.up = l->up + e->hidden_above[i].from;
        t.ev = e->hidden_above[i].to;
        st = add_tagging(x, t, err);
    }
    return st;
}

static maki_status note_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    level *l = ctx;
    maki_str event, list;
    (void)at;
    while (l->next < l->events->count && l->events->at[l->next].ev < ev)
        l->next++;
    const maki_event *e = l->next < l->events->count ? &l->events->at[l->next] : NULL;
    if (e && e->ev != ev) e = NULL;
    bool hides =
        e && !e->dead && (e->type == MAKI_EVENT_CONDENSE || e->type == MAKI_EVENT_TRUNCATE);
    if (e && !hides) return MAKI_OK;
    if (maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK; /* timeline.c has told */
    if (!e) {
        bool has = maki_json_get(event, MAKI_LIT("orphans"), &list);
        return has ? note_orphans(l, list, err) : MAKI_OK;
    }
    maki_str id = id_of(l, ev, event, e->type == MAKI_EVENT_TRUNCATE);
    maki_status st = maki_arena_status(&l->x->arena, err);
    return st == MAKI_OK ? note_hidden(l, e, id, err) : st;
}

/* What would hide messages of the view last asked for, oldest log first. */
static maki_status note_levels(exporting *x, maki_conv *conv, uint32_t up, maki_err *err)
{
    level l = { .x = x, .events = &conv->events, .up = up };
    maki_status st = conv->parent ? note_levels(x, conv->parent, up + 1, err) : MAKI_OK;
    return st == MAKI_OK ? maki_log_each_event(conv->log, note_event, &l, err) : st;
}

static bool by_place(const void *a, const void *b)
{
    const tagging *x = a, *y = b;
    if ((x->from == 0) != (y->from == 0)) return y->from == 0;
    if (x->from != y->from) return x->from < y->from;
    if (x->up != y->up) return x->up < y->up;
    return x->ev < y->ev;
}

/* ---- the sweep ------------------------------------------------------------------------------------------- */

typedef struct tags {
    const tagging *of[KINDS];
} tags;

static void take(tags *t, const tagging *one)
{
    const tagging **place = &t->of[one->kind];
    if (!*place || one->order < (*place)->order) *place = one; /* the oldest that hides it */
}

/* The tags of row `seq`; rows come in order.  *until is the last row they hold for. */
static maki_status tags_of_row(exporting *x, uint64_t seq, tags *out, uint64_t *until,
                               maki_err *err)
{
    *out = (tags){ 0 };
    *until = UINT64_MAX;
    for (; x->next < x->count && x->list[x->next].from && x->list[x->next].from <= seq; x->next++) {
        void *moved =
            maki_arena_grow(&x->arena, x->open, x->open_count, &x->open_room, sizeof *x->open);
        if (!moved) return maki_arena_status(&x->arena, err);
        x->open = moved;
        x->open[x->open_count++] = x->next;
    }
    for (size_t i = 0; i < x->open_count; i++) {
        const tagging *one = &x->list[x->open[i]];
        if (one->to < seq) {
            x->open[i--] = x->open[--x->open_count];
            continue;
        }
        take(out, one);
        if (one->to < *until) *until = one->to;
    }
    if (x->next < x->count && x->list[x->next].from && x->list[x->next].from <= *until) {
        *until = x->list[x->next].from - 1;
    }
    return MAKI_OK;
}

static tags tags_of_made(const exporting *x, uint32_t up, uint64_t ev)
{
    tags out = { 0 };
    size_t low = 0, high = x->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const tagging *t = &x->list[mid];
        bool less = t->from || t->up < up || (t->up == up && t->ev < ev);
        if (less)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < x->count && x->list[low].up == up && x->list[low].ev == ev; low++) {
        take(&out, &x->list[low]);
    }
    return out;
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

static void write_tag(maki_jw *w, const char *name, maki_str value)
{
    maki_jw_bytes(w, MAKI_LIT(",\""));
    maki_jw_bytes(w, maki_str_of(name));
    maki_jw_bytes(w, MAKI_LIT("\":"));
    maki_jw_bytes(w, value);
}

/* A message with its tags after its own fields.  Fields of those names that it has already, null or
 * empty, are left out then. */
static void write_tagged(maki_jw *w, maki_str json, const tags *t)
{
    maki_json_iter iter = maki_json_items(json);
    maki_json_item item;
    const char *end = json.ptr + 1;
    bool kept = false;
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("{"));
    while (maki_json_next(&iter, &item)) {
        const char *stop = item.value.ptr + item.value.len;
        bool cut = false;
        for (size_t k = 0; k < KINDS; k++) {
            cut |= t->of[k] && maki_json_key_is(item.key, maki_str_of(kinds[k].tag));
        }
        if (!cut) {
            const char *from = kept ? end : item.start;
            maki_jw_bytes(w, (maki_str){ from, (size_t)(stop - from) });
            kept = true;
        }
        end = stop;
    }
    for (size_t k = 0; k < KINDS; k++) {
        if (t->of[k]) write_tag(w, kinds[k].tag, t->of[k]->id);
    }
    maki_jw_bytes(w, MAKI_LIT("}"));
}

/* Rows as they stand in the file, cut anywhere. */
static maki_status copy_rows(void *ctx, maki_str bytes, maki_err *err)
{
    exporting *x = ctx;
    (void)err;
    while (bytes.len) {
        const char *newline = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = newline ? (size_t)(newline - bytes.ptr) : bytes.len;
        if (x->at_start) maki_jw_begin_value(&x->w);
        x->at_start = newline != NULL;
        maki_jw_bytes(&x->w, maki_str_to(bytes, n));
        bytes = maki_str_from(bytes, newline ? n + 1 : n);
    }
    return x->w.status;
}

static maki_status write_rows(exporting *x, maki_log *log, uint64_t from, uint64_t to,
                              const tags *t, maki_err *err)
{
    if (!t->of[0] && !t->of[1]) {
        x->at_start = true;
        return maki_log_copy(log, from, to, (maki_sink){ copy_rows, x }, err);
    }
    maki_status st = MAKI_OK;
    for (uint64_t seq = from; st == MAKI_OK && seq <= to; seq++) {
        maki_buf_clear(&x->row);
        st = maki_log_read(log, seq, &x->row, err);
        if (st == MAKI_OK) write_tagged(&x->w, maki_buf_str(&x->row), t);
    }
    return st;
}

/* Rows that are no JSON are in nobody's array. */
static maki_status good_until(maki_log *log, uint64_t from, uint64_t *to, maki_err *err)
{
    for (uint64_t seq = from; seq <= *to; seq++) {
        maki_row row;
        maki_status st = maki_log_row(log, seq, &row, err);
        if (st != MAKI_OK) return st;
        if (row.flags & MAKI_ROW_BAD) *to = seq - 1;
    }
    return MAKI_OK;
}

static maki_status write_range(exporting *x, const maki_view_item *item, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (uint64_t seq = item->from; st == MAKI_OK && seq <= item->to;) {
        tags t;
        uint64_t until = 0;
        st = tags_of_row(x, seq, &t, &until, err);
        if (st != MAKI_OK) break;
        if (until > item->to) until = item->to;
        uint64_t good = until;
        st = good_until(item->log, seq, &good, err);
        if (st == MAKI_OK && good >= seq) st = write_rows(x, item->log, seq, good, &t, err);
        seq = good == until ? until + 1 : good + 2;
    }
    return st;
}

static maki_status write_made(exporting *x, const maki_view_item *item, maki_err *err)
{
    const maki_event *e = item->made;
    unsigned kind = e->type == MAKI_EVENT_TRUNCATE;
    tags t = tags_of_made(x, item->up, e->ev);
    maki_str id, json;
    maki_buf_clear(&x->row);
    maki_status st = maki_log_event_bytes(item->log, e->made_at, e->made_len, &x->row, err);
    if (st != MAKI_OK) return st;
    if (!string_field(maki_buf_str(&x->row), kinds[kind].id, &id)) { /* not by us: it needs one */
        char more[120];
        x->row.len--;
        snprintf(more, sizeof more, ",\"%s\":true,\"%s\":\"maki-%u-%" PRIu64 "\"}",
                 kinds[kind].flag, kinds[kind].id, (unsigned)item->up, e->ev);
        maki_buf_add(&x->row, maki_str_of(more));
        st = maki_buf_status(&x->row, err);
    }
    json = maki_buf_str(&x->row);
    if (st == MAKI_OK && (t.of[0] || t.of[1]))
        write_tagged(&x->w, json, &t);
    else if (st == MAKI_OK)
        maki_jw_raw(&x->w, json);
    return st;
}

static maki_status export_roo(exporting *x, maki_sink sink, maki_err *err)
{
    const maki_view *view;
    maki_view_at at = { .seq = MAKI_NOW, .ev = MAKI_NOW, .hiding = MAKI_UNHIDDEN };
    maki_status st = maki_conv_view_at(x->conv, &at, &view, err);
    if (st == MAKI_OK) st = note_levels(x, x->conv, 0, err);
    if (st != MAKI_OK) return st;
    if (x->count) st = maki_sort(x->list, x->count, sizeof *x->list, by_place, &x->arena, err);
    maki_jw_init(&x->w, sink, err);
    maki_jw_array(&x->w);
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        st = item->from ? write_range(x, item, err) : write_made(x, item, err);
    }
    maki_jw_end_array(&x->w);
    maki_status written = maki_jw_end(&x->w);
    return st == MAKI_OK ? written : st;
}

/* ---- fewer, larger writes ---------------------------------------------------------------------- */

typedef struct wide {
    maki_sink to;
    size_t fill;
    char waiting[1 << 18];
} wide;

static maki_status flush(wide *o, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (o->fill) st = o->to.write(o->to.ctx, (maki_str){ o->waiting, o->fill }, err);
    o->fill = 0;
    return st;
}

static maki_status wide_write(void *ctx, maki_str bytes, maki_err *err)
{
    wide *o = ctx;
    maki_status st = MAKI_OK;
    if (bytes.len > sizeof o->waiting - o->fill) st = flush(o, err);
    if (st != MAKI_OK) return st;
    if (bytes.len >= sizeof o->waiting) return o->to.write(o->to.ctx, bytes, err);
    memcpy(o->waiting + o->fill, bytes.ptr, bytes.len);
    o->fill += bytes.len;
    return MAKI_OK;
}

static maki_status export_to(maki_conv *conv, maki_export_format format, maki_sink sink,
                             maki_err *err)
{
    if (format != MAKI_EXPORT_ROO) {
        return maki_export_chat(conv, format == MAKI_EXPORT_ANTHROPIC, sink, err);
    }
    exporting x = { .conv = conv,
                    .arena = maki_arena_new(conv->env.alloc, ARENA_MAX),
                    .row = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX) };
    maki_status st = export_roo(&x, sink, err);
    maki_buf_free(&x.row);
    maki_arena_free(&x.arena);
    return st;
}

maki_status maki_export(maki_conv *conv, maki_export_format format, maki_sink sink, maki_err *err)
{
    const maki_alloc *alloc = conv->env.alloc;
    const maki_view *view;
    if (format == MAKI_EXPORT_LINES) {
        maki_status st = maki_conv_everything(conv, &view, err);
        return st == MAKI_OK ? maki_conv_write(conv, view, false, sink, err) : st;
    }
    wide *o = alloc->resize(alloc, NULL, 0, sizeof *o);
    if (!o) return maki_fail_nomem(err);
    o->to = sink;
    o->fill = 0;
    maki_status st = export_to(conv, format, (maki_sink){ wide_write, o }, err);
    if (st == MAKI_OK) st = flush(o, err);
    alloc->resize(alloc, o, sizeof *o, 0);
    return st;
}

/* ---- UI messages ------------------------------------------------------------------------------------------------ */

typedef struct ui {
    maki_conv *conv;
    maki_jw w;
    bool imported; /* there are UI messages of the import: its condenses are told by them */
} ui;

static maki_status find_ui(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    ui *u = ctx;
    maki_str event, value;
    (void)ev;
    (void)at;
    (void)err;
    if (maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK;
    if (!maki_json_get(event, MAKI_LIT("ui"), &value)) return MAKI_OK;
    u->imported = true;
    return MAKI_CANCELLED;
}

static void ui_number(maki_jw *w, const char *name, uint64_t n)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_int(w, (int64_t)n);
}

/* The words of a message: a string, or its first block of text. */
static maki_str words_of(maki_str message)
{
    maki_str content, block, text;
    if (!maki_json_get(message, MAKI_LIT("content"), &content)) return MAKI_LIT("\"\"");
    maki_blocks blocks = maki_content_blocks(content);
    while (maki_blocks_next(&blocks, &block)) {
        if (block.ptr[0] == '"') return block;
        bool words = maki_block_is(block, MAKI_LIT("text")) &&
                     maki_block_string(block, MAKI_LIT("text"), &text);
        if (words) return text;
    }
    return MAKI_LIT("\"\"");
}

static maki_status tokens_at(ui *u, uint64_t seq, uint64_t ev, uint64_t *tokens, maki_err *err)
{
    const maki_view *view;
    maki_view_totals totals = { 0 };
    maki_status st = maki_conv_view(u->conv, seq, ev, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(u->conv, view, &totals, err);
    *tokens = totals.tokens;
    return st;
}

static maki_status tell(ui *u, uint64_t ev, maki_str event, unsigned kind, maki_err *err)
{
    maki_jw *w = &u->w;
    maki_str message = { "{}", 2 }, value, id = MAKI_LIT("\"\"");
    uint64_t seq = maki_json_whole_field(event, MAKI_LIT("at")), before = 0, after = 0;
    maki_status st = tokens_at(u, seq, ev - 1, &before, err);
    if (st == MAKI_OK) st = tokens_at(u, seq, ev, &after, err);
    if (st != MAKI_OK) return st;
    maki_json_get(event, MAKI_LIT("message"), &message);
    if (!string_field(message, kinds[kind].id, &id)) id = MAKI_LIT("\"\"");
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("ts"));
    maki_jw_raw(w, maki_json_get(event, MAKI_LIT("ts"), &value) ? value : MAKI_LIT("0"));
    maki_jw_key(w, MAKI_LIT("type"));
    maki_jw_string(w, MAKI_LIT("say"));
    maki_jw_key(w, MAKI_LIT("say"));
    maki_jw_string(w, kind ? MAKI_LIT("sliding_window_truncation") : MAKI_LIT("condense_context"));
    maki_jw_key(w, kind ? MAKI_LIT("contextTruncation") : MAKI_LIT("contextCondense"));
    maki_jw_object(w);
    maki_jw_key(w, maki_str_of(kinds[kind].id));
    maki_jw_raw(w, id);
    if (kind == 0) {
        maki_jw_key(w, MAKI_LIT("summary"));
        maki_jw_raw(w, words_of(message));
        ui_number(w, "cost", 0);
    } else {
        ui_number(w, "messagesRemoved", maki_json_whole_field(event, MAKI_LIT("messages")));
    }
    ui_number(w, "prevContextTokens", before);
    ui_number(w, "newContextTokens", after);
    maki_jw_end_object(w);
    maki_jw_end_object(w);
    return w->status;
}

static maki_status write_ui(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    ui *u = ctx;
    maki_str event, type, value, message;
    (void)at;
    if (maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK;
    if (maki_json_get(event, MAKI_LIT("ui"), &value)) {
        maki_jw_raw(&u->w, value);
        return u->w.status;
    }
    if (!string_field(event, "type", &type)) return MAKI_OK;
    bool imported = maki_json_get(event, MAKI_LIT("imported"), &value) && maki_json_true(value);
    if ((imported && u->imported) || !maki_json_get(event, MAKI_LIT("message"), &message)) {
        return MAKI_OK;
    }
    for (unsigned k = 0; k < KINDS; k++) {
        if (maki_json_text_is(type, maki_str_of(kinds[k].type))) return tell(u, ev, event, k, err);
    }
    return MAKI_OK;
}

maki_status maki_export_ui(maki_conv *conv, maki_sink sink, maki_err *err)
{
    ui u = { .conv = conv };
    maki_status st = maki_log_each_event(conv->log, find_ui, &u, err);
    if (st == MAKI_CANCELLED) st = MAKI_OK;
    maki_jw_init(&u.w, sink, err);
    maki_jw_array(&u.w);
    if (st == MAKI_OK) st = maki_log_each_event(conv->log, write_ui, &u, err);
    maki_jw_end_array(&u.w);
    maki_status written = maki_jw_end(&u.w);
    return st == MAKI_OK ? written : st;
}

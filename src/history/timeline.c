/* timeline.c -- make a view: from the events of a log, and the view of its parent, to ranges and synthetic messages.
 *
 * In:    the list of events, the revision, the view of a fork's parent.
 * Out:   the view, in the arena; event.dead of each event: it has no effect in this view.
 * Must stay true: the same files and revision give the same view, on every machine.  It reads no message, only the
 *        index, and never fails but for memory or a damaged index.
 *
 * Two passes: from the newest event back, undos and rewinds decide which events count and which ranges of messages are
 * in; then the events that count are applied from the oldest on. */
#include "history/timeline.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/sort.h"

/* ---- building the view ------------------------------------------------------------------------------ */

typedef struct view_builder {
    const maki_view_at *at;
    maki_view *view;
    maki_arena *arena;
    maki_err *err;
    maki_status status;
} view_builder;

static void insert_item(view_builder *b, size_t at, maki_view_item item)
{
    maki_view *v = b->view;
    if (b->status == MAKI_OK)
        b->status = maki_arena_add(b->arena, &v->items, &v->count, &v->capacity, &item, sizeof item,
                                   b->err);
    if (b->status != MAKI_OK) return;
    assert(at < v->count && (item.from ? item.from <= item.to : item.synthetic != NULL));
    memmove(v->items + at + 1, v->items + at, (v->count - 1 - at) * sizeof item);
    v->items[at] = item;
}

static void remove_item(view_builder *b, size_t at)
{
    maki_view *v = b->view;
    assert(at < v->count);
    memmove(v->items + at, v->items + at + 1, (v->count - at - 1) * sizeof v->items[0]);
    v->count--;
}

/* Remove messages [from, to] from the view. */
static void hide(view_builder *b, uint64_t from, uint64_t to)
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

/* Insert a synthetic message before message event->before, after others that stand there already. */
static void insert_synthetic(view_builder *b, maki_log *log, const maki_event *event)
{
    maki_view *v = b->view;
    maki_view_item item = { .log = log, .synthetic = event };
    size_t i = 0;
    while (i < v->count && (v->items[i].from ? v->items[i].to < event->before
                                             : v->items[i].synthetic->before <= event->before)) {
        i++;
    }
    if (i < v->count && v->items[i].from && v->items[i].from < event->before) {
        maki_view_item rest = v->items[i];
        rest.from = event->before;
        v->items[i].to = event->before - 1;
        insert_item(b, ++i, rest);
    }
    insert_item(b, i, item);
}

/* Does the event hide this synthetic message?  Events of parents are numbered separately. */
static bool hides_synthetic(const maki_event *event, const maki_view_item *item)
{
    for (size_t i = 0; item->up == 0 && i < event->hidden_ev_count; i++) {
        if (event->hidden_evs[i] == item->synthetic->ev) return true;
    }
    for (size_t i = 0; item->up > 0 && i < event->hidden_above_count; i++) {
        const maki_span64 *above = &event->hidden_above[i];
        if (above->from == item->up && above->to == item->synthetic->ev) return true;
    }
    return false;
}

static void apply_hiding(view_builder *b, maki_log *log, const maki_event *event)
{
    maki_view *v = b->view;
    bool hides = b->at->hiding == MAKI_VIEW_EFFECTIVE;
    for (size_t i = 0; hides && i < event->hidden_count; i++) {
        hide(b, event->hidden[i].from, event->hidden[i].to);
    }
    for (size_t i = 0; hides && i < v->count; i++) {
        if (v->items[i].from == 0 && hides_synthetic(event, &v->items[i])) remove_item(b, i--);
    }
    if (event->synthetic_len && b->at->hiding != MAKI_VIEW_ROWS_ONLY)
        insert_synthetic(b, log, event);
}

static void add_pin(view_builder *b, uint64_t seq)
{
    maki_view *v = b->view;
    if (maki_view_pinned(v, seq)) return;
    if (b->status == MAKI_OK)
        b->status = maki_arena_add(b->arena, &v->pins, &v->pin_count, &v->pin_capacity, &seq,
                                   sizeof seq, b->err);
}

static void remove_pin(maki_view *v, uint64_t seq)
{
    for (size_t i = 0; i < v->pin_count; i++) {
        if (v->pins[i] == seq) v->pins[i--] = v->pins[--v->pin_count];
    }
}

static void add_trim(view_builder *b, const maki_trim *trim)
{
    maki_view *v = b->view;
    if (b->status == MAKI_OK)
        b->status = maki_arena_add(b->arena, &v->trims, &v->trim_count, &v->trim_capacity, &trim,
                                   sizeof trim, b->err);
}

static bool by_text(const void *a, const void *b)
{
    const maki_trim *x = *(const maki_trim *const *)a, *y = *(const maki_trim *const *)b;
    if (x->seq != y->seq) return x->seq < y->seq;
    if (x->block != y->block) return x->block < y->block;
    return x->part < y->part;
}

/* Sort the trims, and of several for one text keep the newest: a trim applies to the original text. */
static void sort_trims(view_builder *b)
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

static void apply(view_builder *b, maki_log *log, const maki_event *event)
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

/* Does an undo {target, to} revert this event? */
static bool is_undone(const maki_event *e, uint64_t target, uint64_t to)
{
    if (to <= target) return e->ev == target;
    return e->ev >= target && e->ev <= to && maki_event_frees_context(e->type);
}

/* Newest to oldest: which events count at this revision, and which ranges of messages are in the view (`b` may be
 * NULL).  Returns how far the view reaches into the parent. */
static uint64_t walk_back(view_builder *b, maki_log *log, maki_events *events,
                          const maki_view_at *at)
{
    uint64_t base = maki_log_base(log), top = at->seq, ev = at->ev;
    for (size_t i = 0; i < events->count; i++)
        events->at[i].dead = is_undone(&events->at[i], at->undo, at->undo_to);
    for (size_t i = events->count; i > 0; i--) {
        maki_event *e = &events->at[i - 1];
        if (e->ev > ev) {
            e->dead = true; /* after the revision, or between a rewind and its target */
        } else if (e->type == MAKI_EVENT_UNDO && !e->dead) {
            for (size_t k = i - 1; k > 0 && events->at[k - 1].ev >= e->target; k--)
                events->at[k - 1].dead |= is_undone(&events->at[k - 1], e->target, e->to);
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

uint64_t maki_view_parent_end(maki_log *log, maki_events *events, const maki_view_at *at)
{
    return walk_back(NULL, log, events, at);
}

/* Insert the view of the parent, up to message `seq`. */
static void add_parent(view_builder *b, const maki_view *parent, uint64_t seq)
{
    size_t n = 0;
    for (size_t i = 0; i < parent->count; i++) {
        maki_view_item item = parent->items[i];
        if (item.from > seq) continue;
        if (item.to > seq) item.to = seq;
        item.up++;
        insert_item(b, n++, item);
    }
    for (size_t i = 0; i < parent->pin_count; i++)
        add_pin(b, parent->pins[i]);
    for (size_t i = 0; i < parent->trim_count; i++)
        add_trim(b, parent->trims[i]);
}

/* An edit that was undone: its replacement message is hidden, too, and the results of the calls in it. */
static void hide_edit(view_builder *b, maki_log *log, uint64_t with)
{
    maki_index_record row;
    uint64_t to = with;
    while (b->status == MAKI_OK && to < maki_log_last(log)) {
        b->status = maki_log_row(log, to + 1, &row, b->err);
        if (row.call_seq != with) break;
        to++;
    }
    hide(b, with, to);
}

maki_status maki_view_make(maki_log *log, maki_events *events, const maki_view *parent,
                           const maki_view_at *at, maki_arena *arena, maki_view *out, maki_err *err)
{
    view_builder b = { .at = at, .view = out, .arena = arena, .err = err, .status = MAKI_OK };
    *out = (maki_view){ 0 };
    uint64_t parent_end = walk_back(&b, log, events, at);
    if (parent) add_parent(&b, parent, parent_end);
    for (size_t i = 0; b.status == MAKI_OK && i < events->count; i++) {
        const maki_event *e = &events->at[i];
        if (e->type == MAKI_EVENT_REWIND && e->dead && e->with && e->ev <= at->ev) {
            hide_edit(&b, log, e->with);
        }
        if (!e->dead) apply(&b, log, e);
    }
    sort_trims(&b);
    return b.status;
}

/* ---- queries -------------------------------------------------------------------------------------------- */

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

uint64_t maki_view_count(const maki_view *view)
{
    uint64_t n = 0;
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        n += item->from ? item->to - item->from + 1 : 1;
    }
    return n;
}

/* ---- two views ------------------------------------------------------------------------------------------ */

/* Messages up to `last` that `view` has and `other` has not. */
static uint64_t count_only_in(const maki_view *view, const maki_view *other, uint64_t last)
{
    uint64_t n = 0;
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *a = &view->items[i];
        uint64_t end = a->to < last ? a->to : last;
        if (a->from == 0 || a->from > end) continue;
        n += end - a->from + 1;
        for (size_t k = 0; k < other->count; k++) {
            const maki_view_item *b = &other->items[k];
            uint64_t from = a->from > b->from ? a->from : b->from, to = end < b->to ? end : b->to;
            if (b->from && from <= to) n -= to - from + 1;
        }
    }
    return n;
}

/* The tokens that the trims of a message save. */
static uint64_t tokens_saved(const maki_view *view, uint64_t seq)
{
    uint64_t saved = 0;
    for (size_t i = maki_view_trims_from(view, seq);
         i < view->trim_count && view->trims[i]->seq == seq; i++)
        saved += view->trims[i]->restores ? 0 : view->trims[i]->tokens;
    return saved;
}

/* Messages in both views that `view` shows shorter; *first: the first of them. */
static uint64_t count_shorter_in(const maki_view *view, const maki_view *other, uint64_t *first)
{
    uint64_t n = 0, seq = 0;
    for (size_t i = 0; i < view->trim_count; i++) {
        bool next = view->trims[i]->seq != seq;
        seq = view->trims[i]->seq;
        if (!next || !maki_view_has(view, seq) || !maki_view_has(other, seq) ||
            tokens_saved(view, seq) <= tokens_saved(other, seq))
            continue;
        if (n++ == 0) *first = seq;
    }
    return n;
}

static bool has_synthetic(const maki_view *view, const maki_view_item *item)
{
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *own = &view->items[i];
        if (own->from == 0 && own->log == item->log && own->synthetic->ev == item->synthetic->ev)
            return true;
    }
    return false;
}

maki_view_change maki_view_compare(const maki_view *before, const maki_view *after, uint64_t last)
{
    maki_view_change c = { .hidden = count_only_in(before, after, last),
                           .restored = count_only_in(after, before, last) };
    c.expanded = count_shorter_in(before, after, &c.seq);
    c.shortened = count_shorter_in(after, before, &c.seq);
    for (size_t i = 0; i < after->count; i++) {
        const maki_view_item *item = &after->items[i];
        if (item->from == 0 && item->synthetic->type == MAKI_EVENT_TRUNCATE &&
            !has_synthetic(before, item))
            c.behind += item->synthetic->messages;
    }
    return c;
}

maki_status maki_view_copy(const maki_view *view, maki_arena *arena, maki_view *out, maki_err *err)
{
    *out = *view;
    out->items = maki_arena_array(arena, view->count + 1, sizeof *out->items);
    out->trims = maki_arena_array(arena, view->trim_count + 1, sizeof *out->trims);
    if (!out->items || !out->trims) return maki_arena_status(arena, err);
    if (view->count) memcpy(out->items, view->items, view->count * sizeof *out->items);
    if (view->trim_count) memcpy(out->trims, view->trims, view->trim_count * sizeof *out->trims);
    return MAKI_OK;
}

void maki_view_change_text(const maki_view_change *c, char out[MAKI_VIEW_CHANGE_MAX])
{
    const struct {
        uint64_t n, seq;
        const char *words;
    } parts[] = { { c->hidden, 0, "out of view" },
                  { c->restored, 0, "back in view" },
                  { c->shortened, c->seq, "shortened" },
                  { c->expanded, c->seq, "expanded" } };
    int used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *comma = used ? ", " : "", *s = parts[i].n == 1 ? "" : "s";
        if (parts[i].n == 0) continue;
        if (parts[i].n == 1 && parts[i].seq)
            used += snprintf(out + used, MAKI_VIEW_CHANGE_MAX - (size_t)used,
                             "%smessage %" PRIu64 " %s", comma, parts[i].seq, parts[i].words);
        else
            used += snprintf(out + used, MAKI_VIEW_CHANGE_MAX - (size_t)used,
                             "%s%" PRIu64 " message%s %s", comma, parts[i].n, s, parts[i].words);
    }
    if (c->hidden && c->behind > c->hidden)
        snprintf(out + used, MAKI_VIEW_CHANGE_MAX - (size_t)used, ", %" PRIu64 " behind the marker",
                 c->behind);
}

/* outline.c -- compare a view with the log: the ranges that it lacks, each with the event that hides it.
 *
 * In:    the view of a revision, and the same view with nothing hidden: what is missing there too was left out by a
 *        rewind, not hidden by a condense.
 * Out:   the rows of the outline, in the order of the log.
 * Must stay true: of several events that hide a message the newest is named. */
#include "history/outline.h"

#include "base/err.h"
#include "base/sort.h"
#include "history/conv_internal.h"

/* Messages that one event hides. */
typedef struct hiding_range {
    uint64_t from, to, ev;
    maki_event_type type;
    uint32_t up;
} hiding_range;

typedef struct outline_builder {
    maki_arena *arena;
    maki_outline *out;
    maki_err *err;
    maki_status status;
    maki_span64 *kept; /* messages that no rewind left out, in order */
    size_t kept_count, kept_next;
    hiding_range *ranges; /* sorted by `from` */
    size_t count, capacity, next;
    size_t *open; /* the ranges that began before the current message and may not have ended */
    size_t open_count, open_capacity;
} outline_builder;

static void add_row(outline_builder *b, maki_outline_row row)
{
    maki_outline *out = b->out;
    maki_outline_row *last = out->count ? &out->rows[out->count - 1] : NULL;
    if (b->status != MAKI_OK) return;
    if (last && row.from && last->to + 1 == row.from && last->kind == row.kind &&
        last->ev == row.ev && last->why == row.why && last->up == row.up) {
        last->to = row.to;
        return;
    }
    b->status =
        maki_arena_add(b->arena, &out->rows, &out->count, &out->capacity, &row, sizeof row, b->err);
}

/* ---- what is missing ----------------------------------------------------------------------------------------- */

static void add_range(outline_builder *b, const maki_event *e, maki_span64 span, uint32_t up)
{
    hiding_range range = { span.from, span.to, e->ev, e->type, up };
    if (b->status != MAKI_OK || span.from == 0 || span.from > span.to) return;
    b->status =
        maki_arena_add(b->arena, &b->ranges, &b->count, &b->capacity, &range, sizeof range, b->err);
}

static bool by_start(const void *a, const void *b)
{
    return ((const hiding_range *)a)->from < ((const hiding_range *)b)->from;
}

/* The ranges that the events of the conversation and its parents hide in the view made last. */
static void collect_ranges(outline_builder *b, const maki_conv *conv)
{
    uint32_t up = 0;
    for (; conv; conv = conv->parent, up++) {
        for (size_t i = 0; i < conv->events.count; i++) {
            const maki_event *e = &conv->events.at[i];
            if (e->dead) continue;
            if (e->type == MAKI_EVENT_DAMAGE && e->seq)
                add_range(b, e, (maki_span64){ e->seq, e->seq }, up);
            for (size_t k = 0; k < e->hidden_count; k++)
                add_range(b, e, e->hidden[k], up);
        }
    }
    if (b->status == MAKI_OK && b->count)
        b->status = maki_sort(b->ranges, b->count, sizeof *b->ranges, by_start, b->arena, b->err);
}

static bool is_newer(const hiding_range *a, const hiding_range *b)
{
    return a->up != b->up ? a->up < b->up : a->ev > b->ev;
}

/* The range that hides message `seq`, or NULL.  *to, given as an end, is moved back to where that may change.  Called with
 * growing numbers. */
static const hiding_range *range_at(outline_builder *b, uint64_t seq, uint64_t *to)
{
    const hiding_range *found = NULL;
    for (; b->next < b->count && b->ranges[b->next].from <= seq; b->next++) {
        if (b->status == MAKI_OK)
            b->status = maki_arena_add(b->arena, &b->open, &b->open_count, &b->open_capacity,
                                       &b->next, sizeof b->next, b->err);
    }
    if (b->next < b->count && b->ranges[b->next].from <= *to) *to = b->ranges[b->next].from - 1;
    for (size_t i = 0; i < b->open_count; i++) {
        const hiding_range *range = &b->ranges[b->open[i]];
        if (range->to < seq) {
            b->open[i--] = b->open[--b->open_count];
            continue;
        }
        if (range->to < *to) *to = range->to;
        if (!found || is_newer(range, found)) found = range;
    }
    return found;
}

/* Was message `seq` left out by a rewind?  *to is moved back to where that changes. */
static bool is_rewound(outline_builder *b, uint64_t seq, uint64_t *to)
{
    while (b->kept_next < b->kept_count && b->kept[b->kept_next].to < seq)
        b->kept_next++;
    if (b->kept_next == b->kept_count) return true;
    const maki_span64 *kept = &b->kept[b->kept_next];
    uint64_t end = seq < kept->from ? kept->from - 1 : kept->to;
    if (end < *to) *to = end;
    return seq < kept->from;
}

/* The messages [from, to] are not in the view. */
static void add_hidden(outline_builder *b, uint64_t from, uint64_t to)
{
    while (b->status == MAKI_OK && from <= to) {
        maki_outline_row row = { MAKI_OUTLINE_HIDDEN, from, to, 0, MAKI_EVENT_REWIND, 0 };
        bool rewound = is_rewound(b, from, &row.to);
        const hiding_range *range = range_at(b, from, &row.to);
        if (range && (!rewound || range->type == MAKI_EVENT_DAMAGE)) {
            row.ev = range->ev;
            row.why = range->type;
            row.up = range->up;
        }
        add_row(b, row);
        from = row.to + 1;
    }
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static void add_rows(outline_builder *b, const maki_view *view)
{
    uint64_t next = 1; /* the first message that has no row yet */
    for (size_t i = 0; b->status == MAKI_OK && i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        const maki_event *e = item->synthetic;
        uint64_t before = item->from ? item->from : e->before;
        if (before > b->out->last + 1) before = b->out->last + 1;
        if (before > next) add_hidden(b, next, before - 1);
        if (before > next) next = before;
        maki_outline_row row = { MAKI_OUTLINE_SHOWN, item->from, item->to, 0, MAKI_EVENT_OTHER, 0 };
        if (!item->from)
            row = (maki_outline_row){ MAKI_OUTLINE_SYNTHETIC, 0, 0, e->ev, e->type, item->up };
        else
            next = item->to + 1;
        add_row(b, row);
    }
    if (next <= b->out->last) add_hidden(b, next, b->out->last);
}

/* The messages that no rewind left out; also sets which events count. */
static maki_status read_kept(outline_builder *b, maki_conv *conv, uint64_t seq, uint64_t ev,
                             maki_err *err)
{
    const maki_view *view;
    maki_view_at at = { .seq = seq, .ev = ev, .hiding = MAKI_VIEW_ROWS_ONLY };
    maki_status st = maki_conv_view_at(conv, &at, &view, err);
    if (st != MAKI_OK) return st;
    b->kept = maki_arena_array(b->arena, view->count + 1, sizeof *b->kept);
    if (!b->kept) return maki_arena_status(b->arena, err);
    for (size_t i = 0; i < view->count; i++)
        b->kept[b->kept_count++] = (maki_span64){ view->items[i].from, view->items[i].to };
    return MAKI_OK;
}

maki_status maki_conv_outline(maki_conv *conv, uint64_t seq, uint64_t ev, maki_arena *arena,
                              maki_outline *out, maki_err *err)
{
    outline_builder b = { .arena = arena, .out = out, .err = err };
    uint64_t last = maki_log_last(conv->log);
    *out = (maki_outline){ .last = seq < last ? seq : last };
    b.status = read_kept(&b, conv, seq, ev, err);
    if (b.status == MAKI_OK) b.status = maki_conv_view(conv, seq, ev, &out->view, err);
    if (b.status == MAKI_OK) collect_ranges(&b, conv);
    if (b.status == MAKI_OK) add_rows(&b, out->view);
    return b.status;
}

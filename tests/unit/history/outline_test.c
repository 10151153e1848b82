/* outline_test.c -- the outline of random conversations: after each step its rows have each message once, and those in
 * view are the model's view; a message is said to be left out by a rewind where the model has it left out. */
#include "history/outline.h"
#include "random_run.h"

enum { SEEDS = 400 };

static struct {
    size_t outlines, hidden, rewound, synthetic, above;
} seen;

/* The next message of the model's view, or its synthetic one. */
static bool check_shown(run *r, const model_view *view, const maki_outline_row *row, size_t *at)
{
    if (row->kind == MAKI_OUTLINE_SYNTHETIC) {
        const model_item *item = &view->items[(*at)++];
        MUST(*at <= view->count && item->event && item->event->ev == row->ev,
             "event %llu is not the next of the view", (unsigned long long)row->ev);
        seen.synthetic++;
        return true;
    }
    for (uint64_t seq = row->from; seq <= row->to; seq++, ++*at) {
        const model_item *item = &view->items[*at];
        MUST(*at < view->count && item->row && item->row->seq == seq,
             "message %llu is not the next of the view", (unsigned long long)seq);
    }
    return true;
}

/* Does the event of the row say that it hides the message? */
static bool check_hidden(run *r, const model_view *rows, const maki_outline_row *row)
{
    const model *m = run_model(r);
    for (uint32_t up = row->up; up > 0; up--)
        m = m->parent;
    seen.above += row->up > 0;
    for (uint64_t seq = row->from; seq <= row->to; seq++) {
        bool rewound = !model_has(rows, seq), covered = false;
        maki_json_item part;
        seen.hidden++;
        seen.rewound += rewound;
        MUST(rewound == (row->why == MAKI_EVENT_REWIND && row->ev == 0),
             "message %llu is %s by a rewind", (unsigned long long)seq,
             rewound ? "left out" : "not left out");
        if (rewound) continue;
        MUST(row->ev && row->ev <= m->event_count, "no event hides message %llu",
             (unsigned long long)seq);
        MAKI_JSON_EACH(span, maki_json_items(m->events[row->ev - 1]->hidden)) {
            uint64_t from = 0, to = 0;
            maki_json_iter pair = maki_json_items(span.value);
            if (maki_json_next(&pair, &part)) (void)maki_json_uint(part.value, &from);
            if (maki_json_next(&pair, &part)) (void)maki_json_uint(part.value, &to);
            covered |= seq >= from && seq <= to;
        }
        MUST(covered, "event %llu does not hide message %llu", (unsigned long long)row->ev,
             (unsigned long long)seq);
    }
    return true;
}

static bool check_outline(run *r, uint64_t seq, uint64_t ev, const model_view *view,
                          const model_view *rows)
{
    maki_arena arena = maki_arena_new(r->env.alloc, 1 << 24);
    maki_outline outline;
    maki_err err = { 0 };
    uint64_t next = 1;
    size_t at = 0;
    maki_status st = maki_conv_outline(run_conv(r), seq, ev, &arena, &outline, &err);
    bool held = st == MAKI_OK;
    for (size_t i = 0; held && i < outline.count; i++) {
        const maki_outline_row *row = &outline.rows[i];
        if (row->from) held = row->from == next && row->to >= row->from;
        if (row->from) next = row->to + 1;
        if (held)
            held = row->kind == MAKI_OUTLINE_HIDDEN ? check_hidden(r, rows, row)
                                                    : check_shown(r, view, row, &at);
    }
    held = held && next == outline.last + 1 && at == view->count;
    maki_arena_free(&arena);
    seen.outlines++;
    MUST(held, "the outline: %s, next %llu, last %llu, %zu of %zu of the view", err.msg,
         (unsigned long long)next, (unsigned long long)outline.last, at, view->count);
    return true;
}

static bool one_step(run *r)
{
    static model_view view, rows;
    model *m = run_model(r);
    if (!run_ordinary_step(r)) return false;
    m = run_model(r);
    if (!check_outline(r, MAKI_NEWEST, MAKI_NEWEST, &r->view, &r->rows)) return false;
    uint64_t last = model_last(m), seq = last ? 1 + run_chance(r, (size_t)last) : 0;
    if (r->undone_rewind || seq <= m->base || run_chance(r, 3)) return true;
    model_see(m, seq, UINT64_MAX, true, &view);
    model_see(m, seq, UINT64_MAX, false, &rows);
    return check_outline(r, seq, MAKI_NEWEST, &view, &rows);
}

int main(int argc, char **argv)
{
    static run r;
    if (run_seeds(&r, argc, argv, "outline_test", SEEDS, one_step)) {
        tap_row(
            "%zu outlines, %zu messages hidden, %zu by rewinds, %zu summaries, %zu rows of parents",
            seen.outlines, seen.hidden, seen.rewound, seen.synthetic, seen.above);
        CHECK(seen.outlines > 5000 && seen.hidden > 50000 && seen.rewound > 20000 &&
              seen.synthetic > 2000 && seen.above > 100);
    }
    return tap_end();
}

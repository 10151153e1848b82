/* merge.c -- see merge.h. */
#include "token/merge.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum {
    STRIDE = 40, /* from one of two windows to the other */
    MANY = 8     /* tokens out of one window */
};

size_t maki_merge(const maki_table *table, const unsigned char *bytes, size_t n,
                  maki_merge_scratch *m)
{
    assert(n > 0 && n <= MAKI_MERGE_MAX);
    maki_pairs pairs = maki_table_pairs(table);
    maki_merge_begin(table, bytes, n, m->ids, m->ranks);
    for (;;) {
        uint32_t best = MAKI_NO_TOKEN;
        size_t at = 0;
        for (size_t i = 0; i < n; i++) {
            if (m->ranks[i] < best) best = m->ranks[i], at = i;
        }
        if (best == MAKI_NO_TOKEN) return n;
        n = maki_merge_rank(pairs, m, n, at, best);
    }
}

/* ---- long spans: joining windows ----------------------------------------------------------------- */

typedef struct joining {
    const maki_table *table;
    maki_merge_scratch *m;
    maki_merged_fn *ids;
    void *ctx;
    size_t start;      /* where the last held token begins, or the next window if none is held */
    size_t held;       /* tokens in m->held ... */
    size_t held_bytes; /* ... and their length */
    size_t taken;      /* tokens out of the last window */
    uint64_t total;    /* tokens that are certain, and given out */
} joining;

static size_t length_of(const maki_table *table, uint32_t id)
{
    const uint32_t *offsets = maki_table_part(table, table->offsets);
    return offsets[id - table->first_id + 1] - offsets[id - table->first_id];
}

static void give(joining *j, const uint32_t *ids, size_t n)
{
    if (j->ids && n) j->ids(j->ctx, ids, n);
    j->total += n;
}

static size_t last_length(const joining *j)
{
    return length_of(j->table, j->m->held[j->held - 1]);
}

/* Give out held tokens that end `reach` bytes before `end`; the last stays, for the next window. */
static void settle(joining *j, size_t end)
{
    uint32_t *held = j->m->held;
    size_t base = j->start + last_length(j) - j->held_bytes, count = 0;
    while (count + 1 < j->held) {
        size_t len = length_of(j->table, held[count]);
        if (base + len + j->table->reach > end) break;
        base += len;
        j->held_bytes -= len;
        count++;
    }
    give(j, held, count);
    memmove(held, held + count, (j->held - count) * sizeof held[0]);
    j->held -= count;
}

/* Join a window that begins at `from` to what is held: find a token that both have, and let go of held
 * ones after it.  Gives how many tokens of the window are held then; 0 when they have none in common. */
static size_t join_window(joining *j, const uint32_t *ids, size_t n, size_t from)
{
    const uint32_t *held = j->m->held;
    size_t i = j->held - 1, at = j->start, k = 0;
    while (i > 0 && at > from)
        at -= length_of(j->table, held[--i]);
    while (i < j->held && k < n) {
        if (at == from && held[i] == ids[k]) {
            for (; j->held > i + 1; j->held--)
                j->held_bytes -= last_length(j);
            j->start = at;
            return k + 1;
        }
        if (at <= from) {
            at += length_of(j->table, held[i++]);
        } else {
            from += length_of(j->table, ids[k++]);
        }
    }
    return 0;
}

typedef enum outcome { TAKEN, TOO_SHORT, DIFFERS } outcome;

/* Hold the tokens of a window, except those at its end, which what follows may change. */
static outcome take_window(joining *j, const uint32_t *ids, size_t n, size_t from, size_t size)
{
    size_t margin = size < MAKI_MERGE_MAX ? size / 6 : j->table->reach, end = 0;
    size_t next = j->held ? join_window(j, ids, n, from) : 0;
    if (j->held && next == 0) return DIFFERS;
    j->taken = 0;
    for (size_t i = 0; i < n; i++) {
        size_t len = length_of(j->table, ids[i]);
        if (end + len > size - margin) break;
        if (i >= next) {
            assert(j->held < 2 * MAKI_MERGE_MAX);
            j->m->held[j->held++] = ids[i];
            j->held_bytes += len;
            j->start = from + end;
            j->taken++;
        }
        end += len;
    }
    if (j->taken == 0) return TOO_SHORT;
    settle(j, from + size);
    return TAKEN;
}

/* The last window: all of it. */
static bool take_rest(joining *j, const uint32_t *ids, size_t n, size_t from)
{
    size_t next = j->held ? join_window(j, ids, n, from) : 0;
    if (j->held && next == 0) return false;
    give(j, j->m->held, j->held);
    give(j, ids + next, n - next);
    return true;
}

/* What is held is wrong: go back to the last token that is certain. */
static void go_back(joining *j)
{
    assert(j->held > 0);
    j->start -= j->held_bytes - last_length(j);
    j->held = j->held_bytes = 0;
}

/* Two windows that overlap. */
static bool take_two(joining *j, maki_merge_two_fn *two, const unsigned char *bytes)
{
    size_t from = j->start, counts[2];
    two(j->table, bytes + from, bytes + from + STRIDE, j->m, counts);
    return take_window(j, j->m->ids, counts[0], from, MAKI_MERGE_WINDOW) == TAKEN &&
           take_window(j, j->m->second.ids, counts[1], from + STRIDE, MAKI_MERGE_WINDOW) == TAKEN;
}

/* ---- long spans: how long a window is ------------------------------------------------------------ */

typedef struct window {
    size_t size, least; /* least: the shortest that may be right where we are */
} window;

static size_t longer(size_t size)
{
    assert(size < MAKI_MERGE_MAX); /* a window of that length has tokens that are certain */
    return size < MAKI_MERGE_MAX / 4 ? size * 4 : MAKI_MERGE_MAX;
}

/* The next window after one that gave `taken` tokens and made some certain, or not. */
static void window_taken(window *w, size_t taken, bool certain)
{
    if (certain) w->least = MAKI_MERGE_WINDOW;
    if (taken > MANY) w->size /= 2;
    if (w->size < w->least) w->size = w->least;
}

/* The next window after one of no use.  True: what is held is wrong, it begins again before that. */
static bool window_failed(window *w, outcome got)
{
    bool wrong = got == DIFFERS && w->size > w->least;
    w->size = longer(wrong ? w->least : w->size);
    if (wrong) w->least = w->size;
    return wrong;
}

uint64_t maki_merge_long(maki_merger merge, const maki_table *table, const unsigned char *bytes,
                         size_t len, maki_merge_scratch *m, maki_merged_fn *ids, void *ctx)
{
    joining j = { .table = table, .m = m, .ids = ids, .ctx = ctx };
    window w = { MAKI_MERGE_WINDOW, MAKI_MERGE_WINDOW };
    for (;;) {
        while (merge.two && w.size == MAKI_MERGE_WINDOW &&
               len - j.start > STRIDE + MAKI_MERGE_WINDOW)
            if (!take_two(&j, merge.two, bytes)) break;
        uint64_t certain = j.total;
        size_t left = len - j.start, size = left < w.size ? left : w.size;
        size_t n = merge.one(table, bytes + j.start, size, m);
        if (size == left && take_rest(&j, m->ids, n, j.start)) return j.total;
        outcome got = size == left ? DIFFERS : take_window(&j, m->ids, n, j.start, size);
        if (got == TAKEN)
            window_taken(&w, j.taken, j.total > certain);
        else if (window_failed(&w, got))
            go_back(&j);
    }
}

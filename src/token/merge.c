/* merge.c -- merging in plain C, and merging of long spans in windows.
 *
 * In:     the bytes of a span, a table.
 * Out:    the tokens that merging all the bytes at once would give, in the same order.
 * Always: a token is emitted only once it is certain: it ends `reach` bytes before the end of what was merged, or at the
 *         end of the span.  The window grows until that makes progress, at most to MAKI_MERGE_MAX. */
#include "token/merge.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum {
    STRIDE = 40,     /* bytes between the starts of two windows */
    SHRINK_ABOVE = 8 /* tokens; after a window that adds more, the next one is shorter */
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

typedef struct joiner {
    const maki_table *table;
    maki_merge_scratch *m;
    maki_merged_fn *fn;
    void *ctx;
    size_t start;         /* of the last pending token; without one, of the next window */
    size_t pending;       /* tokens in m->pending ... */
    size_t pending_bytes; /* ... and their length */
    size_t added;         /* tokens that the last window added */
    uint64_t total;       /* tokens emitted */
} joiner;

static size_t length_of(const maki_table *table, uint32_t id)
{
    const uint32_t *offsets = maki_table_part(table, table->offsets);
    return offsets[id - table->first_id + 1] - offsets[id - table->first_id];
}

static void emit(joiner *j, const uint32_t *ids, size_t n)
{
    if (j->fn && n) j->fn(j->ctx, ids, n);
    j->total += n;
}

static size_t last_pending_length(const joiner *j)
{
    return length_of(j->table, j->m->pending[j->pending - 1]);
}

/* Emit the pending tokens that end `reach` bytes before `end`; the last stays pending, to join the next window. */
static void emit_certain(joiner *j, size_t end)
{
    uint32_t *pending = j->m->pending;
    size_t base = j->start + last_pending_length(j) - j->pending_bytes, count = 0;
    while (count + 1 < j->pending) {
        size_t len = length_of(j->table, pending[count]);
        if (base + len + j->table->reach > end) break;
        base += len;
        j->pending_bytes -= len;
        count++;
    }
    emit(j, pending, count);
    memmove(pending, pending + count, (j->pending - count) * sizeof pending[0]);
    j->pending -= count;
}

/* Join a window that begins at `from` to the pending tokens: find a token that both have, and drop the pending ones after
 * it.  Returns how many tokens of the window are pending then; 0 when they have none in common. */
static size_t join_window(joiner *j, const uint32_t *ids, size_t n, size_t from)
{
    const uint32_t *pending = j->m->pending;
    size_t i = j->pending - 1, at = j->start, k = 0;
    while (i > 0 && at > from)
        at -= length_of(j->table, pending[--i]);
    while (i < j->pending && k < n) {
        if (at == from && pending[i] == ids[k]) {
            for (; j->pending > i + 1; j->pending--)
                j->pending_bytes -= last_pending_length(j);
            j->start = at;
            return k + 1;
        }
        if (at <= from) {
            at += length_of(j->table, pending[i++]);
        } else {
            from += length_of(j->table, ids[k++]);
        }
    }
    return 0;
}

typedef enum outcome {
    ADDED,
    TOO_SHORT, /* it added no token */
    DIFFERS    /* no token in common with the pending ones */
} outcome;

/* Add the tokens of a window to the pending ones, except those at its end, which later bytes may change. */
static outcome add_window(joiner *j, const uint32_t *ids, size_t n, size_t from, size_t size)
{
    size_t margin = size < MAKI_MERGE_MAX ? size / 6 : j->table->reach, end = 0;
    size_t next = j->pending ? join_window(j, ids, n, from) : 0;
    if (j->pending && next == 0) return DIFFERS;
    j->added = 0;
    for (size_t i = 0; i < n; i++) {
        size_t len = length_of(j->table, ids[i]);
        if (end + len > size - margin) break;
        if (i >= next) {
            assert(j->pending < 2 * MAKI_MERGE_MAX);
            j->m->pending[j->pending++] = ids[i];
            j->pending_bytes += len;
            j->start = from + end;
            j->added++;
        }
        end += len;
    }
    if (j->added == 0) return TOO_SHORT;
    emit_certain(j, from + size);
    return ADDED;
}

/* Add the last window, its end included; false: no token in common with the pending ones. */
static bool add_last_window(joiner *j, const uint32_t *ids, size_t n, size_t from)
{
    size_t next = j->pending ? join_window(j, ids, n, from) : 0;
    if (j->pending && next == 0) return false;
    emit(j, j->m->pending, j->pending);
    emit(j, ids + next, n - next);
    return true;
}

/* The pending tokens are wrong: continue after the last emitted one. */
static void discard_pending(joiner *j)
{
    assert(j->pending > 0);
    j->start -= j->pending_bytes - last_pending_length(j);
    j->pending = j->pending_bytes = 0;
}

/* Merge and add two overlapping windows; false: one of them was not added. */
static bool add_two_windows(joiner *j, maki_merge_two_fn *two, const unsigned char *bytes)
{
    size_t from = j->start, counts[2];
    two(j->table, bytes + from, bytes + from + STRIDE, j->m, counts);
    return add_window(j, j->m->ids, counts[0], from, MAKI_MERGE_WINDOW) == ADDED &&
           add_window(j, j->m->second.ids, counts[1], from + STRIDE, MAKI_MERGE_WINDOW) == ADDED;
}

/* ---- long spans: window size -------------------------------------------------------------------- */

typedef struct window {
    size_t size, min; /* min: the shortest that may be reliable at this position */
} window;

static size_t longer_size(size_t size)
{
    assert(size < MAKI_MERGE_MAX); /* a window of MAKI_MERGE_MAX always has certain tokens */
    return size < MAKI_MERGE_MAX / 4 ? size * 4 : MAKI_MERGE_MAX;
}

/* After a window that added `added` tokens; `certain`: some were emitted. */
static void window_added(window *w, size_t added, bool certain)
{
    if (certain) w->min = MAKI_MERGE_WINDOW;
    if (added > SHRINK_ABOVE) w->size /= 2;
    if (w->size < w->min) w->size = w->min;
}

/* After a window that added none.  True: the pending tokens are wrong. */
static bool window_failed(window *w, outcome result)
{
    assert(result != ADDED);
    bool wrong = result == DIFFERS && w->size > w->min;
    w->size = longer_size(wrong ? w->min : w->size);
    if (wrong) w->min = w->size;
    return wrong;
}

uint64_t maki_merge_long(maki_merger merge, const maki_table *table, const unsigned char *bytes,
                         size_t len, maki_merge_scratch *m, maki_merged_fn *fn, void *ctx)
{
    joiner j = { .table = table, .m = m, .fn = fn, .ctx = ctx };
    window w = { MAKI_MERGE_WINDOW, MAKI_MERGE_WINDOW };
    for (;;) {
        while (merge.two && w.size == MAKI_MERGE_WINDOW &&
               len - j.start > STRIDE + MAKI_MERGE_WINDOW)
            if (!add_two_windows(&j, merge.two, bytes)) break;
        uint64_t emitted = j.total;
        size_t remaining = len - j.start, size = remaining < w.size ? remaining : w.size;
        size_t n = merge.one(table, bytes + j.start, size, m);
        if (size == remaining && add_last_window(&j, m->ids, n, j.start)) return j.total;
        outcome result = size == remaining ? DIFFERS : add_window(&j, m->ids, n, j.start, size);
        if (result == ADDED)
            window_added(&w, j.added, j.total > emitted);
        else if (window_failed(&w, result))
            discard_pending(&j);
    }
}

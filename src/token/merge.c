/* merge.c -- see merge.h. */
#include "token/merge.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum {
    WINDOW = 64, /* bytes merged at once, as long as windows agree */
    MANY = 8     /* tokens out of one window */
};

size_t maki_merge(const maki_table *table, const unsigned char *bytes, size_t n, maki_merging *m)
{
    assert(n > 0 && n <= MAKI_MERGE_MAX);
    maki_pairs pairs = maki_table_pairs(table);
    maki_merge_begin(table, bytes, n, m);
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

/* ---- long spans ---------------------------------------------------------------------------------- */

typedef struct joining {
    const maki_table *table;
    maki_merging *m;
    maki_merged_fn *ids;
    void *ctx;
    size_t start;      /* of the next window: where the last held token begins, if there is one */
    size_t held;       /* tokens in m->held ... */
    size_t held_bytes; /* ... and their length */
    size_t kept;       /* tokens of the last window */
    size_t least;      /* the shortest window that may be right here */
    uint64_t total;    /* tokens that are certain, and given out */
} joining;

static size_t longer(size_t window)
{
    return window < MAKI_MERGE_MAX / 4 ? window * 4 : MAKI_MERGE_MAX;
}

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

/* How many of n tokens end within `limit` bytes; *last is where the last of these begins. */
static size_t ending_within(const maki_table *table, const uint32_t *ids, size_t n, size_t limit,
                            size_t *last)
{
    size_t end = 0, count = 0;
    while (count < n) {
        size_t len = length_of(table, ids[count]);
        if (end + len > limit) break;
        *last = end;
        end += len;
        count++;
    }
    return count;
}

/* Give out held tokens that end `reach` bytes before `end`; the last stays, for the next window. */
static void settle(joining *j, size_t end)
{
    uint32_t *held = j->m->held;
    size_t base = j->start + length_of(j->table, held[j->held - 1]) - j->held_bytes, count = 0;
    while (count + 1 < j->held) {
        size_t len = length_of(j->table, held[count]);
        if (base + len + j->table->reach > end) break;
        base += len;
        j->held_bytes -= len;
        count++;
    }
    if (count) j->least = WINDOW;
    give(j, held, count);
    memmove(held, held + count, (j->held - count) * sizeof held[0]);
    j->held -= count;
}

/* Take what a window that begins at j->start gave; false when it must be longer. */
static bool take_window(joining *j, size_t n, size_t size)
{
    const uint32_t *ids = j->m->ids;
    size_t skip = j->held ? 1 : 0, last = 0, from = j->start;
    size_t margin = size < MAKI_MERGE_MAX ? size / 6 : j->table->reach;
    size_t keep = ending_within(j->table, ids, n, size - margin, &last);
    j->kept = keep;
    if (keep <= skip) return false;
    for (size_t i = skip; i < keep; i++) {
        j->m->held[j->held++] = ids[i];
        j->held_bytes += length_of(j->table, ids[i]);
    }
    j->start += last;
    settle(j, from + size);
    return true;
}

/* What is held is wrong: go back to the last token that is certain, with longer windows. */
static void go_back(joining *j)
{
    assert(j->held > 0 && j->least < MAKI_MERGE_MAX);
    j->start -= j->held_bytes - length_of(j->table, j->m->held[j->held - 1]);
    j->held = j->held_bytes = 0;
    j->least = longer(j->least);
}

uint64_t maki_merge_long(maki_merge_fn *merge, const maki_table *table, const unsigned char *bytes,
                         size_t len, maki_merging *m, maki_merged_fn *ids, void *ctx)
{
    joining j = { .table = table, .m = m, .ids = ids, .ctx = ctx, .least = WINDOW };
    size_t window = WINDOW;
    for (;;) {
        size_t room = len - j.start, size = room < window ? room : window;
        size_t n = merge(table, bytes + j.start, size, m);
        bool agree = j.held == 0 || m->ids[0] == m->held[j.held - 1];
        if (agree && size == room) {
            give(&j, m->held, j.held);
            give(&j, m->ids + (j.held ? 1 : 0), n - (j.held ? 1 : 0));
            return j.total;
        }
        if (agree && take_window(&j, n, size)) {
            if (j.kept > MANY) window /= 2;
            if (window < j.least) window = j.least;
        } else if (agree || window <= j.least) {
            window = longer(window);
        } else {
            go_back(&j);
            window = j.least;
        }
    }
}

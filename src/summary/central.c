/* central.c -- see central.h. */
#include "summary/central.h"

#include <string.h>

enum {
    ONE = 1024,      /* a cosine of 1 */
    LEAST = 80,      /* weaker ties are chance */
    ALIKE = 640,     /* closer ones say the same */
    ROUNDS = 12,     /* of the walk; the order settles in fewer */
    START = 1 << 16, /* the rank of a sentence at the beginning */
    JUMP = START * 15 / 100,
};

typedef struct vector {
    uint32_t terms[MAKI_TERMS_MOST];
    uint32_t weights[MAKI_TERMS_MOST];
    size_t count;
    uint64_t norm;
} vector;

void maki_central_init(maki_central *central)
{
    central->stretch = 1;
}

/* ---- gathering -------------------------------------------------------------------------------- */

static void count_terms(maki_central *c, maki_str text)
{
    maki_terms terms;
    maki_terms_of(text, &terms);
    for (size_t i = 0; i < terms.count; i++) {
        uint16_t *seen = &c->seen[terms.at[i] % MAKI_CENTRAL_TERMS];
        if (*seen < UINT16_MAX) ++*seen;
    }
}

/* Of each two neighbours the better stays. */
static void thin_out(maki_central *c)
{
    for (size_t i = 0; i + 1 < c->count; i += 2) {
        size_t better = c->kept[i + 1].quality > c->kept[i].quality ? i + 1 : i;
        if (better != i / 2) c->kept[i / 2] = c->kept[better];
    }
    c->count /= 2;
    c->stretch *= 2;
}

static void end_stretch(maki_central *c)
{
    if (c->in_stretch == 0) return;
    if (c->count == MAKI_CENTRAL_KEPT) thin_out(c);
    c->kept[c->count++] = c->best;
    c->in_stretch = 0;
    c->best.quality = 0;
}

void maki_central_add(maki_central *c, maki_str text, uint32_t message, uint32_t quality)
{
    if (text.len > MAKI_CENTRAL_TEXT) return; /* nothing is quoted in part */
    count_terms(c, text);
    c->sentences++;
    if (c->in_stretch == 0 || quality > c->best.quality) {
        c->best = (maki_sentence){
            .message = message, .order = c->sentences, .quality = quality, .len = (uint16_t)text.len
        };
        memcpy(c->best.text, text.ptr, text.len);
    }
    c->in_stretch++;
    if (c->in_stretch >= c->stretch) end_stretch(c);
}

/* ---- ranking ----------------------------------------------------------------------------------- */

/* 16 * log2(x), x above 0: the highest bit and the four after it. */
static uint32_t log2_16(uint64_t x)
{
    uint32_t high = 63 - (uint32_t)__builtin_clzll(x);
    uint64_t rest = high >= 4 ? x >> (high - 4) : x << (4 - high);
    return high * 16 + (uint32_t)(rest & 15);
}

static uint64_t root(uint64_t x)
{
    uint64_t r = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1) {
        uint64_t next = r | bit;
        if (next * next <= x) r = next;
    }
    return r;
}

static void weigh(const maki_central *c, const maki_sentence *s, vector *out)
{
    maki_terms terms;
    uint64_t sum = 0;
    uint32_t all = log2_16(c->sentences + 2u);
    maki_terms_of((maki_str){ s->text, s->len }, &terms);
    out->count = terms.count;
    for (size_t i = 0; i < terms.count; i++) {
        uint32_t w = all - log2_16(c->seen[terms.at[i] % MAKI_CENTRAL_TERMS] + 1u);
        if (w > all) w = 0; /* the count of other terms is in it */
        out->terms[i] = terms.at[i];
        out->weights[i] = w;
        sum += (uint64_t)w * w;
    }
    out->norm = root(sum);
}

/* The cosine of two vectors in parts of ONE. */
static uint16_t likeness(const vector *a, const vector *b)
{
    uint64_t sum = 0;
    size_t i = 0, j = 0;
    while (i < a->count && j < b->count) {
        uint32_t left = a->terms[i], right = b->terms[j];
        if (left == right) sum += (uint64_t)a->weights[i] * b->weights[j];
        i += left <= right;
        j += right <= left;
    }
    if (a->norm == 0 || b->norm == 0) return 0;
    uint64_t cosine = sum * ONE / (a->norm * b->norm);
    return (uint16_t)(cosine > ONE ? ONE : cosine);
}

typedef struct graph {
    size_t n;
    uint16_t *ties; /* n * n */
    uint32_t *sums; /* of the ties of each */
    uint64_t *ranks, *next;
} graph;

static void tie(const maki_central *c, const vector *vectors, graph *g)
{
    for (size_t i = 0; i < c->count; i++) {
        for (size_t j = i + 1; j < c->count; j++) {
            uint16_t t = likeness(&vectors[i], &vectors[j]);
            g->ties[i * g->n + j] = g->ties[j * g->n + i] = t;
            if (t < LEAST) continue;
            g->sums[i] += t;
            g->sums[j] += t;
        }
    }
}

static void walk(graph *g)
{
    for (size_t i = 0; i < g->n; i++)
        g->ranks[i] = START;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < g->n; i++)
            g->next[i] = JUMP;
        for (size_t j = 0; j < g->n; j++) {
            for (size_t i = 0; i < g->n && g->sums[j]; i++) {
                uint64_t t = g->ties[j * g->n + i];
                if (t >= LEAST) g->next[i] += g->ranks[j] * 85 / 100 * t / g->sums[j];
            }
        }
        uint64_t *swap = g->ranks;
        g->ranks = g->next;
        g->next = swap;
    }
}

/* Take the best that is left, and strike out those that say the same. */
static void pick(const maki_central *c, graph *g, size_t most, uint16_t *picks, size_t *count)
{
    for (size_t i = 0; i < g->n; i++)
        g->ranks[i] = (g->ranks[i] + JUMP) * c->kept[i].quality * c->kept[i].quality;
    for (*count = 0; *count < most;) {
        size_t best = g->n;
        for (size_t i = 0; i < g->n; i++) {
            if (g->ranks[i] && (best == g->n || g->ranks[i] > g->ranks[best])) best = i;
        }
        if (best == g->n) return;
        picks[(*count)++] = (uint16_t)best;
        g->ranks[best] = 0;
        for (size_t i = 0; i < g->n; i++) {
            if (g->ties[best * g->n + i] >= ALIKE) g->ranks[i] = 0;
        }
    }
}

maki_status maki_central_pick(maki_central *c, maki_arena *arena, size_t most, uint16_t *picks,
                              size_t *count, maki_err *err)
{
    end_stretch(c);
    size_t n = c->count;
    graph g = { .n = n };
    *count = 0;
    if (n == 0) return MAKI_OK;
    vector *vectors = maki_arena_array(arena, n, sizeof *vectors);
    g.ties = maki_arena_array(arena, n * n, sizeof *g.ties);
    g.sums = maki_arena_array(arena, n, sizeof *g.sums);
    g.ranks = maki_arena_array(arena, n, sizeof *g.ranks);
    g.next = maki_arena_array(arena, n, sizeof *g.next);
    if (!vectors || !g.ties || !g.sums || !g.ranks || !g.next) return maki_arena_status(arena, err);
    for (size_t i = 0; i < n; i++)
        weigh(c, &c->kept[i], &vectors[i]);
    tie(c, vectors, &g);
    walk(&g);
    pick(c, &g, most, picks, count);
    return MAKI_OK;
}

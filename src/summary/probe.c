/* probe.c -- see probe.h. */
#include "summary/probe.h"

#include <string.h>

#include "base/str.h"
#include "summary/digest.h"

enum { WORKING_MOST = 16 << 20, SLOTS = 2 * MAKI_PROBE_FACTS };

struct maki_prober {
    maki_arena *arena;
    maki_digest *digest;
    uint64_t *seen; /* keys of facts: open addressing, 0 is empty */
    maki_fact_line *facts;
    size_t count;
    bool partial;
};

/* ---- gathering ---------------------------------------------------------------------------------------- */

/* True the first time. */
static bool is_new(maki_prober *p, uint64_t key)
{
    size_t s = (size_t)key % SLOTS;
    while (p->seen[s] && p->seen[s] != key)
        s = (s + 1) % SLOTS;
    if (p->seen[s]) return false;
    if (p->count == MAKI_PROBE_FACTS) {
        p->partial = true;
        return false;
    }
    p->seen[s] = key;
    return true;
}

static void found(void *ctx, maki_find what, maki_str text)
{
    static const maki_fact kinds[] = { [MAKI_FIND_PATH] = MAKI_FACT_PATH,
                                       [MAKI_FIND_NAME] = MAKI_FACT_NAME,
                                       [MAKI_FIND_NUMBER] = MAKI_FACT_NUMBER };
    maki_prober *p = ctx;
    if (!is_new(p, maki_note_key(text) ^ (uint64_t)what << 1)) return;
    p->facts[p->count++] = (maki_fact_line){ kinds[what], maki_arena_copy(p->arena, text) };
}

maki_status maki_prober_new(maki_arena *arena, maki_prober **out, maki_err *err)
{
    maki_prober *p = maki_arena_get(arena, sizeof *p);
    if (!p) return maki_arena_status(arena, err);
    maki_status st = maki_digest_new(arena, &p->digest, err);
    p->arena = arena;
    p->seen = maki_arena_array(arena, SLOTS, sizeof *p->seen);
    p->facts = maki_arena_array(arena, MAKI_PROBE_FACTS, sizeof *p->facts);
    if (st == MAKI_OK) st = maki_arena_status(arena, err);
    if (st != MAKI_OK) return st;
    p->digest->watch = found;
    p->digest->watch_ctx = p;
    *out = p;
    return MAKI_OK;
}

void maki_prober_add(maki_prober *p, maki_str json)
{
    maki_digest_add(p->digest, json);
}

/* ---- judging ------------------------------------------------------------------------------------------ */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Does `text` stand in the summary as a word of its own? */
static bool stands_in(maki_str summary, maki_str text)
{
    while (text.len && summary.len >= text.len) {
        const char *at = memmem(summary.ptr, summary.len, text.ptr, text.len);
        if (!at) return false;
        const char *end = at + text.len;
        bool left = at == summary.ptr || !is_word(at[-1]) || !is_word(text.ptr[0]);
        bool right = end == summary.ptr + summary.len || !is_word(*end) || !is_word(end[-1]);
        if (left && right) return true;
        summary = maki_str_from(summary, (size_t)(at - summary.ptr) + 1);
    }
    return false;
}

typedef struct verdict {
    maki_str summary;
    maki_arena *arena; /* of the lists */
    maki_probed *out;
} verdict;

static void list(verdict *v, maki_fact_line *lines, size_t *n, maki_fact kind, maki_str text)
{
    if (*n < MAKI_PROBE_LISTED)
        lines[(*n)++] = (maki_fact_line){ kind, maki_arena_copy(v->arena, text) };
}

static void judge(verdict *v, maki_fact kind, maki_str text, bool held)
{
    maki_probed *out = v->out;
    if (held) {
        out->kept[kind]++;
        out->kept_all++;
        list(v, out->kept_list, &out->kept_listed, kind, text);
    } else {
        out->lost[kind]++;
        out->lost_all++;
        list(v, out->lost_list, &out->lost_listed, kind, text);
    }
}

/* Lines are compared without the mark of a cut. */
static void judge_line(verdict *v, maki_fact kind, const maki_note *note)
{
    maki_str text = maki_note_text(note), mark = MAKI_LIT("…");
    if (text.len > mark.len && memcmp(text.ptr + text.len - mark.len, mark.ptr, mark.len) == 0)
        text.len -= mark.len;
    judge(v, kind, text, maki_str_has(v->summary, text));
}

static void judge_open(verdict *v, const maki_digest *d)
{
    for (size_t i = 0; i < d->errors.count; i++) {
        if (d->errors.at[i].state == MAKI_ERROR_OPEN)
            judge_line(v, MAKI_FACT_ERROR, &d->errors.at[i]);
    }
    for (size_t i = 0; i < d->tasks.count; i++) {
        if (d->tasks.at[i].state == MAKI_TASK_OPEN) judge_line(v, MAKI_FACT_TASK, &d->tasks.at[i]);
    }
}

maki_status maki_prober_judge(maki_prober *p, maki_str summary, maki_arena *arena, maki_probed *out,
                              maki_err *err)
{
    verdict v = { summary, arena, out };
    maki_status st = maki_arena_status(p->arena, err); /* no fact was lost for want of memory */
    *out = (maki_probed){ .partial = p->partial };
    if (st != MAKI_OK) return st;
    out->kept_list = maki_arena_array(arena, MAKI_PROBE_LISTED, sizeof(maki_fact_line));
    out->lost_list = maki_arena_array(arena, MAKI_PROBE_LISTED, sizeof(maki_fact_line));
    st = maki_arena_status(arena, err);
    if (st != MAKI_OK) return st;
    maki_digest_end(p->digest);
    for (size_t i = 0; i < p->count; i++)
        judge(&v, p->facts[i].kind, p->facts[i].text, stands_in(summary, p->facts[i].text));
    judge_open(&v, p->digest);
    return maki_arena_status(arena, err);
}

/* ---- in one go ---------------------------------------------------------------------------------------- */

static maki_status take(void *ctx, maki_str json, maki_err *err)
{
    (void)err;
    maki_prober_add(ctx, json);
    return MAKI_OK;
}

maki_status maki_probe(const maki_summary_request *hidden, maki_str summary, maki_arena *arena,
                       maki_probed *out, maki_err *err)
{
    maki_arena working = maki_arena_new(arena->alloc, WORKING_MOST);
    maki_prober *prober = NULL;
    *out = (maki_probed){ 0 };
    maki_status st = maki_prober_new(&working, &prober, err);
    if (st == MAKI_OK) st = hidden->each(hidden->source, take, prober, err);
    if (st == MAKI_OK) st = maki_prober_judge(prober, summary, arena, out, err);
    maki_arena_free(&working);
    return st;
}

/* probe.c -- see probe.h. */
#include "summary/probe.h"

#include <string.h>

#include "base/str.h"
#include "summary/digest.h"

enum { WORKING_MOST = 16 << 20, SLOTS = 2 * MAKI_PROBE_FACTS };

typedef struct probe {
    maki_digest *digest;
    maki_str summary;
    maki_arena *arena; /* of the lists */
    maki_probed *out;
    uint64_t *seen; /* keys of facts: open addressing, 0 is empty */
    size_t count;
} probe;

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

/* True the first time. */
static bool is_new(probe *p, uint64_t key)
{
    size_t s = (size_t)key % SLOTS;
    while (p->seen[s] && p->seen[s] != key)
        s = (s + 1) % SLOTS;
    if (p->seen[s]) return false;
    if (p->count == MAKI_PROBE_FACTS) {
        p->out->partial = true;
        return false;
    }
    p->seen[s] = key;
    p->count++;
    return true;
}

static void list(probe *p, maki_fact_line *lines, size_t *n, maki_fact kind, maki_str text)
{
    if (*n < MAKI_PROBE_LISTED)
        lines[(*n)++] = (maki_fact_line){ kind, maki_arena_copy(p->arena, text) };
}

static void judge(probe *p, maki_fact kind, maki_str text, bool held)
{
    maki_probed *out = p->out;
    if (held) {
        out->kept[kind]++;
        out->kept_all++;
        list(p, out->kept_list, &out->kept_listed, kind, text);
    } else {
        out->lost[kind]++;
        out->lost_all++;
        list(p, out->lost_list, &out->lost_listed, kind, text);
    }
}

static void found(void *ctx, maki_find what, maki_str text)
{
    static const maki_fact kinds[] = { [MAKI_FIND_PATH] = MAKI_FACT_PATH,
                                       [MAKI_FIND_NAME] = MAKI_FACT_NAME,
                                       [MAKI_FIND_NUMBER] = MAKI_FACT_NUMBER };
    probe *p = ctx;
    if (is_new(p, maki_note_key(text) ^ (uint64_t)what << 1))
        judge(p, kinds[what], text, stands_in(p->summary, text));
}

/* Lines are compared without the mark of a cut. */
static void judge_line(probe *p, maki_fact kind, const maki_note *note)
{
    maki_str text = maki_note_text(note), mark = MAKI_LIT("…");
    if (text.len > mark.len && memcmp(text.ptr + text.len - mark.len, mark.ptr, mark.len) == 0)
        text.len -= mark.len;
    judge(p, kind, text, maki_str_has(p->summary, text));
}

static void judge_open(probe *p)
{
    const maki_digest *d = p->digest;
    for (size_t i = 0; i < d->errors.count; i++) {
        if (d->errors.at[i].state == MAKI_ERROR_OPEN)
            judge_line(p, MAKI_FACT_ERROR, &d->errors.at[i]);
    }
    for (size_t i = 0; i < d->tasks.count; i++) {
        if (d->tasks.at[i].state == MAKI_TASK_OPEN) judge_line(p, MAKI_FACT_TASK, &d->tasks.at[i]);
    }
}

static maki_status take(void *ctx, maki_str json, maki_err *err)
{
    probe *p = ctx;
    (void)err;
    maki_digest_add(p->digest, json);
    return MAKI_OK;
}

static maki_status read_all(probe *p, const maki_summary_request *hidden, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (hidden->each) return hidden->each(hidden->source, take, p, err);
    for (size_t i = 0; st == MAKI_OK && i < hidden->messages.count; i++)
        st = take(p, hidden->messages.at[i]->raw, err);
    return st;
}

static maki_status begin(probe *p, maki_arena *working, maki_err *err)
{
    maki_status st = maki_digest_new(working, &p->digest, err);
    p->seen = maki_arena_array(working, SLOTS, sizeof *p->seen);
    p->out->kept_list = maki_arena_array(p->arena, MAKI_PROBE_LISTED, sizeof(maki_fact_line));
    p->out->lost_list = maki_arena_array(p->arena, MAKI_PROBE_LISTED, sizeof(maki_fact_line));
    if (st == MAKI_OK) st = maki_arena_status(working, err);
    if (st == MAKI_OK) st = maki_arena_status(p->arena, err);
    if (st != MAKI_OK) return st;
    p->digest->watch = found;
    p->digest->watch_ctx = p;
    return MAKI_OK;
}

maki_status maki_probe(const maki_summary_request *hidden, maki_str summary, maki_arena *arena,
                       maki_probed *out, maki_err *err)
{
    maki_arena working = maki_arena_new(arena->alloc, WORKING_MOST);
    probe p = { .summary = summary, .arena = arena, .out = out };
    *out = (maki_probed){ 0 };
    maki_status st = begin(&p, &working, err);
    if (st == MAKI_OK) st = read_all(&p, hidden, err);
    if (st == MAKI_OK) {
        maki_digest_end(p.digest);
        judge_open(&p);
        st = maki_arena_status(arena, err);
    }
    maki_arena_free(&working);
    return st;
}

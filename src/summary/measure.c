/* measure.c -- see measure.h. */
#include "summary/measure.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "base/text.h"
#include "summary/offline.h"

enum { WORKING_MAX = 16 << 20, FACT_SHOWN = 120 /* bytes of a fact that is told by name */ };

/* ---- judging ------------------------------------------------------------------------------------------ */

/* Does `text` stand in the summary as a word of its own? */
static bool stands_in(maki_str summary, maki_str text)
{
    while (text.len && summary.len >= text.len) {
        const char *at = memmem(summary.ptr, summary.len, text.ptr, text.len);
        if (!at) return false;
        const char *end = at + text.len;
        bool left = at == summary.ptr || !maki_is_word(at[-1]) || !maki_is_word(text.ptr[0]);
        bool right =
            end == summary.ptr + summary.len || !maki_is_word(*end) || !maki_is_word(end[-1]);
        if (left && right) return true;
        summary = maki_str_from(summary, (size_t)(at - summary.ptr) + 1);
    }
    return false;
}

static void name_one(maki_buf *list, maki_str text)
{
    char capacity[FACT_SHOWN * 6 + 2]; /* as JSON every byte may become six */
    maki_buf one = { .ptr = capacity, .capacity = sizeof capacity, .max = sizeof capacity };
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&one), NULL);
    maki_jw_string(&w, maki_utf8_truncate(text, FACT_SHOWN));
    if (maki_jw_end(&w) != MAKI_OK || list->len + one.len + 1 > list->max) return;
    if (list->len) maki_buf_add_byte(list, ',');
    maki_buf_add(list, maki_buf_str(&one));
}

static void judge(maki_judged *out, maki_buf *list, maki_fact kind, maki_str text, bool held)
{
    if (held) {
        out->kept[kind]++;
        out->survey.kept++;
        return;
    }
    out->lost[kind]++;
    out->survey.lost++;
    name_one(list, text);
}

/* Notes that are open; lines are compared without the mark of a cut. */
static void judge_open(maki_judged *out, maki_buf *list, maki_fact kind, const maki_text_set *notes,
                       uint8_t open, maki_str summary)
{
    for (size_t i = 0; i < notes->count; i++) {
        maki_str text = maki_text_item_text(&notes->at[i]), mark = MAKI_LIT("…");
        if (notes->at[i].state != open) continue;
        if (text.len > mark.len && maki_str_ends(text, mark)) text.len -= mark.len;
        judge(out, list, kind, text, maki_str_has(summary, text));
    }
}

/* What hurts most first: what is broken, what is to be done, where. */
maki_status maki_digest_judge(const maki_digest *d, maki_str summary, maki_judged *out,
                              maki_err *err)
{
    maki_fact_coverage *survey = &out->survey;
    *out = (maki_judged){ .survey = { .measured = true } };
    maki_buf list = { .ptr = survey->list,
                      .capacity = sizeof survey->list,
                      .max = sizeof survey->list };
    judge_open(out, &list, MAKI_FACT_ERROR, &d->errors, MAKI_ERROR_OPEN, summary);
    judge_open(out, &list, MAKI_FACT_TASK, &d->tasks, MAKI_TASK_OPEN, summary);
    for (maki_fact kind = MAKI_FACT_PATH; kind <= MAKI_FACT_NUMBER; kind++) {
        for (size_t i = 0; i < d->fact_count; i++) {
            maki_str text = d->facts[i].text;
            if (d->facts[i].kind == kind) judge(out, &list, kind, text, stands_in(summary, text));
        }
    }
    survey->list_len = list.len;
    return maki_arena_status(d->arena, err); /* no fact was lost for want of memory */
}

/* ---- looking at what is read -------------------------------------------------------------------------- */

/* A summariser may stop, and read from the beginning again (another one after a failure): every message is
 * looked at once, the first time it comes by. */
typedef struct watcher {
    const maki_summary_request *request;
    maki_digest *digest;
    uint64_t seen;
} watcher;

typedef struct pass {
    watcher *w;
    uint64_t at; /* messages so far in this pass */
    maki_message_fn fn;
    void *ctx;
} pass;

static maki_status look(void *ctx, maki_str json, maki_err *err)
{
    pass *p = ctx;
    if (p->at++ == p->w->seen) {
        maki_digest_add(p->w->digest, json);
        p->w->seen++;
    }
    return p->fn ? p->fn(p->ctx, json, err) : MAKI_OK;
}

static maki_status each(const void *source, maki_message_fn fn, void *ctx, maki_err *err)
{
    watcher *w = *(watcher *const *)source;
    pass p = { .w = w, .fn = fn, .ctx = ctx };
    return w->request->each(w->request->source, look, &p, err);
}

static maki_status run(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err)
{
    const maki_summarizer *of = self->ctx;
    maki_arena working = maki_arena_new(arena->alloc, WORKING_MAX);
    watcher w = { .request = request };
    watcher *source = &w;
    maki_summary_request watched = *request;
    maki_judged judged;
    maki_status st = maki_digest_new(&working, &w.digest, err);
    watched.each = each;
    watched.source = &source;
    if (st == MAKI_OK) st = of->run(of, &watched, arena, out, err);
    if (st == MAKI_OK && !out->survey.measured) {
        st = each(&source, NULL, NULL, err); /* what was not read */
        maki_digest_end(w.digest);
        if (st == MAKI_OK) st = maki_digest_judge(w.digest, out->text, &judged, err);
        if (st == MAKI_OK) out->survey = judged.survey;
    }
    maki_arena_free(&working);
    return st;
}

maki_summarizer maki_summarizer_measured(const maki_summarizer *of)
{
    if (of && maki_summarizer_is_offline(of)) return *of;
    return (maki_summarizer){ .usable = of && of->usable, .run = run, .ctx = of };
}

/* measure.c -- look up the facts of a digest in a summary, and measure and complete the summaries of any summarizer. */
#include "summary/measure.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "base/text.h"
#include "summary/offline.h"

enum {
    WORKING_MAX = 16 << 20,
    FACT_SHOWN = 120,  /* bytes of a fact in the list of those lost */
    MISSING_MAX = 8000 /* bytes of rules and decisions that are added */
};

/* ---- lookup ------------------------------------------------------------------------------------------- */

/* Does the summary contain `text` as a separate word? */
static bool contains_word(maki_str summary, maki_str text)
{
    while (text.len && summary.len >= text.len) {
        const char *at = memmem(summary.ptr, summary.len, text.ptr, text.len);
        if (!at) return false;
        const char *end = at + text.len;
        bool left =
            at == summary.ptr || !maki_is_word_char(at[-1]) || !maki_is_word_char(text.ptr[0]);
        bool right = end == summary.ptr + summary.len || !maki_is_word_char(*end) ||
                     !maki_is_word_char(end[-1]);
        if (left && right) return true;
        summary = maki_str_skip(summary, (size_t)(at - summary.ptr) + 1);
    }
    return false;
}

static void list_lost(maki_buf *list, maki_str text)
{
    char buffer[FACT_SHOWN * 6 + 2]; /* as JSON every byte may become six */
    maki_buf string = { .ptr = buffer, .capacity = sizeof buffer, .max = sizeof buffer };
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&string), NULL);
    maki_jw_string(&w, maki_utf8_truncate(text, FACT_SHOWN));
    if (maki_jw_end(&w) != MAKI_OK || list->len + string.len + 1 > list->max) return;
    if (list->len) maki_buf_add_byte(list, ',');
    maki_buf_add(list, maki_buf_str(&string));
}

static void count_fact(maki_fact_counts *out, maki_buf *list, maki_fact kind, maki_str text,
                       bool found)
{
    if (found) {
        out->kept[kind]++;
        out->coverage.kept++;
        return;
    }
    out->lost[kind]++;
    out->coverage.lost++;
    list_lost(list, text);
}

/* Look up the items in state `open`, without the ellipsis of a truncated text. */
static void count_open_items(maki_fact_counts *out, maki_buf *list, maki_fact kind,
                             const maki_text_set *items, uint8_t open, maki_str summary)
{
    for (size_t i = 0; i < items->count; i++) {
        maki_str text = maki_text_item_text(&items->at[i]), mark = MAKI_LIT("…");
        if (items->at[i].state != open) continue;
        if (text.len > mark.len && maki_str_ends(text, mark)) text.len -= mark.len;
        count_fact(out, list, kind, text, maki_str_contains(summary, text));
    }
}

/* Errors and tasks first: the list of lost facts is limited. */
maki_status maki_digest_count_facts(const maki_digest *d, maki_str summary, maki_fact_counts *out,
                                    maki_err *err)
{
    maki_fact_coverage *coverage = &out->coverage;
    *out = (maki_fact_counts){ .coverage = { .measured = true } };
    maki_buf list = { .ptr = coverage->list,
                      .capacity = sizeof coverage->list,
                      .max = sizeof coverage->list };
    count_open_items(out, &list, MAKI_FACT_ERROR, &d->errors, MAKI_ERROR_OPEN, summary);
    count_open_items(out, &list, MAKI_FACT_TASK, &d->tasks, MAKI_TASK_OPEN, summary);
    for (maki_fact kind = MAKI_FACT_PATH; kind <= MAKI_FACT_NUMBER; kind++) {
        for (size_t i = 0; i < d->fact_count; i++) {
            maki_str text = d->facts[i].text;
            if (d->facts[i].kind == kind)
                count_fact(out, &list, kind, text, contains_word(summary, text));
        }
    }
    coverage->list_len = list.len;
    return maki_arena_status(d->arena, err); /* a fact that could not be stored is an error */
}

/* ---- missing rules and decisions -------------------------------------------------------------------------------- */

/* Write the items of a set with enough weight that the summary does not contain, under their label. */
static void add_missing(const maki_text_set *set, maki_lang lang, maki_label label,
                        maki_str summary, maki_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < set->count && out->len < MISSING_MAX; i++) {
        const maki_text_item *item = &set->at[i];
        maki_str text = maki_text_item_text(item);
        bool latest = item->weight >= MAKI_WEIGHT_ALWAYS && item->state == MAKI_DECISION_LATEST;
        if (!latest || maki_str_contains(summary, text)) continue;
        if (!any)
            maki_buf_print(out, "\n%s%s:\n", out->len ? "" : "\n", maki_label_text(lang, label));
        maki_buf_print(out, "- %s%.*s%s\n", maki_quote(lang, false), MAKI_PRINTED(text),
                       maki_quote(lang, true));
        any = true;
    }
}

/* Append the rules and decisions that a model left out, word for word. */
static maki_status append_missing(const maki_digest *d, maki_arena *arena, maki_str *text,
                                  maki_err *err)
{
    maki_lang lang = maki_script_counts_lang(&d->letters);
    maki_buf missing = maki_buf_new(arena->alloc, 1 << 16);
    add_missing(&d->rules, lang, MAKI_LABEL_RULES, *text, &missing);
    add_missing(&d->decisions, lang, MAKI_LABEL_DECISIONS, *text, &missing);
    maki_status st = maki_buf_status(&missing, err);
    if (st == MAKI_OK && missing.len) {
        *text =
            maki_arena_print(arena, "%.*s%.*s", MAKI_PRINTED(*text), (int)missing.len, missing.ptr);
        st = maki_arena_status(arena, err);
    }
    maki_buf_free(&missing);
    return st;
}

/* ---- the measured summarizer -------------------------------------------------------------------------- */

/* A summarizer may read the messages again from the beginning (another one after a failure): each message is added to
 * the digest once, the first time it is read. */
typedef struct watcher {
    const maki_summary_request *request;
    maki_digest *digest;
    uint64_t digested; /* messages */
} watcher;

typedef struct pass {
    watcher *w;
    uint64_t position; /* messages so far in this pass */
    maki_message_fn fn;
    void *ctx;
} pass;

static maki_status digest_message(void *ctx, maki_str json, maki_err *err)
{
    pass *p = ctx;
    if (p->position++ == p->w->digested) {
        maki_digest_add(p->w->digest, json);
        p->w->digested++;
    }
    return p->fn ? p->fn(p->ctx, json, err) : MAKI_OK;
}

static maki_status each_message(const void *source, maki_message_fn fn, void *ctx, maki_err *err)
{
    watcher *w = *(watcher *const *)source;
    pass p = { .w = w, .fn = fn, .ctx = ctx };
    return w->request->each(w->request->source, digest_message, &p, err);
}

static maki_status run(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err)
{
    const maki_summarizer *wrapped = self->ctx;
    maki_arena working = maki_arena_new(arena->alloc, WORKING_MAX);
    watcher w = { .request = request };
    watcher *source = &w;
    maki_summary_request watched = *request;
    maki_fact_counts judged;
    maki_status st = maki_digest_new(&working, &w.digest, err);
    watched.each = each_message;
    watched.source = &source;
    if (st == MAKI_OK) st = wrapped->run(wrapped, &watched, arena, out, err);
    if (st == MAKI_OK && !out->coverage.measured) {
        st = each_message(&source, NULL, NULL, err); /* messages that the summarizer did not read */
        maki_digest_end(w.digest);
        if (st == MAKI_OK) st = append_missing(w.digest, arena, &out->text, err);
        if (st == MAKI_OK) st = maki_digest_count_facts(w.digest, out->text, &judged, err);
        if (st == MAKI_OK) out->coverage = judged.coverage;
    }
    maki_arena_free(&working);
    return st;
}

maki_summarizer maki_summarizer_measured(const maki_summarizer *of)
{
    if (of && maki_summarizer_is_offline(of)) return *of;
    return (maki_summarizer){ .usable = of && of->usable, .run = run, .ctx = of };
}

/* prepare.c -- write prepared summaries (events `prepared`), find the valid ones, and condense with them.
 *
 * A prepared summary is valid while the cover of the messages it replaces is still the same; this is checked at each
 * lookup (is_valid), so that nothing has to invalidate them. */
#include "manage/prepare.h"

#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/json_builder.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "summary/measure.h"
#include "token/content.h"

enum {
    HEX = 2 * MAKI_COVER_LEN,
    PREPARED_MAX = 8,      /* newest prepared summaries that are considered */
    WORKING_MAX = 32 << 20 /* one summary, and its event */
};

#define MARGIN_PERCENT 10.0 /* percent below the threshold */

bool maki_prepare_due(const maki_summary_settings *settings, double percent, double threshold)
{
    double mark = settings->background_percent;
    if (!(mark > 0)) mark = threshold - MARGIN_PERCENT;
    return settings->background && percent >= mark && percent < threshold;
}

/* ---- prepared summaries ----------------------------------------------------------------------------------- */

/* The fields of a prepared summary, without its summary. */
typedef struct prepared_event {
    uint64_t ev, before, covers, tokens;
    char cover[HEX];
} prepared_event;

/* False: this event is not a prepared summary, or not a valid one. */
static bool read_prepared(uint64_t ev, maki_str row, maki_str *event, prepared_event *out)
{
    maki_str cover;
    if (!maki_str_contains(row, MAKI_LIT("\"type\":\"prepared\"")))
        return false; /* the usual case, without parsing */
    if (maki_json_check(row, event, NULL) != MAKI_OK) return false;
    if (!maki_json_field_in(*event, "type", "prepared")) return false;
    if (!maki_json_string_field(*event, "cover", &cover)) return false;
    if (maki_json_strip_quotes(cover).len != HEX) return false;
    *out = (prepared_event){ .ev = ev,
                             .before = maki_json_uint_field(*event, MAKI_LIT("before")),
                             .covers = maki_json_uint_field(*event, MAKI_LIT("covers")),
                             .tokens = maki_json_uint_field(*event, MAKI_LIT("tokens")) };
    memcpy(out->cover, maki_json_strip_quotes(cover).ptr, HEX);
    return true;
}

/* The newest prepared summaries, oldest of them first. */
typedef struct prepared_list {
    prepared_event items[PREPARED_MAX];
    size_t count;
} prepared_list;

static maki_status collect_prepared(void *ctx, uint64_t ev, maki_str row, uint64_t at,
                                    maki_err *err)
{
    prepared_list *n = ctx;
    maki_str event;
    prepared_event candidate;
    (void)at;
    (void)err;
    if (!read_prepared(ev, row, &event, &candidate)) return MAKI_OK;
    if (n->count == PREPARED_MAX) memmove(n->items, n->items + 1, --n->count * sizeof n->items[0]);
    n->items[n->count++] = candidate;
    return MAKI_OK;
}

/* How many messages of the view are at or after message `seq`; 0: it is not in view. */
static uint64_t messages_from(const maki_view *view, uint64_t seq)
{
    uint64_t before = 0;
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        if (item->from && seq >= item->from && seq <= item->to)
            return maki_view_count(view) - before - (seq - item->from);
        before += item->from ? item->to - item->from + 1 : 1;
    }
    return 0;
}

/* Does a condense that keeps what is after a prepared summary cover the same messages? */
static maki_status is_valid(maki_conv *conv, const prepared_event *n, uint64_t keep, bool *valid,
                            maki_err *err)
{
    char cover[HEX + 1];
    maki_covered covered;
    maki_err why = { 0 };
    *valid = false;
    maki_status st = maki_conv_covered(conv, (size_t)keep, &covered, &why);
    if (st == MAKI_REFUSED) return MAKI_OK; /* there is nothing left to condense */
    if (st != MAKI_OK && err) *err = why;
    if (st != MAKI_OK) return st;
    maki_hex(covered.cover, MAKI_COVER_LEN, cover);
    *valid = memcmp(cover, n->cover, HEX) == 0;
    return MAKI_OK;
}

maki_status maki_prepared_find(maki_conv *conv, size_t keep, maki_prepared *out, maki_err *err)
{
    prepared_list all = { .count = 0 };
    const maki_view *view;
    *out = (maki_prepared){ 0 };
    maki_status st = maki_log_refresh(maki_conv_log(conv), err);
    if (st == MAKI_OK) st = maki_log_each_event(maki_conv_log(conv), collect_prepared, &all, err);
    for (size_t i = all.count; st == MAKI_OK && i > 0 && !out->event; i--) {
        const prepared_event *n = &all.items[i - 1];
        bool valid = false;
        st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
        uint64_t kept = st == MAKI_OK ? messages_from(view, n->before) : 0;
        if (kept == 0 || kept < keep) continue;
        st = is_valid(conv, n, kept, &valid, err);
        if (valid) *out = (maki_prepared){ n->ev, (size_t)kept, n->covers, n->tokens };
    }
    return st;
}

/* ---- using a prepared summary ------------------------------------------------------------------- */

/* The newest prepared summary with a cover, and its summary. */
typedef struct search {
    char cover[HEX + 1];
    maki_arena *arena;
    uint64_t event; /* 0: none found */
    maki_summary summary;
} search;

static void read_coverage(maki_str event, maki_fact_coverage *out)
{
    maki_str lost = maki_json_first_field(event, "lost", MAKI_JSON_ARRAY);
    *out = (maki_fact_coverage){ .measured = true,
                                 .kept = maki_json_uint_field(event, MAKI_LIT("factsKept")),
                                 .lost = maki_json_uint_field(event, MAKI_LIT("factsLost")) };
    if (!lost.len || lost.len - 2 > sizeof out->list) return;
    out->list_len = lost.len - 2;
    memcpy(out->list, lost.ptr + 1, out->list_len);
}

static maki_status match_cover(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    search *s = ctx;
    maki_str event, text;
    prepared_event candidate;
    (void)at;
    if (!read_prepared(ev, row, &event, &candidate) || memcmp(candidate.cover, s->cover, HEX) != 0)
        return MAKI_OK;
    if (!maki_json_string_field(event, "summary", &text)) return MAKI_OK;
    s->event = ev;
    s->summary.text =
        maki_arena_copy(s->arena, maki_json_text(text, s->arena)); /* the row is freed */
    read_coverage(event, &s->summary.coverage);
    return maki_arena_status(s->arena, err);
}

static maki_status find_cover(maki_conv *conv, const unsigned char cover[MAKI_COVER_LEN],
                              maki_arena *arena, search *out, maki_err *err)
{
    *out = (search){ .arena = arena };
    maki_hex(cover, MAKI_COVER_LEN, out->cover);
    return maki_log_each_event(maki_conv_log(conv), match_cover, out, err);
}

/* A summarizer that returns the prepared summary of the same cover, and without one runs `fallback`. */
typedef struct prepared_source {
    maki_conv *conv;
    const maki_summarizer *fallback;
} prepared_source;

static maki_status run_prepared(const maki_summarizer *self, const maki_summary_request *request,
                                maki_arena *arena, maki_summary *out, maki_err *err)
{
    const prepared_source *source = self->ctx;
    search found = { .event = 0 };
    maki_status st = MAKI_OK;
    if (request->cover) st = find_cover(source->conv, request->cover, arena, &found, err);
    if (st != MAKI_OK) return st;
    if (found.event == 0) return source->fallback->run(source->fallback, request, arena, out, err);
    *out = found.summary;
    return MAKI_OK;
}

maki_status maki_prepared_condense(maki_conv *conv, const unsigned char *expect, size_t keep,
                                   double target, const maki_summarizer *summarizer,
                                   maki_change *out, maki_err *err)
{
    maki_summarizer measured = maki_summarizer_measured(summarizer);
    prepared_source source = { conv, &measured };
    maki_summarizer prepared_summarizer = { .usable = measured.usable,
                                            .run = run_prepared,
                                            .ctx = &source };
    maki_prepared prepared;
    maki_view_totals now = { 0 };
    *out = (maki_change){ 0 };
    maki_status st = maki_prepared_find(conv, keep, &prepared, err);
    if (st == MAKI_OK && prepared.event) st = maki_conv_total_now(conv, &now, err);
    if (st != MAKI_OK) return st;
    double tokens_after = (double)now.tokens - (double)prepared.covers + (double)prepared.tokens;
    if (prepared.event && tokens_after <= target) keep = prepared.keep;
    return maki_conv_condense(conv, expect, keep, &prepared_summarizer, out, err);
}

/* ---- writing a prepared summary ----------------------------------------------------------------- */

static maki_status write_prepared(maki_conv *conv, const maki_covered *covered, uint64_t tokens,
                                  const maki_summary *summary, maki_arena *arena, uint64_t *event,
                                  maki_err *err)
{
    char cover[HEX + 1];
    maki_json_builder build;
    maki_str fields;
    maki_change change = { 0 };
    maki_hex(covered->cover, MAKI_COVER_LEN, cover);
    maki_json_builder_begin(&build, arena, err);
    maki_jw_print(&build.w, "{'cover':%z,'before':%i,'covers':%i,'tokens':%i", cover,
                  covered->before, covered->tokens, tokens);
    maki_summary_usage_write(&build.w, &summary->usage);
    maki_fact_coverage_write(&build.w, &summary->coverage);
    maki_jw_print(&build.w, "'summary':%s}", summary->text);
    maki_status st = maki_json_builder_end(&build, arena, &fields, err);
    if (st == MAKI_OK)
        st = maki_conv_add_event(conv, "prepared", maki_json_strip_quotes(fields), &change, err);
    *event = change.event;
    return st;
}

/* Tokens of a summary's text, and of the message it will stand in. */
static maki_status count(const maki_env *env, maki_str text, uint64_t *tokens, maki_err *err)
{
    maki_tokenizer *t = NULL;
    maki_status st = maki_tokenizer_open(env, maki_encoding_at(0), NULL, &t, err);
    if (st == MAKI_OK) *tokens = maki_tokenizer_count(t, text) + MAKI_PER_MESSAGE;
    maki_tokenizer_close(t);
    return st;
}

static maki_status prepare(maki_conv *conv, size_t keep, const maki_summarizer *summarizer,
                           maki_arena *arena, maki_prepare_report *out, maki_err *err)
{
    const maki_env *env = maki_log_env(maki_conv_log(conv));
    maki_summarizer measured = maki_summarizer_measured(summarizer);
    maki_covered covered;
    maki_summary summary;
    search existing = { .event = 0 };
    uint64_t tokens = 0;
    maki_status st = maki_conv_summarize(conv, keep, &measured, arena, &covered, &summary, err);
    out->usage = summary.usage;
    out->coverage = summary.coverage;
    out->fallback_reason = summary.fallback_reason;
    if (st != MAKI_OK || summary.fallback_reason.status != MAKI_OK) return st;
    st = count(env, summary.text, &tokens, err);
    if (st == MAKI_OK && tokens >= covered.tokens)
        return maki_refuse(err, "CONTEXT_GREW", "the summary is not shorter than what it replaces");
    if (st == MAKI_OK) st = maki_log_refresh(maki_conv_log(conv), err);
    if (st == MAKI_OK) st = find_cover(conv, covered.cover, arena, &existing, err);
    if (st != MAKI_OK) return st;
    out->event = existing.event;
    if (existing.event) return MAKI_OK; /* another process was faster */
    st = write_prepared(conv, &covered, tokens, &summary, arena, &out->event, err);
    out->written = st == MAKI_OK;
    return st;
}

maki_status maki_prepare(const maki_env *env, const char *path, size_t keep,
                         const maki_summarizer *summarizer, maki_prepare_report *out, maki_err *err)
{
    maki_conv_options options = { .durability = MAKI_DURABILITY_SYNC, .threads = 1 };
    maki_arena arena = maki_arena_new(env->alloc, WORKING_MAX);
    maki_prepared already = { 0 };
    maki_conv *conv = NULL;
    *out = (maki_prepare_report){ 0 };
    maki_status st = maki_conv_open(env, path, &options, &conv, err);
    if (st == MAKI_OK) st = maki_prepared_find(conv, keep, &already, err);
    out->event = already.event;
    if (st == MAKI_OK && !already.event) st = prepare(conv, keep, summarizer, &arena, out, err);
    if (!out->written && conv) maki_conv_add_unused_usage(conv, &out->usage);
    maki_conv_close(conv);
    maki_arena_free(&arena);
    return st;
}

/* conv_condense.c -- replace the middle of a conversation by a summary: condense and soft trim.
 *
 * In:    the newest view, how many messages stay at the end, and a summarizer.
 * Out:   a condense event: what is hidden, the summary as a synthetic message, its tokens and what it cost.
 * Must stay true: the summary has fewer tokens than what it replaces, else MAKI_REFUSED CONTEXT_GREW.
 *
 * The summarizer may take long, and others may write meanwhile: its summary is kept and used when the change is
 * decided again, as long as the hash of the messages it covers (maki_covered) is the same. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/json_builder.h"
#include "base/str_util.h"
#include "base/text.h"
#include "history/hide.h"
#include "history/synthetic.h"

enum {
    SUMMARY_MAX = 1 << 28,
    SUMMARY_MIN = 200 /* bytes of a summary that is cut to fit */
};

typedef struct condense_ctx {
    size_t keep;
    const maki_summarizer *summarizer;
    bool soft;           /* the summary is a system message, and */
    uint64_t max_tokens; /* is cut when the view would have more tokens; 0: never */
    /* The summary of an attempt that failed with a conflict: used again if it covers the same messages. */
    bool summarized;
    uint64_t to; /* the position at which what it covers ends */
    unsigned char cover[MAKI_COVER_LEN];
    maki_buf text;
    maki_summary summary; /* without its text */
} condense_ctx;

typedef struct message_source {
    maki_conv *conv;
    const maki_view *view;
    maki_message_fn fn;
    void *ctx;
} message_source;

static maki_status forward_json(void *ctx, const maki_view_message *seen, maki_err *err)
{
    message_source *s = ctx;
    return s->fn(s->ctx, seen->json, err);
}

static maki_status each_message(const void *from, maki_message_fn fn, void *ctx, maki_err *err)
{
    message_source s = *(const message_source *)from;
    s.fn = fn;
    s.ctx = ctx;
    return maki_conv_each(s.conv, s.view, forward_json, &s, err);
}

/* The part of a view at positions [from, to). */
static maki_status slice_view(const maki_view *view, uint64_t from, uint64_t to, maki_arena *arena,
                              maki_view *out, maki_err *err)
{
    uint64_t n = 0;
    *out = *view;
    out->count = 0;
    out->items = maki_arena_array(arena, view->count, sizeof *out->items);
    if (!out->items) return maki_arena_status(arena, err);
    for (size_t i = 0; i < view->count; i++) {
        maki_view_item item = view->items[i];
        uint64_t length = item.from ? item.to - item.from + 1 : 1;
        uint64_t begin = n < from ? from - n : 0, end = n + length > to ? to - n : length;
        if (n < to && n + length > from && begin < end) {
            if (item.from) {
                item.to = item.from + end - 1;
                item.from += begin;
            }
            out->items[out->count++] = item;
        }
        n += length;
    }
    return MAKI_OK;
}

/* Select what a condense hides: all that may be hidden but the last `keep`; with `to`, only before that position. */
static maki_status select_hidden(maki_conv *conv, const maki_view *view, size_t keep, uint64_t to,
                                 maki_hiding *s, maki_err *err)
{
    uint64_t all = maki_view_count(view);
    *s = (maki_hiding){ .to = all > keep ? all - keep : 0 };
    if (to && to < s->to) s->to = to;
    maki_status st = maki_view_fixed_prefix(view, &s->from, err);
    if (st == MAKI_OK) st = maki_hiding_adjust_end(view, all, s->from, &s->to, err);
    if (st != MAKI_OK) return st;
    if (s->to < s->from + 2) {
        return maki_refuse(err, "NOT_ENOUGH_MESSAGES",
                           "too few visible messages to condense: %" PRIu64, all);
    }
    st = maki_hiding_collect(conv, view, s, false, err);
    if (st == MAKI_OK && s->rows == 0)
        st = maki_refuse(err, "CONDENSED_RECENTLY",
                         "there are no new messages since the last summary");
    return st;
}

static void hash_numbers(maki_sha256 *hash, uint64_t a, uint64_t b, uint64_t c)
{
    char text[80];
    snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", a, b, c);
    maki_sha256_update(hash, maki_str_of(text));
}

static void hash_trim(maki_sha256 *hash, const maki_trim *trim)
{
    hash_numbers(hash, trim->seq, (uint64_t)trim->block << 32 | trim->part, trim->restores);
    hash_numbers(hash, trim->head, trim->tail, trim->cut_count);
    for (size_t i = 0; i < trim->cut_count; i++)
        hash_numbers(hash, trim->cuts[i].from, trim->cuts[i].to, trim->cuts[i].text.len);
}

/* The hash of what is covered.  Hashing the numbers is enough: a row or an event never changes. */
static void hash_covered(const maki_view *part, const maki_hiding *s,
                         unsigned char cover[MAKI_COVER_LEN])
{
    maki_sha256 hash;
    unsigned char digest[MAKI_SHA256_LEN];
    maki_sha256_init(&hash);
    for (size_t i = 0; i < part->count; i++) {
        const maki_view_item *item = &part->items[i];
        hash_numbers(&hash, item->up, item->from, item->from ? item->to : item->synthetic->ev);
    }
    for (size_t i = 0; i < s->count; i++)
        hash_numbers(&hash, UINT64_MAX, s->spans[i].from, s->spans[i].to);
    for (size_t i = 0; i < part->trim_count; i++) {
        if (maki_view_has(part, part->trims[i]->seq)) hash_trim(&hash, part->trims[i]);
    }
    maki_sha256_final(&hash, digest);
    memcpy(cover, digest, MAKI_COVER_LEN);
}

static maki_status describe_covered(maki_conv *conv, const maki_view *view, const maki_hiding *s,
                                    maki_view *part, maki_covered *out, maki_err *err)
{
    maki_status st = slice_view(view, s->from, s->to, &conv->arena, part, err);
    *out = (maki_covered){ .before = maki_hiding_seq(conv, view, s->to),
                           .messages = s->rows,
                           .tokens = s->tokens };
    if (st == MAKI_OK) hash_covered(part, s, out->cover);
    return st;
}

static maki_status summarize(maki_conv *conv, const maki_view *part, const maki_covered *what,
                             const maki_summarizer *summarizer, maki_arena *arena,
                             maki_summary *out, maki_err *err)
{
    maki_err why = { 0 };
    message_source from = { .conv = conv, .view = part };
    maki_summary_request request = {
        .each = each_message, .source = &from, .tokens = what->tokens, .cover = what->cover
    };
    if (!summarizer || !summarizer->usable) {
        return maki_refuse(err, "HANDLER_INVALID", "there is no summarizer that can be called");
    }
    maki_status st = summarizer->run(summarizer, &request, arena, out, &why);
    if (st == MAKI_NOMEM || st == MAKI_CORRUPT || st == MAKI_IO || st == MAKI_CANCELLED) {
        if (err) *err = why;
        return st;
    }
    if (st == MAKI_REFUSED && strcmp(why.code, "SUMMARY_EMPTY") == 0) {
        if (err) *err = why;
        return st;
    }
    if (st != MAKI_OK) return maki_refuse(err, "SUMMARIZER_FAILED", "the summarizer: %s", why.msg);
    out->text = maki_str_trim(out->text);
    if (out->text.len) return MAKI_OK;
    return maki_refuse(err, "SUMMARY_EMPTY", "the summarizer returned no text");
}

/* The synthetic message of a summary, and its tokens. */
static maki_status make_summary(maki_conv *conv, const condense_ctx *c, maki_str text, double ts,
                                maki_str *out, uint64_t *tokens, maki_err *err)
{
    maki_arena *arena = &conv->arena;
    maki_summary_parts parts = { .text = text, .ts = ts };
    maki_status st = MAKI_OK;
    if (c->soft) {
        text = maki_arena_print(arena, MAKI_SYSTEM_SUMMARY_PREFIX "%.*s", (int)text.len, text.ptr);
        st = maki_synthetic_text(MAKI_LIT("system"), text, arena, out, err);
    } else {
        st = maki_synthetic_id(conv->env.random, arena, &parts.id, err);
        if (st == MAKI_OK) st = maki_synthetic_summary(&parts, arena, out, err);
    }
    return st == MAKI_OK ? maki_conv_message_tokens(conv, *out, tokens, err) : st;
}

/* The same with the text cut until it has at most max_tokens, at the end of a line where there is one. */
static maki_status make_summary_within(maki_conv *conv, const condense_ctx *c, uint64_t max_tokens,
                                       maki_str text, double ts, maki_str *out, uint64_t *tokens,
                                       maki_err *err)
{
    maki_status st = make_summary(conv, c, text, ts, out, tokens, err);
    while (st == MAKI_OK && *tokens > max_tokens && text.len > SUMMARY_MIN) {
        size_t len = (size_t)((double)text.len * 0.9 * (double)max_tokens / (double)*tokens);
        text = maki_utf8_truncate(text, len > SUMMARY_MIN ? len : SUMMARY_MIN);
        const char *line = maki_str_last(text, '\n');
        if (line && (size_t)(line - text.ptr) > text.len / 2)
            text = maki_str_prefix(text, (size_t)(line - text.ptr));
        st = make_summary(conv, c, text, ts, out, tokens, err);
    }
    return st;
}

/* The tokens that a soft summary may have, so that the view stays within c->max_tokens. */
static maki_status summary_budget(maki_conv *conv, const maki_view *view, const condense_ctx *c,
                                  const maki_hiding *s, uint64_t *budget, maki_err *err)
{
    maki_view_totals all = { 0 };
    *budget = UINT64_MAX;
    if (!c->max_tokens) return MAKI_OK;
    maki_status st = maki_conv_total(conv, view, &all, err);
    uint64_t remaining = all.tokens > s->tokens ? all.tokens - s->tokens : 0;
    *budget = c->max_tokens > remaining ? c->max_tokens - remaining : 0;
    return st;
}

/* Set in *c the summary of what was selected; the summarizer runs again only when that has changed. */
static maki_status summarize_once(maki_conv *conv, const maki_view *part, const maki_covered *what,
                                  condense_ctx *c, maki_err *err)
{
    maki_summary_usage usage = c->summary.usage;
    maki_summary summary = { 0 };
    if (c->summarized && memcmp(what->cover, c->cover, MAKI_COVER_LEN) == 0) return MAKI_OK;
    maki_status st = summarize(conv, part, what, c->summarizer, &conv->arena, &summary, err);
    maki_summary_usage_add(&usage, &summary.usage);
    c->summary = summary;
    c->summary.usage = usage;
    if (st != MAKI_OK) return st;
    maki_buf_clear(&c->text);
    maki_buf_add(&c->text, summary.text);
    memcpy(c->cover, what->cover, MAKI_COVER_LEN);
    c->summarized = true;
    return maki_buf_status(&c->text, err);
}

/* Add to the event the cost of the summary, its fact coverage, and why a fallback wrote it. */
static maki_status add_summary(maki_conv *conv, maki_decision *out, const maki_summary *summary,
                               maki_err *err)
{
    maki_json_builder build;
    maki_str fields;
    maki_json_builder_begin(&build, &conv->arena, err);
    maki_jw_begin_object(&build.w);
    maki_summary_usage_write(&build.w, &summary->usage);
    if (summary->coverage.measured) maki_fact_coverage_write(&build.w, &summary->coverage);
    maki_fallback_write(&build.w, &summary->fallback_reason);
    maki_jw_end_object(&build.w);
    maki_status st = maki_json_builder_end(&build, &conv->arena, &fields, err);
    if (st != MAKI_OK) return st;
    maki_buf_add(&out->fields, MAKI_LIT(","));
    maki_buf_add(&out->fields, maki_json_strip_quotes(fields));
    return MAKI_OK;
}

void maki_conv_add_unused_usage(maki_conv *conv, const maki_summary_usage *usage)
{
    maki_json_builder build;
    maki_str fields;
    maki_change ignored;
    if (!usage->model[0]) return;
    maki_json_builder_begin(&build, &conv->arena, NULL);
    maki_jw_begin_object(&build.w);
    maki_summary_usage_write(&build.w, usage);
    maki_jw_end_object(&build.w);
    if (maki_json_builder_end(&build, &conv->arena, &fields, NULL) == MAKI_OK)
        (void)!maki_conv_add_event(conv, "usage", maki_json_strip_quotes(fields), &ignored, NULL);
}

static maki_status decide_condense(maki_conv *conv, const maki_view *view, void *ctx,
                                   maki_decision *out, maki_err *err)
{
    condense_ctx *c = ctx;
    uint64_t tokens = 0, budget = 0;
    maki_hiding s;
    maki_view part;
    maki_covered what;
    maki_str message;
    double ts = 0;
    maki_status st = select_hidden(conv, view, c->keep, c->summarized ? c->to : 0, &s, err);
    if (st == MAKI_OK) st = describe_covered(conv, view, &s, &part, &what, err);
    if (st == MAKI_OK) st = summarize_once(conv, &part, &what, c, err);
    c->to = s.to;
    if (st == MAKI_OK) st = maki_hiding_time(conv, view, s.to, &ts, err);
    if (st == MAKI_OK) st = summary_budget(conv, view, c, &s, &budget, err);
    if (st == MAKI_OK)
        st = make_summary_within(conv, c, budget, maki_buf_str(&c->text), ts, &message, &tokens,
                                 err);
    if (st != MAKI_OK) return st;
    if (tokens >= s.tokens) {
        return maki_refuse(err, "CONTEXT_GREW", "the summary is not shorter than what it replaces");
    }
    out->type = "condense";
    maki_decision_hidden(out, s.spans, s.count, s.synthetic, s.synthetic_count);
    maki_decision_number(out, "messages", s.rows);
    maki_hiding_message(out, message, tokens, what.before);
    return add_summary(conv, out, &c->summary, err);
}

static maki_status condense(maki_conv *conv, const unsigned char *expect, condense_ctx *c,
                            maki_change *out, maki_err *err)
{
    c->text = maki_buf_new(conv->env.alloc, SUMMARY_MAX);
    maki_status st = maki_conv_change(conv, expect, decide_condense, c, out, err);
    out->usage = c->summary.usage;
    out->coverage = c->summary.coverage;
    out->fallback_reason = c->summary.fallback_reason;
    if (st != MAKI_OK) maki_conv_add_unused_usage(conv, &out->usage);
    maki_buf_free(&c->text);
    return st;
}

maki_status maki_conv_condense(maki_conv *conv, const unsigned char *expect, size_t keep,
                               const maki_summarizer *summarizer, maki_change *out, maki_err *err)
{
    condense_ctx ctx = { .keep = keep, .summarizer = summarizer };
    return condense(conv, expect, &ctx, out, err);
}

maki_status maki_conv_soft_trim(maki_conv *conv, const unsigned char *expect, size_t keep,
                                uint64_t max_tokens, const maki_summarizer *summarizer,
                                maki_change *out, maki_err *err)
{
    condense_ctx ctx = {
        .keep = keep, .summarizer = summarizer, .soft = true, .max_tokens = max_tokens
    };
    return condense(conv, expect, &ctx, out, err);
}

/* What a condense of the newest view would hide (*out), and a view of that part alone. */
static maki_status covered_part(maki_conv *conv, size_t keep, maki_view *part, maki_covered *out,
                                maki_err *err)
{
    const maki_view *view;
    maki_hiding s;
    maki_status st = maki_log_refresh(conv->log, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = select_hidden(conv, view, keep, 0, &s, err);
    return st == MAKI_OK ? describe_covered(conv, view, &s, part, out, err) : st;
}

maki_status maki_conv_covered(maki_conv *conv, size_t keep, maki_covered *out, maki_err *err)
{
    maki_view part;
    return covered_part(conv, keep, &part, out, err);
}

maki_status maki_conv_summarize(maki_conv *conv, size_t keep, const maki_summarizer *summarizer,
                                maki_arena *arena, maki_covered *out, maki_summary *summary,
                                maki_err *err)
{
    maki_view part;
    *summary = (maki_summary){ 0 };
    maki_status st = covered_part(conv, keep, &part, out, err);
    return st == MAKI_OK ? summarize(conv, &part, out, summarizer, arena, summary, err) : st;
}

/* change.c -- what can be done to a conversation; see conversation.h.
 *
 * Each change reads the view, decides from the index alone, and appends one event under the lock,
 * naming the head it decided on.  When somebody wrote in between, and the caller did not say which
 * head it expects, it reads and decides again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/made.h"
#include "base/random.h"
#include "base/str.h"
#include "history/conv_inside.h"
#include "history/make.h"

enum { TRIES = 8, FIELDS_MAX = 1 << 28 };

/* ---- deciding and writing ------------------------------------------------------------------------- */

/* What a change decided: an event, and rows to come after it. */
typedef struct decided {
    const char *type; /* NULL: only rows */
    maki_buf fields;
    const maki_str *rows;
    size_t row_count;
} decided;

/* Decide on the present view.  May be called again when the head has moved. */
typedef maki_status (*decide_fn)(maki_conv *conv, const maki_view *view, void *ctx, decided *out,
                                 maki_err *err);

/* What a decision was made on: the messages, and the events that change the view. */
typedef struct moment {
    unsigned char head[MAKI_CHAIN_LEN];
    uint64_t ev;
    size_t changes;
} moment;

/* Under the lock: no event that changes the view has come since.  The head does not tell, it covers
 * messages only. */
static maki_status check_moment(maki_conv *conv, const moment *then, maki_err *err)
{
    maki_events now;
    if (maki_log_events(conv->log) == then->ev) return MAKI_OK;
    maki_arena arena = maki_arena_new(conv->env.alloc, FIELDS_MAX);
    maki_status st = maki_events_read(conv->log, &arena, &now, err);
    if (st == MAKI_OK && now.count != then->changes) {
        st = maki_fail(err, MAKI_CONFLICT,
                       "the conversation was changed since it was read; read it again");
    }
    maki_arena_free(&arena);
    return st;
}

static maki_status write_decided(maki_conv *conv, const moment *then, const decided *d,
                                 maki_change *out, maki_err *err)
{
    maki_status st = maki_log_begin(conv->log, then->head, err);
    if (st != MAKI_OK) return st;
    st = check_moment(conv, then, err);
    if (st == MAKI_OK && d->type) {
        st = maki_log_add_event(conv->log, d->type, maki_buf_str(&d->fields), &out->event, err);
    }
    for (size_t i = 0; st == MAKI_OK && i < d->row_count; i++) {
        st = maki_log_add_row(conv->log, d->rows[i], &out->seq, err);
    }
    if (st != MAKI_OK) {
        maki_log_abort(conv->log);
        return st;
    }
    return maki_log_commit(conv->log, err);
}

static maki_status totals(maki_conv *conv, maki_view_totals *out, maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_conv_view(conv, MAKI_NOW, MAKI_NOW, &view, err);
    return st == MAKI_OK ? maki_conv_total(conv, view, out, err) : st;
}

static maki_status try_once(maki_conv *conv, const unsigned char *expect, decide_fn decide,
                            void *ctx, maki_change *out, maki_err *err)
{
    moment now;
    const maki_view *view;
    maki_view_totals before, after;
    decided d = { .fields = maki_buf_new(conv->env.alloc, FIELDS_MAX) };
    *out = (maki_change){ 0 };
    maki_status st = maki_log_refresh(conv->log, err);
    if (st != MAKI_OK) return st;
    memcpy(now.head, maki_log_head(conv->log), MAKI_CHAIN_LEN);
    if (expect && memcmp(expect, now.head, MAKI_CHAIN_LEN) != 0) {
        return maki_fail(err, MAKI_CONFLICT,
                         "the conversation has grown since it was read; read it again");
    }
    st = maki_conv_view(conv, MAKI_NOW, MAKI_NOW, &view, err);
    now.ev = maki_log_events(conv->log);
    now.changes = conv->events.count;
    if (st == MAKI_OK) st = maki_conv_total(conv, view, &before, err);
    if (st == MAKI_OK) st = decide(conv, view, ctx, &d, err);
    if (st == MAKI_OK) st = maki_buf_status(&d.fields, err);
    if (st == MAKI_OK) st = write_decided(conv, &now, &d, out, err);
    maki_buf_free(&d.fields);
    if (st != MAKI_OK) return st;
    /* It is done: that its effect cannot be told now must not look as if it had failed. */
    if (totals(conv, &after, NULL) != MAKI_OK) after = before;
    out->seq = maki_log_last(conv->log);
    memcpy(out->head, maki_log_head(conv->log), MAKI_CHAIN_LEN);
    out->removed = before.messages > after.messages ? before.messages - after.messages : 0;
    out->tokens_before = before.tokens;
    out->tokens_after = after.tokens;
    out->estimated = before.estimated || after.estimated;
    return MAKI_OK;
}

static maki_status change(maki_conv *conv, const unsigned char *expect, decide_fn decide, void *ctx,
                          maki_change *out, maki_err *err)
{
    maki_status st = MAKI_CONFLICT;
    for (int i = 0; st == MAKI_CONFLICT && i < (expect ? 1 : TRIES); i++) {
        st = try_once(conv, expect, decide, ctx, out, err);
    }
    return st;
}

static void add_number(maki_buf *out, const char *name, uint64_t value)
{
    char text[80];
    snprintf(text, sizeof text, "%s\"%s\":%" PRIu64, out->len ? "," : "", name, value);
    maki_buf_add(out, maki_str_of(text));
}

/* ---- positions in a view ------------------------------------------------------------------------------ */

/* Message number `n` of a view, from 0: its item, and its seq (0 when it was made). */
static bool locate(const maki_view *view, uint64_t n, size_t *item, uint64_t *seq)
{
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *it = &view->items[i];
        uint64_t here = it->from ? it->to - it->from + 1 : 1;
        if (n < here) {
            *item = i;
            *seq = it->from ? it->from + n : 0;
            return true;
        }
        n -= here;
    }
    return false;
}

enum { MADE = 1u << 30 }; /* in place of the flags of a row */

static maki_status flags_at(const maki_view *view, uint64_t n, uint32_t *flags, maki_err *err)
{
    size_t item = 0;
    uint64_t seq = 0;
    maki_row row;
    *flags = MADE;
    if (!locate(view, n, &item, &seq) || seq == 0) return MAKI_OK;
    maki_status st = maki_log_row(view->items[item].log, seq, &row, err);
    if (st == MAKI_OK) *flags = row.flags;
    return st;
}

/* How many messages at the front stay: system messages, the first other one, and the results of its
 * calls. */
static maki_status lead_of(const maki_view *view, uint64_t messages, uint64_t *lead, maki_err *err)
{
    bool found = false; /* the first other one */
    maki_status st = MAKI_OK;
    for (*lead = 0; *lead < messages; ++*lead) {
        uint32_t flags = 0;
        st = flags_at(view, *lead, &flags, err);
        if (st != MAKI_OK) break;
        if (found && !(flags & MAKI_FACT_ANSWERS)) break;
        if (flags != MADE && (flags & MAKI_FACT_ROLE) != MAKI_ROLE_SYSTEM) found = true;
    }
    return st;
}

/* Move a boundary back until no call is parted from its results, and to a message of the log: the
 * summary will stand right before it.  The call at the very end may still wait for results, so it
 * stays too. */
static maki_status settle_boundary(const maki_view *view, uint64_t messages, uint64_t least,
                                   uint64_t *n, maki_err *err)
{
    uint32_t flags = 0;
    maki_status st = MAKI_OK;
    if (*n == messages && *n > least) {
        st = flags_at(view, *n - 1, &flags, err);
        if (flags & (MAKI_FACT_CALLS | MAKI_FACT_ANSWERS)) --*n;
    }
    while (st == MAKI_OK && *n > least) {
        uint32_t before = 0;
        st = flags_at(view, *n, &flags, err);
        if (st == MAKI_OK) st = flags_at(view, *n - 1, &before, err);
        bool inside = (flags & (MAKI_FACT_ANSWERS | MADE)) || (flags & before & MAKI_FACT_CALLS);
        if (*n == messages || !inside) break;
        --*n;
    }
    return st;
}

/* ---- hiding a stretch of the view ------------------------------------------------------------------------ */

typedef struct stretch {
    uint64_t from, to; /* positions [from, to) */
    maki_span64 *spans;
    size_t count, room;
    maki_span64 *made; /* made messages: forks up, and their event */
    size_t made_count, made_room;
    uint64_t rows; /* messages hidden, made ones left out */
    uint64_t tokens;
} stretch;

static maki_status hide_row(maki_conv *conv, stretch *s, const maki_view *view, uint64_t seq,
                            const maki_row *row, maki_err *err)
{
    maki_arena *arena = &conv->arena;
    s->rows++;
    s->tokens += row->tokens;
    for (size_t i = 0; i < view->trim_count; i++) {
        int64_t saved = 0;
        if (view->trims[i]->seq != seq) continue;
        maki_status st = maki_conv_trim_tokens(conv, view->trims[i], &saved, err);
        if (st != MAKI_OK) return st;
        if (saved > 0 && (uint64_t)saved > s->tokens) saved = (int64_t)s->tokens;
        s->tokens -= (uint64_t)saved;
    }
    if (s->count && s->spans[s->count - 1].to + 1 == seq) {
        s->spans[s->count - 1].to = seq;
        return MAKI_OK;
    }
    void *moved = maki_arena_grow(arena, s->spans, s->count, &s->room, sizeof *s->spans);
    if (!moved) return maki_arena_status(arena, err);
    s->spans = moved;
    s->spans[s->count++] = (maki_span64){ seq, seq };
    return MAKI_OK;
}

static maki_status hide_made(maki_conv *conv, stretch *s, const maki_view_item *item, maki_err *err)
{
    maki_arena *arena = &conv->arena;
    uint64_t tokens = 0;
    maki_status st = maki_conv_made_tokens(conv, item, &tokens, err);
    if (st != MAKI_OK) return st;
    void *moved = maki_arena_grow(arena, s->made, s->made_count, &s->made_room, sizeof *s->made);
    if (!moved) return maki_arena_status(arena, err);
    s->made = moved;
    s->made[s->made_count++] = (maki_span64){ item->up, item->made->ev };
    s->tokens += tokens;
    return MAKI_OK;
}

/* A call and its results, as they stand in the view, stay or go together. */
typedef struct group {
    bool open;
    bool answered; /* its results have begun: another call is another group */
    bool stays;
} group;

/* Must the message at position n stay?  System and pinned ones do, and the calls and results that
 * belong to a pinned one. */
static maki_status must_stay(const maki_view *view, uint64_t n, uint64_t seq, const maki_row *row,
                             group *g, bool *stays, maki_err *err)
{
    bool answers = row->flags & MAKI_FACT_ANSWERS, calls = row->flags & MAKI_FACT_CALLS;
    *stays = (row->flags & MAKI_FACT_ROLE) == MAKI_ROLE_SYSTEM || maki_view_pinned(view, seq);
    if (g->open && (answers || (calls && !g->answered))) { /* it goes on */
        *stays = *stays || g->stays;
        g->answered = answers;
        return MAKI_OK;
    }
    *g = (group){ .open = calls && !answers };
    bool answered = false;
    for (uint64_t k = n + 1; g->open && view->pin_count && !*stays; k++) {
        size_t item = 0;
        uint32_t flags = 0;
        maki_status st = flags_at(view, k, &flags, err);
        if (st != MAKI_OK) return st;
        bool more = (flags & MAKI_FACT_ANSWERS) || ((flags & MAKI_FACT_CALLS) && !answered);
        if (!more || !locate(view, k, &item, &seq)) break;
        answered = answered || (flags & MAKI_FACT_ANSWERS);
        *stays = maki_view_pinned(view, seq);
    }
    g->stays = *stays;
    return MAKI_OK;
}

static maki_status gather(maki_conv *conv, const maki_view *view, stretch *s, bool keep_summaries,
                          maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t n = 0;
    group g = { 0 };
    for (size_t i = 0; st == MAKI_OK && i < view->count && n < s->to; i++) {
        const maki_view_item *item = &view->items[i];
        uint64_t here = item->from ? item->to - item->from + 1 : 1;
        if (item->from == 0) g.open = false;
        if (item->from == 0 && n >= s->from && !keep_summaries) {
            st = hide_made(conv, s, item, err);
        }
        for (uint64_t k = n < s->from ? s->from - n : 0;
             st == MAKI_OK && item->from && k < here && n + k < s->to; k++) {
            maki_row row;
            bool stays = false;
            uint64_t seq = item->from + k;
            st = maki_log_row(item->log, seq, &row, err);
            if (st == MAKI_OK) st = must_stay(view, n + k, seq, &row, &g, &stays, err);
            if (st == MAKI_OK && !stays) st = hide_row(conv, s, view, seq, &row, err);
        }
        n += here;
    }
    return st;
}

/* The seq before which a made message at position n must stand. */
static uint64_t seq_at(maki_conv *conv, const maki_view *view, uint64_t n)
{
    size_t item = 0;
    uint64_t seq = 0;
    if (!locate(view, n, &item, &seq)) return maki_log_last(conv->log) + 1;
    return seq ? seq : view->items[item].made->before;
}

static void add_hidden(maki_buf *out, const stretch *s)
{
    char text[80];
    maki_buf_add(out, MAKI_LIT("\"hidden\":["));
    for (size_t i = 0; i < s->count; i++) {
        snprintf(text, sizeof text, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", s->spans[i].from,
                 s->spans[i].to);
        maki_buf_add(out, maki_str_of(text));
    }
    maki_buf_add(out, MAKI_LIT("],\"hiddenEvents\":["));
    const char *before = "";
    size_t above = 0;
    for (size_t i = 0; i < s->made_count; i++) {
        if (s->made[i].from) {
            above++;
            continue;
        }
        snprintf(text, sizeof text, "%s%" PRIu64, before, s->made[i].to);
        maki_buf_add(out, maki_str_of(text));
        before = ",";
    }
    before = "],\"hiddenAbove\":[";
    for (size_t i = 0; above && i < s->made_count; i++) {
        if (!s->made[i].from) continue;
        snprintf(text, sizeof text, "%s[%" PRIu64 ",%" PRIu64 "]", before, s->made[i].from,
                 s->made[i].to);
        maki_buf_add(out, maki_str_of(text));
        before = ",";
    }
    maki_buf_add(out, MAKI_LIT("]"));
}

/* Tokens, and the family they were counted in: an event tells for itself. */
static void add_tokens(maki_buf *out, uint64_t tokens)
{
    add_number(out, "tokens", tokens);
    maki_buf_add(out, MAKI_LIT(",\"family\":\"" MAKI_FAMILY "\""));
}

static void add_message(maki_buf *out, const maki_msg *message, uint64_t tokens, uint64_t before)
{
    add_number(out, "before", before);
    add_tokens(out, tokens);
    maki_buf_add(out, MAKI_LIT(",\"message\":"));
    maki_buf_add(out, message->raw);
}

/* The time of the message at position n, or now. */
static maki_status time_at(maki_conv *conv, const maki_view *view, uint64_t n, double *ts,
                           maki_err *err)
{
    size_t item = 0;
    uint64_t seq = 0;
    maki_row row = { 0 };
    maki_status st = MAKI_OK;
    if (locate(view, n, &item, &seq) && seq)
        st = maki_log_row(view->items[item].log, seq, &row, err);
    *ts = row.ts ? (double)row.ts - 1 : (double)conv->env.clock->now_ms(conv->env.clock);
    return st;
}

/* ---- condense ----------------------------------------------------------------------------------------- */

typedef struct condense_ctx {
    size_t keep;
    const maki_summarizer *summarizer;
} condense_ctx;

typedef struct source {
    maki_conv *conv;
    const maki_view *view;
    maki_message_fn fn;
    void *ctx;
} source;

static maki_status pass_json(void *ctx, const maki_seen *seen, maki_err *err)
{
    source *s = ctx;
    return s->fn(s->ctx, seen->json, err);
}

static maki_status each_message(const void *from, maki_message_fn fn, void *ctx, maki_err *err)
{
    source s = *(const source *)from;
    s.fn = fn;
    s.ctx = ctx;
    return maki_conv_each(s.conv, s.view, pass_json, &s, err);
}

/* The part of a view at positions [from, to). */
static maki_status part_of(const maki_view *view, uint64_t from, uint64_t to, maki_arena *arena,
                           maki_view *out, maki_err *err)
{
    uint64_t n = 0;
    *out = *view;
    out->count = 0;
    out->items = maki_arena_array(arena, view->count, sizeof *out->items);
    if (!out->items) return maki_arena_status(arena, err);
    for (size_t i = 0; i < view->count; i++) {
        maki_view_item item = view->items[i];
        uint64_t here = item.from ? item.to - item.from + 1 : 1;
        uint64_t a = n < from ? from - n : 0, b = n + here > to ? to - n : here;
        if (n < to && n + here > from && a < b) {
            if (item.from) {
                item.to = item.from + b - 1;
                item.from += a;
            }
            out->items[out->count++] = item;
        }
        n += here;
    }
    return MAKI_OK;
}

static maki_status summarise(maki_conv *conv, const maki_view *view, const stretch *s,
                             const maki_summarizer *summarizer, maki_summary *out, maki_err *err)
{
    maki_view part;
    maki_err why = { 0 };
    source from = { .conv = conv, .view = &part };
    maki_summary_request request = { .each = each_message, .source = &from, .tokens = s->tokens };
    if (!summarizer || !summarizer->usable) {
        return maki_refuse(err, "HANDLER_INVALID", "there is no summariser that can be called");
    }
    maki_status st = part_of(view, s->from, s->to, &conv->arena, &part, err);
    if (st != MAKI_OK) return st;
    st = summarizer->run(summarizer, &request, &conv->arena, out, &why);
    if (st == MAKI_NOMEM || st == MAKI_CORRUPT || st == MAKI_IO) {
        if (err) *err = why;
        return st;
    }
    if (st != MAKI_OK) return maki_refuse(err, "SUMMARIZER_FAILED", "the summariser: %s", why.msg);
    out->text = maki_str_trim(out->text);
    if (out->text.len) return MAKI_OK;
    return maki_refuse(err, "SUMMARY_EMPTY", "the summariser answered with nothing");
}

static maki_status decide_condense(maki_conv *conv, const maki_view *view, void *ctx, decided *out,
                                   maki_err *err)
{
    const condense_ctx *c = ctx;
    uint64_t all = maki_view_messages(view), tokens = 0;
    stretch s = { 0 };
    maki_summary summary = { 0 };
    maki_summary_parts parts = { 0 };
    maki_msg *message = NULL;
    maki_status st = lead_of(view, all, &s.from, err);
    s.to = all > c->keep ? all - c->keep : 0;
    if (st == MAKI_OK) st = settle_boundary(view, all, s.from, &s.to, err);
    if (st != MAKI_OK) return st;
    if (s.to < s.from + 2) {
        return maki_refuse(err, "NOT_ENOUGH_MESSAGES",
                           "%" PRIu64 " visible messages are too few to condense", all);
    }
    st = gather(conv, view, &s, false, err);
    if (st == MAKI_OK && s.rows == 0) {
        st = maki_refuse(err, "CONDENSED_RECENTLY", "nothing has been said since the last summary");
    }
    if (st == MAKI_OK) st = summarise(conv, view, &s, c->summarizer, &summary, err);
    if (st == MAKI_OK) st = maki_make_id(conv->env.random, &conv->arena, &parts.id, err);
    if (st == MAKI_OK) st = time_at(conv, view, s.to, &parts.ts, err);
    parts.text = summary.text;
    if (st == MAKI_OK) st = maki_make_summary(&parts, &conv->arena, &message, err);
    if (st == MAKI_OK) st = maki_conv_message_tokens(conv, message->raw, &tokens, err);
    if (st != MAKI_OK) return st;
    if (tokens >= s.tokens) {
        return maki_refuse(err, "CONTEXT_GREW",
                           "the summary is not shorter than what it stands for");
    }
    out->type = "condense";
    add_hidden(&out->fields, &s);
    add_number(&out->fields, "messages", s.rows);
    add_message(&out->fields, message, tokens, seq_at(conv, view, s.to));
    return MAKI_OK;
}

maki_status maki_conv_condense(maki_conv *conv, const unsigned char *expect, size_t keep,
                               const maki_summarizer *summarizer, maki_change *out, maki_err *err)
{
    condense_ctx ctx = { keep, summarizer };
    return change(conv, expect, decide_condense, &ctx, out, err);
}

/* ---- truncate ------------------------------------------------------------------------------------------ */

/* How much goes behind a marker: a share of the messages, or all but the last `keep`. */
typedef struct truncate_ctx {
    double fraction;
    bool by_keep;
    uint64_t keep;
} truncate_ctx;

static uint64_t cut_of(const truncate_ctx *t, uint64_t lead, uint64_t all)
{
    double share = t->fraction > 1 ? 1 : t->fraction > 0 ? t->fraction : 0;
    if (!t->by_keep) return lead + (uint64_t)((double)(all - lead) * share) / 2 * 2;
    return all > lead + t->keep ? all - t->keep : lead;
}

static maki_status decide_truncate(maki_conv *conv, const maki_view *view, void *ctx, decided *out,
                                   maki_err *err)
{
    uint64_t all = maki_view_messages(view), tokens = 0;
    stretch s = { 0 };
    maki_msg *marker = NULL;
    maki_str id;
    double ts = 0;
    maki_status st = lead_of(view, all, &s.from, err);
    if (st != MAKI_OK) return st;
    s.to = cut_of(ctx, s.from, all);
    if (s.to >= all) s.to = all > s.from ? all - 1 : s.from;
    st = settle_boundary(view, all, s.from, &s.to, err);
    if (st == MAKI_OK) st = gather(conv, view, &s, true, err);
    if (st != MAKI_OK) return st;
    if (s.rows == 0) {
        return maki_refuse(err, "NOT_ENOUGH_MESSAGES", "there is nothing that may be hidden");
    }
    st = maki_make_id(conv->env.random, &conv->arena, &id, err);
    if (st == MAKI_OK) st = time_at(conv, view, s.to, &ts, err);
    if (st == MAKI_OK) st = maki_make_marker(s.rows, id, ts, &conv->arena, &marker, err);
    if (st == MAKI_OK) st = maki_conv_message_tokens(conv, marker->raw, &tokens, err);
    if (st != MAKI_OK) return st;
    out->type = "truncate";
    add_hidden(&out->fields, &s);
    add_number(&out->fields, "messages", s.rows);
    add_message(&out->fields, marker, tokens, seq_at(conv, view, s.to));
    return MAKI_OK;
}

maki_status maki_conv_truncate(maki_conv *conv, const unsigned char *expect, double fraction,
                               maki_change *out, maki_err *err)
{
    truncate_ctx ctx = { .fraction = fraction };
    return change(conv, expect, decide_truncate, &ctx, out, err);
}

maki_status maki_conv_window(maki_conv *conv, const unsigned char *expect, uint64_t keep,
                             maki_change *out, maki_err *err)
{
    truncate_ctx ctx = { .by_keep = true, .keep = keep };
    return change(conv, expect, decide_truncate, &ctx, out, err);
}

/* ---- trim, pin ------------------------------------------------------------------------------------------- */

typedef struct trim_ctx {
    uint64_t seq;
    uint32_t block, head, tail;
} trim_ctx;

static maki_log *log_of(maki_conv *conv, uint64_t seq)
{
    return maki_conv_level(conv, seq)->log;
}

static maki_status want_visible(const maki_view *view, uint64_t seq, maki_err *err)
{
    if (maki_view_has(view, seq)) return MAKI_OK;
    return maki_fail(err, MAKI_NOTFOUND, "message %" PRIu64 " is not in the view", seq);
}

/* The tokens that are saved when only this block is shortened. */
static maki_status trim_saves(maki_conv *conv, const trim_ctx *t, maki_str row, uint64_t *saved,
                              maki_err *err)
{
    maki_event trim = { .block = t->block, .head = t->head, .tail = t->tail };
    maki_buf shorter = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    uint64_t before = 0, after = 0;
    maki_status st = maki_conv_write_trimmed(row, &trim, &shorter, err);
    if (st == MAKI_OK) st = maki_conv_message_tokens(conv, row, &before, err);
    if (st == MAKI_OK) st = maki_conv_message_tokens(conv, maki_buf_str(&shorter), &after, err);
    maki_buf_free(&shorter);
    *saved = before > after ? before - after : 0;
    return st;
}

static maki_status decide_trim(maki_conv *conv, const maki_view *view, void *ctx, decided *out,
                               maki_err *err)
{
    const trim_ctx *t = ctx;
    maki_buf row = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    maki_str string;
    maki_status st = want_visible(view, t->seq, err);
    if (st == MAKI_OK) st = maki_log_read(log_of(conv, t->seq), t->seq, &row, err);
    if (st == MAKI_OK && !maki_conv_block_text(maki_buf_str(&row), t->block, &string)) {
        st = maki_fail(err, MAKI_NOTFOUND, "message %" PRIu64 " has no text in block %u", t->seq,
                       t->block);
    }
    uint64_t saved = 0, units = st == MAKI_OK ? maki_json_units(maki_json_inside(string)) : 0;
    if (st == MAKI_OK && (uint64_t)t->head + t->tail < units)
        st = trim_saves(conv, t, maki_buf_str(&row), &saved, err);
    maki_buf_free(&row);
    if (st != MAKI_OK) return st;
    if (saved == 0) {
        return maki_refuse(err, "CONTEXT_GREW",
                           "the block has only %" PRIu64 " characters: nothing would be saved",
                           units);
    }
    out->type = "trim";
    add_number(&out->fields, "seq", t->seq);
    add_number(&out->fields, "block", t->block);
    add_number(&out->fields, "headUnits", t->head);
    add_number(&out->fields, "tailUnits", t->tail);
    add_tokens(&out->fields, saved);
    return MAKI_OK;
}

maki_status maki_conv_trim(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                           uint32_t block, uint32_t head, uint32_t tail, maki_change *out,
                           maki_err *err)
{
    trim_ctx ctx = { seq, block, head, tail };
    return change(conv, expect, decide_trim, &ctx, out, err);
}

typedef struct pin_ctx {
    uint64_t seq;
    bool pin;
} pin_ctx;

static maki_status decide_pin(maki_conv *conv, const maki_view *view, void *ctx, decided *out,
                              maki_err *err)
{
    const pin_ctx *p = ctx;
    (void)conv;
    maki_status st = want_visible(view, p->seq, err);
    if (st != MAKI_OK) return st;
    if (maki_view_pinned(view, p->seq) == p->pin) {
        return maki_refuse(err, "NOTHING_TO_DO", "message %" PRIu64 " is %s", p->seq,
                           p->pin ? "pinned already" : "not pinned");
    }
    out->type = p->pin ? "pin" : "unpin";
    add_number(&out->fields, "seq", p->seq);
    return MAKI_OK;
}

maki_status maki_conv_pin(maki_conv *conv, const unsigned char *expect, uint64_t seq, bool pin,
                          maki_change *out, maki_err *err)
{
    pin_ctx ctx = { seq, pin };
    return change(conv, expect, decide_pin, &ctx, out, err);
}

/* ---- rewind, undo, edit, expand ------------------------------------------------------------------------------ */

typedef struct rewind_ctx {
    uint64_t seq, ev;
    maki_str message; /* of an edit */
    bool edit;
} rewind_ctx;

/* The last message before event `ev`; MAKI_NOW when there is no such event. */
typedef struct event_place {
    uint64_t ev, at;
} event_place;

static maki_status find_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    event_place *place = ctx;
    maki_str value;
    (void)at;
    (void)err;
    if (ev != place->ev) return MAKI_OK;
    if (maki_json_get(row, MAKI_LIT("at"), &value)) place->at = (uint64_t)maki_json_double(value);
    return MAKI_OK;
}

static maki_status event_seq(maki_conv *conv, uint64_t ev, uint64_t *seq, maki_err *err)
{
    event_place place = { ev, MAKI_NOW };
    uint64_t base = maki_log_base(conv->log);
    if (ev == 0) place.at = base;
    maki_status st = maki_log_each_event(conv->log, find_event, &place, err);
    *seq = place.at < base ? base : place.at; /* the fork itself was written before it knew */
    return st;
}

static maki_status flags_of(maki_conv *conv, uint64_t seq, uint32_t *flags, maki_err *err)
{
    maki_row row;
    maki_status st = maki_log_row(log_of(conv, seq), seq, &row, err);
    *flags = st == MAKI_OK ? row.flags : 0;
    return st;
}

/* Is a call of message `seq` answered behind the calls that follow it? */
static maki_status answered_later(maki_conv *conv, uint64_t seq, bool *out, maki_err *err)
{
    maki_log *log = log_of(conv, seq + 1);
    uint64_t last = maki_log_last(log);
    bool answers = false;
    *out = false;
    for (size_t i = 0; i < conv->events.count; i++) { /* then the next call belongs elsewhere */
        if (conv->events.at[i].type == MAKI_EVENT_REWIND && conv->events.at[i].at == seq)
            return MAKI_OK;
    }
    for (uint64_t s = seq + 1; s > maki_log_base(log) && s <= last && !*out; s++) {
        maki_row row;
        maki_status st = maki_log_row(log, s, &row, err);
        if (st != MAKI_OK) return st;
        answers = answers || (row.flags & MAKI_FACT_ANSWERS);
        if (!(row.flags & (answers ? MAKI_FACT_ANSWERS : MAKI_FACT_CALLS))) break;
        *out = answers && row.call_seq == seq;
    }
    return MAKI_OK;
}

/* A cut between a call and its results would leave the call without them: cut before the call. */
static maki_status settle_cut(maki_conv *conv, uint64_t *seq, maki_err *err)
{
    maki_log *log = log_of(conv, *seq + 1);
    maki_row next;
    if (*seq + 1 > maki_log_last(log) || *seq + 1 <= maki_log_base(log)) return MAKI_OK;
    maki_status st = maki_log_row(log, *seq + 1, &next, err);
    if (st != MAKI_OK) return st;
    bool answer = next.flags & MAKI_FACT_ANSWERS;
    if (answer && next.call_seq && next.call_seq <= *seq) *seq = next.call_seq - 1;
    /* Back over results whose call the index does not know (it is in a parent), and over calls that
     * stand one after the other and are answered together. */
    uint32_t behind = next.flags, here = 0;
    if (answer && next.call_seq) behind = MAKI_FACT_CALLS;
    for (; *seq > 0; --*seq, behind = here) {
        bool together = false;
        st = flags_of(conv, *seq, &here, err);
        bool result =
            (behind & MAKI_FACT_ANSWERS) && (here & (MAKI_FACT_ANSWERS | MAKI_FACT_CALLS));
        if (st == MAKI_OK && (behind & here & MAKI_FACT_CALLS)) {
            st = answered_later(conv, *seq, &together, err);
        }
        if (st != MAKI_OK) return st;
        if (!result && !together) break;
    }
    return MAKI_OK;
}

static maki_status decide_rewind(maki_conv *conv, const maki_view *view, void *ctx, decided *out,
                                 maki_err *err)
{
    const rewind_ctx *r = ctx;
    uint64_t last = maki_log_last(conv->log), seq = r->seq;
    maki_status st = MAKI_OK;
    (void)view;
    if (seq == MAKI_NOW) { /* to an event: as it was then */
        st = event_seq(conv, r->ev, &seq, err);
        if (st != MAKI_OK) return st;
        if (seq == MAKI_NOW)
            return maki_fail(err, MAKI_NOTFOUND, "there is no event %" PRIu64, r->ev);
    }
    if (seq > last || (r->edit && seq == last)) {
        return maki_fail(err, MAKI_NOTFOUND,
                         "there is no message %" PRIu64 "; the last is %" PRIu64,
                         seq + (r->edit ? 1 : 0), last);
    }
    st = settle_cut(conv, &seq, err);
    if (st != MAKI_OK) return st;
    uint64_t ev = r->ev == MAKI_NOW ? maki_events_at(&conv->events, seq) : r->ev;
    if (ev > maki_log_events(conv->log)) {
        return maki_fail(err, MAKI_NOTFOUND, "there is no event %" PRIu64, ev);
    }
    out->type = "rewind";
    add_number(&out->fields, "to", seq);
    add_number(&out->fields, "toEv", ev);
    if (r->edit && r->message.len) {
        add_number(&out->fields, "with", last + 1);
        out->rows = &r->message;
        out->row_count = 1;
    }
    return MAKI_OK;
}

maki_status maki_conv_rewind(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                             uint64_t ev, maki_change *out, maki_err *err)
{
    rewind_ctx ctx = { .seq = seq, .ev = ev };
    return change(conv, expect, decide_rewind, &ctx, out, err);
}

static maki_status one_line(maki_str json, maki_arena *arena, maki_str *out, maki_err *err)
{
    *out = json;
    if (!memchr(json.ptr, '\n', json.len) && !memchr(json.ptr, '\r', json.len)) return MAKI_OK;
    char *copy = maki_arena_get(arena, json.len);
    if (!copy) return maki_arena_status(arena, err);
    for (size_t i = 0; i < json.len; i++) {
        copy[i] = json.ptr[i] == '\n' || json.ptr[i] == '\r' ? ' ' : json.ptr[i];
    }
    *out = (maki_str){ copy, json.len };
    return MAKI_OK;
}

maki_status maki_conv_edit(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                           maki_str message, maki_change *out, maki_err *err)
{
    maki_arena arena = maki_arena_new(conv->env.alloc, (size_t)MAKI_ROW_MAX * 2);
    rewind_ctx ctx = { .ev = MAKI_NOW, .edit = true };
    maki_status st = MAKI_OK;
    if (seq == 0) st = maki_fail(err, MAKI_INVALID, "messages are counted from 1");
    ctx.seq = seq - 1;
    if (st == MAKI_OK && message.len) st = one_line(message, &arena, &ctx.message, err);
    if (st == MAKI_OK) st = change(conv, expect, decide_rewind, &ctx, out, err);
    maki_arena_free(&arena);
    return st;
}

/* The messages of a view that may be there, as ranges in order. */
typedef struct ranges {
    maki_span64 *at;
    size_t count;
} ranges;

/* The message before (step -1) or after (step 1) one that ends a range; 0: none. */
static uint64_t neighbour(const ranges *rows, uint64_t seq, int step)
{
    for (size_t i = 0; i < rows->count; i++) {
        const maki_span64 *r = &rows->at[i];
        if (seq < r->from || seq > r->to) continue;
        if (step > 0) return seq < r->to ? seq + 1 : i + 1 < rows->count ? r[1].from : 0;
        return seq > r->from ? seq - 1 : i > 0 ? r[-1].to : 0;
    }
    return 0;
}

/* Is message `seq` a call or a result whose neighbour, that belongs to it, is hidden? */
static maki_status parted(maki_conv *conv, const maki_view *view, size_t item, const ranges *rows,
                          int step, bool *yes, maki_err *err)
{
    const maki_view_item *it = &view->items[item];
    uint64_t seq = step < 0 ? it->from : it->to, other = neighbour(rows, seq, step);
    bool made = step < 0 ? item > 0 && it[-1].from == 0 : item + 1 < view->count && it[1].from == 0;
    uint32_t flags = 0, others = 0;
    if (other == 0 || (maki_view_has(view, other) && !made)) return MAKI_OK;
    maki_status st = flags_of(conv, seq, &flags, err);
    if (st == MAKI_OK) st = flags_of(conv, other, &others, err);
    uint32_t result = step < 0 ? flags : others, before = step < 0 ? others : flags;
    bool pair = (result & MAKI_FACT_ANSWERS) && (before & (MAKI_FACT_CALLS | MAKI_FACT_ANSWERS));
    if (st == MAKI_OK && pair) *yes = true;
    return st;
}

static maki_status first_is_there(maki_conv *conv, const maki_view *view, const ranges *rows,
                                  bool *yes, maki_err *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        for (uint64_t seq = rows->at[i].from; seq <= rows->at[i].to; seq++) {
            uint32_t flags = 0;
            maki_status st = flags_of(conv, seq, &flags, err);
            if (st != MAKI_OK) return st;
            if ((flags & MAKI_FACT_ROLE) == MAKI_ROLE_SYSTEM) continue;
            *yes = maki_view_has(view, seq);
            return MAKI_OK;
        }
    }
    return MAKI_OK;
}

static bool in_ranges(const ranges *rows, uint64_t seq)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (seq >= rows->at[i].from && seq <= rows->at[i].to) return true;
    }
    return false;
}

/* What was hidden was chosen for the view of its time.  With an older event void, or one that was
 * void back, it may hide what must stay: then the undo is refused. */
static maki_status check_hidden(maki_conv *conv, const ranges *rows, uint64_t target, maki_err *err)
{
    const maki_view *view;
    bool first = true, broken = false;
    maki_status st = maki_conv_view_if(conv, target, false, &view, err);
    if (st == MAKI_OK) st = first_is_there(conv, view, rows, &first, err);
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        if (view->items[i].from == 0) continue;
        st = parted(conv, view, i, rows, -1, &broken, err);
        if (st == MAKI_OK) st = parted(conv, view, i, rows, 1, &broken, err);
    }
    if (st != MAKI_OK) return st;
    for (size_t i = 0; i < view->pin_count; i++) {
        uint64_t seq = view->pins[i];
        if (maki_view_has(view, seq) || !in_ranges(rows, seq)) continue;
        return maki_refuse(err, "WOULD_HIDE",
                           "undoing event %" PRIu64 " would hide message %" PRIu64
                           ", which is pinned; undo the newer events first",
                           target, seq);
    }
    if (first && !broken) return MAKI_OK;
    return maki_refuse(err, "WOULD_HIDE",
                       "undoing event %" PRIu64 " would %s; undo the newer events first", target,
                       first ? "part a tool call from its result" : "hide the first message");
}

static maki_status check_undo(maki_conv *conv, uint64_t target, maki_err *err)
{
    maki_arena arena = maki_arena_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    ranges rows = { 0 };
    const maki_view *view;
    maki_status st = maki_conv_view_if(conv, target, true, &view, err);
    if (st == MAKI_OK) {
        rows.at = maki_arena_array(&arena, view->count, sizeof *rows.at);
        if (!rows.at) st = maki_arena_status(&arena, err);
    }
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        rows.at[rows.count++] = (maki_span64){ view->items[i].from, view->items[i].to };
    }
    if (st == MAKI_OK) st = check_hidden(conv, &rows, target, err);
    maki_arena_free(&arena);
    return st;
}

static bool undoable(const maki_event *e)
{
    return e->type != MAKI_EVENT_FORK && e->type != MAKI_EVENT_DAMAGE;
}

/* The newest that counts; one that cannot be undone before an older one is passed over. */
static maki_status undo_newest(maki_conv *conv, decided *out, maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_refuse(err, "NOTHING_TO_DO", "there is nothing to undo");
    for (size_t i = conv->events.count; i > 0; i--) {
        const maki_event *e = &conv->events.at[i - 1];
        if (e->dead || !undoable(e) || e->type == MAKI_EVENT_UNDO) continue;
        uint64_t target = e->ev;
        st = check_undo(conv, target, err);
        if (st == MAKI_OK) {
            out->type = "undo";
            add_number(&out->fields, "target", target);
        }
        if (st != MAKI_REFUSED) return st;
        maki_status again = maki_conv_view(conv, MAKI_NOW, MAKI_NOW, &view, err); /* as it is */
        if (again != MAKI_OK) return again;
    }
    return st;
}

static maki_status decide_undo(maki_conv *conv, const maki_view *view, void *ctx, decided *out,
                               maki_err *err)
{
    uint64_t ev = *(const uint64_t *)ctx;
    const maki_event *target = NULL;
    (void)view;
    if (ev == 0) return undo_newest(conv, out, err);
    for (size_t i = 0; i < conv->events.count; i++) {
        const maki_event *e = &conv->events.at[i];
        if (e->ev == ev && undoable(e)) target = e;
    }
    if (!target) {
        return maki_refuse(err, "NOTHING_TO_DO", "event %" PRIu64 " cannot be undone", ev);
    }
    if (target->dead) {
        return maki_refuse(err, "NOTHING_TO_DO", "event %" PRIu64 " does not count any more", ev);
    }
    out->type = "undo";
    add_number(&out->fields, "target", ev);
    return check_undo(conv, ev, err);
}

maki_status maki_conv_undo(maki_conv *conv, const unsigned char *expect, uint64_t ev,
                           maki_change *out, maki_err *err)
{
    return change(conv, expect, decide_undo, &ev, out, err);
}

static bool touches(const maki_event *e, uint64_t seq)
{
    if (e->dead) return false;
    if (e->type == MAKI_EVENT_TRIM) return e->seq == seq;
    if (e->type != MAKI_EVENT_CONDENSE && e->type != MAKI_EVENT_TRUNCATE) return false;
    for (size_t i = 0; i < e->hidden_count; i++) {
        if (seq >= e->hidden[i].from && seq <= e->hidden[i].to) return true;
    }
    return false;
}

static maki_status decide_expand(maki_conv *conv, const maki_view *view, void *ctx, decided *out,
                                 maki_err *err)
{
    uint64_t seq = *(const uint64_t *)ctx;
    (void)view;
    for (size_t i = conv->events.count; i > 0; i--) {
        const maki_event *e = &conv->events.at[i - 1];
        if (!touches(e, seq)) continue;
        out->type = "undo";
        add_number(&out->fields, "target", e->ev);
        return check_undo(conv, e->ev, err);
    }
    return maki_refuse(err, "NOTHING_TO_DO", "message %" PRIu64 " is neither hidden nor shortened",
                       seq);
}

maki_status maki_conv_expand(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                             maki_change *out, maki_err *err)
{
    return change(conv, expect, decide_expand, &seq, out, err);
}

/* ---- append, note, fork ----------------------------------------------------------------------------------------- */

maki_status maki_conv_append(maki_conv *conv, const unsigned char *expect, const maki_str *messages,
                             size_t count, maki_change *out, maki_err *err)
{
    maki_arena arena = maki_arena_new(conv->env.alloc, (size_t)MAKI_ROW_MAX * 2);
    *out = (maki_change){ 0 };
    maki_status st = maki_log_begin_rows(conv->log, expect, err);
    if (st != MAKI_OK) goto done;
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        maki_str line;
        st = one_line(messages[i], &arena, &line, err);
        if (st == MAKI_OK) st = maki_log_add_row(conv->log, line, &out->seq, err);
    }
    if (st == MAKI_OK)
        st = maki_log_commit(conv->log, err);
    else
        maki_log_abort(conv->log);
    memcpy(out->head, maki_log_head(conv->log), MAKI_CHAIN_LEN);
done:
    maki_arena_free(&arena);
    return st;
}

maki_status maki_conv_note(maki_conv *conv, const char *type, maki_str fields, maki_change *out,
                           maki_err *err)
{
    *out = (maki_change){ 0 };
    maki_status st = maki_log_begin(conv->log, NULL, err);
    if (st != MAKI_OK) return st;
    st = maki_log_add_event(conv->log, type, fields, &out->event, err);
    if (st == MAKI_OK)
        st = maki_log_commit(conv->log, err);
    else
        maki_log_abort(conv->log);
    out->seq = maki_log_last(conv->log);
    memcpy(out->head, maki_log_head(conv->log), MAKI_CHAIN_LEN);
    return st;
}

/* The id of a conversation: the name of its file, or of its folder when it is a task. */
static maki_str id_of(const char *path)
{
    maki_str p = maki_str_of(path);
    maki_str task = MAKI_LIT("/messages.jsonl");
    bool folder = p.len > task.len && maki_str_is(maki_str_from(p, p.len - task.len), task);
    size_t end = p.len - (folder ? task.len : strlen(".jsonl"));
    size_t start = end;
    while (start > 0 && p.ptr[start - 1] != '/')
        start--;
    return (maki_str){ p.ptr + start, end - start };
}

maki_status maki_conv_fork(maki_conv *conv, uint64_t seq, uint64_t ev, const char *path,
                           maki_err *err)
{
    char chain[2 * MAKI_CHAIN_LEN + 1];
    maki_conv *child = NULL;
    maki_change ignored;
    maki_row row;
    maki_made made;
    maki_str fields;
    const maki_view *view;
    maki_status st = maki_log_refresh(conv->log, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NOW, MAKI_NOW, &view, err);
    if (st == MAKI_OK) st = settle_cut(conv, &seq, err);
    if (st != MAKI_OK) return st;
    if (seq == 0 || seq > maki_log_last(conv->log)) {
        return maki_fail(err, MAKI_NOTFOUND, "there is no message %" PRIu64 " to fork at", seq);
    }
    if (st == MAKI_OK) st = maki_log_row(log_of(conv, seq), seq, &row, err);
    if (st != MAKI_OK) return st;
    if (ev == MAKI_NOW) ev = maki_events_at(&conv->events, seq);
    maki_hex(row.chain, MAKI_CHAIN_LEN, chain);

    maki_conv_options options = { .create = true, .durability = MAKI_SYNC };
    st = maki_conv_open(&conv->env, path, &options, &child, err);
    if (st != MAKI_OK) return st;
    if (maki_log_last(child->log) > 0 || maki_log_events(child->log) > 0) {
        st = maki_fail(err, MAKI_CONFLICT, "%s is there already", path);
    }
    maki_made_begin(&made, &child->arena, err);
    maki_jw_object(&made.w);
    maki_jw_key(&made.w, MAKI_LIT("parent"));
    maki_jw_string(&made.w, id_of(maki_log_path(conv->log)));
    maki_jw_key(&made.w, MAKI_LIT("seq"));
    maki_jw_int(&made.w, (int64_t)seq);
    maki_jw_key(&made.w, MAKI_LIT("parentEv"));
    maki_jw_int(&made.w, (int64_t)ev);
    maki_jw_key(&made.w, MAKI_LIT("chain"));
    maki_jw_string(&made.w, maki_str_of(chain));
    maki_jw_end_object(&made.w);
    maki_status built = maki_made_end(&made, &child->arena, &fields, err);
    if (st == MAKI_OK) st = built;
    if (st == MAKI_OK) st = maki_conv_note(child, "fork", maki_json_inside(fields), &ignored, err);
    maki_conv_close(child);
    return st;
}

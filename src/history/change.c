/* change.c -- what can be done to a conversation; see conversation.h and change_inside.h.
 *
 * Each change here decides from the index alone; those that read texts are in shorten.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/made.h"
#include "base/str.h"
#include "base/text.h"
#include "history/change_inside.h"
#include "history/make.h"

enum {
    TRIES = 8,
    FIELDS_MAX = 1 << 28,
    SUMMARY_LEAST = 200 /* bytes of a summary that is cut to fit */
};

/* ---- deciding and writing ------------------------------------------------------------------------- */

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
    if (maki_log_events(conv->log) == then->ev) return MAKI_OK;
    maki_status st = maki_conv_load_events(conv, err);
    if (st != MAKI_OK || conv->events.count == then->changes) return st;
    return maki_fail(err, MAKI_CONFLICT,
                     "the conversation was changed since it was read; read it again");
}

static maki_status write_decided(maki_conv *conv, const moment *then, const maki_decided *d,
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

static maki_status try_once(maki_conv *conv, const unsigned char *expect, maki_decide_fn decide,
                            void *ctx, maki_change *out, maki_err *err)
{
    moment now;
    const maki_view *view;
    maki_view_totals before, after;
    maki_decided d = { .fields = maki_buf_new(conv->env.alloc, FIELDS_MAX) };
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
    if (maki_conv_total_now(conv, &after, NULL) != MAKI_OK) after = before;
    out->seq = maki_log_last(conv->log);
    out->undone = d.undone;
    out->undone_type = d.undone_type;
    memcpy(out->head, maki_log_head(conv->log), MAKI_CHAIN_LEN);
    out->removed = before.messages > after.messages ? before.messages - after.messages : 0;
    out->visible = after.messages;
    out->tokens_before = before.tokens;
    out->tokens_after = after.tokens;
    return MAKI_OK;
}

maki_status maki_conv_change(maki_conv *conv, const unsigned char *expect, maki_decide_fn decide,
                             void *ctx, maki_change *out, maki_err *err)
{
    maki_status st = MAKI_CONFLICT;
    for (int i = 0; st == MAKI_CONFLICT && i < (expect ? 1 : TRIES); i++) {
        st = try_once(conv, expect, decide, ctx, out, err);
    }
    return st;
}

void maki_decided_number(maki_decided *d, const char *name, uint64_t value)
{
    char text[80];
    snprintf(text, sizeof text, "%s\"%s\":%" PRIu64, d->fields.len ? "," : "", name, value);
    maki_buf_add(&d->fields, maki_str_of(text));
}

void maki_decided_tokens(maki_decided *d, uint64_t tokens)
{
    maki_decided_number(d, "tokens", tokens);
    maki_buf_add(&d->fields, MAKI_LIT(",\"family\":\"" MAKI_FAMILY "\""));
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

maki_status maki_view_lead(const maki_view *view, uint64_t *lead, maki_err *err)
{
    bool found = false; /* the first other one */
    uint64_t messages = maki_view_messages(view);
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
    uint64_t rows;   /* messages hidden, made ones left out */
    uint64_t before; /* and those that markers among them hid before */
    uint64_t tokens;
} stretch;

static maki_status hide_row(maki_conv *conv, stretch *s, const maki_view *view, uint64_t seq,
                            const maki_row *row, maki_err *err)
{
    maki_arena *arena = &conv->arena;
    s->rows++;
    s->tokens += row->tokens;
    for (size_t i = maki_view_trims_from(view, seq);
         i < view->trim_count && view->trims[i]->seq == seq; i++) {
        int64_t saved = 0;
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
        /* a new marker stands for the older ones too, so that they do not pile up */
        bool marker = item->from == 0 && item->made->type == MAKI_EVENT_TRUNCATE;
        if (item->from == 0 && n >= s->from && (marker || !keep_summaries)) {
            st = hide_made(conv, s, item, err);
            if (marker) s->before += item->made->messages;
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

static void add_span(maki_buf *out, bool first, maki_span64 span)
{
    char text[80];
    snprintf(text, sizeof text, "%s[%" PRIu64 ",%" PRIu64 "]", first ? "" : ",", span.from,
             span.to);
    maki_buf_add(out, maki_str_of(text));
}

void maki_decided_hidden(maki_decided *d, const maki_span64 *spans, size_t count,
                         const maki_span64 *made, size_t made_count)
{
    char text[40];
    size_t own = 0, above = 0;
    maki_buf *out = &d->fields;
    maki_buf_add(out, MAKI_LIT("\"hidden\":["));
    for (size_t i = 0; i < count; i++)
        add_span(out, i == 0, spans[i]);
    maki_buf_add(out, MAKI_LIT("],\"hiddenEvents\":["));
    for (size_t i = 0; i < made_count; i++) {
        if (made[i].from) continue;
        snprintf(text, sizeof text, "%s%" PRIu64, own++ ? "," : "", made[i].to);
        maki_buf_add(out, maki_str_of(text));
    }
    for (size_t i = 0; i < made_count; i++) {
        if (!made[i].from) continue;
        if (above == 0) maki_buf_add(out, MAKI_LIT("],\"hiddenAbove\":["));
        add_span(out, above++ == 0, made[i]);
    }
    maki_buf_add(out, MAKI_LIT("]"));
}

static void add_message(maki_decided *out, maki_str message, uint64_t tokens, uint64_t before)
{
    maki_decided_number(out, "before", before);
    maki_decided_tokens(out, tokens);
    maki_buf_add(&out->fields, MAKI_LIT(",\"message\":"));
    maki_buf_add(&out->fields, message);
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
    bool soft;     /* the summary is a system message, and */
    uint64_t most; /* is cut when the view would have more tokens; 0: never */
    /* The summary of an earlier try, which was too late: still good if it is about the same. */
    bool tried;
    uint64_t to; /* where what it covers ends, as a position */
    unsigned char cover[MAKI_COVER_LEN];
    maki_buf text;
    maki_summary summary; /* but for its text */
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

/* What a condense hides that leaves the last `keep`, or, with `to`, what stands before that position. */
static maki_status choose_stretch(maki_conv *conv, const maki_view *view, size_t keep, uint64_t to,
                                  stretch *s, maki_err *err)
{
    uint64_t all = maki_view_messages(view);
    *s = (stretch){ .to = all > keep ? all - keep : 0 };
    if (to && to < s->to) s->to = to;
    maki_status st = maki_view_lead(view, &s->from, err);
    if (st == MAKI_OK) st = settle_boundary(view, all, s->from, &s->to, err);
    if (st != MAKI_OK) return st;
    if (s->to < s->from + 2) {
        return maki_refuse(err, "NOT_ENOUGH_MESSAGES",
                           "%" PRIu64 " visible messages are too few to condense", all);
    }
    st = gather(conv, view, s, false, err);
    if (st == MAKI_OK && s->rows == 0)
        st = maki_refuse(err, "CONDENSED_RECENTLY", "nothing has been said since the last summary");
    return st;
}

static void hash_numbers(maki_sha256 *hash, uint64_t a, uint64_t b, uint64_t c)
{
    char text[80];
    snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", a, b, c);
    maki_sha256_add(hash, maki_str_of(text));
}

static void hash_trim(maki_sha256 *hash, const maki_trim *trim)
{
    hash_numbers(hash, trim->seq, (uint64_t)trim->block << 32 | trim->part, trim->restores);
    hash_numbers(hash, trim->head, trim->tail, trim->cut_count);
    for (size_t i = 0; i < trim->cut_count; i++)
        hash_numbers(hash, trim->cuts[i].from, trim->cuts[i].to, trim->cuts[i].text.len);
}

/* Numbers suffice: a row or an event never changes. */
static void cover_of(const maki_view *part, const stretch *s, unsigned char cover[MAKI_COVER_LEN])
{
    maki_sha256 hash;
    unsigned char whole[MAKI_SHA256_LEN];
    maki_sha256_begin(&hash);
    for (size_t i = 0; i < part->count; i++) {
        const maki_view_item *item = &part->items[i];
        hash_numbers(&hash, item->up, item->from, item->from ? item->to : item->made->ev);
    }
    for (size_t i = 0; i < s->count; i++)
        hash_numbers(&hash, UINT64_MAX, s->spans[i].from, s->spans[i].to);
    for (size_t i = 0; i < part->trim_count; i++) {
        if (maki_view_has(part, part->trims[i]->seq)) hash_trim(&hash, part->trims[i]);
    }
    maki_sha256_finish(&hash, whole);
    memcpy(cover, whole, MAKI_COVER_LEN);
}

static maki_status describe(maki_conv *conv, const maki_view *view, const stretch *s,
                            maki_view *part, maki_covered *out, maki_err *err)
{
    maki_status st = part_of(view, s->from, s->to, &conv->arena, part, err);
    *out = (maki_covered){ .before = seq_at(conv, view, s->to),
                           .messages = s->rows,
                           .tokens = s->tokens };
    if (st == MAKI_OK) cover_of(part, s, out->cover);
    return st;
}

static maki_status summarise(maki_conv *conv, const maki_view *part, const maki_covered *what,
                             const maki_summarizer *summarizer, maki_arena *arena,
                             maki_summary *out, maki_err *err)
{
    maki_err why = { 0 };
    source from = { .conv = conv, .view = part };
    maki_summary_request request = {
        .each = each_message, .source = &from, .tokens = what->tokens, .cover = what->cover
    };
    if (!summarizer || !summarizer->usable) {
        return maki_refuse(err, "HANDLER_INVALID", "there is no summariser that can be called");
    }
    maki_status st = summarizer->run(summarizer, &request, arena, out, &why);
    if (st == MAKI_NOMEM || st == MAKI_CORRUPT || st == MAKI_IO || st == MAKI_CANCELLED) {
        if (err) *err = why;
        return st;
    }
    if (st != MAKI_OK) return maki_refuse(err, "SUMMARIZER_FAILED", "the summariser: %s", why.msg);
    out->text = maki_str_trim(out->text);
    if (out->text.len) return MAKI_OK;
    return maki_refuse(err, "SUMMARY_EMPTY", "the summariser answered with nothing");
}

/* The message that a summary becomes, and its tokens. */
static maki_status make_summary(maki_conv *conv, const condense_ctx *c, maki_str text, double ts,
                                maki_str *out, uint64_t *tokens, maki_err *err)
{
    maki_arena *arena = &conv->arena;
    maki_summary_parts parts = { .text = text, .ts = ts };
    maki_status st = MAKI_OK;
    if (c->soft) {
        text = maki_arena_print(arena, MAKI_SOFT_SUMMARY "%.*s", (int)text.len, text.ptr);
        st = maki_make_text(MAKI_LIT("system"), text, arena, out, err);
    } else {
        st = maki_make_id(conv->env.random, arena, &parts.id, err);
        if (st == MAKI_OK) st = maki_make_summary(&parts, arena, out, err);
    }
    return st == MAKI_OK ? maki_conv_message_tokens(conv, *out, tokens, err) : st;
}

/* The same within its tokens: the summary's beginning, to the end of a line. */
static maki_status make_fitting(maki_conv *conv, const condense_ctx *c, uint64_t most,
                                maki_str text, double ts, maki_str *out, uint64_t *tokens,
                                maki_err *err)
{
    maki_status st = make_summary(conv, c, text, ts, out, tokens, err);
    while (st == MAKI_OK && *tokens > most && text.len > SUMMARY_LEAST) {
        size_t room = (size_t)((double)text.len * 0.9 * (double)most / (double)*tokens);
        text = maki_utf8_cut(text, room > SUMMARY_LEAST ? room : SUMMARY_LEAST);
        const char *line = maki_str_last(text, '\n');
        if (line && (size_t)(line - text.ptr) > text.len / 2)
            text = maki_str_to(text, (size_t)(line - text.ptr));
        st = make_summary(conv, c, text, ts, out, tokens, err);
    }
    return st;
}

/* The tokens that a summary may have, so that the view is within its own. */
static maki_status room_of(maki_conv *conv, const maki_view *view, const condense_ctx *c,
                           const stretch *s, uint64_t *most, maki_err *err)
{
    maki_view_totals all = { 0 };
    *most = UINT64_MAX;
    if (!c->most) return MAKI_OK;
    maki_status st = maki_conv_total(conv, view, &all, err);
    uint64_t stays = all.tokens > s->tokens ? all.tokens - s->tokens : 0;
    *most = c->most > stays ? c->most - stays : 0;
    return st;
}

/* The summary of what was chosen, kept in *c: asked for once, however often the condense is decided. */
static maki_status summarise_once(maki_conv *conv, const maki_view *part, const maki_covered *what,
                                  condense_ctx *c, maki_err *err)
{
    maki_summary_usage usage = c->summary.usage;
    maki_summary summary = { 0 };
    if (c->tried && memcmp(what->cover, c->cover, MAKI_COVER_LEN) == 0) return MAKI_OK;
    maki_status st = summarise(conv, part, what, c->summarizer, &conv->arena, &summary, err);
    maki_summary_usage_add(&usage, &summary.usage);
    c->summary = summary;
    c->summary.usage = usage;
    if (st != MAKI_OK) return st;
    maki_buf_clear(&c->text);
    maki_buf_add(&c->text, summary.text);
    memcpy(c->cover, what->cover, MAKI_COVER_LEN);
    c->tried = true;
    return maki_buf_status(&c->text, err);
}

/* What became of facts, and what the summary took. */
static maki_status add_summary(maki_conv *conv, maki_decided *out, const maki_summary *summary,
                               maki_err *err)
{
    maki_made made;
    maki_str fields;
    maki_made_begin(&made, &conv->arena, err);
    maki_jw_object(&made.w);
    maki_summary_usage_write(&made.w, &summary->usage);
    if (summary->survey.measured) maki_survey_write(&made.w, &summary->survey);
    maki_jw_end_object(&made.w);
    maki_status st = maki_made_end(&made, &conv->arena, &fields, err);
    if (st != MAKI_OK) return st;
    maki_buf_add(&out->fields, MAKI_LIT(","));
    maki_buf_add(&out->fields, maki_json_inside(fields));
    return MAKI_OK;
}

void maki_conv_note_unused(maki_conv *conv, const maki_summary_usage *usage)
{
    maki_made made;
    maki_str fields;
    maki_change ignored;
    if (!usage->model[0]) return;
    maki_made_begin(&made, &conv->arena, NULL);
    maki_jw_object(&made.w);
    maki_summary_usage_write(&made.w, usage);
    maki_jw_end_object(&made.w);
    if (maki_made_end(&made, &conv->arena, &fields, NULL) == MAKI_OK)
        (void)!maki_conv_note(conv, "usage", maki_json_inside(fields), &ignored, NULL);
}

static maki_status decide_condense(maki_conv *conv, const maki_view *view, void *ctx,
                                   maki_decided *out, maki_err *err)
{
    condense_ctx *c = ctx;
    uint64_t tokens = 0, most = 0;
    stretch s;
    maki_view part;
    maki_covered what;
    maki_str message;
    double ts = 0;
    maki_status st = choose_stretch(conv, view, c->keep, c->tried ? c->to : 0, &s, err);
    if (st == MAKI_OK) st = describe(conv, view, &s, &part, &what, err);
    if (st == MAKI_OK) st = summarise_once(conv, &part, &what, c, err);
    c->to = s.to;
    if (st == MAKI_OK) st = time_at(conv, view, s.to, &ts, err);
    if (st == MAKI_OK) st = room_of(conv, view, c, &s, &most, err);
    if (st == MAKI_OK)
        st = make_fitting(conv, c, most, maki_buf_str(&c->text), ts, &message, &tokens, err);
    if (st != MAKI_OK) return st;
    if (tokens >= s.tokens) {
        return maki_refuse(err, "CONTEXT_GREW",
                           "the summary is not shorter than what it stands for");
    }
    out->type = "condense";
    maki_decided_hidden(out, s.spans, s.count, s.made, s.made_count);
    maki_decided_number(out, "messages", s.rows);
    add_message(out, message, tokens, what.before);
    return add_summary(conv, out, &c->summary, err);
}

static maki_status condense(maki_conv *conv, const unsigned char *expect, condense_ctx *c,
                            maki_change *out, maki_err *err)
{
    c->text = maki_buf_new(conv->env.alloc, FIELDS_MAX);
    maki_status st = maki_conv_change(conv, expect, decide_condense, c, out, err);
    out->usage = c->summary.usage;
    out->survey = c->summary.survey;
    out->fell_back = c->summary.fell_back;
    if (st != MAKI_OK) maki_conv_note_unused(conv, &out->usage);
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
                                uint64_t most, const maki_summarizer *summarizer, maki_change *out,
                                maki_err *err)
{
    condense_ctx ctx = { .keep = keep, .summarizer = summarizer, .soft = true, .most = most };
    return condense(conv, expect, &ctx, out, err);
}

/* The newest view, what of it a condense would hide, and that part alone. */
static maki_status look_ahead(maki_conv *conv, size_t keep, maki_view *part, maki_covered *out,
                              maki_err *err)
{
    const maki_view *view;
    stretch s;
    maki_status st = maki_log_refresh(conv->log, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NOW, MAKI_NOW, &view, err);
    if (st == MAKI_OK) st = choose_stretch(conv, view, keep, 0, &s, err);
    return st == MAKI_OK ? describe(conv, view, &s, part, out, err) : st;
}

maki_status maki_conv_covered(maki_conv *conv, size_t keep, maki_covered *out, maki_err *err)
{
    maki_view part;
    return look_ahead(conv, keep, &part, out, err);
}

maki_status maki_conv_summarise(maki_conv *conv, size_t keep, const maki_summarizer *summarizer,
                                maki_arena *arena, maki_covered *out, maki_summary *summary,
                                maki_err *err)
{
    maki_view part;
    *summary = (maki_summary){ 0 };
    maki_status st = look_ahead(conv, keep, &part, out, err);
    return st == MAKI_OK ? summarise(conv, &part, out, summarizer, arena, summary, err) : st;
}

/* ---- truncate ------------------------------------------------------------------------------------------ */

/* How much goes behind a marker: a share of the messages, or all but the last `keep`. */
typedef struct truncate_ctx {
    double fraction;
    bool by_keep;
    uint64_t keep;
    bool clear; /* summaries too */
} truncate_ctx;

static uint64_t cut_of(const truncate_ctx *t, uint64_t lead, uint64_t all)
{
    double share = t->fraction > 1 ? 1 : t->fraction > 0 ? t->fraction : 0;
    if (!t->by_keep) return lead + (uint64_t)((double)(all - lead) * share) / 2 * 2;
    return all > lead + t->keep ? all - t->keep : lead;
}

static maki_status decide_truncate(maki_conv *conv, const maki_view *view, void *ctx,
                                   maki_decided *out, maki_err *err)
{
    uint64_t all = maki_view_messages(view), tokens = 0;
    stretch s = { 0 };
    const truncate_ctx *t = ctx;
    maki_str marker;
    maki_str id;
    double ts = 0;
    maki_status st = maki_view_lead(view, &s.from, err);
    if (st != MAKI_OK) return st;
    s.to = cut_of(t, s.from, all);
    if (s.to >= all) s.to = all > s.from ? all - 1 : s.from;
    st = settle_boundary(view, all, s.from, &s.to, err);
    if (st == MAKI_OK) st = gather(conv, view, &s, !t->clear, err);
    if (st != MAKI_OK) return st;
    if (s.rows == 0) {
        return maki_refuse(err, "NOT_ENOUGH_MESSAGES", "there is nothing that may be hidden");
    }
    st = maki_make_id(conv->env.random, &conv->arena, &id, err);
    if (st == MAKI_OK) st = time_at(conv, view, s.to, &ts, err);
    if (st == MAKI_OK) st = maki_make_marker(s.rows + s.before, id, ts, &conv->arena, &marker, err);
    if (st == MAKI_OK) st = maki_conv_message_tokens(conv, marker, &tokens, err);
    if (st != MAKI_OK) return st;
    out->type = "truncate";
    maki_decided_hidden(out, s.spans, s.count, s.made, s.made_count);
    maki_decided_number(out, "messages", s.rows + s.before);
    add_message(out, marker, tokens, seq_at(conv, view, s.to));
    return MAKI_OK;
}

maki_status maki_conv_truncate(maki_conv *conv, const unsigned char *expect, double fraction,
                               maki_change *out, maki_err *err)
{
    truncate_ctx ctx = { .fraction = fraction };
    return maki_conv_change(conv, expect, decide_truncate, &ctx, out, err);
}

maki_status maki_conv_window(maki_conv *conv, const unsigned char *expect, uint64_t keep,
                             maki_change *out, maki_err *err)
{
    truncate_ctx ctx = { .by_keep = true, .keep = keep };
    return maki_conv_change(conv, expect, decide_truncate, &ctx, out, err);
}

maki_status maki_conv_clear(maki_conv *conv, const unsigned char *expect, uint64_t keep,
                            maki_change *out, maki_err *err)
{
    truncate_ctx ctx = { .by_keep = true, .keep = keep, .clear = true };
    return maki_conv_change(conv, expect, decide_truncate, &ctx, out, err);
}

/* ---- pin ------------------------------------------------------------------------------------------- */

maki_status maki_want_visible(const maki_view *view, uint64_t seq, maki_err *err)
{
    if (maki_view_has(view, seq)) return MAKI_OK;
    return maki_fail(err, MAKI_NOTFOUND, "message %" PRIu64 " is not in the view", seq);
}

typedef struct pin_ctx {
    uint64_t seq;
    bool pin;
} pin_ctx;

static maki_status decide_pin(maki_conv *conv, const maki_view *view, void *ctx, maki_decided *out,
                              maki_err *err)
{
    const pin_ctx *p = ctx;
    (void)conv;
    maki_status st = maki_want_visible(view, p->seq, err);
    if (st != MAKI_OK) return st;
    if (maki_view_pinned(view, p->seq) == p->pin) {
        return maki_refuse(err, "NOTHING_TO_DO", "message %" PRIu64 " is %s", p->seq,
                           p->pin ? "pinned already" : "not pinned");
    }
    out->type = p->pin ? "pin" : "unpin";
    maki_decided_number(out, "seq", p->seq);
    return MAKI_OK;
}

maki_status maki_conv_pin(maki_conv *conv, const unsigned char *expect, uint64_t seq, bool pin,
                          maki_change *out, maki_err *err)
{
    pin_ctx ctx = { seq, pin };
    return maki_conv_change(conv, expect, decide_pin, &ctx, out, err);
}

/* ---- append, note, fork ----------------------------------------------------------------------------------------- */

maki_status maki_one_line(maki_str json, maki_arena *arena, maki_str *out, maki_err *err)
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

maki_status maki_conv_append(maki_conv *conv, const unsigned char *expect, const maki_str *messages,
                             size_t count, maki_change *out, maki_err *err)
{
    maki_arena arena = maki_arena_new(conv->env.alloc, (size_t)MAKI_ROW_MAX * 2);
    *out = (maki_change){ 0 };
    maki_status st = maki_log_begin_rows(conv->log, expect, err);
    if (st != MAKI_OK) goto done;
    conv->facts.checked = conv->checked;
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        maki_str line;
        st = maki_one_line(messages[i], &arena, &line, err);
        if (st == MAKI_OK) st = maki_log_add_row(conv->log, line, &out->seq, err);
    }
    conv->facts.checked = false; /* rows that others wrote are not */
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

maki_str maki_conv_id(const maki_conv *conv)
{
    maki_str p = maki_str_of(maki_log_path(conv->log));
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
    if (st == MAKI_OK) st = maki_settle_cut(conv, &seq, err);
    if (st != MAKI_OK) return st;
    if (seq == 0 || seq > maki_log_last(conv->log)) {
        return maki_fail(err, MAKI_NOTFOUND, "there is no message %" PRIu64 " to fork at", seq);
    }
    if (st == MAKI_OK) st = maki_log_row(maki_conv_level(conv, seq)->log, seq, &row, err);
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
    maki_jw_string(&made.w, maki_conv_id(conv));
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

/* change.c -- write a change: refresh, decide on the newest view, append under the lock; and the small changes:
 * append, add an event, pin.
 *
 * In:    a function that decides on a view (maki_decide_fn) and, optionally, the head that the caller expects.
 * Out:   one event and the rows that follow it, and in maki_change what that did to the view.
 * Must stay true: what is written was decided on the events and messages right before it.  When another writer was
 *        first, and no head was expected, it is decided again, ATTEMPTS_MAX times; else MAKI_CONFLICT. */
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "history/change_internal.h"

enum { ATTEMPTS_MAX = 8, FIELDS_MAX = 1 << 28, VIEW_MAX = 256 << 20 };

/* ---- deciding and writing ------------------------------------------------------------------------- */

/* The revision that a decision is based on: the messages (head), and the events that change the view. */
typedef struct revision {
    unsigned char head[MAKI_CHAIN_LEN];
    uint64_t ev;
    size_t changes;
} revision;

/* Called under the lock: MAKI_CONFLICT when an event that changes the view was appended since the decision.  The head
 * does not show that: it covers messages only. */
static maki_status check_unchanged(maki_conv *conv, const revision *decided_on, maki_err *err)
{
    if (maki_log_events(conv->log) == decided_on->ev) return MAKI_OK;
    maki_status st = maki_conv_load_events(conv, err);
    if (st != MAKI_OK || conv->events.count == decided_on->changes) return st;
    return maki_fail(err, MAKI_CONFLICT,
                     "the conversation was changed since it was read; read it again");
}

static maki_status write_decision(maki_conv *conv, const revision *decided_on,
                                  const maki_decision *d, maki_change *out, maki_err *err)
{
    maki_status st = maki_log_begin(conv->log, decided_on->head, err);
    if (st != MAKI_OK) return st;
    st = check_unchanged(conv, decided_on, err);
    if (st == MAKI_OK && d->type) {
        st = maki_log_add_event(conv->log, d->type, maki_buf_str(&d->fields), &out->event, err);
    }
    for (size_t i = 0; st == MAKI_OK && i < d->row_count; i++) {
        st = maki_log_add_row(conv->log, d->rows[i], &out->seq, err);
    }
    return maki_log_end(conv->log, st, err);
}

/* The view and its tokens at (seq, ev), for report_change; the copy is in the arena. */
static maki_status measure(maki_conv *conv, uint64_t seq, uint64_t ev, maki_arena *arena,
                           maki_view *copy, maki_view_totals *total, maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_conv_view(conv, seq, ev, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(conv, view, total, err);
    return st == MAKI_OK ? maki_view_copy(view, arena, copy, err) : st;
}

/* Set in *out how the view at (seq, ev) differs from `before`, in which message `last` was the newest. */
static maki_status report_change(maki_conv *conv, const maki_view *before, uint64_t last,
                                 uint64_t seq, uint64_t ev, maki_change *out, maki_err *err)
{
    const maki_view *view;
    maki_view_totals after;
    maki_status st = maki_conv_view(conv, seq, ev, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(conv, view, &after, err);
    if (st != MAKI_OK) return st;
    out->effect = maki_view_compare(before, view, last);
    out->visible = after.messages;
    out->tokens_after = after.tokens;
    return MAKI_OK;
}

maki_status maki_conv_event_effect(maki_conv *conv, uint64_t ev, maki_change *out, maki_err *err)
{
    maki_arena arena = maki_arena_new(conv->env.alloc, VIEW_MAX);
    maki_view before;
    maki_view_totals total;
    maki_event e = { .type = MAKI_EVENT_OTHER };
    *out = (maki_change){ .event = ev };
    maki_status st = maki_conv_load_events(conv, err);
    for (size_t i = 0; st == MAKI_OK && i < conv->events.count; i++) {
        if (conv->events.at[i].ev == ev) e = conv->events.at[i];
    }
    if (st == MAKI_OK && (e.type <= MAKI_EVENT_FORK || e.type == MAKI_EVENT_DAMAGE))
        st = maki_fail(err, MAKI_NOTFOUND, "event %" PRIu64 " is not a step", ev);
    if (st == MAKI_OK) st = measure(conv, e.at, ev - 1, &arena, &before, &total, err);
    if (st == MAKI_OK) {
        out->seq = e.with > e.at ? e.with : e.at; /* the message of an edit was written with it */
        out->tokens_before = total.tokens;
        st = report_change(conv, &before, e.at, out->seq, ev, out, err);
    }
    maki_arena_free(&arena);
    return st;
}

static maki_status attempt_change(maki_conv *conv, const unsigned char *expect,
                                  maki_decide_fn decide, void *ctx, maki_arena *arena,
                                  maki_change *out, maki_err *err)
{
    revision now;
    const maki_view *view;
    maki_view before;
    maki_view_totals total;
    maki_decision d = { .fields = maki_buf_new(conv->env.alloc, FIELDS_MAX) };
    *out = (maki_change){ 0 };
    maki_status st = maki_log_refresh(conv->log, err);
    if (st != MAKI_OK) return st;
    memcpy(now.head, maki_log_head(conv->log), MAKI_CHAIN_LEN);
    if (expect && memcmp(expect, now.head, MAKI_CHAIN_LEN) != 0) {
        return maki_fail(err, MAKI_CONFLICT,
                         "the conversation has grown since it was read; read it again");
    }
    st = measure(conv, MAKI_NEWEST, MAKI_NEWEST, arena, &before, &total, err);
    uint64_t last = maki_log_last(conv->log);
    view = &conv->view;
    now.ev = maki_log_events(conv->log);
    now.changes = conv->events.count;
    if (st == MAKI_OK) st = decide(conv, view, ctx, &d, err);
    if (st == MAKI_OK) st = maki_buf_status(&d.fields, err);
    if (st == MAKI_OK) st = write_decision(conv, &now, &d, out, err);
    maki_buf_free(&d.fields);
    if (st != MAKI_OK) return st;
    out->visible = total.messages;
    out->tokens_before = out->tokens_after = total.tokens;
    /* The change is written: a failure to measure its effect is not a failure of the change. */
    (void)!report_change(conv, &before, last, MAKI_NEWEST, MAKI_NEWEST, out, NULL);
    out->seq = maki_log_last(conv->log);
    out->undone = d.undone;
    out->undone_type = d.undone_type;
    memcpy(out->head, maki_log_head(conv->log), MAKI_CHAIN_LEN);
    return MAKI_OK;
}

maki_status maki_conv_change(maki_conv *conv, const unsigned char *expect, maki_decide_fn decide,
                             void *ctx, maki_change *out, maki_err *err)
{
    maki_status st = MAKI_CONFLICT;
    for (int i = 0; st == MAKI_CONFLICT && i < (expect ? 1 : ATTEMPTS_MAX); i++) {
        maki_arena arena = maki_arena_new(conv->env.alloc, VIEW_MAX);
        st = attempt_change(conv, expect, decide, ctx, &arena, out, err);
        maki_arena_free(&arena);
    }
    return st;
}

void maki_decision_number(maki_decision *d, const char *name, uint64_t value)
{
    maki_buf_print(&d->fields, "%s\"%s\":%" PRIu64, d->fields.len ? "," : "", name, value);
}

void maki_decision_tokens(maki_decision *d, uint64_t tokens)
{
    maki_decision_number(d, "tokens", tokens);
    maki_buf_add(&d->fields, MAKI_LIT(",\"family\":\"" MAKI_LOG_ENCODING "\""));
}

static void add_span(maki_buf *out, bool first, maki_span64 span)
{
    maki_buf_print(out, "%s[%" PRIu64 ",%" PRIu64 "]", first ? "" : ",", span.from, span.to);
}

void maki_decision_hidden(maki_decision *d, const maki_span64 *spans, size_t count,
                          const maki_span64 *synthetic, size_t synthetic_count)
{
    size_t own = 0, above = 0;
    maki_buf *out = &d->fields;
    maki_buf_add(out, MAKI_LIT("\"hidden\":["));
    for (size_t i = 0; i < count; i++)
        add_span(out, i == 0, spans[i]);
    maki_buf_add(out, MAKI_LIT("],\"hiddenEvents\":["));
    for (size_t i = 0; i < synthetic_count; i++) {
        if (!synthetic[i].from)
            maki_buf_print(out, "%s%" PRIu64, own++ ? "," : "", synthetic[i].to);
    }
    for (size_t i = 0; i < synthetic_count; i++) {
        if (!synthetic[i].from) continue;
        if (above == 0) maki_buf_add(out, MAKI_LIT("],\"hiddenAbove\":["));
        add_span(out, above++ == 0, synthetic[i]);
    }
    maki_buf_add(out, MAKI_LIT("]"));
}

/* ---- pin ------------------------------------------------------------------------------------------- */

maki_status maki_require_visible(const maki_view *view, uint64_t seq, maki_err *err)
{
    if (maki_view_has(view, seq)) return MAKI_OK;
    return maki_fail(err, MAKI_NOTFOUND, "message %" PRIu64 " is not in the view", seq);
}

typedef struct pin_ctx {
    uint64_t seq;
    bool pin;
} pin_ctx;

static maki_status decide_pin(maki_conv *conv, const maki_view *view, void *ctx, maki_decision *out,
                              maki_err *err)
{
    const pin_ctx *p = ctx;
    (void)conv;
    maki_status st = maki_require_visible(view, p->seq, err);
    if (st != MAKI_OK) return st;
    if (maki_view_pinned(view, p->seq) == p->pin) {
        return maki_refuse(err, "NOTHING_TO_DO", "message %" PRIu64 " is %s", p->seq,
                           p->pin ? "pinned already" : "not pinned");
    }
    out->type = p->pin ? "pin" : "unpin";
    maki_decision_number(out, "seq", p->seq);
    return MAKI_OK;
}

maki_status maki_conv_pin(maki_conv *conv, const unsigned char *expect, uint64_t seq, bool pin,
                          maki_change *out, maki_err *err)
{
    pin_ctx ctx = { seq, pin };
    return maki_conv_change(conv, expect, decide_pin, &ctx, out, err);
}

/* ---- append, add an event -------------------------------------------------------------------------------------- */

maki_status maki_json_to_one_line(maki_str json, maki_arena *arena, maki_str *out, maki_err *err)
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
        st = maki_json_to_one_line(messages[i], &arena, &line, err);
        if (st == MAKI_OK) st = maki_log_add_row(conv->log, line, &out->seq, err);
    }
    conv->facts.checked = false; /* rows of other writers are not checked */
    st = maki_log_end(conv->log, st, err);
    memcpy(out->head, maki_log_head(conv->log), MAKI_CHAIN_LEN);
done:
    maki_arena_free(&arena);
    return st;
}

maki_status maki_conv_add_event(maki_conv *conv, const char *type, maki_str fields,
                                maki_change *out, maki_err *err)
{
    *out = (maki_change){ 0 };
    maki_status st = maki_log_begin(conv->log, NULL, err);
    if (st != MAKI_OK) return st;
    st = maki_log_add_event(conv->log, type, fields, &out->event, err);
    st = maki_log_end(conv->log, st, err);
    out->seq = maki_log_last(conv->log);
    memcpy(out->head, maki_log_head(conv->log), MAKI_CHAIN_LEN);
    return st;
}

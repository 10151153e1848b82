/* undo.c -- the changes that return to an earlier state: rewind, edit, undo and expand.
 *
 * In:    the revision, message or event to go back to, and the newest view.
 * Out:   a rewind, undo or prune event; for an edit also the new message.  Nothing is removed from the log.
 * Must stay true: a call stays with its results (a cut moves back before the call), and an undo that would hide the
 *        first message, a pinned one or half of a pair is refused (MAKI_REFUSED WOULD_HIDE). */
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/json_builder.h"
#include "base/str_util.h"
#include "history/change_internal.h"

static maki_log *log_of(maki_conv *conv, uint64_t seq)
{
    return maki_conv_owner(conv, seq)->log;
}

/* ---- rewind, edit ------------------------------------------------------------------------------ */

typedef struct rewind_ctx {
    uint64_t seq, ev;
    maki_str message; /* of an edit */
    bool edit;
} rewind_ctx;

/* A search for event `ev`; `at`: the last message before it, MAKI_NEWEST: there is no such event. */
typedef struct event_search {
    uint64_t ev, at;
} event_search;

static maki_status find_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    event_search *search = ctx;
    (void)at;
    (void)err;
    if (ev == search->ev) (void)maki_json_uint(maki_json_field(row, "at"), &search->at);
    return MAKI_OK;
}

static maki_status event_seq(maki_conv *conv, uint64_t ev, uint64_t *seq, maki_err *err)
{
    event_search search = { ev, MAKI_NEWEST };
    uint64_t base = maki_log_base(conv->log);
    if (ev == 0) search.at = base;
    maki_status st = maki_log_each_event(conv->log, find_event, &search, err);
    *seq = search.at < base ? base : search.at; /* the fork event has no base yet */
    return st;
}

static maki_status flags_of(maki_conv *conv, uint64_t seq, uint32_t *flags, maki_err *err)
{
    maki_index_record row;
    maki_status st = maki_log_row(log_of(conv, seq), seq, &row, err);
    *flags = st == MAKI_OK ? row.flags : 0;
    return st;
}

/* Was the conversation rewound after message `seq`?  The message after it is on another branch. */
static bool rewound_after(const maki_conv *conv, uint64_t seq)
{
    for (size_t i = 0; i < conv->events.count; i++) {
        if (conv->events.at[i].type == MAKI_EVENT_REWIND && conv->events.at[i].at == seq)
            return true;
    }
    return false;
}

/* Do the results of message `seq` come after further calls: is it one of several parallel calls? */
static maki_status answered_later(maki_conv *conv, uint64_t seq, bool *out, maki_err *err)
{
    maki_log *log = log_of(conv, seq + 1);
    uint64_t last = maki_log_last(log);
    bool answers = false;
    *out = false;
    for (uint64_t s = seq + 1; s > maki_log_base(log) && s <= last && !*out; s++) {
        maki_index_record row;
        if (rewound_after(conv, s - 1)) return MAKI_OK;
        maki_status st = maki_log_row(log, s, &row, err);
        if (st != MAKI_OK) return st;
        answers = answers || (row.flags & MAKI_ROW_ANSWERS);
        if (!(row.flags & (answers ? MAKI_ROW_ANSWERS : MAKI_ROW_CALLS))) break;
        *out = answers && row.call_seq == seq;
    }
    return MAKI_OK;
}

maki_status maki_adjust_cut(maki_conv *conv, uint64_t *seq, maki_err *err)
{
    maki_log *log = log_of(conv, *seq + 1);
    maki_index_record next;
    if (*seq + 1 > maki_log_last(log) || *seq + 1 <= maki_log_base(log)) return MAKI_OK;
    maki_status st = maki_log_row(log, *seq + 1, &next, err);
    if (st != MAKI_OK) return st;
    bool answer = next.flags & MAKI_ROW_ANSWERS;
    if (answer && next.call_seq && next.call_seq <= *seq) *seq = next.call_seq - 1;
    /* Move back over results whose call is in a parent's log, and over parallel calls, which are answered together. */
    uint32_t after = next.flags, flags = 0;
    if (answer && next.call_seq) after = MAKI_ROW_CALLS;
    for (; *seq > 0; --*seq, after = flags) {
        bool together = false;
        st = flags_of(conv, *seq, &flags, err);
        bool result = (after & MAKI_ROW_ANSWERS) && (flags & (MAKI_ROW_ANSWERS | MAKI_ROW_CALLS));
        if (st == MAKI_OK && (after & flags & MAKI_ROW_CALLS)) {
            st = answered_later(conv, *seq, &together, err);
        }
        if (st != MAKI_OK) return st;
        if (!result && !together) break;
    }
    return MAKI_OK;
}

static maki_status decide_rewind(maki_conv *conv, const maki_view *view, void *ctx,
                                 maki_decision *out, maki_err *err)
{
    const rewind_ctx *r = ctx;
    uint64_t last = maki_log_last(conv->log), seq = r->seq;
    maki_status st = MAKI_OK;
    (void)view;
    if (seq == MAKI_NEWEST) { /* to an event: its message is looked up */
        st = event_seq(conv, r->ev, &seq, err);
        if (st != MAKI_OK) return st;
        if (seq == MAKI_NEWEST)
            return maki_fail(err, MAKI_NOTFOUND, "there is no event %" PRIu64, r->ev);
    }
    if (seq > last || (r->edit && seq == last)) {
        return maki_fail(err, MAKI_NOTFOUND,
                         "there is no message %" PRIu64 "; the last is %" PRIu64,
                         seq + (r->edit ? 1 : 0), last);
    }
    st = maki_adjust_cut(conv, &seq, err);
    if (st != MAKI_OK) return st;
    uint64_t ev = r->ev == MAKI_NEWEST ? maki_events_at(&conv->events, seq) : r->ev;
    if (ev > maki_log_events(conv->log)) {
        return maki_fail(err, MAKI_NOTFOUND, "there is no event %" PRIu64, ev);
    }
    out->type = "rewind";
    maki_decision_number(out, "to", seq);
    maki_decision_number(out, "toEv", ev);
    if (r->edit && r->message.len) {
        maki_decision_number(out, "with", last + 1);
        out->rows = &r->message;
        out->row_count = 1;
    }
    return MAKI_OK;
}

maki_status maki_conv_rewind(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                             uint64_t ev, maki_change *out, maki_err *err)
{
    rewind_ctx ctx = { .seq = seq, .ev = ev };
    return maki_conv_change(conv, expect, decide_rewind, &ctx, out, err);
}

void maki_conv_log_rewind(maki_conv *conv, uint64_t ev, const maki_logger *logger)
{
    const maki_view *before; /* the view before the rewind; sets which events were active */
    if (!logger || ev == 0 || maki_conv_view(conv, MAKI_NEWEST, ev - 1, &before, NULL) != MAKI_OK)
        return;
    const maki_event *rewind = NULL;
    for (size_t i = conv->events.count; i > 0 && !rewind; i--) {
        if (conv->events.at[i - 1].ev == ev) rewind = &conv->events.at[i - 1];
    }
    if (!rewind || rewind->type != MAKI_EVENT_REWIND) return;
    maki_kv cutoff[] = { MAKI_KV_I("from", rewind->at), MAKI_KV_I("to", rewind->to),
                         MAKI_KV_S("session", maki_conv_id(conv)) };
    for (size_t i = 0; i < conv->events.count; i++) {
        const maki_event *e = &conv->events.at[i];
        bool hides = e->type == MAKI_EVENT_CONDENSE || e->type == MAKI_EVENT_TRUNCATE;
        if (e->dead || !hides || e->ev <= rewind->to_ev) continue;
        const char *kind = e->type == MAKI_EVENT_CONDENSE ? "summary" : "marker";
        maki_kv removed[] = { MAKI_KV_I(kind, e->ev), cutoff[2] };
        maki_log_event(logger, MAKI_INFO, "rewind_removed", removed, 2);
    }
    maki_log_event(logger, MAKI_INFO, "rewind_cutoff", cutoff, 3);
}

maki_status maki_conv_edit(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                           maki_str message, maki_change *out, maki_err *err)
{
    maki_arena arena = maki_arena_new(conv->env.alloc, (size_t)MAKI_ROW_MAX * 2);
    rewind_ctx ctx = { .ev = MAKI_NEWEST, .edit = true };
    maki_status st = MAKI_OK;
    if (seq == 0) st = maki_fail(err, MAKI_INVALID, "messages are counted from 1");
    ctx.seq = seq - 1;
    if (st == MAKI_OK && message.len)
        st = maki_json_to_one_line(message, &arena, &ctx.message, err);
    if (st == MAKI_OK) st = maki_conv_change(conv, expect, decide_rewind, &ctx, out, err);
    maki_arena_free(&arena);
    return st;
}

/* The role of message `seq`, a JSON string in the arena. */
static maki_status role_at(maki_conv *conv, uint64_t seq, maki_arena *arena, maki_str *out,
                           maki_err *err)
{
    maki_index_record row;
    maki_log *log = log_of(conv, seq);
    maki_str message;
    maki_status st = maki_log_row(log, seq, &row, err);
    if (st != MAKI_OK) return st;
    *out = MAKI_LIT("\"user\"");
    switch (row.flags & MAKI_ROW_ROLE) {
    case MAKI_ROLE_USER: return MAKI_OK;
    case MAKI_ROLE_ASSISTANT: *out = MAKI_LIT("\"assistant\""); return MAKI_OK;
    case MAKI_ROLE_SYSTEM: *out = MAKI_LIT("\"system\""); return MAKI_OK;
    case MAKI_ROLE_TOOL:
        return maki_fail(err, MAKI_INVALID,
                         "message %" PRIu64
                         " is the result of a call, which text alone is not; give "
                         "the whole message as JSON, or edit the message before the call",
                         seq);
    default: break; /* another role: its name is in the row */
    }
    if (row.flags & MAKI_ROW_NOT_MESSAGE) return MAKI_OK;
    maki_buf bytes = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    st = maki_log_read(log, seq, &bytes, err);
    if (st == MAKI_OK) st = maki_json_check(maki_buf_str(&bytes), &message, err);
    maki_str role = st == MAKI_OK ? maki_json_string(message, "role") : *out;
    if (st == MAKI_OK && role.len) *out = maki_arena_copy(arena, role);
    if (st == MAKI_OK) st = maki_arena_status(arena, err);
    maki_buf_free(&bytes);
    return st;
}

maki_status maki_conv_edit_text(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                                maki_str text, maki_change *out, maki_err *err)
{
    maki_arena arena = maki_arena_new(conv->env.alloc, MAKI_ROW_MAX);
    maki_str role, message;
    maki_status st = MAKI_OK;
    if (seq == 0) st = maki_fail(err, MAKI_INVALID, "messages are counted from 1");
    if (st == MAKI_OK) st = role_at(conv, seq, &arena, &role, err);
    if (st == MAKI_OK)
        st = maki_json_build_print(&arena, &message, err, "{'role':%v,'content':%v}", role, text);
    if (st == MAKI_OK) st = maki_conv_edit(conv, expect, seq, message, out, err);
    maki_arena_free(&arena);
    return st;
}

/* ---- undo ------------------------------------------------------------------------------------------ */

/* The messages of the view without any hiding, as ranges in order. */
typedef struct ranges {
    maki_span64 *at;
    size_t count;
} ranges;

/* The message before (step -1) or after (step 1) message `seq`; 0: none. */
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

/* At the start (step -1) or end (step 1) of an item: is the other half of a call and its result hidden? */
static maki_status splits_pair(maki_conv *conv, const maki_view *view, size_t item,
                               const ranges *rows, int step, bool *yes, maki_err *err)
{
    const maki_view_item *edge_item = &view->items[item];
    uint64_t seq = step < 0 ? edge_item->from : edge_item->to, other = neighbour(rows, seq, step);
    bool synthetic = step < 0 ? item > 0 && edge_item[-1].from == 0
                              : item + 1 < view->count && edge_item[1].from == 0;
    uint32_t flags = 0, other_flags = 0;
    if (other == 0 || (maki_view_has(view, other) && !synthetic)) return MAKI_OK;
    maki_status st = flags_of(conv, seq, &flags, err);
    if (st == MAKI_OK) st = flags_of(conv, other, &other_flags, err);
    uint32_t result = step < 0 ? flags : other_flags, before = step < 0 ? other_flags : flags;
    bool pair = (result & MAKI_ROW_ANSWERS) && (before & (MAKI_ROW_CALLS | MAKI_ROW_ANSWERS));
    if (st == MAKI_OK && pair) *yes = true;
    return st;
}

static maki_status first_is_visible(maki_conv *conv, const maki_view *view, const ranges *rows,
                                    bool *yes, maki_err *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        for (uint64_t seq = rows->at[i].from; seq <= rows->at[i].to; seq++) {
            uint32_t flags = 0;
            maki_status st = flags_of(conv, seq, &flags, err);
            if (st != MAKI_OK) return st;
            if ((flags & MAKI_ROW_ROLE) == MAKI_ROLE_SYSTEM) continue;
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

/* What an event hides was selected for the view at that time.  After an older event is undone, or applied again, it may
 * hide what must stay visible: then the undo is refused. */
static maki_status check_hidden(maki_conv *conv, const ranges *rows, uint64_t target, uint64_t to,
                                maki_err *err)
{
    const maki_view *view;
    maki_view_at at = { .seq = MAKI_NEWEST, .ev = MAKI_NEWEST, .undo = target, .undo_to = to };
    bool first = true, broken = false;
    maki_status st = maki_conv_view_at(conv, &at, &view, err);
    if (st == MAKI_OK) st = first_is_visible(conv, view, rows, &first, err);
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        if (view->items[i].from == 0) continue;
        st = splits_pair(conv, view, i, rows, -1, &broken, err);
        if (st == MAKI_OK) st = splits_pair(conv, view, i, rows, 1, &broken, err);
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
                       first ? "separate a tool call from its result" : "hide the first message");
}

static maki_status check_undo(maki_conv *conv, uint64_t target, uint64_t to, maki_err *err)
{
    maki_arena arena = maki_arena_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    ranges rows = { 0 };
    const maki_view *view;
    maki_view_at at = { MAKI_NEWEST, MAKI_NEWEST, target, to, MAKI_VIEW_ROWS_ONLY };
    maki_status st = maki_conv_view_at(conv, &at, &view, err);
    if (st == MAKI_OK) {
        rows.at = maki_arena_array(&arena, view->count, sizeof *rows.at);
        if (!rows.at) st = maki_arena_status(&arena, err);
    }
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        rows.at[rows.count++] = (maki_span64){ view->items[i].from, view->items[i].to };
    }
    if (st == MAKI_OK) st = check_hidden(conv, &rows, target, to, err);
    maki_arena_free(&arena);
    return st;
}

static bool is_undoable(const maki_event *e)
{
    return e->type != MAKI_EVENT_FORK && e->type != MAKI_EVENT_DAMAGE;
}

static void write_undo(maki_decision *out, uint64_t ev, uint64_t to, maki_event_type type)
{
    out->type = "undo";
    out->undone = ev;
    out->undone_type = to > ev ? "run" : maki_event_name(type);
    maki_decision_number(out, "target", ev);
    if (to > ev) maki_decision_number(out, "to", to);
}

uint64_t maki_conv_active_events(const maki_conv *conv, uint64_t first, uint64_t last)
{
    uint64_t n = 0;
    for (size_t i = conv->events.count; i > 0 && conv->events.at[i - 1].ev >= first; i--) {
        const maki_event *e = &conv->events.at[i - 1];
        n += e->ev <= last && !e->dead && maki_event_frees_context(e->type);
    }
    return n;
}

uint64_t maki_conv_active_compressions(const maki_conv *conv, uint64_t *last)
{
    uint64_t n = 0;
    for (size_t i = 0; i < conv->events.count; i++) {
        const maki_event *e = &conv->events.at[i];
        if (e->dead || (e->type != MAKI_EVENT_CONDENSE && e->type != MAKI_EVENT_TRUNCATE)) continue;
        *last = e->ev;
        n++;
    }
    return n;
}

/* The last event of the run that event i belongs to; itself when it belongs to none. */
static uint64_t run_end(const maki_events *events, size_t i)
{
    uint64_t run = events->at[i].run, last = events->at[i].ev;
    for (size_t k = i; run && k < events->count; k++) {
        if (events->at[k].run == run) last = events->at[k].ev;
    }
    return last;
}

/* The newest event that counts, with all of its run; one that cannot be undone yet is skipped. */
static maki_status undo_newest(maki_conv *conv, maki_decision *out, maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_refuse(err, "NOTHING_TO_DO", "there is nothing to undo");
    for (size_t i = conv->events.count; i > 0; i--) {
        const maki_event *e = &conv->events.at[i - 1];
        if (e->dead || !is_undoable(e) || e->type == MAKI_EVENT_UNDO) continue;
        uint64_t target = e->run ? e->run : e->ev, to = run_end(&conv->events, i - 1);
        maki_event_type type = e->type;
        st = check_undo(conv, target, to, err);
        if (st == MAKI_OK) write_undo(out, target, to, type);
        if (st != MAKI_REFUSED) return st;
        maki_status again =
            maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err); /* check_undo replaced it */
        if (again != MAKI_OK) return again;
    }
    return st;
}

typedef struct undo_ctx {
    uint64_t ev, to; /* `to` > ev: all events of a run, from ev to `to` */
} undo_ctx;

static maki_status decide_undo(maki_conv *conv, const maki_view *view, void *ctx,
                               maki_decision *out, maki_err *err)
{
    const undo_ctx *u = ctx;
    const maki_event *target = NULL;
    bool run = u->to > u->ev;
    (void)view;
    if (u->ev == 0) return undo_newest(conv, out, err);
    for (size_t i = 0; i < conv->events.count; i++) {
        const maki_event *e = &conv->events.at[i];
        if (e->ev == u->ev && is_undoable(e)) target = e;
    }
    if (!target && !run) {
        return maki_refuse(err, "NOTHING_TO_DO", "event %" PRIu64 " cannot be undone", u->ev);
    }
    if (run ? maki_conv_active_events(conv, u->ev, u->to) == 0 : target->dead) {
        return maki_refuse(err, "NOTHING_TO_DO", "event %" PRIu64 " is no longer active", u->ev);
    }
    write_undo(out, u->ev, u->to, run ? MAKI_EVENT_OTHER : target->type);
    return check_undo(conv, u->ev, u->to, err);
}

maki_status maki_conv_undo(maki_conv *conv, const unsigned char *expect, uint64_t ev,
                           maki_change *out, maki_err *err)
{
    undo_ctx ctx = { .ev = ev };
    return maki_conv_change(conv, expect, decide_undo, &ctx, out, err);
}

maki_status maki_conv_undo_run(maki_conv *conv, uint64_t first, uint64_t last, maki_change *out,
                               maki_err *err)
{
    undo_ctx ctx = { first, last };
    return maki_conv_change(conv, NULL, decide_undo, &ctx, out, err);
}

/* ---- expand ---------------------------------------------------------------------------------------- */

/* Is a text of message `seq` shorter because of this event? */
static bool shortens(const maki_view *view, const maki_event *e, uint64_t seq)
{
    for (size_t i = maki_view_trims_from(view, seq);
         i < view->trim_count && view->trims[i]->seq == seq; i++) {
        const maki_trim *trim = view->trims[i];
        bool from_event = trim >= e->trims && trim < e->trims + e->trim_count;
        if (e->trim_count && from_event && !trim->restores) return true;
    }
    return false;
}

/* Does the event hide or shorten message `seq` in this view? */
static bool affects(const maki_view *view, const maki_event *e, uint64_t seq)
{
    if (e->dead) return false;
    if (e->type == MAKI_EVENT_TRIM) return shortens(view, e, seq);
    if (e->type == MAKI_EVENT_PRUNE) return maki_view_has(view, seq) && shortens(view, e, seq);
    if (e->type != MAKI_EVENT_CONDENSE && e->type != MAKI_EVENT_TRUNCATE) return false;
    for (size_t i = 0; i < e->hidden_count; i++) {
        if (seq >= e->hidden[i].from && seq <= e->hidden[i].to) return true;
    }
    return false;
}

static maki_status decide_expand(maki_conv *conv, const maki_view *view, void *ctx,
                                 maki_decision *out, maki_err *err)
{
    uint64_t seq = *(const uint64_t *)ctx;
    for (size_t i = conv->events.count; i > 0; i--) {
        const maki_event *e = &conv->events.at[i - 1];
        if (!affects(view, e, seq)) continue;
        if (e->type == MAKI_EVENT_PRUNE) return maki_decide_restore(view, seq, out, err);
        write_undo(out, e->ev, e->ev, e->type);
        return check_undo(conv, out->undone, out->undone, err);
    }
    /* Events of a parent cannot be undone from a fork; the texts that they trimmed can be restored. */
    size_t trim_index = maki_view_trims_from(view, seq);
    for (; trim_index < view->trim_count && view->trims[trim_index]->seq == seq; trim_index++) {
        if (view->trims[trim_index]->restores || !maki_view_has(view, seq)) continue;
        return maki_decide_restore(view, seq, out, err);
    }
    return maki_refuse(err, "NOTHING_TO_DO", "message %" PRIu64 " is neither hidden nor shortened",
                       seq);
}

maki_status maki_conv_expand(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                             maki_change *out, maki_err *err)
{
    return maki_conv_change(conv, expect, decide_expand, &seq, out, err);
}

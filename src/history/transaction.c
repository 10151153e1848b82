/* transaction.c -- run changes as a dry run of the log (log/dry_run.c), then write their net effect as one group.
 *
 * In:    the events that the dry run added to the list, and the fields of the run's event.
 * Out:   at most one event for each synthetic message that stays, one prune, and the run's event, committed together.
 * Must stay true: the view is the same before and after the write; when another writer changed the view meanwhile,
 *        nothing is written. */
#include "history/transaction.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/sort.h"
#include "base/str_util.h"
#include "history/change_internal.h"

enum { ARENA_MAX = 1 << 28 };

/* A condense or truncation of the dry run that is not undone. */
struct maki_hide_event {
    const maki_event *event; /* in the list; gone after the rollback */
    const char *type;
    uint64_t ev, written;
    maki_hide_event
        *replaced_by; /* the event whose message replaces this one's; NULL: none, it is written */
    maki_str rest;    /* its fields without what it hides; after prepare_events all of them */
};

maki_status maki_transaction_begin(maki_transaction *tx, maki_conv *conv, maki_err *err)
{
    *tx = (maki_transaction){ .conv = conv, .arena = maki_arena_new(conv->env.alloc, ARENA_MAX) };
    maki_status st = maki_log_refresh(conv->log, err);
    if (st == MAKI_OK) st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK) st = maki_log_dry_run_begin(conv->log, &tx->mark, err);
    tx->changes_before = conv->events.count;
    tx->events_end_before = conv->events.end;
    tx->dry_run = st == MAKI_OK;
    return st;
}

void maki_transaction_rollback(maki_transaction *tx)
{
    maki_events *events = tx->dry_run ? &tx->conv->events : NULL;
    if (!tx->dry_run) return;
    tx->dry_run = false;
    maki_log_dry_run_end(tx->conv->log, &tx->mark);
    if (events->count < tx->changes_before)
        return; /* the list was dropped: it will be read again */
    events->count = tx->changes_before;
    events->ev = tx->mark.ev;
    events->end = tx->events_end_before;
}

void maki_transaction_free(maki_transaction *tx)
{
    maki_transaction_rollback(tx);
    maki_arena_free(&tx->arena);
}

/* ---- the events of the dry run --------------------------------------------------------------------- */

static maki_hide_event *find_hide_event(const maki_transaction *tx, uint64_t ev)
{
    for (size_t i = 0; i < tx->count; i++) {
        if (tx->hide_events[i].ev == ev) return &tx->hide_events[i];
    }
    return NULL;
}

/* The event that is written instead of `hide`: itself, when nothing replaced it. */
static maki_hide_event *final_replacement(maki_hide_event *hide)
{
    while (hide->replaced_by)
        hide = hide->replaced_by;
    return hide;
}

/* Fields that are not copied: the log or write_hide_event writes them; the run's event has the cost of all summaries. */
static bool is_rewritten(maki_str key)
{
    static const char *const names[] = { "ev",          "at",   "ts",        "type",
                                         "head",        "sum",  "hidden",    "hiddenEvents",
                                         "hiddenAbove", "cost", "summarizer" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (maki_str_equal(key, maki_str_of(names[i]))) return true;
    }
    return false;
}

/* Copy the fields of an event of the dry run that are written unchanged. */
static maki_status copy_rest(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    maki_transaction *tx = ctx;
    maki_hide_event *hide = find_hide_event(tx, ev);
    maki_str event;
    (void)at;
    if (!hide || hide->replaced_by) return MAKI_OK;
    maki_buf rest = maki_buf_new(tx->arena.alloc, ARENA_MAX);
    maki_status st = maki_json_check(row, &event, err);
    MAKI_JSON_EACH(item, maki_json_items(st == MAKI_OK ? event : MAKI_LIT("{}"))) {
        if (is_rewritten(item.key)) continue;
        maki_buf_add(&rest, MAKI_LIT(",\""));
        maki_buf_add(&rest, item.key);
        maki_buf_add(&rest, MAKI_LIT("\":"));
        maki_buf_add(&rest, item.value);
    }
    if (st == MAKI_OK) st = maki_buf_status(&rest, err);
    hide->rest = maki_arena_copy(&tx->arena, maki_buf_str(&rest));
    maki_buf_free(&rest);
    return st == MAKI_OK ? maki_arena_status(&tx->arena, err) : st;
}

/* List the active condenses and truncations of the dry run, and which of them replaced which. */
static maki_status collect_hide_events(maki_transaction *tx, maki_err *err)
{
    const maki_events *events = &tx->conv->events;
    assert(events->count >= tx->changes_before);
    size_t added = events->count - tx->changes_before;
    tx->hide_events = maki_arena_array(&tx->arena, added ? added : 1, sizeof *tx->hide_events);
    if (!tx->hide_events) return maki_arena_status(&tx->arena, err);
    for (size_t i = tx->changes_before; i < events->count; i++) {
        const maki_event *e = &events->at[i];
        if (e->dead || (e->type != MAKI_EVENT_CONDENSE && e->type != MAKI_EVENT_TRUNCATE)) continue;
        maki_hide_event *hide = &tx->hide_events[tx->count++];
        *hide = (maki_hide_event){ .event = e, .type = maki_event_name(e->type), .ev = e->ev };
        for (size_t k = 0; k < e->hidden_ev_count; k++) {
            maki_hide_event *older = find_hide_event(tx, e->hidden_evs[k]);
            if (older) older->replaced_by = hide;
        }
    }
    return maki_log_each_event_from(tx->conv->log, tx->mark.ev, tx->events_end_before, copy_rest,
                                    tx, err);
}

/* ---- the group to write ---------------------------------------------------------------------------- */

static bool is_before(const void *a, const void *b)
{
    return ((const maki_span64 *)a)->from < ((const maki_span64 *)b)->from;
}

/* Write the fields of `hide`: what it and those that it replaced hide, merged and sorted, and the copied fields. */
static maki_status write_hide_event(maki_transaction *tx, maki_hide_event *hide, maki_decision *out,
                                    maki_err *err)
{
    size_t count = 0, synthetic_count = 0, n = 0;
    for (size_t i = 0; i < tx->count; i++) {
        const maki_event *e = tx->hide_events[i].event;
        count += e->hidden_count;
        synthetic_count += e->hidden_ev_count + e->hidden_above_count;
    }
    maki_span64 *spans = maki_arena_array(&tx->arena, count + 1, sizeof *spans);
    maki_span64 *synthetic = maki_arena_array(&tx->arena, synthetic_count + 1, sizeof *synthetic);
    if (!spans || !synthetic) return maki_arena_status(&tx->arena, err);
    count = synthetic_count = 0;
    for (size_t i = 0; i < tx->count; i++) {
        const maki_event *e = tx->hide_events[i].event;
        if (final_replacement(&tx->hide_events[i]) != hide) continue;
        for (size_t k = 0; k < e->hidden_count; k++)
            spans[count++] = e->hidden[k];
        for (size_t k = 0; k < e->hidden_ev_count; k++) {
            if (e->hidden_evs[k] <= tx->mark.ev)
                synthetic[synthetic_count++] = (maki_span64){ 0, e->hidden_evs[k] };
        }
        for (size_t k = 0; k < e->hidden_above_count; k++)
            synthetic[synthetic_count++] = e->hidden_above[k];
    }
    maki_status st = maki_sort(spans, count, sizeof *spans, is_before, &tx->arena, err);
    for (size_t i = 1; i < count; i++) {
        if (spans[i].from == spans[n].to + 1)
            spans[n].to = spans[i].to;
        else
            spans[++n] = spans[i];
    }
    maki_decision_hidden(out, spans, count ? n + 1 : 0, synthetic, synthetic_count);
    maki_buf_add(&out->fields, hide->rest);
    return st;
}

/* The fields of an event, copied to the arena of the transaction. */
static maki_status copy_fields(maki_transaction *tx, const maki_decision *d, maki_str *out,
                               maki_err *err)
{
    maki_status st = maki_buf_status(&d->fields, err);
    *out = maki_arena_copy(&tx->arena, maki_buf_str(&d->fields));
    return st == MAKI_OK ? maki_arena_status(&tx->arena, err) : st;
}

/* Build the fields of all events to be written, while the dry run can still be read. */
static maki_status prepare_events(maki_transaction *tx, maki_str *edits, maki_err *err)
{
    maki_conv *conv = tx->conv;
    const maki_view *view;
    maki_decision d = { .fields = maki_buf_new(conv->env.alloc, ARENA_MAX) };
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = collect_hide_events(tx, err);
    for (size_t i = 0; st == MAKI_OK && i < tx->count; i++) {
        maki_hide_event *hide = &tx->hide_events[i];
        if (hide->replaced_by) continue;
        maki_buf_clear(&d.fields);
        st = write_hide_event(tx, hide, &d, err);
        if (st == MAKI_OK) st = copy_fields(tx, &d, &hide->rest, err);
    }
    maki_buf_clear(&d.fields);
    d.type = NULL;
    if (st == MAKI_OK) maki_decision_edits(&d, conv, view, tx->mark.ev);
    if (st == MAKI_OK) st = copy_fields(tx, &d, edits, err);
    maki_buf_free(&d.fields);
    return st;
}

static maki_status add_run_event(maki_transaction *tx, const char *type, maki_str fields,
                                 uint64_t *run_event, maki_err *err)
{
    char span[80] = "";
    maki_log *log = tx->conv->log;
    uint64_t first = 0, last = tx->prune_ev;
    for (size_t i = 0; i < tx->count; i++) {
        if (tx->hide_events[i].replaced_by) continue;
        if (!first) first = tx->hide_events[i].written;
        if (tx->hide_events[i].written > last) last = tx->hide_events[i].written;
    }
    if (!first) first = tx->prune_ev;
    if (first) snprintf(span, sizeof span, ",\"first\":%" PRIu64 ",\"last\":%" PRIu64, first, last);
    fields = maki_arena_print(&tx->arena, "%.*s%s", MAKI_PRINTED(fields), span);
    maki_status st = maki_arena_status(&tx->arena, err);
    return st == MAKI_OK ? maki_log_add_event(log, type, fields, run_event, err) : st;
}

maki_status maki_transaction_commit(maki_transaction *tx, const char *type, maki_str fields,
                                    uint64_t *run_event, maki_err *err)
{
    maki_conv *conv = tx->conv;
    maki_str edits = { "", 0 };
    assert(tx->dry_run);
    maki_status st = prepare_events(tx, &edits, err);
    maki_transaction_rollback(tx);
    if (st == MAKI_OK) st = maki_log_begin(conv->log, NULL, err);
    if (st != MAKI_OK) return st;
    st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK && conv->events.count != tx->changes_before)
        st = maki_fail(err, MAKI_CONFLICT, "the conversation was changed since it was read");
    for (size_t i = 0; st == MAKI_OK && i < tx->count; i++) {
        maki_hide_event *hide = &tx->hide_events[i];
        if (!hide->replaced_by)
            st = maki_log_add_event(conv->log, hide->type, hide->rest, &hide->written, err);
    }
    if (st == MAKI_OK && edits.len)
        st = maki_log_add_event(conv->log, "prune", edits, &tx->prune_ev, err);
    if (st == MAKI_OK) st = add_run_event(tx, type, fields, run_event, err);
    if (st == MAKI_OK) return maki_log_commit(conv->log, err);
    maki_log_abort(conv->log);
    return st;
}

uint64_t maki_transaction_written_event(const maki_transaction *tx, uint64_t ev)
{
    maki_hide_event *hide = find_hide_event(tx, ev);
    return hide ? final_replacement(hide)->written : tx->prune_ev;
}

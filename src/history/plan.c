/* plan.c -- see plan.h.  What is tried are events of a dry run (log/dry_run.c), so every step is the real one. */
#include "history/plan.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/sort.h"
#include "base/str_util.h"
#include "history/change_internal.h"

enum { ARENA_MAX = 1 << 28 };

/* A condense or truncate that counts. */
struct maki_planned_event {
    const maki_event *event; /* until it is written */
    const char *type;
    uint64_t ev, written;
    maki_planned_event *by; /* that took the place of its message; NULL: it stays */
    maki_str rest;          /* its fields but what it hides */
};

maki_status maki_plan_begin(maki_plan *plan, maki_conv *conv, maki_err *err)
{
    *plan = (maki_plan){ .conv = conv, .arena = maki_arena_new(conv->env.alloc, ARENA_MAX) };
    maki_status st = maki_log_refresh(conv->log, err);
    if (st == MAKI_OK) st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK) st = maki_log_dry_run_begin(conv->log, &plan->mark, err);
    plan->changes = conv->events.count;
    plan->end = conv->events.end;
    plan->tries = st == MAKI_OK;
    return st;
}

void maki_plan_rollback(maki_plan *plan)
{
    maki_events *events = plan->tries ? &plan->conv->events : NULL;
    if (!plan->tries) return;
    plan->tries = false;
    maki_log_dry_run_end(plan->conv->log, &plan->mark);
    if (events->count < plan->changes) return; /* they were dropped: they will be read again */
    events->count = plan->changes;
    events->ev = plan->mark.ev;
    events->end = plan->end;
}

void maki_plan_end(maki_plan *plan)
{
    maki_plan_rollback(plan);
    maki_arena_free(&plan->arena);
}

/* ---- what was tried -------------------------------------------------------------------------------- */

static maki_planned_event *find(const maki_plan *plan, uint64_t ev)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->hiding[i].ev == ev) return &plan->hiding[i];
    }
    return NULL;
}

/* The one that is written in its place. */
static maki_planned_event *heir(maki_planned_event *one)
{
    while (one->by)
        one = one->by;
    return one;
}

/* Written anew; what a summary took is in the record, with that of summaries that did not stay. */
static bool is_own(maki_str key)
{
    static const char *const names[] = { "ev",          "at",   "ts",        "type",
                                         "head",        "sum",  "hidden",    "hiddenEvents",
                                         "hiddenAbove", "cost", "summarizer" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (maki_str_is(key, maki_str_of(names[i]))) return true;
    }
    return false;
}

/* Keep what an event says besides what it hides. */
static maki_status keep_rest(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    maki_plan *plan = ctx;
    maki_planned_event *one = find(plan, ev);
    maki_str event;
    (void)at;
    if (!one || one->by) return MAKI_OK;
    maki_buf rest = maki_buf_new(plan->arena.alloc, ARENA_MAX);
    maki_status st = maki_json_check(row, &event, err);
    MAKI_JSON_EACH(item, maki_json_items(st == MAKI_OK ? event : MAKI_LIT("{}"))) {
        if (is_own(item.key)) continue;
        maki_buf_add(&rest, MAKI_LIT(",\""));
        maki_buf_add(&rest, item.key);
        maki_buf_add(&rest, MAKI_LIT("\":"));
        maki_buf_add(&rest, item.value);
    }
    if (st == MAKI_OK) st = maki_buf_status(&rest, err);
    one->rest = maki_arena_copy(&plan->arena, maki_buf_str(&rest));
    maki_buf_free(&rest);
    return st == MAKI_OK ? maki_arena_status(&plan->arena, err) : st;
}

/* The events that count, and which of them took the place of which. */
static maki_status gather(maki_plan *plan, maki_err *err)
{
    const maki_events *events = &plan->conv->events;
    size_t tried = events->count - plan->changes;
    plan->hiding = maki_arena_array(&plan->arena, tried ? tried : 1, sizeof *plan->hiding);
    if (!plan->hiding) return maki_arena_status(&plan->arena, err);
    for (size_t i = plan->changes; i < events->count; i++) {
        const maki_event *e = &events->at[i];
        if (e->dead || (e->type != MAKI_EVENT_CONDENSE && e->type != MAKI_EVENT_TRUNCATE)) continue;
        maki_planned_event *one = &plan->hiding[plan->count++];
        *one = (maki_planned_event){ .event = e, .type = maki_event_name(e->type), .ev = e->ev };
        for (size_t k = 0; k < e->hidden_ev_count; k++) {
            maki_planned_event *older = find(plan, e->hidden_evs[k]);
            if (older) older->by = one;
        }
    }
    return maki_log_each_event_from(plan->conv->log, plan->mark.ev, plan->end, keep_rest, plan,
                                    err);
}

/* ---- as it is written ------------------------------------------------------------------------------ */

static bool before(const void *a, const void *b)
{
    return ((const maki_span64 *)a)->from < ((const maki_span64 *)b)->from;
}

/* What `one` hides, and those whose place it took. */
static maki_status write_hiding(maki_plan *plan, maki_planned_event *one, maki_decision *out,
                                maki_err *err)
{
    size_t count = 0, made_count = 0, n = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const maki_event *e = plan->hiding[i].event;
        count += e->hidden_count;
        made_count += e->hidden_ev_count + e->hidden_above_count;
    }
    maki_span64 *spans = maki_arena_array(&plan->arena, count + 1, sizeof *spans);
    maki_span64 *made = maki_arena_array(&plan->arena, made_count + 1, sizeof *made);
    if (!spans || !made) return maki_arena_status(&plan->arena, err);
    count = made_count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const maki_event *e = plan->hiding[i].event;
        if (heir(&plan->hiding[i]) != one) continue;
        for (size_t k = 0; k < e->hidden_count; k++)
            spans[count++] = e->hidden[k];
        for (size_t k = 0; k < e->hidden_ev_count; k++) {
            if (e->hidden_evs[k] <= plan->mark.ev)
                made[made_count++] = (maki_span64){ 0, e->hidden_evs[k] };
        }
        for (size_t k = 0; k < e->hidden_above_count; k++)
            made[made_count++] = e->hidden_above[k];
    }
    maki_status st = maki_sort(spans, count, sizeof *spans, before, &plan->arena, err);
    for (size_t i = 1; i < count; i++) {
        if (spans[i].from == spans[n].to + 1)
            spans[n].to = spans[i].to;
        else
            spans[++n] = spans[i];
    }
    maki_decision_hidden(out, spans, count ? n + 1 : 0, made, made_count);
    maki_buf_add(&out->fields, one->rest);
    return st;
}

/* The fields of an event, to stay. */
static maki_status keep_fields(maki_plan *plan, const maki_decision *d, maki_str *out,
                               maki_err *err)
{
    maki_status st = maki_buf_status(&d->fields, err);
    *out = maki_arena_copy(&plan->arena, maki_buf_str(&d->fields));
    return st == MAKI_OK ? maki_arena_status(&plan->arena, err) : st;
}

/* Everything that was tried, as the fields of what is to be written. */
static maki_status settle(maki_plan *plan, maki_str *edits, maki_err *err)
{
    maki_conv *conv = plan->conv;
    const maki_view *view;
    maki_decision d = { .fields = maki_buf_new(conv->env.alloc, ARENA_MAX) };
    maki_status st = maki_conv_view(conv, MAKI_NOW, MAKI_NOW, &view, err);
    if (st == MAKI_OK) st = gather(plan, err);
    for (size_t i = 0; st == MAKI_OK && i < plan->count; i++) {
        maki_planned_event *one = &plan->hiding[i];
        if (one->by) continue;
        maki_buf_clear(&d.fields);
        st = write_hiding(plan, one, &d, err);
        if (st == MAKI_OK) st = keep_fields(plan, &d, &one->rest, err);
    }
    maki_buf_clear(&d.fields);
    d.type = NULL;
    if (st == MAKI_OK) maki_decision_edits(&d, conv, view, plan->mark.ev);
    if (st == MAKI_OK) st = keep_fields(plan, &d, edits, err);
    maki_buf_free(&d.fields);
    return st;
}

static maki_status add_record(maki_plan *plan, const char *type, maki_str fields, uint64_t *record,
                              maki_err *err)
{
    char span[80] = "";
    maki_log *log = plan->conv->log;
    uint64_t first = 0, last = plan->pruned;
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->hiding[i].by) continue;
        if (!first) first = plan->hiding[i].written;
        if (plan->hiding[i].written > last) last = plan->hiding[i].written;
    }
    if (!first) first = plan->pruned;
    if (first) snprintf(span, sizeof span, ",\"first\":%" PRIu64 ",\"last\":%" PRIu64, first, last);
    fields = maki_arena_print(&plan->arena, "%.*s%s", MAKI_PRINTED(fields), span);
    maki_status st = maki_arena_status(&plan->arena, err);
    return st == MAKI_OK ? maki_log_add_event(log, type, fields, record, err) : st;
}

maki_status maki_plan_write(maki_plan *plan, const char *type, maki_str fields, uint64_t *record,
                            maki_err *err)
{
    maki_conv *conv = plan->conv;
    maki_str edits = { "", 0 };
    maki_status st = settle(plan, &edits, err);
    maki_plan_rollback(plan);
    if (st == MAKI_OK) st = maki_log_begin(conv->log, NULL, err);
    if (st != MAKI_OK) return st;
    st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK && conv->events.count != plan->changes)
        st = maki_fail(err, MAKI_CONFLICT, "the conversation was changed since it was read");
    for (size_t i = 0; st == MAKI_OK && i < plan->count; i++) {
        maki_planned_event *one = &plan->hiding[i];
        if (!one->by) st = maki_log_add_event(conv->log, one->type, one->rest, &one->written, err);
    }
    if (st == MAKI_OK && edits.len)
        st = maki_log_add_event(conv->log, "prune", edits, &plan->pruned, err);
    if (st == MAKI_OK) st = add_record(plan, type, fields, record, err);
    if (st == MAKI_OK) return maki_log_commit(conv->log, err);
    maki_log_abort(conv->log);
    return st;
}

uint64_t maki_plan_event(const maki_plan *plan, uint64_t ev)
{
    maki_planned_event *one = find(plan, ev);
    return one ? heir(one)->written : plan->pruned;
}

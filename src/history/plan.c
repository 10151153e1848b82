/* plan.c -- run changes as a dry run of the log (log/dry_run.c), then write their net effect as one group.
 *
 * In:    the events that the dry run added to the list, and the record of the run.
 * Out:   at most one event for each synthetic message that stays, one prune, and the record, committed together.
 * Must stay true: the view is the same before and after the write; when another writer changed the view meanwhile,
 *        nothing is written. */
#include "history/plan.h"

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
struct maki_planned_event {
    const maki_event *event; /* in the list; gone after the rollback */
    const char *type;
    uint64_t ev, written;
    maki_planned_event
        *replaced_by; /* the event whose message replaces this one's; NULL: none, it is written */
    maki_str rest;    /* its fields without what it hides; after prepare_events all of them */
};

maki_status maki_plan_begin(maki_plan *plan, maki_conv *conv, maki_err *err)
{
    *plan = (maki_plan){ .conv = conv, .arena = maki_arena_new(conv->env.alloc, ARENA_MAX) };
    maki_status st = maki_log_refresh(conv->log, err);
    if (st == MAKI_OK) st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK) st = maki_log_dry_run_begin(conv->log, &plan->mark, err);
    plan->changes = conv->events.count;
    plan->end = conv->events.end;
    plan->dry_run = st == MAKI_OK;
    return st;
}

void maki_plan_rollback(maki_plan *plan)
{
    maki_events *events = plan->dry_run ? &plan->conv->events : NULL;
    if (!plan->dry_run) return;
    plan->dry_run = false;
    maki_log_dry_run_end(plan->conv->log, &plan->mark);
    if (events->count < plan->changes) return; /* the list was dropped: it will be read again */
    events->count = plan->changes;
    events->ev = plan->mark.ev;
    events->end = plan->end;
}

void maki_plan_end(maki_plan *plan)
{
    maki_plan_rollback(plan);
    maki_arena_free(&plan->arena);
}

/* ---- the events of the dry run --------------------------------------------------------------------- */

static maki_planned_event *find_planned(const maki_plan *plan, uint64_t ev)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->hiding[i].ev == ev) return &plan->hiding[i];
    }
    return NULL;
}

/* The event that is written instead of `planned`: itself, when nothing replaced it. */
static maki_planned_event *final_replacement(maki_planned_event *planned)
{
    while (planned->replaced_by)
        planned = planned->replaced_by;
    return planned;
}

/* Fields that are not copied: the log or write_hiding writes them, and the record has the cost of all summaries. */
static bool is_rewritten(maki_str key)
{
    static const char *const names[] = { "ev",          "at",   "ts",        "type",
                                         "head",        "sum",  "hidden",    "hiddenEvents",
                                         "hiddenAbove", "cost", "summarizer" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (maki_str_is(key, maki_str_of(names[i]))) return true;
    }
    return false;
}

/* Copy the fields of an event of the dry run that are written unchanged. */
static maki_status copy_rest(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    maki_plan *plan = ctx;
    maki_planned_event *planned = find_planned(plan, ev);
    maki_str event;
    (void)at;
    if (!planned || planned->replaced_by) return MAKI_OK;
    maki_buf rest = maki_buf_new(plan->arena.alloc, ARENA_MAX);
    maki_status st = maki_json_check(row, &event, err);
    MAKI_JSON_EACH(item, maki_json_items(st == MAKI_OK ? event : MAKI_LIT("{}"))) {
        if (is_rewritten(item.key)) continue;
        maki_buf_add(&rest, MAKI_LIT(",\""));
        maki_buf_add(&rest, item.key);
        maki_buf_add(&rest, MAKI_LIT("\":"));
        maki_buf_add(&rest, item.value);
    }
    if (st == MAKI_OK) st = maki_buf_status(&rest, err);
    planned->rest = maki_arena_copy(&plan->arena, maki_buf_str(&rest));
    maki_buf_free(&rest);
    return st == MAKI_OK ? maki_arena_status(&plan->arena, err) : st;
}

/* List the active condenses and truncations of the dry run, and which of them replaced which. */
static maki_status collect_hiding(maki_plan *plan, maki_err *err)
{
    const maki_events *events = &plan->conv->events;
    assert(events->count >= plan->changes);
    size_t added = events->count - plan->changes;
    plan->hiding = maki_arena_array(&plan->arena, added ? added : 1, sizeof *plan->hiding);
    if (!plan->hiding) return maki_arena_status(&plan->arena, err);
    for (size_t i = plan->changes; i < events->count; i++) {
        const maki_event *e = &events->at[i];
        if (e->dead || (e->type != MAKI_EVENT_CONDENSE && e->type != MAKI_EVENT_TRUNCATE)) continue;
        maki_planned_event *planned = &plan->hiding[plan->count++];
        *planned =
            (maki_planned_event){ .event = e, .type = maki_event_name(e->type), .ev = e->ev };
        for (size_t k = 0; k < e->hidden_ev_count; k++) {
            maki_planned_event *older = find_planned(plan, e->hidden_evs[k]);
            if (older) older->replaced_by = planned;
        }
    }
    return maki_log_each_event_from(plan->conv->log, plan->mark.ev, plan->end, copy_rest, plan,
                                    err);
}

/* ---- the group to write ---------------------------------------------------------------------------- */

static bool is_before(const void *a, const void *b)
{
    return ((const maki_span64 *)a)->from < ((const maki_span64 *)b)->from;
}

/* Write the fields of `planned`: what it and those that it replaced hide, merged and sorted, and the copied fields. */
static maki_status write_hiding(maki_plan *plan, maki_planned_event *planned, maki_decision *out,
                                maki_err *err)
{
    size_t count = 0, synthetic_count = 0, n = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const maki_event *e = plan->hiding[i].event;
        count += e->hidden_count;
        synthetic_count += e->hidden_ev_count + e->hidden_above_count;
    }
    maki_span64 *spans = maki_arena_array(&plan->arena, count + 1, sizeof *spans);
    maki_span64 *synthetic = maki_arena_array(&plan->arena, synthetic_count + 1, sizeof *synthetic);
    if (!spans || !synthetic) return maki_arena_status(&plan->arena, err);
    count = synthetic_count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const maki_event *e = plan->hiding[i].event;
        if (final_replacement(&plan->hiding[i]) != planned) continue;
        for (size_t k = 0; k < e->hidden_count; k++)
            spans[count++] = e->hidden[k];
        for (size_t k = 0; k < e->hidden_ev_count; k++) {
            if (e->hidden_evs[k] <= plan->mark.ev)
                synthetic[synthetic_count++] = (maki_span64){ 0, e->hidden_evs[k] };
        }
        for (size_t k = 0; k < e->hidden_above_count; k++)
            synthetic[synthetic_count++] = e->hidden_above[k];
    }
    maki_status st = maki_sort(spans, count, sizeof *spans, is_before, &plan->arena, err);
    for (size_t i = 1; i < count; i++) {
        if (spans[i].from == spans[n].to + 1)
            spans[n].to = spans[i].to;
        else
            spans[++n] = spans[i];
    }
    maki_decision_hidden(out, spans, count ? n + 1 : 0, synthetic, synthetic_count);
    maki_buf_add(&out->fields, planned->rest);
    return st;
}

/* The fields of an event, copied to the arena of the plan. */
static maki_status copy_fields(maki_plan *plan, const maki_decision *d, maki_str *out,
                               maki_err *err)
{
    maki_status st = maki_buf_status(&d->fields, err);
    *out = maki_arena_copy(&plan->arena, maki_buf_str(&d->fields));
    return st == MAKI_OK ? maki_arena_status(&plan->arena, err) : st;
}

/* Build the fields of all events to be written, while the dry run can still be read. */
static maki_status prepare_events(maki_plan *plan, maki_str *edits, maki_err *err)
{
    maki_conv *conv = plan->conv;
    const maki_view *view;
    maki_decision d = { .fields = maki_buf_new(conv->env.alloc, ARENA_MAX) };
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = collect_hiding(plan, err);
    for (size_t i = 0; st == MAKI_OK && i < plan->count; i++) {
        maki_planned_event *planned = &plan->hiding[i];
        if (planned->replaced_by) continue;
        maki_buf_clear(&d.fields);
        st = write_hiding(plan, planned, &d, err);
        if (st == MAKI_OK) st = copy_fields(plan, &d, &planned->rest, err);
    }
    maki_buf_clear(&d.fields);
    d.type = NULL;
    if (st == MAKI_OK) maki_decision_edits(&d, conv, view, plan->mark.ev);
    if (st == MAKI_OK) st = copy_fields(plan, &d, edits, err);
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
        if (plan->hiding[i].replaced_by) continue;
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
    assert(plan->dry_run);
    maki_status st = prepare_events(plan, &edits, err);
    maki_plan_rollback(plan);
    if (st == MAKI_OK) st = maki_log_begin(conv->log, NULL, err);
    if (st != MAKI_OK) return st;
    st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK && conv->events.count != plan->changes)
        st = maki_fail(err, MAKI_CONFLICT, "the conversation was changed since it was read");
    for (size_t i = 0; st == MAKI_OK && i < plan->count; i++) {
        maki_planned_event *planned = &plan->hiding[i];
        if (!planned->replaced_by)
            st =
                maki_log_add_event(conv->log, planned->type, planned->rest, &planned->written, err);
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
    maki_planned_event *planned = find_planned(plan, ev);
    return planned ? final_replacement(planned)->written : plan->pruned;
}

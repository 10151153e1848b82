/* op_outline.c -- session.outline: the skeleton of a conversation's timeline.
 *
 * In:    a conversation, opened read-only, and a revision.
 * Out:   ranges of messages in and out of view (history/outline.h), pins, shortened messages, steps and errors.
 * Reads no message but those that are searched for the title; memory grows with the steps, not with the messages. */
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "history/outline.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "store/context_use.h"

enum { ERRORS_MAX = 500 };

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static void put_row(maki_jw *out, const maki_outline_row *row)
{
    maki_jw_begin_array(out);
    switch (row->kind) {
    case MAKI_OUTLINE_SHOWN: maki_jw_print(out, "'m',%i,%i", row->from, row->to); break;
    case MAKI_OUTLINE_HIDDEN:
        maki_jw_print(out, "'h',%i,%i,%i,%z", row->from, row->to, row->ev,
                      maki_event_name(row->why));
        break;
    case MAKI_OUTLINE_SYNTHETIC: maki_jw_print(out, "'s',%i", row->ev); break;
    }
    if (row->up) maki_jw_int(out, (int64_t)row->up);
    maki_jw_end_array(out);
}

static void put_rows(maki_jw *out, const maki_outline *outline)
{
    maki_jw_field_array(out, "rows");
    for (size_t i = 0; i < outline->count; i++)
        put_row(out, &outline->rows[i]);
    maki_jw_end_array(out);
}

static void put_pins(maki_jw *out, const maki_view *view)
{
    uint64_t before = 0;
    maki_jw_field_array(out, "pins");
    for (size_t n = 0; n < view->pin_count; n++) { /* few, and not sorted */
        uint64_t next = UINT64_MAX;
        for (size_t i = 0; i < view->pin_count; i++) {
            if (view->pins[i] > before && view->pins[i] < next) next = view->pins[i];
        }
        if (next == UINT64_MAX) break;
        maki_jw_int(out, (int64_t)next);
        before = next;
    }
    maki_jw_end_array(out);
}

static void put_shortened(maki_jw *out, const maki_view *view)
{
    uint64_t before = 0;
    maki_jw_field_array(out, "shortened");
    for (size_t i = 0; i < view->trim_count; i++) { /* sorted by message */
        const maki_trim *trim = view->trims[i];
        if (trim->restores || trim->seq == before || !maki_view_has(view, trim->seq)) continue;
        before = trim->seq;
        maki_jw_int(out, (int64_t)before);
    }
    maki_jw_end_array(out);
}

/* ---- steps and errors ------------------------------------------------------------------------------------------ */

static void put_steps(maki_jw *out, maki_conv *conv, uint64_t ev)
{
    const maki_events *events = maki_conv_events(conv);
    maki_jw_field_array(out, "steps");
    for (size_t i = 0; i < events->count && events->at[i].ev <= ev; i++) {
        const maki_event *e = &events->at[i];
        if (e->type == MAKI_EVENT_DAMAGE) continue;
        maki_jw_print(out, "{'ev':%i,'at':%i,'ts':%i,'type':%z,'active':%b", e->ev, e->at, e->ts,
                      maki_event_name(e->type), !e->dead);
        if (e->type == MAKI_EVENT_REWIND) maki_jw_print(out, "'with':%I", e->with);
        if (e->type == MAKI_EVENT_FORK)
            maki_jw_print(out, "'parent':%z", maki_log_fork_of(maki_conv_log(conv))->parent);
        maki_jw_end_object(out);
    }
    maki_jw_end_array(out);
}

/* The newest errors, in a ring. */
typedef struct error_list {
    uint64_t ev;    /* events after this one do not count */
    int64_t newest; /* the time of the newest event */
    size_t count;
    maki_event_head items[ERRORS_MAX];
} error_list;

static maki_status read_error(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    error_list *list = ctx;
    maki_event_head head;
    (void)offset;
    (void)err;
    if (!maki_event_head_of(row, &head)) return MAKI_OK;
    list->newest = head.ts;
    if (ev > list->ev || !maki_str_equal(head.type, MAKI_LIT("provider_error"))) return MAKI_OK;
    list->items[list->count++ % ERRORS_MAX] = head;
    return MAKI_OK;
}

static void put_errors(maki_jw *out, const error_list *list)
{
    size_t first = list->count > ERRORS_MAX ? list->count - ERRORS_MAX : 0;
    maki_jw_field_array(out, "errors");
    for (size_t i = first; i < list->count; i++) {
        const maki_event_head *head = &list->items[i % ERRORS_MAX];
        maki_jw_print(out, "{'ev':%i,'at':%i,'ts':%i}", head->ev, head->at, head->ts);
    }
    maki_jw_end_array(out);
}

/* The time of the newest message or event; of a log without times that of its file. */
static int64_t updated_at(maki_log *log, const maki_session *session, int64_t newest_event)
{
    maki_index_record row = { 0 };
    uint64_t last = maki_log_last(log);
    if (last > maki_log_base(log) && maki_log_row(log, last, &row, NULL) != MAKI_OK) row.ts = 0;
    int64_t ts = row.ts > newest_event ? row.ts : newest_event;
    return ts ? ts : session->updated;
}

/* ---- the answer ------------------------------------------------------------------------------------------------ */

static void put_outline(maki_jw *out, maki_conv *conv, const maki_context_use *use,
                        const maki_outline *outline, const error_list *errors)
{
    char hex[2 * MAKI_CHAIN_LEN + 1];
    maki_log *log = maki_conv_log(conv);
    maki_hex(maki_log_head(log), MAKI_CHAIN_LEN, hex);
    maki_jw_begin_object(out);
    maki_write_session_fields(out, &use->session);
    maki_jw_print(
        out, "'title':%s,'client':%s,'updatedAt':%i,'last':%i,'events':%i,'head':%z,'visible':%i",
        maki_session_title(&use->session), maki_str_of(use->session.client),
        updated_at(log, &use->session, errors->newest), outline->last, maki_log_events(log), hex,
        maki_view_count(outline->view));
    put_rows(out, outline);
    put_pins(out, outline->view);
    put_shortened(out, outline->view);
    put_steps(out, conv, errors->ev);
    put_errors(out, errors);
    maki_jw_end_object(out);
}

maki_status maki_op_session_outline(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conv *conv = NULL;
    maki_context_use use;
    maki_run_limits_options given = { .config = call->m->config };
    maki_outline outline;
    uint64_t seq, ev;
    maki_field_revision(call, &seq, &ev);
    error_list *errors = maki_arena_get(call->arena, sizeof *errors);
    if (!errors) return maki_arena_status(call->arena, err);
    errors->ev = ev;
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_of(conv, &given, &use, err);
    if (st == MAKI_OK) st = maki_log_each_event(maki_conv_log(conv), read_error, errors, err);
    if (st == MAKI_OK) st = maki_conv_outline(conv, seq, ev, call->arena, &outline, err);
    if (st == MAKI_OK) put_outline(out, conv, &use, &outline, errors);
    maki_conv_close(conv);
    return st;
}

/* op_steps.c -- session.steps: what steps did to the view, and what their events say.
 *
 * In:    a conversation, opened read-only, and the numbers of events.
 * Out:   for each the effect (maki_conv_event_effect) and the fields of its type; of an error of a provider its words.
 * An event is found in the file by binary search; what a run recorded about its steps stands right after them. */
#include <inttypes.h>

#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "ops/context.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "ops/readable_part.h"
#include "store/context_use.h"
#include "summary/summary_items.h"
#include "token/family.h"
#include "wire/content_part.h"

enum { STEPS_MAX = 100, SUMMARY_CHARS = 20000, EDITS_MAX = 200, ITEMS_MAX = 40 };

/* One step while it is written. */
typedef struct step_writer {
    maki_op_call *call;
    maki_conv *conv;
    const maki_context_use *use;
    maki_jw *out;
    uint64_t ev;
    bool in_run; /* a run of the manager wrote it */
    bool active;
    maki_change effect;
    maki_event_head head;
    maki_status status;
    bool found;
} step_writer;

static double scaled(const step_writer *w, double tokens)
{
    return maki_scaled_tokens(tokens, w->use->scale);
}

/* ---- fields of the types ------------------------------------------------------------------------------------- */

static void put_field(maki_jw *out, maki_str event, const char *name)
{
    maki_str value = maki_json_field(event, name);
    if (value.len) maki_jw_field_raw(out, name, value);
}

/* The rules, goals, decisions and open tasks that a summary holds. */
static void put_items(step_writer *w, maki_str message)
{
    maki_content_parts parts = maki_content_parts_of_row(message);
    maki_content_part part;
    size_t count = 0;
    maki_jw_field_array(w->out, "items");
    while (maki_content_parts_next(&parts, &part)) {
        if (part.kind != MAKI_CONTENT_TEXT || part.text.len < 2) continue;
        char *text = maki_arena_get(w->call->arena, part.text.len);
        if (!text) break; /* the answer goes on without them; the arena's status ends the call */
        maki_summary_items items = { { text, maki_json_copy_text(part.text, text, part.text.len) },
                                     MAKI_SECTIONS,
                                     MAKI_LABELS };
        maki_summary_item item;
        while (count < ITEMS_MAX && maki_summary_items_next(&items, &item)) {
            maki_jw_print(w->out, "{'kind':%z,'text':%s}", item.kind, item.text);
            count++;
        }
    }
    maki_jw_end_array(w->out);
}

/* What a condense says about its summary, and the text of the synthetic message. */
static void put_hiding(step_writer *w, maki_str event)
{
    static const char *const fields[] = { "cost",      "summarizer", "factsKept",
                                          "factsLost", "lost",       "fallback" };
    maki_str message = maki_json_field(event, "message");
    maki_jw_key(w->out, MAKI_LIT("hides"));
    maki_str hidden = maki_json_field(event, "hidden");
    maki_jw_raw(w->out, hidden.len ? hidden : MAKI_LIT("[]"));
    put_field(w->out, event, "before");
    if (message.len) maki_put_row_text(w->out, "summary", message, SUMMARY_CHARS);
    if (message.len && maki_str_equal(w->head.type, MAKI_LIT("condense"))) put_items(w, message);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        put_field(w->out, event, fields[i]);
}

static void put_edit(step_writer *w, uint64_t seq, double tokens)
{
    if (seq) maki_jw_print(w->out, "[%i,%f]", seq, scaled(w, tokens));
}

/* The messages that were shortened and what that saved, one item a message. */
static void put_edits(step_writer *w, maki_str event)
{
    uint64_t seq = 0, count = 0;
    double tokens = 0;
    maki_jw_field_array(w->out, "edits");
    if (maki_str_equal(w->head.type, MAKI_LIT("trim"))) {
        put_edit(w, maki_json_uint_field(event, MAKI_LIT("seq")),
                 maki_json_number_field(event, "tokens"));
    } else {
        MAKI_JSON_EACH(edit, maki_json_items(maki_json_field(event, "edits"))) {
            uint64_t numbers[4] = { 0 };
            maki_json_item part;
            maki_json_iter parts = maki_json_items(edit.value);
            for (size_t i = 0; i < 4 && maki_json_next(&parts, &part); i++)
                (void)maki_json_uint(part.value, &numbers[i]);
            if (numbers[0] != seq) {
                put_edit(w, seq, tokens);
                if (++count > EDITS_MAX) {
                    seq = 0;
                    break;
                }
                seq = numbers[0];
                tokens = 0;
            }
            tokens += (double)numbers[3];
        }
        put_edit(w, seq, tokens);
    }
    maki_jw_end_array(w->out);
}

static const char *type_of_event(maki_conv *conv, uint64_t ev)
{
    const maki_events *events = maki_conv_events(conv);
    for (size_t i = 0; i < events->count; i++) {
        if (events->at[i].ev == ev) return maki_event_name(events->at[i].type);
    }
    return "";
}

static void put_names(maki_jw *out, maki_str event, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_field(out, event, names[i]);
}

static void put_type_fields(step_writer *w, maki_str event)
{
    static const char *const rewind_fields[] = { "to", "toEv", "with" };
    static const char *const fork_fields[] = { "parent", "seq" };
    static const char *const error_fields[] = { "upstream", "model", "status", "code", "message" };
#define IS(name)   maki_str_equal(w->head.type, MAKI_LIT(name))
#define PUT(names) put_names(w->out, event, names, sizeof names / sizeof names[0])
    if (IS("condense") || IS("truncate")) put_hiding(w, event);
    if (IS("trim") || IS("prune")) put_edits(w, event);
    if (IS("pin") || IS("unpin")) put_field(w->out, event, "seq");
    if (IS("rewind")) PUT(rewind_fields);
    if (IS("fork")) PUT(fork_fields);
    if (IS("provider_error")) PUT(error_fields);
    if (IS("undo")) {
        uint64_t target = maki_json_uint_field(event, MAKI_LIT("target"));
        uint64_t to = maki_json_uint_field(event, MAKI_LIT("to"));
        maki_jw_print(w->out, "'target':%i,'targetType':%z", target,
                      to > target ? "run" : type_of_event(w->conv, target));
    }
#undef PUT
#undef IS
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

static void put_step(step_writer *w, maki_str event)
{
    char type[40];
    bool step = w->effect.event > 0;
    maki_str_copy(w->head.type, type, sizeof type);
    maki_jw_print(w->out, "{'ev':%i,'at':%i,'ts':%i,'type':%z,'active':%b", w->head.ev, w->head.at,
                  w->head.ts, type, w->active);
    if (step) {
        maki_jw_print(w->out, "'removed':%i", w->effect.effect.hidden);
        maki_write_view_change(w->out, &w->effect.effect);
        maki_jw_print(w->out, "'tokensBefore':%f,'tokensAfter':%f",
                      maki_context_tokens(w->use, (double)w->effect.tokens_before),
                      maki_context_tokens(w->use, (double)w->effect.tokens_after));
    }
    put_type_fields(w, event);
}

/* The record of the run that the step belongs to, and the end of the object. */
static void end_step(step_writer *w, maki_str record)
{
    if (record.len) {
        put_field(w->out, record, "ms");
        put_field(w->out, record, "reason");
        maki_jw_print(w->out, "'run':[%i,%i]", maki_json_uint_field(record, MAKI_LIT("first")),
                      maki_json_uint_field(record, MAKI_LIT("last")));
    }
    maki_jw_end_object(w->out);
}

static bool is_record_of(maki_str event, uint64_t ev)
{
    return maki_json_field_is(event, "of", "manage") &&
           maki_json_uint_field(event, MAKI_LIT("first")) <= ev &&
           maki_json_uint_field(event, MAKI_LIT("last")) >= ev;
}

/* The first row is the step; of one of a run those after it, until its record. */
static maki_status on_event(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    step_writer *w = ctx;
    maki_event_head head;
    maki_str event, none = MAKI_LIT("");
    (void)offset;
    if (ev == w->ev) {
        w->status = maki_json_check(row, &event, err);
        if (w->status != MAKI_OK || !maki_event_head_of(row, &w->head)) return MAKI_CANCELLED;
        w->found = true;
        put_step(w, event);
        if (w->in_run) return MAKI_OK;
        end_step(w, none);
        return MAKI_CANCELLED;
    }
    if (!maki_event_head_of(row, &head) || !maki_str_equal(head.type, MAKI_LIT("manifest")) ||
        maki_json_check(row, &event, NULL) != MAKI_OK || !is_record_of(event, w->ev))
        return MAKI_OK;
    end_step(w, event);
    w->in_run = false;
    return MAKI_CANCELLED;
}

/* Does this event have an effect on the view that can be reported? */
static maki_status read_effect(step_writer *w, maki_err *err)
{
    maki_err why = { 0 };
    maki_status st = maki_conv_event_effect(w->conv, w->ev, &w->effect, &why);
    if (st == MAKI_NOTFOUND) {
        w->effect = (maki_change){ 0 };
        return MAKI_OK;
    }
    if (st != MAKI_OK && err) *err = why;
    return st;
}

static maki_status write_step(step_writer *w, maki_err *err)
{
    w->status = MAKI_OK;
    w->found = false;
    maki_status st = read_effect(w, err);
    if (st == MAKI_OK)
        st = maki_log_each_event_until(maki_conv_log(w->conv), MAKI_EVENT_BY_NUMBER, w->ev,
                                       on_event, w, err);
    if (st == MAKI_OK) st = w->status;
    if (st == MAKI_OK && !w->found)
        st = maki_fail(err, MAKI_NOTFOUND, "there is no event %" PRIu64, w->ev);
    if (st == MAKI_OK && w->in_run) end_step(w, MAKI_LIT("")); /* its record is missing */
    return st;
}

/* ---- the operation ------------------------------------------------------------------------------------------------ */

typedef struct wanted_step {
    uint64_t ev;
    bool active, in_run;
} wanted_step;

/* The numbers of the call, with what the newest view says of them. */
static maki_status read_wanted(const maki_op_call *call, maki_conv *conv, wanted_step *steps,
                               size_t *count, maki_err *err)
{
    maki_str list;
    const maki_view *view;
    maki_input_value(call, "evs", &list);
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    const maki_events *events = maki_conv_events(conv);
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(list)) {
        wanted_step step = { .active = true };
        if (*count == STEPS_MAX)
            return maki_field_invalid(call, item.value, err, "evs has more than %d numbers",
                                      STEPS_MAX);
        if (maki_json_kind_of(item.value) != MAKI_JSON_NUMBER ||
            !maki_json_uint(item.value, &step.ev))
            return maki_field_invalid(call, item.value, err, "evs must be numbers of events");
        for (size_t i = 0; i < events->count; i++) {
            if (events->at[i].ev != step.ev) continue;
            step.active = !events->at[i].dead;
            step.in_run = events->at[i].run > 0;
        }
        steps[(*count)++] = step;
    }
    return st;
}

maki_status maki_op_session_steps(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conv *conv = NULL;
    maki_context_use use;
    maki_run_limits_options given = { .config = call->m->config };
    wanted_step steps[STEPS_MAX];
    size_t count = 0;
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_of(conv, &given, &use, err);
    if (st == MAKI_OK) st = read_wanted(call, conv, steps, &count, err);
    if (st == MAKI_OK) maki_jw_print(out, "{'steps':[");
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        step_writer w = { .call = call,
                          .conv = conv,
                          .use = &use,
                          .out = out,
                          .ev = steps[i].ev,
                          .active = steps[i].active,
                          .in_run = steps[i].in_run };
        st = write_step(&w, err);
    }
    if (st == MAKI_OK) maki_jw_print(out, "]}");
    maki_conv_close(conv);
    return st;
}

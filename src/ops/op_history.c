/* op_history.c -- history.* on lists of messages: the reference's functions, and sequences of them.
 *
 * In:   messages as JSON, read into maki_msgs (reference/message.h).
 * Out:  the list that results; untouched messages keep their bytes.
 * A step of a sequence can use the fields of the sequence; its own fields are those of the operation. */
#include <string.h>

#include "base/json_print.h"
#include "base/str_util.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "reference/keep.h"
#include "reference/repair.h"
#include "reference/rewind.h"
#include "reference/truncate.h"
#include "reference/view.h"

/* ---- from messages to messages: each also a step of history.sequence --------------------------- */

static maki_status effective(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    return maki_view_effective(*list, call->arena, list, err);
}

static maki_status cleanup(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    size_t cleaned = 0;
    return maki_view_cleanup(*list, call->arena, &cleaned, err);
}

static maki_status since_summary(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    return maki_view_since_summary(*list, maki_field_now(call), call->arena, list, err);
}

static maki_status request(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    maki_status st = effective(call, list, err);
    return st == MAKI_OK ? since_summary(call, list, err) : st;
}

static maki_status repair_pairs(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    return maki_repair_pairs(*list, call->arena, list, err);
}

/* The lowest of the limits that are set. */
static maki_status limit_turns(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    maki_str per_provider, provider = maki_input_string(call, "provider");
    double limits[] = { maki_input_number(call, "global", 0), 0,
                        maki_input_number(call, "perUser", 0) };
    if (maki_input_value(call, "perProvider", &per_provider)) {
        maki_str name = maki_json_text(provider, call->arena);
        maki_str value;
        if (maki_json_get(per_provider, name, &value) &&
            maki_json_kind_of(value) != MAKI_JSON_NULL) {
            maki_status st =
                maki_field_check_kind(call, value, "a limit in perProvider", MAKI_JSON_NUMBER, err);
            if (st != MAKI_OK) return st;
            limits[1] = maki_json_double(value);
        }
    }
    double limit = 0;
    for (size_t i = 0; i < 3; i++) {
        if (limits[i] >= 1 && (limit == 0 || limits[i] < limit)) limit = limits[i];
    }
    *list = maki_view_limit_turns(*list, (size_t)limit);
    return maki_arena_status(call->arena, err);
}

typedef maki_status (*messages_fn)(maki_op_call *call, maki_msgs *list, maki_err *err);

static maki_status answer_with(maki_op_call *call, messages_fn fn, maki_jw *out, maki_err *err)
{
    maki_msgs list;
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = fn(call, &list, err);
    if (st == MAKI_OK) maki_answer_messages(out, list);
    return st;
}

#define MESSAGES_OP(name, fn)                                         \
    maki_status name(maki_op_call *call, maki_jw *out, maki_err *err) \
    {                                                                 \
        return answer_with(call, fn, out, err);                       \
    }

MESSAGES_OP(maki_op_history_effective, effective)
MESSAGES_OP(maki_op_history_cleanup, cleanup)
MESSAGES_OP(maki_op_history_since_summary, since_summary)
MESSAGES_OP(maki_op_history_request, request)
MESSAGES_OP(maki_op_history_repair_pairs, repair_pairs)
MESSAGES_OP(maki_op_history_limit_turns, limit_turns)

/* ---- keep, condense, truncate ------------------------------------------------------------------ */

static void write_blocks(maki_jw *out, const char *name, const maki_str *blocks, size_t count)
{
    maki_jw_field_array(out, name);
    for (size_t i = 0; i < count; i++)
        maki_jw_raw(out, blocks[i]);
    maki_jw_end_array(out);
}

maki_status maki_op_history_keep(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double keep = maki_input_number(call, "keepCount", 3);
    maki_kept kept = { 0 };
    maki_msgs list;
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = maki_keep(list, (size_t)keep, call->arena, &kept, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'keepMessages':");
    maki_msgs_write(out, kept.tail);
    write_blocks(out, "toolUseBlocksToPreserve", kept.calls, kept.call_count);
    write_blocks(out, "reasoningBlocksToPreserve", kept.reasoning, kept.reasoning_count);
    maki_jw_end_object(out);
    return MAKI_OK;
}

static maki_status condense(maki_op_call *call, maki_msgs list, maki_condensed *out, maki_err *err)
{
    maki_condense_fields fields;
    maki_status st = maki_condense_fields_read(call, list, &fields, err);
    *out = (maki_condensed){ .messages = list, .summary = { "", 0 } };
    if (st == MAKI_OK) st = maki_condense(&fields.condense, call->arena, out, err);
    return st;
}

maki_status maki_op_history_condense(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_msgs list;
    maki_condensed result = { 0 };
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = condense(call, list, &result, err);
    if (st != MAKI_OK && st != MAKI_REFUSED) return st;

    maki_jw_begin_object(out);
    if (st == MAKI_REFUSED) maki_answer_error(out, err);
    maki_jw_print(out, "'messages':");
    maki_msgs_write(out, result.messages);
    maki_jw_print(out, "'summary':%s,'cost':%f", st == MAKI_OK ? result.summary : MAKI_LIT(""),
                  result.cost);
    if (st == MAKI_OK)
        maki_jw_print(out, "'newContextTokens':%f,'condenseId':%v", result.tokens_after, result.id);
    maki_jw_print(out, "'summarizerCalled':%b", result.called);
    if (result.request && maki_input_bool(call, "wantRequest", false)) {
        maki_jw_print(out, "'request':");
        maki_condense_request_write(out, result.request);
    }
    maki_jw_end_object(out);
    call->answered = true;
    return st;
}

static maki_status truncate(maki_op_call *call, maki_msgs list, maki_truncated *out, maki_err *err)
{
    double fraction = maki_input_number(call, "fraction", MAKI_HIDE_FRACTION);
    return maki_truncate(list, fraction, maki_field_now(call), call->m->env.random, call->arena,
                         out, err);
}

maki_status maki_op_history_truncate(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_msgs list;
    maki_truncated result = { 0 };
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = truncate(call, list, &result, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'messages':");
    maki_msgs_write(out, result.messages);
    maki_jw_print(out, "'messagesRemoved':%i,'truncationId':%v}", result.removed, result.id);
    return MAKI_OK;
}

/* ---- rewind, repair of results ------------------------------------------------------------------ */

maki_status maki_op_history_rewind(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str ui, by = maki_input_string(call, "by");
    maki_rewind_input in = { .value = maki_input_number(call, "value", 0),
                             .include_target = maki_input_bool(call, "includeTarget", false),
                             .skip_cleanup = maki_input_bool(call, "skipCleanup", false),
                             .now = maki_field_now(call) };
    maki_rewound result = { 0 };
    in.by_index = maki_json_text_is(by, MAKI_LIT("index"));
    if (!in.by_index && !maki_json_text_is(by, MAKI_LIT("ts"))) {
        return maki_field_invalid(call, by, err, "by must be \"ts\" or \"index\"");
    }
    maki_input_value(call, "ui", &ui);
    maki_status st =
        maki_ui_read(ui, (maki_where){ "ui", call->input_start }, call->arena, &in.ui, err);
    if (st == MAKI_OK) st = maki_field_messages(call, "api", &in.api, err);
    if (st == MAKI_OK) st = maki_rewind(&in, call->arena, &result, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'ui':[");
    for (size_t i = 0; i < result.ui_count; i++)
        maki_jw_raw(out, in.ui.at[i].raw);
    maki_jw_print(out, "],'api':");
    maki_msgs_write(out, result.api);
    maki_jw_print(out, "'apiWritten':%b}", result.api_changed);
    return MAKI_OK;
}

maki_status maki_op_history_repair_results(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str object;
    maki_msgs history;
    maki_msg *message = NULL;
    maki_input_value(call, "message", &object);
    maki_status st = maki_field_messages(call, "history", &history, err);
    if (st == MAKI_OK) {
        st = maki_msg_read(object, (maki_where){ "message", call->input_start }, 0, call->arena,
                           &message, err);
    }
    if (st == MAKI_OK) st = maki_repair_results(history, message, call->arena, &message, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'message':");
    maki_msg_write(out, message);
    maki_jw_end_object(out);
    return MAKI_OK;
}

/* ---- sequence ------------------------------------------------------------------------------------ */

static maki_status append(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    maki_msgs more;
    maki_status st = maki_field_messages(call, "messages", &more, err);
    for (size_t i = 0; st == MAKI_OK && i < more.count; i++) {
        st = maki_msgs_add(list, more.at[i], call->arena, err);
    }
    return st;
}

/* As in JavaScript: a negative index counts from the end. */
static size_t slice_index(double index, double count)
{
    if (index < 0) index += count;
    return index < 0 ? 0 : (size_t)(index < count ? index : count);
}

static maki_status slice(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    double count = (double)list->count;
    size_t from = slice_index(maki_input_number(call, "start", 0), count);
    size_t to = slice_index(maki_input_number(call, "end", count), count);
    (void)err;
    *list = maki_msgs_slice(*list, from, to > from ? to : from);
    return MAKI_OK;
}

static maki_status drop(maki_op_call *call, maki_msgs *list, bool summaries, maki_err *err)
{
    maki_msgs rest = { 0 };
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < list->count; i++) {
        maki_msg *m = list->at[i];
        if (summaries ? m->is_summary : m->is_marker) continue;
        st = maki_msgs_add(&rest, m, call->arena, err);
    }
    *list = rest;
    return st;
}

static maki_status drop_markers(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    return drop(call, list, false, err);
}

static maki_status drop_summaries(maki_op_call *call, maki_msgs *list, maki_err *err)
{
    return drop(call, list, true, err);
}

/* What a step reports besides the messages. */
typedef struct step_result {
    bool has_removed;
    size_t removed;
    char error[32]; /* a code, or empty */
} step_result;

typedef maki_status (*step_fn)(maki_op_call *call, maki_msgs *list, step_result *result,
                               maki_err *err);

static maki_status truncate_step(maki_op_call *call, maki_msgs *list, step_result *result,
                                 maki_err *err)
{
    maki_truncated truncated = { 0 };
    maki_status st = truncate(call, *list, &truncated, err);
    if (st != MAKI_OK) return st;
    *list = truncated.messages;
    *result = (step_result){ .has_removed = true, .removed = truncated.removed };
    return MAKI_OK;
}

/* A refused condense changes nothing and the sequence continues, as a conversation would. */
static maki_status condense_step(maki_op_call *call, maki_msgs *list, step_result *result,
                                 maki_err *err)
{
    maki_condensed condensed = { 0 };
    maki_err error = { 0 };
    maki_status st = condense(call, *list, &condensed, &error);
    *list = condensed.messages;
    if (st == MAKI_REFUSED) {
        memcpy(result->error, error.code, sizeof result->error);
        return MAKI_OK;
    }
    if (st != MAKI_OK && err) *err = error;
    return st;
}

static const struct step_row {
    const char *name;
    messages_fn fn;
    step_fn run_reporting; /* in place of `fn`: reports a result */
    maki_op_field
        fields[3]; /* of steps that are not operations; an operation has them in its row */
} steps[] = {
    { "history.effective", effective, NULL, { { 0 } } },
    { "history.cleanup", cleanup, NULL, { { 0 } } },
    { "history.since_summary", since_summary, NULL, { { 0 } } },
    { "history.request", request, NULL, { { 0 } } },
    { "history.repair_pairs", repair_pairs, NULL, { { 0 } } },
    { "history.limit_turns", limit_turns, NULL, { { 0 } } },
    { "history.truncate", NULL, truncate_step, { { 0 } } },
    { "history.condense", NULL, condense_step, { { 0 } } },
    { "append", append, NULL, { { "messages", "messages", "", 1 } } },
    { "slice", slice, NULL, { { "start", "number", "", 0 }, { "end", "number", "", 0 } } },
    { "drop_markers", drop_markers, NULL, { { 0 } } },
    { "drop_summaries", drop_summaries, NULL, { { 0 } } },
};

static maki_status run_step(maki_op_call *call, maki_msgs *list, step_result *result, maki_err *err)
{
    maki_str op;
    maki_status st = maki_fields_index(call, err);
    if (st != MAKI_OK) return st;
    if (maki_json_kind_of(call->input) != MAKI_JSON_OBJECT || !maki_input_value(call, "op", &op) ||
        maki_json_kind_of(op) != MAKI_JSON_STRING) {
        return maki_field_invalid(call, call->input, err,
                                  "a step must be an object with a string op");
    }
    maki_str name = maki_json_text(op, call->arena);
    const struct step_row *step = MAKI_TABLE_FIND(steps, name);
    if (!step) return maki_field_invalid(call, op, err, "unknown step of history.sequence");
    const maki_op_info *info = maki_op_find(name);
    st = maki_fields_check(call, info ? info->name : "history.sequence",
                           info ? info->forms[0].input : step->fields, err);
    if (st != MAKI_OK) return st;
    return step->run_reporting ? step->run_reporting(call, list, result, err)
                               : step->fn(call, list, err);
}

static void write_step_result(maki_jw *out, const step_result *result)
{
    if (result->has_removed)
        maki_jw_print(out, "{'messagesRemoved':%i}", result->removed);
    else if (result->error[0])
        maki_jw_print(out, "{'error':%z}", result->error);
}

maki_status maki_op_history_sequence(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str array;
    maki_msgs list;
    size_t n = 0;
    maki_input_value(call, "steps", &array);
    step_result *results = maki_arena_array(call->arena, maki_json_count(array), sizeof *results);
    if (!results) return maki_arena_status(call->arena, err);
    maki_status st = maki_field_messages(call, "messages", &list, err);
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(array)) {
        maki_op_call step = *call;
        step.input = item.value;
        step.outer = call->input;
        st = run_step(&step, &list, &results[n++], err);
    }
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'messages':");
    maki_msgs_write(out, list);
    maki_jw_print(out, "'stepResults':[");
    for (size_t i = 0; i < n; i++)
        write_step_result(out, &results[i]);
    maki_jw_print(out, "]}");
    return MAKI_OK;
}

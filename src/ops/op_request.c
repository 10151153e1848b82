/* op_request.c -- request.build: the body of the request that would be sent for a conversation.
 *
 * Reads the fields into a maki_request, opens the conversation read-only and streams its view (assemble/request.h). */
#include "assemble/request.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "ops/op_common.h"
#include "ops/operation.h"

/* `system`: a string, or an array of them. */
static maki_status read_system(const maki_op_call *call, maki_request *out, maki_err *err)
{
    maki_str value;
    maki_json_item item;
    if (!maki_input_value(call, "system", &value)) return MAKI_OK;
    bool single = maki_json_kind_of(value) == MAKI_JSON_STRING;
    size_t count = single ? 1 : maki_json_count(value);
    maki_str *texts = maki_arena_array(call->arena, count + 1, sizeof *texts);
    if (!texts) return maki_arena_status(call->arena, err);
    if (single) texts[0] = maki_json_text(value, call->arena);
    maki_json_iter iter = maki_json_items(value);
    for (size_t i = 0; !single && maki_json_next(&iter, &item); i++) {
        maki_status st = maki_field_check_kind(call, item.value, "system", MAKI_JSON_STRING, err);
        if (st != MAKI_OK) return st;
        texts[i] = maki_json_text(item.value, call->arena);
    }
    out->system = texts;
    out->system_count = count;
    return MAKI_OK;
}

static maki_status read_style(const maki_op_call *call, maki_request *out, maki_err *err)
{
    maki_str style = maki_input_text(call, "toolStyle"),
             thinking = maki_input_text(call, "thinking");
    out->functions = maki_str_equal(style, MAKI_LIT("functions"));
    if (style.len && !out->functions && !maki_str_equal(style, MAKI_LIT("tools")))
        return maki_fail(err, MAKI_INVALID, "toolStyle must be tools or functions");
    return thinking.len ? maki_thinking_parse(thinking, &out->thinking, err) : MAKI_OK;
}

static maki_status read_request(const maki_op_call *call, maki_request *out, maki_err *err)
{
    maki_str value;
    *out = (maki_request){ .provider = maki_input_text(call, "provider"),
                           .model = maki_input_text(call, "model"),
                           .max_tokens = (uint64_t)maki_input_number(call, "maxTokens", 0),
                           .window = (uint64_t)maki_input_number(call, "contextLength", 0),
                           .stream = maki_input_bool(call, "stream", false),
                           .tool_choice = maki_input_text(call, "toolChoice"),
                           .has_temperature = maki_input_value(call, "temperature", &value),
                           .temperature = maki_input_number(call, "temperature", 0) };
    if (maki_input_value(call, "tools", &value)) out->tools = value;
    maki_status st =
        maki_request_protocol_parse(maki_input_text(call, "protocol"), &out->protocol, err);
    if (st == MAKI_OK) st = read_system(call, out, err);
    if (st == MAKI_OK)
        st = maki_field_rows(call, "before", &out->extra_messages.rows, &out->extra_messages.count,
                             err);
    if (st == MAKI_OK) st = read_style(call, out, err);
    return st == MAKI_OK ? maki_arena_status(call->arena, err) : st;
}

maki_status maki_op_request_build(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_request request;
    maki_conv *conv = NULL;
    const maki_view *view;
    uint64_t seq, ev;
    maki_field_revision(call, &seq, &ev);
    maki_status st = read_request(call, &request, err);
    if (st == MAKI_OK) st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, seq, ev, &view, err);
    if (st == MAKI_OK) {
        maki_jw_print(out, "{'request':");
        maki_jw_begin_value(out);
        st = maki_request_write(conv, view, &request, maki_jw_sink(out), err);
        maki_jw_end_object(out);
    }
    maki_conv_close(conv);
    return st;
}

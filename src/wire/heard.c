/* heard.c -- what a reply says, for who listens; see wire.h.
 *
 * The files of the protocols tell it where they gather it.  Rows have two shapes only, so a reply that is no
 * stream is heard from its rows, whatever its protocol. */
#include "wire/reply.h"

void maki_wire_reply_listen(maki_wire_reply *r, maki_wire_delta_fn fn, void *ctx)
{
    r->ear.fn = fn;
    r->ear.ctx = ctx;
}

static maki_status tell(maki_wire_reply *r, const maki_wire_delta *piece, maki_err *err)
{
    r->ear.any = true;
    return r->ear.fn(r->ear.ctx, piece, err);
}

static bool says(const maki_wire_reply *r, maki_str value)
{
    return r->ear.fn && maki_is_string(value) && value.len > 2;
}

maki_status maki_reply_heard(maki_wire_reply *r, maki_delta_kind kind, maki_str value,
                             maki_err *err)
{
    maki_wire_delta piece = { .kind = kind, .value = value };
    return says(r, value) ? tell(r, &piece, err) : MAKI_OK;
}

maki_status maki_reply_heard_call(maki_wire_reply *r, maki_part *part, maki_str name, maki_str id,
                                  maki_err *err)
{
    maki_wire_delta piece = { MAKI_DELTA_CALL, r->ear.calls, name, id };
    if (!says(r, name) || (part && part->call)) return MAKI_OK;
    r->ear.calls++;
    if (part) part->call = r->ear.calls;
    return tell(r, &piece, err);
}

maki_status maki_reply_heard_input(maki_wire_reply *r, const maki_part *part, maki_str value,
                                   maki_err *err)
{
    uint32_t call = part ? part->call : r->ear.calls;
    maki_wire_delta piece = { .kind = MAKI_DELTA_INPUT, .call = call - 1, .value = value };
    if (call == 0) return MAKI_OK;
    bool whole = r->ear.fn && maki_is_object(value);
    return whole || says(r, value) ? tell(r, &piece, err) : MAKI_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static maki_status hear_call(maki_wire_reply *r, maki_str name, maki_str id, maki_str input,
                             maki_err *err)
{
    maki_status st = maki_reply_heard_call(r, NULL, name, id, err);
    return st == MAKI_OK ? maki_reply_heard_input(r, NULL, input, err) : st;
}

/* {"name", "arguments"} */
static maki_status hear_function(maki_wire_reply *r, maki_str function, maki_str id, maki_err *err)
{
    return hear_call(r, maki_get_string(function, MAKI_LIT("name")), id,
                     maki_get(function, MAKI_LIT("arguments")), err);
}

static maki_status hear_calls(maki_wire_reply *r, maki_str calls, maki_err *err)
{
    maki_json_iter iter = maki_json_items(calls);
    maki_json_item call;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_is_array(calls) && maki_json_next(&iter, &call)) {
        if (!maki_is_object(call.value)) continue;
        st = hear_function(r, maki_get(call.value, MAKI_LIT("function")),
                           maki_get_string(call.value, MAKI_LIT("id")), err);
    }
    return st;
}

/* The texts of Responses' reasoning. */
static maki_status hear_summary(maki_wire_reply *r, maki_str list, maki_err *err)
{
    maki_json_iter iter = maki_json_items(list);
    maki_json_item item;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_is_array(list) && maki_json_next(&iter, &item)) {
        maki_str text = maki_get_string(item.value, MAKI_LIT("text"));
        st = maki_reply_heard(r, MAKI_DELTA_REASONING, text, err);
    }
    return st;
}

static maki_status hear_block(maki_wire_reply *r, maki_str block, maki_err *err)
{
    enum { TYPE, TEXT, THINKING, REFUSAL, SUMMARY, NAME, ID, INPUT, COUNT };
    static const maki_str names[] = { { "type", 4 },    { "text", 4 },    { "thinking", 8 },
                                      { "refusal", 7 }, { "summary", 7 }, { "name", 4 },
                                      { "id", 2 },      { "input", 5 } };
    maki_str v[COUNT];
    if (!maki_is_object(block)) return MAKI_OK;
    maki_get_each(block, names, v, COUNT);
    bool reasoning = maki_is_text(v[TYPE], MAKI_LIT("reasoning"));
    if (maki_is_object(v[INPUT])) return hear_call(r, v[NAME], v[ID], v[INPUT], err);
    maki_status st =
        maki_reply_heard(r, reasoning ? MAKI_DELTA_REASONING : MAKI_DELTA_TEXT, v[TEXT], err);
    if (st == MAKI_OK) st = maki_reply_heard(r, MAKI_DELTA_REASONING, v[THINKING], err);
    if (st == MAKI_OK) st = hear_summary(r, v[SUMMARY], err);
    return st == MAKI_OK ? maki_reply_heard(r, MAKI_DELTA_TEXT, v[REFUSAL], err) : st;
}

static maki_status hear_content(maki_wire_reply *r, maki_str content, maki_err *err)
{
    maki_json_iter iter = maki_json_items(content);
    maki_json_item block;
    maki_status st = maki_reply_heard(r, MAKI_DELTA_TEXT, content, err);
    while (st == MAKI_OK && maki_is_array(content) && maki_json_next(&iter, &block))
        st = hear_block(r, block.value, err);
    return st;
}

maki_status maki_reply_heard_row(maki_wire_reply *r, maki_str row, maki_err *err)
{
    enum { REASONING, OTHER_REASONING, CONTENT, REFUSAL, CALLS, OLD_CALL, COUNT };
    static const maki_str names[] = {
        { "reasoning_content", 17 }, { "reasoning", 9 },     { "content", 7 }, { "refusal", 7 },
        { "tool_calls", 10 },        { "function_call", 13 }
    };
    maki_str v[COUNT];
    if (!r->ear.fn) return MAKI_OK;
    maki_get_each(row, names, v, COUNT);
    if (!v[REASONING].len) v[REASONING] = v[OTHER_REASONING];
    maki_status st = maki_reply_heard(r, MAKI_DELTA_REASONING, v[REASONING], err);
    if (st == MAKI_OK) st = hear_content(r, v[CONTENT], err);
    if (st == MAKI_OK) st = maki_reply_heard(r, MAKI_DELTA_TEXT, v[REFUSAL], err);
    if (st == MAKI_OK) st = hear_calls(r, v[CALLS], err);
    return st == MAKI_OK ? hear_function(r, v[OLD_CALL], (maki_str){ "", 0 }, err) : st;
}

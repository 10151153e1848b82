/* ollama.c -- Ollama's chat and generate.
 *
 * Messages look like OpenAI's, but arguments are objects, and calls and results need not have ids: they
 * get them here, because pairs are found by them. */
#include "base/err.h"
#include "wire/read.h"
#include "wire/reply.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

static const maki_str call_fields[] = { { "tool_calls", 10 } };

static maki_str name_of(maki_str call)
{
    maki_str name = maki_get_string(maki_get(call, MAKI_LIT("function")), MAKI_LIT("name"));
    return name.len ? name : MAKI_LIT("\"tool\"");
}

static bool next_call(maki_json_iter *iter, maki_str *name, maki_str *id)
{
    maki_json_item call;
    if (!maki_json_next(iter, &call)) return false;
    *name = name_of(call.value);
    *id = maki_get_string(call.value, MAKI_LIT("id"));
    return true;
}

static maki_json_iter calls_of(maki_str message)
{
    maki_str calls = maki_get(message, call_fields[0]);
    return maki_is_array(calls) ? maki_json_items(calls) : (maki_json_iter){ 0 };
}

static bool wants_ids(maki_str message)
{
    maki_json_iter calls = calls_of(message);
    maki_str name, id;
    while (next_call(&calls, &name, &id)) {
        if (id.len == 0) return true;
    }
    return false;
}

static void write_call(maki_jw *w, maki_str call, maki_tally *tally)
{
    uint32_t nth = maki_tally_next(tally, name_of(call));
    maki_jw_object(w);
    if (maki_get_string(call, MAKI_LIT("id")).len == 0) {
        maki_jw_key(w, MAKI_LIT("id"));
        maki_write_call_id(w, name_of(call), nth);
    }
    maki_write_rest(w, call, NULL, 0);
    maki_jw_end_object(w);
}

static maki_status give_calls(maki_reading *r, maki_str message)
{
    maki_json_iter calls = calls_of(message);
    maki_json_item call;
    maki_tally tally = { 0 };
    maki_jw w;
    maki_reading_begin(r, &w);
    maki_jw_object(&w);
    maki_write_rest(&w, message, call_fields, 1);
    maki_jw_key(&w, call_fields[0]);
    maki_jw_array(&w);
    while (maki_json_next(&calls, &call))
        write_call(&w, call.value, &tally);
    maki_jw_end_array(&w);
    maki_jw_end_object(&w);
    return maki_reading_end(r, &w, message);
}

static bool is_result(maki_str message)
{
    return maki_is_text(maki_get(message, MAKI_LIT("role")), MAKI_LIT("tool"));
}

static maki_str tool_of(maki_str message)
{
    maki_str name = maki_get_string(message, MAKI_LIT("tool_name"));
    return name.len ? name : maki_get_string(message, MAKI_LIT("name"));
}

static maki_status give_result(maki_reading *r, maki_str message)
{
    maki_json_iter turn = maki_reading_turn(r), calls = { 0 };
    maki_json_item before;
    maki_answer answer = { .name = tool_of(message) };
    maki_jw w;
    if (maki_json_next(&turn, &before)) calls = calls_of(before.value);
    while (answer.nth < MAKI_ANSWERS_MOST && maki_json_next(&turn, &before)) {
        maki_str name = tool_of(before.value);
        if (!is_result(before.value)) continue;
        answer.nth++;
        answer.same += answer.name.len && name.len && maki_json_same_text(name, answer.name);
    }
    maki_reading_begin(r, &w);
    maki_jw_object(&w);
    maki_write_rest(&w, message, NULL, 0);
    maki_jw_key(&w, MAKI_LIT("tool_call_id"));
    maki_write_answered(&w, calls, next_call, &answer);
    maki_jw_end_object(&w);
    return maki_reading_end(r, &w, message);
}

maki_status maki_ollama_item(maki_reading *r, maki_str item, bool single)
{
    if (single) return maki_reading_wrong(r, "must stand in an array");
    if (is_result(item) && maki_get_string(item, MAKI_LIT("tool_call_id")).len == 0)
        return give_result(r, item);
    return wants_ids(item) ? give_calls(r, item) : maki_reading_give(r, item);
}

maki_status maki_generate_last(maki_reading *r)
{
    maki_jw w;
    if (r->prompt.len == 0 || r->prompt.len == 2) return MAKI_OK; /* it only loads the model */
    if (!maki_is_string(r->prompt))
        return maki_fail(r->err, MAKI_INVALID, "prompt must be a string");
    maki_reading_begin(r, &w);
    maki_jw_object(&w);
    maki_write_field(&w, MAKI_LIT("role"), MAKI_LIT("\"user\""));
    maki_write_field(&w, MAKI_LIT("content"), r->prompt);
    if (maki_is_array(r->images)) maki_write_field(&w, MAKI_LIT("images"), r->images);
    maki_jw_end_object(&w);
    return maki_reading_end(r, &w, (maki_str){ "", 0 });
}

/* ---- replies ------------------------------------------------------------------------------------------ */

static const maki_str content_name = { "content", 7 };

static maki_status add_usage(maki_wire_reply *r, maki_str value, maki_err *err)
{
    static const maki_str names[] = { { "prompt_eval_count", 17 },    { "eval_count", 10 },
                                      { "total_duration", 14 },       { "load_duration", 13 },
                                      { "prompt_eval_duration", 20 }, { "eval_duration", 13 } };
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < sizeof names / sizeof names[0]; i++) {
        maki_str count = maki_get(value, names[i]);
        if (count.len) st = maki_gather_add(&r->usage, MAKI_GATHER_VALUE, names[i], count, err);
    }
    return st;
}

static maki_status note(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_str error = maki_get(value, MAKI_LIT("error")).len ? value : (maki_str){ "", 0 };
    if (maki_json_true(maki_get(value, MAKI_LIT("done")))) r->complete = true;
    maki_status st =
        maki_reply_note_first(r, MAKI_NOTE_MODEL, maki_get_string(value, MAKI_LIT("model")), err);
    if (st == MAKI_OK)
        st = maki_reply_note(r, MAKI_NOTE_STOP, maki_get_string(value, MAKI_LIT("done_reason")),
                             err);
    if (st == MAKI_OK) st = maki_reply_note(r, MAKI_NOTE_ERROR, error, err);
    return st == MAKI_OK ? add_usage(r, value, err) : st;
}

static maki_status hear_message(maki_wire_reply *r, maki_str message, maki_err *err)
{
    maki_json_iter calls = calls_of(message);
    maki_json_item call;
    maki_status st =
        maki_reply_heard(r, MAKI_DELTA_REASONING, maki_get(message, MAKI_LIT("thinking")), err);
    if (st == MAKI_OK)
        st = maki_reply_heard(r, MAKI_DELTA_TEXT, maki_get(message, content_name), err);
    while (st == MAKI_OK && maki_json_next(&calls, &call)) {
        st = maki_reply_heard_call(r, NULL, name_of(call.value),
                                   maki_get_string(call.value, MAKI_LIT("id")), err);
        maki_str function = maki_get(call.value, MAKI_LIT("function"));
        if (st == MAKI_OK)
            st = maki_reply_heard_input(r, NULL, maki_get(function, MAKI_LIT("arguments")), err);
    }
    return st;
}

static maki_status chat_event(maki_wire_reply *r, maki_str value, maki_err *err)
{
    static const maki_str but[] = { { "role", 4 } };
    maki_str message = maki_get(value, MAKI_LIT("message"));
    maki_status st = note(r, value, err);
    if (st == MAKI_OK && r->ear.fn) st = hear_message(r, message, err);
    return st == MAKI_OK ? maki_gather_merge(&r->message, message, but, 1, err) : st;
}

static maki_status generate_event(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_str text = maki_get_string(value, MAKI_LIT("response"));
    maki_str thinking = maki_get_string(value, MAKI_LIT("thinking"));
    maki_status st = note(r, value, err);
    if (st == MAKI_OK) st = maki_reply_heard(r, MAKI_DELTA_TEXT, text, err);
    if (st == MAKI_OK) st = maki_reply_heard(r, MAKI_DELTA_REASONING, thinking, err);
    if (st == MAKI_OK && text.len)
        st = maki_gather_add(&r->message, MAKI_GATHER_TEXT, content_name, text, err);
    if (st == MAKI_OK && thinking.len)
        st = maki_gather_add(&r->message, MAKI_GATHER_TEXT, MAKI_LIT("thinking"), thinking, err);
    return st;
}

static maki_status finish(maki_wire_reply *r, maki_err *err)
{
    maki_str text, calls;
    maki_json_item call;
    maki_tally tally = { 0 };
    maki_jw w;
    const maki_str but[] = { content_name, call_fields[0] };
    maki_status st = maki_gather_get(&r->message, content_name, &text, err);
    if (st == MAKI_OK) st = maki_gather_get(&r->message, call_fields[0], &calls, err);
    if (st != MAKI_OK || !maki_gather_any(&r->message, (maki_str){ "", 0 })) return st;
    maki_reply_row(r, &w, err);
    maki_jw_object(&w);
    maki_write_field(&w, MAKI_LIT("role"), MAKI_LIT("\"assistant\""));
    maki_write_field(&w, content_name, MAKI_LIT("\""));
    maki_jw_bytes(&w, text);
    maki_jw_bytes(&w, MAKI_LIT("\""));
    st = maki_gather_write(&r->message, &w, but, 2, err);
    if (calls.len) {
        maki_json_iter iter = { .at = calls.ptr, .end = calls.ptr + calls.len };
        maki_jw_key(&w, call_fields[0]);
        maki_jw_array(&w);
        while (maki_json_next(&iter, &call))
            write_call(&w, call.value, &tally);
        maki_jw_end_array(&w);
    }
    maki_jw_end_object(&w);
    return st == MAKI_OK ? maki_reply_row_end(r, &w, err) : st;
}

const maki_reply_rules maki_ollama_reply = { chat_event, chat_event, finish };
const maki_reply_rules maki_generate_reply = { generate_event, generate_event, finish };

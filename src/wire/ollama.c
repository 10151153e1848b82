/* ollama.c -- Ollama's chat and generate.
 *
 * Messages are like OpenAI's, but arguments are objects, and calls and results may have no ids: they get
 * synthetic ones here, by which results find their calls.  `generate` is one prompt and one text. */
#include <stdlib.h>

#include "base/err.h"
#include "base/str_util.h"
#include "wire/protocol.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

static maki_str name_of(maki_str call)
{
    maki_str name = maki_json_string(maki_member(call, MAKI_LIT("function")), "name");
    return name.len ? name : MAKI_LIT("\"tool\"");
}

static bool next_call(maki_json_iter *iter, maki_str *name, maki_str *id)
{
    maki_json_item call;
    if (!maki_json_next(iter, &call)) return false;
    *name = name_of(call.value);
    *id = maki_json_string(call.value, "id");
    return true;
}

static maki_json_iter calls_of(maki_str message)
{
    return maki_array_items(maki_member(message, MAKI_LIT("tool_calls")));
}

static bool lacks_ids(maki_str message)
{
    maki_json_iter calls = calls_of(message);
    maki_str name, id;
    while (next_call(&calls, &name, &id)) {
        if (id.len == 0) return true;
    }
    return false;
}

static void write_call(maki_jw *w, maki_str call, maki_name_counter *counter)
{
    uint32_t nth = maki_name_counter_next(counter, name_of(call));
    maki_jw_begin_object(w);
    if (maki_json_string(call, "id").len == 0) {
        maki_jw_key(w, MAKI_LIT("id"));
        maki_write_call_id(w, name_of(call), nth);
    }
    maki_write_rest(w, call, "");
    maki_jw_end_object(w);
}

static maki_status emit_calls(maki_request_reader *r, maki_str message)
{
    maki_name_counter counter = { 0 };
    maki_jw w;
    maki_request_reader_begin(r, &w);
    maki_jw_begin_object(&w);
    maki_write_rest(&w, message, "tool_calls");
    maki_jw_print(&w, "'tool_calls':[");
    MAKI_JSON_EACH(call, calls_of(message))
        write_call(&w, call.value, &counter);
    maki_jw_end_array(&w);
    maki_jw_end_object(&w);
    return maki_request_reader_end(r, &w, message);
}

static bool is_result(maki_str message)
{
    return maki_json_field_is(message, "role", "tool");
}

static maki_str tool_name(maki_str message)
{
    maki_str name = maki_json_string(message, "tool_name");
    return name.len ? name : maki_json_string(message, "name");
}

static maki_status emit_result(maki_request_reader *r, maki_str message)
{
    maki_json_iter turn = maki_request_reader_last_turn(r), calls = { 0 };
    maki_json_item earlier;
    maki_result_lookup lookup = { .name = tool_name(message) };
    maki_jw w;
    if (maki_json_next(&turn, &earlier)) calls = calls_of(earlier.value);
    while (lookup.nth < MAKI_RESULTS_MAX && maki_json_next(&turn, &earlier)) {
        maki_str name = tool_name(earlier.value);
        if (!is_result(earlier.value)) continue;
        lookup.nth++;
        lookup.nth_of_name += lookup.name.len && name.len && maki_json_same_text(name, lookup.name);
    }
    maki_request_reader_begin(r, &w);
    maki_jw_begin_object(&w);
    maki_write_rest(&w, message, "");
    maki_jw_key(&w, MAKI_LIT("tool_call_id"));
    maki_write_result_call_id(&w, calls, next_call, &lookup);
    maki_jw_end_object(&w);
    return maki_request_reader_end(r, &w, message);
}

static maki_status read_item(maki_request_reader *r, maki_str item, bool single)
{
    if (single) return maki_request_reader_wrong_type(r);
    if (is_result(item) && maki_json_string(item, "tool_call_id").len == 0)
        return emit_result(r, item);
    return lacks_ids(item) ? emit_calls(r, item) : maki_request_reader_emit(r, item);
}

static maki_status read_prompt(maki_request_reader *r)
{
    maki_jw w;
    if (r->prompt.len == 0 || r->prompt.len == 2)
        return MAKI_OK; /* an empty prompt only loads the model */
    if (!maki_is_string(r->prompt))
        return maki_fail(r->err, MAKI_INVALID, "prompt must be a string");
    maki_request_reader_begin(r, &w);
    maki_jw_print(&w, "{'role':'user','content':%v,'images':%v}", r->prompt,
                  maki_is_array(r->images) ? r->images : MAKI_LIT(""));
    return maki_request_reader_end(r, &w, (maki_str){ "", 0 });
}

/* ---- replies ------------------------------------------------------------------------------------------ */

static const maki_str content_name = { "content", 7 };

static void read_meta(maki_wire_reply *r, maki_str value)
{
    static const maki_str counts[] = { { "prompt_eval_count", 17 },    { "eval_count", 10 },
                                       { "total_duration", 14 },       { "load_duration", 13 },
                                       { "prompt_eval_duration", 20 }, { "eval_duration", 13 } };
    if (maki_json_true(maki_member(value, MAKI_LIT("done")))) r->complete = true;
    maki_reply_set_meta_once(r, MAKI_META_MODEL, maki_json_string(value, "model"));
    maki_reply_set_meta(r, MAKI_META_STOP, maki_json_string(value, "done_reason"));
    if (maki_member(value, MAKI_LIT("error")).len) maki_reply_set_meta(r, MAKI_META_ERROR, value);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        maki_str count = maki_member(value, counts[i]);
        if (count.len) maki_json_assembler_add(&r->usage, MAKI_ASSEMBLE_VALUE, counts[i], count);
    }
}

static void emit_message(maki_wire_reply *r, maki_str message)
{
    maki_reply_emit(r, MAKI_DELTA_REASONING, maki_member(message, MAKI_LIT("thinking")));
    maki_reply_emit(r, MAKI_DELTA_TEXT, maki_member(message, content_name));
    MAKI_JSON_EACH(call, calls_of(message)) {
        maki_str function = maki_member(call.value, MAKI_LIT("function"));
        maki_reply_emit_call(r, NULL, name_of(call.value), maki_json_string(call.value, "id"));
        maki_reply_emit_input(r, NULL, maki_member(function, MAKI_LIT("arguments")));
    }
}

static void on_chat_event(maki_wire_reply *r, maki_str value)
{
    maki_str message = maki_member(value, MAKI_LIT("message"));
    read_meta(r, value);
    if (r->listener.fn) emit_message(r, message);
    maki_json_assembler_merge(&r->message, message, "role");
}

static void on_generate_event(maki_wire_reply *r, maki_str value)
{
    maki_str text = maki_json_string(value, "response");
    maki_str thinking = maki_json_string(value, "thinking");
    read_meta(r, value);
    maki_reply_emit(r, MAKI_DELTA_TEXT, text);
    maki_reply_emit(r, MAKI_DELTA_REASONING, thinking);
    if (text.len) maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_TEXT, content_name, text);
    if (thinking.len)
        maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_TEXT, MAKI_LIT("thinking"), thinking);
}

static void on_end(maki_wire_reply *r)
{
    maki_str calls = maki_json_assembler_get(&r->message, MAKI_LIT("tool_calls"));
    maki_name_counter counter = { 0 };
    maki_jw w;
    if (!maki_json_assembler_any(&r->message, (maki_str){ "", 0 })) return;
    maki_reply_begin_row(r, &w);
    maki_jw_print(&w, "{'role':'assistant','content':%q",
                  maki_json_assembler_get(&r->message, content_name));
    maki_json_assembler_write(&r->message, &w, "content tool_calls");
    if (calls.len) maki_jw_print(&w, "'tool_calls':[");
    MAKI_JSON_EACH(call, maki_items_iter(calls))
        write_call(&w, call.value, &counter);
    maki_jw_print(&w, calls.len ? "]}" : "}");
    maki_reply_end_row(r, &w);
}

static maki_wire_usage usage(maki_str u)
{
    return (maki_wire_usage){ .input = maki_member_count(u, MAKI_LIT("prompt_eval_count")),
                              .output = maki_member_count(u, MAKI_LIT("eval_count")) };
}

/* ---- windows ------------------------------------------------------------------------------------------ */

/* "num_ctx 8192" in the lines of a model's parameters; 0: none. */
static uint64_t num_ctx_in(maki_str parameters)
{
    char text[4096];
    if (!maki_is_string(parameters)) return 0;
    text[maki_json_copy_text(parameters, text, sizeof text - 1)] = '\0';
    const char *setting = strstr(text, "num_ctx");
    long long tokens = setting ? strtoll(setting + strlen("num_ctx"), NULL, 10) : 0;
    return tokens > 0 && tokens < MAKI_WINDOW_MAX ? (uint64_t)tokens : 0;
}

/* num_ctx if the Modelfile sets it, else the model's context length. */
static uint64_t read_window(maki_str answer, maki_str model)
{
    maki_str info = maki_member(answer, MAKI_LIT("model_info")), end = MAKI_LIT(".context_length");
    uint64_t tokens = num_ctx_in(maki_member(answer, MAKI_LIT("parameters")));
    (void)model;
    MAKI_JSON_EACH_WHILE(!tokens, field, maki_json_fields(info)) {
        if (maki_str_ends(field.key, end)) tokens = maki_count_of(field.value);
    }
    return tokens;
}

const maki_protocol_spec maki_ollama_protocol = {
    .name = "ollama",
    .upstream = "ollama",
    .paths = { { "/api/chat", false } },
    .version = "",
    .target = "/api/chat",
    .window = { "POST", "", "/api/show", false, read_window },
    .pull = "ollama pull",
    .messages = "messages",
    .fields = { [MAKI_FIELD_OPTIONS] = "options" },
    .streams_by_default = true,
    .read_item = read_item,
    .on_event = on_chat_event,
    .on_body = on_chat_event,
    .on_end = on_end,
    .usage = usage,
    .request_format = &maki_ollama_request_format,
};

const maki_protocol_spec maki_generate_protocol = {
    .name = "generate",
    .upstream = "ollama",
    .paths = { { "/api/generate", false } },
    .version = "",
    .target = "/api/generate",
    .messages = "",
    .fields = { [MAKI_FIELD_OPTIONS] = "options",
                [MAKI_FIELD_SYSTEM] = "system",
                [MAKI_FIELD_REFERENCE] = "context",
                [MAKI_FIELD_PROMPT] = "prompt",
                [MAKI_FIELD_IMAGES] = "images" },
    .streams_by_default = true,
    .read_end = read_prompt,
    .on_event = on_generate_event,
    .on_body = on_generate_event,
    .on_end = on_end,
    .usage = usage,
};

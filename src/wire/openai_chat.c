/* openai_chat.c -- OpenAI's chat completions, which many other servers implement too.
 *
 * Messages of a request are rows, unchanged.  A reply is assembled from the deltas of its first choice: fields of the
 * message are concatenated by name, tool calls are open parts.  Servers differ in details (index missing or always 0,
 * name repeated, usage in other places); all known variants are accepted. */
#include <stdio.h>

#include "wire/protocol.h"

static const maki_str id_name = { "id", 2 }, name_name = { "name", 4 }, type_name = { "type", 4 };

/* Set a value that is sent once, if it is not empty: servers repeat it, or send it empty with every delta. */
static void set_once(maki_json_assembler *assembler, maki_str name, maki_str value)
{
    if (value.len > 2) maki_json_assembler_add(assembler, MAKI_ASSEMBLE_VALUE, name, value);
}

/* The call that a delta belongs to: by index.  Some servers send none, or 0 for all calls: a different id starts
 * a new call. */
static maki_open_part *call_of(maki_wire_reply *r, maki_str delta)
{
    maki_str index = maki_member(delta, MAKI_LIT("index")), id = maki_json_string(delta, "id");
    maki_open_part *part = NULL;
    if (index.len)
        part = maki_reply_find_part(r, maki_count_of(index));
    else if (r->part_count)
        part = r->parts[r->part_count - 1];
    if (part && id.len > 2) {
        maki_str part_id = maki_json_assembler_get(&part->fields, id_name);
        if (part_id.len && !maki_json_same_text(part_id, id)) part = NULL;
    }
    return part ? part : maki_reply_add_part(r, maki_count_of(index));
}

static void add_call(maki_wire_reply *r, maki_str delta)
{
    maki_open_part *part = call_of(r, delta);
    maki_str function = maki_member(delta, MAKI_LIT("function"));
    if (!part) return;
    set_once(&part->fields, id_name, maki_json_string(delta, "id"));
    set_once(&part->fields, type_name, maki_json_string(delta, "type"));
    maki_json_assembler_merge(&part->fields, delta, "index id type function");
    set_once(&part->nested, name_name, maki_json_string(function, "name"));
    maki_json_assembler_merge(&part->nested, function, "name");
    maki_reply_emit_call(r, part, maki_member(function, name_name), maki_json_string(delta, "id"));
    maki_reply_emit_input(r, part, maki_member(function, MAKI_LIT("arguments")));
}

static void add_calls(maki_wire_reply *r, maki_str calls)
{
    MAKI_JSON_EACH(item, maki_array_items(calls)) {
        if (maki_is_object(item.value)) add_call(r, item.value);
    }
}

/* The single function_call of the older API: its two fields are assembled separately, joined at the end. */
static const maki_str function_call_name = { "function_call.name", 18 };
static const maki_str function_call_arguments = { "function_call.arguments", 23 };

static void add_function_call(maki_wire_reply *r, maki_str call)
{
    maki_str arguments = maki_json_string(call, "arguments");
    maki_str name = maki_json_string(call, "name");
    set_once(&r->message, function_call_name, name);
    maki_reply_emit_call(r, NULL, name, (maki_str){ "", 0 });
    maki_reply_emit_input(r, NULL, arguments);
    if (arguments.len)
        maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_TEXT, function_call_arguments,
                                arguments);
}

/* Content may be blocks (Mistral): their texts are concatenated. */
static void add_blocks(maki_wire_reply *r, maki_str blocks)
{
    MAKI_JSON_EACH(item, maki_json_items(blocks)) {
        maki_str text = maki_json_string(item.value, "text");
        maki_reply_emit(r, MAKI_DELTA_TEXT, text);
        if (text.len)
            maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_TEXT, MAKI_LIT("content"), text);
        else
            maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_LIST, MAKI_LIT("content_parts"),
                                    item.value);
    }
}

/* Audio data is dropped; its id stays, by which a client refers to it. */
static void add_audio(maki_wire_reply *r, maki_str audio)
{
    maki_str id = maki_json_string(audio, "id");
    char json[512];
    if (id.len == 0 || id.len > sizeof json - 16) return;
    int n = snprintf(json, sizeof json, "{\"id\":%.*s}", (int)id.len, id.ptr);
    maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_VALUE, MAKI_LIT("audio"),
                            (maki_str){ json, (size_t)n });
}

static void add_delta(maki_wire_reply *r, maki_str delta)
{
    enum { CONTENT, CALLS, FUNCTION_CALL, AUDIO, REASONING, OTHER_REASONING, REFUSAL, COUNT };
    static const maki_str names[] = {
        { "content", 7 }, { "tool_calls", 10 },        { "function_call", 13 },
        { "audio", 5 },   { "reasoning_content", 17 }, { "reasoning", 9 },
        { "refusal", 7 }
    };
    maki_str v[COUNT];
    maki_member_each(delta, names, v, COUNT);
    maki_reply_emit(r, MAKI_DELTA_REASONING, v[REASONING].len ? v[REASONING] : v[OTHER_REASONING]);
    maki_reply_emit(r, MAKI_DELTA_TEXT, v[CONTENT]);
    maki_reply_emit(r, MAKI_DELTA_TEXT, v[REFUSAL]);
    if (maki_is_string(v[CONTENT]))
        maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_TEXT, names[CONTENT], v[CONTENT]);
    if (maki_is_array(v[CONTENT])) add_blocks(r, v[CONTENT]);
    if (v[CALLS].len) add_calls(r, v[CALLS]);
    if (v[FUNCTION_CALL].len) add_function_call(r, v[FUNCTION_CALL]);
    if (v[AUDIO].len) add_audio(r, v[AUDIO]);
    maki_json_assembler_merge(&r->message, delta, "role content tool_calls function_call audio");
}

/* The fields of a reply or a chunk that are used, and of its first choice: only one is stored. */
enum { ID, MODEL, CHOICES, USAGE, ERROR, GROQ, TOP_FIELDS };
enum { INDEX, DELTA, MESSAGE, STOP, CHOICE_USAGE, CHOICE_FIELDS };
typedef struct chunk_fields {
    maki_str top[TOP_FIELDS], choice[CHOICE_FIELDS];
} chunk_fields;

static void read_chunk(maki_str value, chunk_fields *chunk)
{
    static const maki_str top[] = { { "id", 2 },    { "model", 5 }, { "choices", 7 },
                                    { "usage", 5 }, { "error", 5 }, { "x_groq", 6 } };
    static const maki_str choice[] = {
        { "index", 5 }, { "delta", 5 }, { "message", 7 }, { "finish_reason", 13 }, { "usage", 5 }
    };
    maki_member_each(value, top, chunk->top, TOP_FIELDS);
    maki_member_each((maki_str){ "", 0 }, choice, chunk->choice, CHOICE_FIELDS);
    MAKI_JSON_EACH(item, maki_array_items(chunk->top[CHOICES])) {
        maki_member_each(item.value, choice, chunk->choice, CHOICE_FIELDS);
        if (maki_count_of(chunk->choice[INDEX]) == 0) return;
        maki_member_each((maki_str){ "", 0 }, choice, chunk->choice, CHOICE_FIELDS);
    }
}

static void read_meta(maki_wire_reply *r, maki_str value, chunk_fields *chunk)
{
    read_chunk(value, chunk);
    maki_str usage = chunk->top[USAGE], stop = chunk->choice[STOP];
    if (!usage.len) usage = chunk->choice[CHOICE_USAGE];
    if (!usage.len && chunk->top[GROQ].len)
        usage = maki_member(chunk->top[GROQ], MAKI_LIT("usage"));
    if (stop.len) r->complete = true;
    maki_reply_set_meta_once(r, MAKI_META_ID, chunk->top[ID]);
    maki_reply_set_meta_once(r, MAKI_META_MODEL, chunk->top[MODEL]);
    if (maki_is_string(stop)) maki_reply_set_meta(r, MAKI_META_STOP, stop);
    if (chunk->top[ERROR].len) maki_reply_set_meta(r, MAKI_META_ERROR, value);
    maki_reply_add_usage(r, usage);
}

static void on_event(maki_wire_reply *r, maki_str value)
{
    chunk_fields chunk;
    read_meta(r, value, &chunk);
    if (maki_is_object(chunk.choice[DELTA])) add_delta(r, chunk.choice[DELTA]);
}

static void on_body(maki_wire_reply *r, maki_str value)
{
    chunk_fields chunk;
    maki_jw w;
    read_meta(r, value, &chunk);
    maki_str message = chunk.choice[MESSAGE];
    if (!maki_is_object(message)) return;
    if (maki_json_string(message, "role").len > 0) {
        maki_reply_add_row(r, message);
        return;
    }
    maki_reply_begin_row(r, &w);
    maki_jw_print(&w, "{'role':'assistant'");
    maki_write_rest(&w, message, "");
    maki_jw_end_object(&w);
    maki_reply_end_row(r, &w);
}

static void write_function_call(maki_wire_reply *r, maki_jw *w)
{
    maki_str name = maki_json_assembler_get(&r->message, function_call_name);
    if (name.len)
        maki_jw_print(w, "'function_call':{'name':%v,'arguments':%q}", name,
                      maki_json_assembler_get(&r->message, function_call_arguments));
}

static void on_end(maki_wire_reply *r)
{
    maki_str content = MAKI_LIT("content");
    maki_jw w;
    bool has_message = maki_json_assembler_any(&r->message, MAKI_LIT("role")) || r->part_count > 0;
    maki_reply_flush(r, true);
    maki_str calls = maki_reply_blocks(r);
    if (!has_message) return;
    maki_reply_begin_row(r, &w);
    maki_jw_print(&w, "{'role':'assistant'");
    if (maki_json_assembler_has(&r->message, content))
        maki_jw_print(&w, "'content':%q", maki_json_assembler_get(&r->message, content));
    else
        maki_jw_print(&w, "'content':null");
    maki_json_assembler_write(&r->message, &w,
                              "role content function_call.name function_call.arguments");
    write_function_call(r, &w);
    if (calls.len) maki_jw_print(&w, "'tool_calls':[%v]", maki_str_prefix(calls, calls.len - 1));
    maki_jw_end_object(&w);
    maki_reply_end_row(r, &w);
}

static maki_wire_usage usage(maki_str u)
{
    maki_str input = maki_member(u, MAKI_LIT("prompt_tokens_details"));
    maki_str output = maki_member(u, MAKI_LIT("completion_tokens_details"));
    maki_wire_usage out = { .input = maki_member_count(u, MAKI_LIT("prompt_tokens")),
                            .output = maki_member_count(u, MAKI_LIT("completion_tokens")),
                            .cache_read = maki_member_count(input, MAKI_LIT("cached_tokens")),
                            .reasoning = maki_member_count(output, MAKI_LIT("reasoning_tokens")) };
    if (out.cache_read == 0) /* DeepSeek's field */
        out.cache_read = maki_member_count(u, MAKI_LIT("prompt_cache_hit_tokens"));
    return out;
}

const maki_protocol_spec maki_chat_protocol = {
    .name = "openai",
    .upstream = "openai",
    .paths = { { "/v1/chat/completions", false } },
    .version = "/v1",
    .target = "/chat/completions",
    .messages = "messages",
    .fields = { [MAKI_FIELD_MAX_TOKENS] = "max_tokens max_completion_tokens",
                [MAKI_FIELD_METADATA] = "metadata",
                [MAKI_FIELD_CLIENT_ID] = "prompt_cache_key" },
    .read_item = maki_copy_item,
    .on_event = on_event,
    .on_body = on_body,
    .on_end = on_end,
    .usage = usage,
    .request_format = &maki_chat_request_format,
};

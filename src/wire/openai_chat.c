/* openai_chat.c -- OpenAI's chat completions, which many others speak too: messages are kept verbatim. */
#include <stdio.h>

#include "wire/protocol.h"

static const maki_str id_name = { "id", 2 }, name_name = { "name", 4 }, type_name = { "type", 4 };

/* A value that comes once; servers repeat it, or send an empty one with every piece. */
static void once(maki_json_assembler *g, maki_str name, maki_str value)
{
    if (value.len > 2) maki_json_assembler_add(g, MAKI_ASSEMBLE_VALUE, name, value);
}

/* The call that a piece belongs to.  Its index says so, but some servers send none, or 0 for all calls: an id
 * that is not the call's own begins another. */
static maki_part *call_of(maki_wire_reply *r, maki_str piece)
{
    maki_str index = maki_member(piece, MAKI_LIT("index")), id = maki_member_string(piece, id_name);
    maki_part *part = NULL;
    if (index.len)
        part = maki_reply_part(r, maki_count_of(index));
    else if (r->part_count)
        part = r->parts[r->part_count - 1];
    if (part && id.len > 2) {
        maki_str own = maki_json_assembler_get(&part->fields, id_name);
        if (own.len && !maki_json_same_text(own, id)) part = NULL;
    }
    return part ? part : maki_reply_new_part(r, maki_count_of(index));
}

static void add_call(maki_wire_reply *r, maki_str piece)
{
    maki_part *part = call_of(r, piece);
    maki_str function = maki_member(piece, MAKI_LIT("function"));
    if (!part) return;
    once(&part->fields, id_name, maki_member_string(piece, id_name));
    once(&part->fields, type_name, maki_member_string(piece, type_name));
    maki_json_assembler_merge(&part->fields, piece, "index id type function");
    once(&part->inner, name_name, maki_member_string(function, name_name));
    maki_json_assembler_merge(&part->inner, function, "name");
    maki_reply_delta_call(r, part, maki_member(function, name_name),
                          maki_member_string(piece, id_name));
    maki_reply_delta_input(r, part, maki_member(function, MAKI_LIT("arguments")));
}

static void add_calls(maki_wire_reply *r, maki_str calls)
{
    maki_json_iter iter = maki_json_items(calls);
    maki_json_item item;
    while (maki_is_array(calls) && maki_json_next(&iter, &item)) {
        if (maki_is_object(item.value)) add_call(r, item.value);
    }
}

/* The one call of the API before tool_calls: gathered by its two names, put together at the end. */
static const maki_str old_name = { "function_call.name", 18 };
static const maki_str old_arguments = { "function_call.arguments", 23 };

static void add_old_call(maki_wire_reply *r, maki_str call)
{
    maki_str arguments = maki_member_string(call, MAKI_LIT("arguments"));
    maki_str name = maki_member_string(call, name_name);
    once(&r->message, old_name, name);
    maki_reply_delta_call(r, NULL, name, (maki_str){ "", 0 });
    maki_reply_delta_input(r, NULL, arguments);
    if (arguments.len)
        maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_TEXT, old_arguments, arguments);
}

/* Content may come as blocks (Mistral's): their texts are the content. */
static void add_blocks(maki_wire_reply *r, maki_str blocks)
{
    maki_json_iter iter = maki_json_items(blocks);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        maki_str text = maki_member_string(item.value, MAKI_LIT("text"));
        maki_reply_delta(r, MAKI_DELTA_TEXT, text);
        if (text.len)
            maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_TEXT, MAKI_LIT("content"), text);
        else
            maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_LIST, MAKI_LIT("content_parts"),
                                    item.value);
    }
}

/* Sound is not kept; its id is, which is how a client sends it back. */
static void add_audio(maki_wire_reply *r, maki_str audio)
{
    maki_str id = maki_member_string(audio, id_name);
    char json[512];
    if (id.len == 0 || id.len > sizeof json - 16) return;
    int n = snprintf(json, sizeof json, "{\"id\":%.*s}", (int)id.len, id.ptr);
    maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_VALUE, MAKI_LIT("audio"),
                            (maki_str){ json, (size_t)n });
}

static void add_delta(maki_wire_reply *r, maki_str delta)
{
    enum { CONTENT, CALLS, OLD_CALL, AUDIO, REASONING, OTHER_REASONING, REFUSAL, COUNT };
    static const maki_str names[] = {
        { "content", 7 }, { "tool_calls", 10 },        { "function_call", 13 },
        { "audio", 5 },   { "reasoning_content", 17 }, { "reasoning", 9 },
        { "refusal", 7 }
    };
    maki_str v[COUNT];
    maki_member_each(delta, names, v, COUNT);
    maki_reply_delta(r, MAKI_DELTA_REASONING, v[REASONING].len ? v[REASONING] : v[OTHER_REASONING]);
    maki_reply_delta(r, MAKI_DELTA_TEXT, v[CONTENT]);
    maki_reply_delta(r, MAKI_DELTA_TEXT, v[REFUSAL]);
    if (maki_is_string(v[CONTENT]))
        maki_json_assembler_add(&r->message, MAKI_ASSEMBLE_TEXT, names[CONTENT], v[CONTENT]);
    if (maki_is_array(v[CONTENT])) add_blocks(r, v[CONTENT]);
    if (v[CALLS].len) add_calls(r, v[CALLS]);
    if (v[OLD_CALL].len) add_old_call(r, v[OLD_CALL]);
    if (v[AUDIO].len) add_audio(r, v[AUDIO]);
    maki_json_assembler_merge(&r->message, delta, "role content tool_calls function_call audio");
}

/* The fields of a reply or a chunk that matter here, and of its first choice: only one can go on. */
enum { ID, MODEL, CHOICES, USAGE, ERROR, GROQ, TOP };
enum { INDEX, DELTA, MESSAGE, STOP, CHOICE_USAGE, CHOICE };
typedef struct said {
    maki_str top[TOP], choice[CHOICE];
} said;

static void read_said(maki_str value, said *s)
{
    static const maki_str top[] = { { "id", 2 },    { "model", 5 }, { "choices", 7 },
                                    { "usage", 5 }, { "error", 5 }, { "x_groq", 6 } };
    static const maki_str choice[] = {
        { "index", 5 }, { "delta", 5 }, { "message", 7 }, { "finish_reason", 13 }, { "usage", 5 }
    };
    maki_json_item item;
    maki_member_each(value, top, s->top, TOP);
    maki_member_each((maki_str){ "", 0 }, choice, s->choice, CHOICE);
    maki_json_iter iter = maki_json_items(s->top[CHOICES]);
    while (maki_is_array(s->top[CHOICES]) && maki_json_next(&iter, &item)) {
        maki_member_each(item.value, choice, s->choice, CHOICE);
        if (maki_count_of(s->choice[INDEX]) == 0) return;
        maki_member_each((maki_str){ "", 0 }, choice, s->choice, CHOICE);
    }
}

static void note(maki_wire_reply *r, maki_str value, said *s)
{
    read_said(value, s);
    maki_str usage = s->top[USAGE], stop = s->choice[STOP];
    if (!usage.len) usage = s->choice[CHOICE_USAGE];
    if (!usage.len && s->top[GROQ].len) usage = maki_member(s->top[GROQ], MAKI_LIT("usage"));
    if (stop.len) r->complete = true;
    maki_reply_note_first(r, MAKI_NOTE_ID, s->top[ID]);
    maki_reply_note_first(r, MAKI_NOTE_MODEL, s->top[MODEL]);
    if (maki_is_string(stop)) maki_reply_note(r, MAKI_NOTE_STOP, stop);
    if (s->top[ERROR].len) maki_reply_note(r, MAKI_NOTE_ERROR, value);
    maki_reply_usage(r, usage);
}

static void event(maki_wire_reply *r, maki_str value)
{
    said s;
    note(r, value, &s);
    if (maki_is_object(s.choice[DELTA])) add_delta(r, s.choice[DELTA]);
}

static void whole(maki_wire_reply *r, maki_str value)
{
    said s;
    maki_jw w;
    note(r, value, &s);
    maki_str message = s.choice[MESSAGE];
    if (!maki_is_object(message)) return;
    if (maki_member_string(message, MAKI_LIT("role")).len > 0) {
        maki_reply_row_is(r, message);
        return;
    }
    maki_reply_row(r, &w);
    maki_jw_print(&w, "{'role':'assistant'");
    maki_write_rest(&w, message, "");
    maki_jw_end_object(&w);
    maki_reply_row_end(r, &w);
}

static void write_old_call(maki_wire_reply *r, maki_jw *w)
{
    maki_str name = maki_json_assembler_get(&r->message, old_name);
    if (name.len)
        maki_jw_print(w, "'function_call':{'name':%v,'arguments':%q}", name,
                      maki_json_assembler_get(&r->message, old_arguments));
}

static void finish(maki_wire_reply *r)
{
    maki_str content = MAKI_LIT("content");
    maki_jw w;
    bool any = maki_json_assembler_any(&r->message, MAKI_LIT("role")) || r->part_count > 0;
    maki_reply_flush(r, true);
    maki_str calls = maki_reply_blocks(r);
    if (!any) return;
    maki_reply_row(r, &w);
    maki_jw_print(&w, "{'role':'assistant'");
    if (maki_json_assembler_has(&r->message, content))
        maki_jw_print(&w, "'content':%q", maki_json_assembler_get(&r->message, content));
    else
        maki_jw_print(&w, "'content':null");
    maki_json_assembler_write(&r->message, &w,
                              "role content function_call.name function_call.arguments");
    write_old_call(r, &w);
    if (calls.len) maki_jw_print(&w, "'tool_calls':[%v]", maki_str_to(calls, calls.len - 1));
    maki_jw_end_object(&w);
    maki_reply_row_end(r, &w);
}

static maki_wire_usage usage(maki_str u)
{
    maki_str input = maki_member(u, MAKI_LIT("prompt_tokens_details"));
    maki_str output = maki_member(u, MAKI_LIT("completion_tokens_details"));
    maki_wire_usage out = { .input = maki_member_count(u, MAKI_LIT("prompt_tokens")),
                            .output = maki_member_count(u, MAKI_LIT("completion_tokens")),
                            .cache_read = maki_member_count(input, MAKI_LIT("cached_tokens")),
                            .reasoning = maki_member_count(output, MAKI_LIT("reasoning_tokens")) };
    if (out.cache_read == 0) /* DeepSeek's name for it */
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
    .item = maki_verbatim_item,
    .event = event,
    .whole = whole,
    .finish = finish,
    .usage = usage,
    .writing = &maki_chat_writing,
};

/* fake_request.c -- parse a request of any protocol: wire/ reads the messages, this file the options.
 *
 * Only the last text of the user and the last tool result matter; both are copied into the arena. */
#include "fake/fake_request.h"

#include "base/err.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "wire/content_part.h"

enum { TOOLS_DEPTH_MAX = 8 }; /* levels of a list of tools that are searched */

/* ---- messages ------------------------------------------------------------------------------------ */

typedef struct message_reader {
    fake_request *request;
    maki_arena *arena;
} message_reader;

/* The result of a tool: its last text, or the content itself if it has none. */
static maki_str result_of(maki_str content, maki_arena *arena)
{
    maki_content_parts parts = maki_content_parts_of_content(content);
    maki_content_part part;
    maki_str result = content;
    while (maki_content_parts_next(&parts, &part)) {
        if (part.kind == MAKI_CONTENT_TEXT) result = maki_json_text(part.text, arena);
    }
    return maki_arena_copy(arena, result);
}

static maki_status read_message(void *ctx, const maki_wire_message *message, maki_err *err)
{
    message_reader *r = ctx;
    maki_content_parts parts = maki_content_parts_of_row(message->row);
    maki_content_part part;
    bool seen_result = false; /* a text after a result in this message does not hide it */
    (void)err;
    while (parts.author == MAKI_AUTHOR_USER && maki_content_parts_next(&parts, &part)) {
        if (part.kind == MAKI_CONTENT_TEXT) {
            r->request->user_text = maki_arena_copy(r->arena, maki_json_text(part.text, r->arena));
            r->request->has_result = seen_result;
        } else if (part.kind == MAKI_CONTENT_RESULT) {
            r->request->has_result = seen_result = true;
            r->request->result = result_of(part.content, r->arena);
        }
    }
    return MAKI_OK;
}

/* ---- options --------------------------------------------------------------------------------------- */

/* A field of a nested object: output_config.format. */
static maki_str nested_field(maki_str object, const char *outer, const char *name)
{
    return maki_member(maki_member(object, maki_str_of(outer)), maki_str_of(name));
}

static bool wants_json(maki_str body)
{
    maki_str type = nested_field(body, "response_format", "type");
    if (!type.len) type = nested_field(body, "generationConfig", "responseMimeType");
    if (type.len)
        return !maki_is_text(type, MAKI_LIT("text")) && !maki_is_text(type, MAKI_LIT("text/plain"));
    maki_str format = nested_field(body, "output_config", "format");
    if (!format.len) format = nested_field(body, "text", "format");
    if (format.len) return !maki_json_field_is(format, "type", "text");
    return maki_member(body, MAKI_LIT("format")).len > 2;
}

static void read_options(fake_request *request)
{
    maki_str usage = nested_field(request->body, "stream_options", "include_usage");
    maki_str thinking = nested_field(request->body, "thinking", "type");
    maki_str think = maki_member(request->body, MAKI_LIT("think"));
    request->wants_usage = usage.len && maki_json_true(usage);
    request->thinks = (thinking.len && !maki_is_text(thinking, MAKI_LIT("disabled"))) ||
                      (think.len && maki_json_true(think));
    request->wants_json = wants_json(request->body);
}

/* Gemini: .../models/NAME:streamGenerateContent?alt=sse */
static void read_target(fake_request *request, maki_str target)
{
    maki_str path = maki_str_cut(&target, '?'), model = maki_str_cut(&path, ':');
    if (!path.len) return;
    const char *slash = maki_str_last(model, '/');
    request->model = slash ? maki_str_skip(model, (size_t)(slash + 1 - model.ptr)) : model;
    request->stream = maki_str_starts(path, MAKI_LIT("stream"));
    request->array = request->stream && !maki_str_contains(target, MAKI_LIT("alt=sse"));
}

/* FNV-1a over the end of the body, where one request differs from the next. */
static uint64_t seed_of(maki_str body)
{
    uint64_t hash = 14695981039346656037u ^ body.len;
    size_t from = body.len > 4096 ? body.len - 4096 : 0;
    for (size_t i = from; i < body.len; i++) {
        hash ^= (unsigned char)body.ptr[i];
        hash *= 1099511628211u;
    }
    return hash;
}

maki_status fake_request_parse(const maki_env *env, maki_protocol protocol, maki_str target,
                               maki_str body, maki_arena *arena, fake_request *out, maki_err *err)
{
    fake_request request = { .protocol = protocol, .model = MAKI_LIT("fake") };
    message_reader reader = { &request, arena };
    maki_wire_request fields = { .stream = maki_protocol_of(protocol)->streams_by_default };
    maki_status st = maki_json_check(body, &request.body, err);
    if (st == MAKI_OK && !maki_is_object(request.body))
        st = maki_fail(err, MAKI_INVALID, "the body is not a JSON object");
    if (st != MAKI_OK) return st;

    /* messages that cannot be read are skipped */
    (void)!maki_wire_read(env, protocol, body, NULL, read_message, &reader, &fields, NULL, NULL);
    request.seed = seed_of(body);
    request.stream = fields.stream;
    if (fields.model.len) request.model = maki_json_text(fields.model, arena);
    if (maki_protocol_of(protocol)->model_in_path) read_target(&request, target);
    read_options(&request);
    *out = request;
    return MAKI_OK;
}

/* ---- tools ----------------------------------------------------------------------------------------- */

/* The first object below `value` with this name.  Each protocol wraps its tools differently; a search
 * finds them in all. */
static bool find_named(maki_str value, maki_str name, unsigned depth, maki_str *found)
{
    if (depth == 0 || (!maki_is_array(value) && !maki_is_object(value))) return false;
    if (maki_is_text(maki_member(value, MAKI_LIT("name")), name)) {
        *found = value;
        return true;
    }
    MAKI_JSON_EACH(item, maki_json_items(value)) {
        if (find_named(item.value, name, depth - 1, found)) return true;
    }
    return false;
}

bool fake_request_find_tool(const fake_request *request, maki_str name, maki_str *definition)
{
    maki_str tools = maki_member(request->body, MAKI_LIT("tools"));
    if (find_named(tools, name, TOOLS_DEPTH_MAX, definition)) return true;
    /* Codex: the tools are an item of the input. */
    MAKI_JSON_EACH(item, maki_array_items(maki_member(request->body, MAKI_LIT("input")))) {
        maki_str type = maki_member(item.value, MAKI_LIT("type"));
        if (maki_is_text(type, MAKI_LIT("additional_tools")) &&
            find_named(item.value, name, TOOLS_DEPTH_MAX, definition))
            return true;
    }
    return false;
}

bool fake_tool_has_parameter(maki_str definition, maki_str parameter)
{
    MAKI_JSON_EACH(item, maki_json_items(definition)) {
        if (maki_json_key_is(item.key, parameter)) return true;
        if (maki_is_object(item.value) && fake_tool_has_parameter(item.value, parameter))
            return true;
    }
    return false;
}

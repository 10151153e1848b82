/* ask.c -- read a request of any of the protocols. */
#include "fake/ask.h"

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

enum { TOOLS_DEEP = 8 }; /* levels of a list of tools that are looked through */

/* ---- texts --------------------------------------------------------------------------------------- */

static bool field_is(maki_str object, maki_str name, maki_str text)
{
    maki_str value;
    return maki_json_get(object, name, &value) && maki_json_text_is(value, text);
}

static maki_str text_field(maki_str object, maki_str name, maki_arena *arena)
{
    maki_str value;
    if (!maki_json_get(object, name, &value)) return (maki_str){ 0 };
    if (maki_json_kind_of(value) != MAKI_JSON_STRING) return (maki_str){ 0 };
    return maki_json_text(value, arena);
}

/* The text of a content: a string, or the last of its parts that is text. */
static bool text_of(maki_str content, maki_arena *arena, maki_str *text)
{
    if (maki_json_kind_of(content) == MAKI_JSON_STRING) {
        *text = maki_json_text(content, arena);
        return true;
    }
    if (maki_json_kind_of(content) != MAKI_JSON_ARRAY) return false;
    maki_json_iter iter = maki_json_items(content);
    maki_json_item item;
    maki_str value, last = { 0 };
    bool found = false;
    while (maki_json_next(&iter, &item)) {
        if (maki_json_get(item.value, MAKI_LIT("text"), &value)) {
            last = value;
            found = true;
        }
    }
    if (found && maki_json_kind_of(last) == MAKI_JSON_STRING) *text = maki_json_text(last, arena);
    return found;
}

static void user_said(fake_ask *ask, maki_str content, maki_arena *arena)
{
    if (!text_of(content, arena, &ask->said)) return;
    ask->has_result = false;
    ask->result = (maki_str){ 0 };
}

static void tool_said(fake_ask *ask, maki_str content, maki_arena *arena)
{
    ask->has_result = true;
    if (!text_of(content, arena, &ask->result)) ask->result = content;
}

/* ---- messages ------------------------------------------------------------------------------------ */

static bool any_of(maki_str object, const maki_str *names, size_t count, maki_str *value)
{
    for (size_t i = 0; i < count; i++) {
        if (maki_json_get(object, names[i], value)) return true;
    }
    return false;
}

/* A result inside of a message: Anthropic's block, Gemini's part. */
static void read_part(fake_ask *ask, maki_str part, maki_arena *arena)
{
    static const maki_str inside[] = { { "output",
                                         6 } }; /* what a function gave is usually called so */
    maki_str value, response;
    if (field_is(part, MAKI_LIT("type"), MAKI_LIT("tool_result")))
        tool_said(ask, maki_json_get(part, MAKI_LIT("content"), &value) ? value : MAKI_LIT("\"\""),
                  arena);
    if (maki_json_get(part, MAKI_LIT("functionResponse"), &response) &&
        maki_json_get(response, MAKI_LIT("response"), &response))
        tool_said(ask, any_of(response, inside, 1, &value) ? value : response, arena);
}

/* A message or an item of any protocol: a search that knows them all. */
static void read_message(fake_ask *ask, maki_str message, maki_arena *arena)
{
    static const maki_str contents[] = { { "content", 7 }, { "parts", 5 }, { "output", 6 } };
    maki_str content, type = { "", 0 }, role = { "", 0 };
    maki_json_item part;
    if (!any_of(message, contents, 3, &content)) return;
    maki_json_get(message, MAKI_LIT("role"), &role);
    maki_json_get(message, MAKI_LIT("type"), &type);
    bool output = maki_is_string(type) && maki_str_ends(type, MAKI_LIT("_call_output\""));
    if (output || maki_is_text(role, MAKI_LIT("tool"))) {
        tool_said(ask, content, arena);
    } else if (maki_is_text(role, MAKI_LIT("user")) || (!role.len && !type.len)) {
        user_said(ask, content, arena);
        maki_json_iter iter = maki_json_items(content);
        while (maki_is_array(content) && maki_json_next(&iter, &part))
            read_part(ask, part.value, arena);
    }
}

static void read_messages(fake_ask *ask, maki_str name, maki_arena *arena)
{
    maki_str list;
    maki_json_item item;
    if (!name.len || !maki_json_get(ask->body, name, &list)) return;
    if (maki_is_string(list))
        user_said(ask, list, arena); /* Responses: the input may be one text */
    maki_json_iter iter = maki_json_items(list);
    while (!maki_is_string(list) && maki_json_next(&iter, &item))
        read_message(ask, item.value, arena);
}

/* ---- options --------------------------------------------------------------------------------------- */

/* A field of a field: output_config.format. */
static bool inner(maki_str object, maki_str outer, maki_str name, maki_str *value)
{
    maki_str within;
    return maki_json_get(object, outer, &within) && maki_json_kind_of(within) == MAKI_JSON_OBJECT &&
           maki_json_get(within, name, value);
}

static bool wants_json(maki_str body)
{
    maki_str format;
    if (inner(body, MAKI_LIT("response_format"), MAKI_LIT("type"), &format) ||
        inner(body, MAKI_LIT("generationConfig"), MAKI_LIT("responseMimeType"), &format)) {
        return !maki_json_text_is(format, MAKI_LIT("text")) &&
               !maki_json_text_is(format, MAKI_LIT("text/plain"));
    }
    if (inner(body, MAKI_LIT("output_config"), MAKI_LIT("format"), &format) ||
        inner(body, MAKI_LIT("text"), MAKI_LIT("format"), &format)) {
        return !field_is(format, MAKI_LIT("type"), MAKI_LIT("text"));
    }
    return maki_json_get(body, MAKI_LIT("format"), &format) && format.len > 2;
}

static bool flag(maki_str object, maki_str name, bool otherwise)
{
    maki_str value;
    return maki_json_get(object, name, &value) ? maki_json_true(value) : otherwise;
}

static void read_options(fake_ask *ask)
{
    maki_str value;
    const maki_protocol_spec *spec = maki_protocol_of(ask->protocol);
    if (!spec->model_in_path) ask->stream = flag(ask->body, MAKI_LIT("stream"), spec->streams);
    if (inner(ask->body, MAKI_LIT("stream_options"), MAKI_LIT("include_usage"), &value)) {
        ask->wants_usage = maki_json_true(value);
    }
    if (inner(ask->body, MAKI_LIT("thinking"), MAKI_LIT("type"), &value)) {
        ask->thinks = !maki_json_text_is(value, MAKI_LIT("disabled"));
    }
    if (flag(ask->body, MAKI_LIT("think"), false)) ask->thinks = true;
    ask->wants_json = wants_json(ask->body);
}

/* Gemini: .../models/NAME:streamGenerateContent?alt=sse */
static void read_target(fake_ask *ask, maki_str target)
{
    size_t slash = 0, colon = target.len;
    for (size_t i = 0; i < target.len && target.ptr[i] != '?'; i++) {
        if (target.ptr[i] == '/') slash = i + 1;
        if (target.ptr[i] == ':') colon = i;
    }
    if (colon == target.len) return;
    ask->model = (maki_str){ target.ptr + slash, colon - slash };
    ask->stream = maki_str_starts(maki_str_from(target, colon + 1), MAKI_LIT("stream"));
    ask->array = ask->stream && !maki_str_has(target, MAKI_LIT("alt=sse"));
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

maki_status fake_ask_read(maki_protocol protocol, maki_str target, maki_str body, maki_arena *arena,
                          fake_ask *out, maki_err *err)
{
    const maki_protocol_spec *spec = maki_protocol_of(protocol);
    fake_ask ask = { .protocol = protocol, .model = MAKI_LIT("fake"), .seed = seed_of(body) };
    maki_status st = maki_json_check(body, &ask.body, err);
    if (st == MAKI_OK && maki_json_kind_of(ask.body) != MAKI_JSON_OBJECT) {
        st = maki_fail(err, MAKI_INVALID, "the body is not a JSON object");
    }
    if (st != MAKI_OK) return st;

    maki_str model = text_field(ask.body, MAKI_LIT("model"), arena);
    if (model.len) ask.model = model;
    if (spec->model_in_path) read_target(&ask, target);
    ask.said = text_field(ask.body, MAKI_LIT("prompt"), arena);
    read_messages(&ask, maki_str_of(spec->messages), arena);
    read_options(&ask);
    *out = ask;
    return MAKI_OK;
}

/* ---- tools ----------------------------------------------------------------------------------------- */

/* The first object below `value` that is named so.  Each protocol wraps its tools differently, and a
 * search knows them all. */
static bool find_named(maki_str value, maki_str name, unsigned deep, maki_str *found)
{
    maki_json_kind kind = maki_json_kind_of(value);
    if (deep == 0 || (kind != MAKI_JSON_ARRAY && kind != MAKI_JSON_OBJECT)) return false;
    if (kind == MAKI_JSON_OBJECT && field_is(value, MAKI_LIT("name"), name)) {
        *found = value;
        return true;
    }
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        if (find_named(item.value, name, deep - 1, found)) return true;
    }
    return false;
}

bool fake_ask_tool(const fake_ask *ask, maki_str name, maki_str *definition)
{
    maki_str list;
    if (maki_json_get(ask->body, MAKI_LIT("tools"), &list) &&
        find_named(list, name, TOOLS_DEEP, definition)) {
        return true;
    }
    /* Codex: the tools are an item of the input. */
    if (!maki_json_get(ask->body, MAKI_LIT("input"), &list)) return false;
    maki_json_iter iter = maki_json_items(list);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        if (field_is(item.value, MAKI_LIT("type"), MAKI_LIT("additional_tools")) &&
            find_named(item.value, name, TOOLS_DEEP, definition)) {
            return true;
        }
    }
    return false;
}

bool fake_tool_takes(maki_str definition, maki_str parameter)
{
    maki_json_iter iter = maki_json_items(definition);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        if (maki_json_key_is(item.key, parameter)) return true;
        if (maki_json_kind_of(item.value) == MAKI_JSON_OBJECT &&
            fake_tool_takes(item.value, parameter)) {
            return true;
        }
    }
    return false;
}

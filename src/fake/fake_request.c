/* fake_request.c -- read a request of any of the protocols. */
#include "fake/fake_request.h"

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "wire/content_part.h"

enum { TOOLS_DEEP = 8 }; /* levels of a list of tools that are looked through */

static bool field_is(maki_str object, maki_str name, maki_str text)
{
    maki_str value;
    return maki_json_get(object, name, &value) && maki_json_text_is(value, text);
}

/* ---- messages ------------------------------------------------------------------------------------ */

typedef struct asking {
    fake_ask *ask;
    maki_arena *arena;
} asking;

/* What a tool answered: its last text, or all there is. */
static maki_str result_of(maki_str content, maki_arena *arena)
{
    maki_content_parts pieces = maki_content_parts_in(content);
    maki_content_part piece;
    maki_str result = content;
    while (maki_content_parts_next(&pieces, &piece))
        if (piece.kind == MAKI_CONTENT_TEXT) result = maki_json_text(piece.text, arena);
    return maki_arena_copy(arena, result);
}

static maki_status read_message(void *ctx, const maki_wire_message *message, maki_err *err)
{
    asking *a = ctx;
    maki_content_parts pieces = maki_content_parts_of(message->row);
    maki_content_part piece;
    bool result = false; /* it counts, whatever else the message says */
    (void)err;
    while (pieces.by == MAKI_BY_USER && maki_content_parts_next(&pieces, &piece)) {
        if (piece.kind == MAKI_CONTENT_TEXT) {
            a->ask->said = maki_arena_copy(a->arena, maki_json_text(piece.text, a->arena));
            a->ask->has_result = result;
        } else if (piece.kind == MAKI_CONTENT_RESULT) {
            a->ask->has_result = result = true;
            a->ask->result = result_of(piece.content, a->arena);
        }
    }
    return MAKI_OK;
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
        inner(body, MAKI_LIT("text"), MAKI_LIT("format"), &format))
        return !field_is(format, MAKI_LIT("type"), MAKI_LIT("text"));
    return maki_json_get(body, MAKI_LIT("format"), &format) && format.len > 2;
}

static void read_options(fake_ask *ask)
{
    maki_str value;
    if (inner(ask->body, MAKI_LIT("stream_options"), MAKI_LIT("include_usage"), &value))
        ask->wants_usage = maki_json_true(value);
    if (inner(ask->body, MAKI_LIT("thinking"), MAKI_LIT("type"), &value))
        ask->thinks = !maki_json_text_is(value, MAKI_LIT("disabled"));
    if (maki_json_get(ask->body, MAKI_LIT("think"), &value) && maki_json_true(value))
        ask->thinks = true;
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

maki_status fake_ask_read(const maki_env *env, maki_protocol protocol, maki_str target,
                          maki_str body, maki_arena *arena, fake_ask *out, maki_err *err)
{
    fake_ask ask = { .protocol = protocol, .model = MAKI_LIT("fake"), .seed = seed_of(body) };
    asking a = { &ask, arena };
    maki_wire_request request = { .stream = maki_protocol_of(protocol)->streams };
    maki_status st = maki_json_check(body, &ask.body, err);
    if (st == MAKI_OK && maki_json_kind_of(ask.body) != MAKI_JSON_OBJECT)
        st = maki_fail(err, MAKI_INVALID, "the body is not a JSON object");
    if (st != MAKI_OK) return st;

    /* what of it cannot be read was not said */
    (void)!maki_wire_read(env, protocol, body, NULL, read_message, &a, &request, NULL, NULL);
    if (request.model.len) ask.model = maki_json_text(request.model, arena);
    ask.stream = request.stream;
    if (maki_protocol_of(protocol)->model_in_path) read_target(&ask, target);
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
    while (maki_json_next(&iter, &item))
        if (find_named(item.value, name, deep - 1, found)) return true;
    return false;
}

bool fake_ask_tool(const fake_ask *ask, maki_str name, maki_str *definition)
{
    maki_str list;
    if (maki_json_get(ask->body, MAKI_LIT("tools"), &list) &&
        find_named(list, name, TOOLS_DEEP, definition))
        return true;
    /* Codex: the tools are an item of the input. */
    if (!maki_json_get(ask->body, MAKI_LIT("input"), &list)) return false;
    maki_json_iter iter = maki_json_items(list);
    maki_json_item item;
    while (maki_json_next(&iter, &item))
        if (field_is(item.value, MAKI_LIT("type"), MAKI_LIT("additional_tools")) &&
            find_named(item.value, name, TOOLS_DEEP, definition))
            return true;
    return false;
}

bool fake_tool_takes(maki_str definition, maki_str parameter)
{
    maki_json_iter iter = maki_json_items(definition);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        if (maki_json_key_is(item.key, parameter)) return true;
        if (maki_json_kind_of(item.value) == MAKI_JSON_OBJECT &&
            fake_tool_takes(item.value, parameter))
            return true;
    }
    return false;
}

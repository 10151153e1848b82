/* export_chat.c -- the view as the chat APIs take it; see export.h.
 *
 * Messages are translated one at a time, whatever shape they came in.  Blocks that an API would not
 * take are left out, and so are messages of which nothing is left. */
#include <string.h>

#include "base/str.h"
#include "history/conv_inside.h"
#include "history/export.h"
#include "history/message.h"

enum { ARENA_MAX = 512 << 20 };

typedef struct chat {
    maki_jw w;
    maki_arena arena; /* of one message */
    const maki_alloc *alloc;
    bool results; /* Anthropic: a user message of tool results is still open */
} chat;

static maki_str get(maki_str object, const char *name)
{
    maki_str value = { "", 0 };
    maki_json_get(object, maki_str_of(name), &value);
    return value;
}

/* A row that is no JSON is not looked into. */
static maki_str message_of(const maki_seen *seen)
{
    return seen->row.flags & MAKI_ROW_BAD ? MAKI_LIT("{}") : seen->json;
}

static maki_str string_of(maki_str object, const char *name)
{
    maki_str value = get(object, name);
    return value.len && value.ptr[0] == '"' ? value : (maki_str){ "", 0 };
}

static bool is(maki_str object, const char *type)
{
    return maki_block_is(object, maki_str_of(type));
}

static void raw_field(maki_jw *w, const char *name, maki_str value)
{
    if (value.len == 0) return;
    maki_jw_key(w, maki_str_of(name));
    maki_jw_raw(w, value);
}

static void begin_block(maki_jw *w, const char *type)
{
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("type"));
    maki_jw_string(w, maki_str_of(type));
}

/* The text of a block: text, input_text, output_text, or a bare string. */
static maki_str text_of(maki_str block)
{
    if (block.ptr[0] == '"') return block;
    if (!is(block, "text") && !is(block, "input_text") && !is(block, "output_text")) {
        return (maki_str){ "", 0 };
    }
    return string_of(block, "text");
}

/* ---- images -------------------------------------------------------------------------------------------- */

/* Where an image is, in either shape: a URL, or bytes in base64 with their media type.  All still
 * escaped, without quotes. */
typedef struct image {
    maki_str url, media, data;
} image;

static bool image_of(maki_str block, image *out)
{
    *out = (image){ 0 };
    if (is(block, "image")) {
        maki_str source = get(block, "source");
        maki_str url = string_of(source, "url"), data = string_of(source, "data");
        maki_str media = string_of(source, "media_type");
        if (url.len) out->url = maki_json_inside(url);
        if (data.len && media.len) {
            out->data = maki_json_inside(data);
            out->media = maki_json_inside(media);
        }
    } else if (is(block, "image_url") || is(block, "input_image")) {
        maki_str url = get(block, "image_url");
        if (url.len && url.ptr[0] == '{') url = get(url, "url");
        if (url.len && url.ptr[0] == '"') out->url = maki_json_inside(url);
        const char *comma = out->url.len ? memchr(out->url.ptr, ',', out->url.len) : NULL;
        maki_str data = MAKI_LIT("data:"), base64 = MAKI_LIT(";base64");
        if (comma && maki_str_starts(out->url, data)) {
            maki_str head = { out->url.ptr + data.len, (size_t)(comma - out->url.ptr) - data.len };
            if (head.len > base64.len &&
                maki_str_is(maki_str_from(head, head.len - base64.len), base64)) {
                out->media = maki_str_to(head, head.len - base64.len);
                out->data = maki_str_from(out->url, (size_t)(comma - out->url.ptr) + 1);
            }
        }
    }
    return out->url.len > 0 || out->data.len > 0;
}

static void quoted(maki_jw *w, const maki_str *parts, size_t n)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    for (size_t i = 0; i < n; i++)
        maki_jw_bytes(w, parts[i]);
    maki_jw_bytes(w, MAKI_LIT("\""));
}

/* ---- OpenAI -------------------------------------------------------------------------------------------------- */

static void openai_image(maki_jw *w, const image *im)
{
    maki_str whole[] = { MAKI_LIT("data:"), im->media, MAKI_LIT(";base64,"), im->data };
    begin_block(w, "image_url");
    maki_jw_key(w, MAKI_LIT("image_url"));
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("url"));
    if (im->url.len)
        quoted(w, &im->url, 1);
    else
        quoted(w, whole, 4);
    maki_jw_end_object(w);
    maki_jw_end_object(w);
}

/* Is the block one that goes into content?  Writes it when `w` is not NULL. */
static bool openai_part(maki_jw *w, maki_str block, bool user)
{
    maki_str text = text_of(block);
    image im;
    if (text.len) {
        if (!w) return true;
        begin_block(w, "text");
        raw_field(w, "text", text);
        maki_jw_end_object(w);
        return true;
    }
    if (block.ptr[0] != '{' || !user) return false;
    if (image_of(block, &im)) {
        if (w) openai_image(w, &im);
        return true;
    }
    bool other = is(block, "input_audio") || is(block, "file");
    if (other && w) maki_jw_raw(w, block);
    return other;
}

/* Content of a tool message: a string, or parts of text. */
static void openai_result(maki_jw *w, maki_str content)
{
    maki_str block;
    bool any = false;
    maki_jw_key(w, MAKI_LIT("content"));
    if (content.len == 0 || content.ptr[0] != '[') {
        maki_jw_raw(w, content.len && content.ptr[0] == '"' ? content : MAKI_LIT("\"\""));
        return;
    }
    maki_blocks blocks = maki_content_blocks(content);
    maki_jw_array(w);
    while (maki_blocks_next(&blocks, &block)) {
        image im;
        any |= openai_part(w, block, false);
        if (block.ptr[0] == '{' && image_of(block, &im)) {
            begin_block(w, "text");
            maki_jw_key(w, MAKI_LIT("text"));
            maki_jw_string(w, MAKI_LIT("[image]"));
            maki_jw_end_object(w);
            any = true;
        }
    }
    if (!any) { /* an array may not be empty */
        begin_block(w, "text");
        maki_jw_key(w, MAKI_LIT("text"));
        maki_jw_string(w, MAKI_LIT(""));
        maki_jw_end_object(w);
    }
    maki_jw_end_array(w);
}

static void openai_calls(maki_jw *w, maki_str content, maki_str calls)
{
    maki_blocks blocks = maki_content_blocks(content);
    maki_str block;
    maki_json_iter iter = maki_json_items(calls);
    maki_json_item item;
    maki_jw_key(w, MAKI_LIT("tool_calls"));
    maki_jw_array(w);
    while (maki_json_next(&iter, &item))
        maki_jw_raw(w, item.value);
    while (maki_blocks_next(&blocks, &block)) {
        if (!is(block, "tool_use")) continue;
        maki_str input = get(block, "input");
        maki_jw_object(w);
        raw_field(w, "id", string_of(block, "id"));
        maki_jw_key(w, MAKI_LIT("type"));
        maki_jw_string(w, MAKI_LIT("function"));
        maki_jw_key(w, MAKI_LIT("function"));
        maki_jw_object(w);
        raw_field(w, "name", string_of(block, "name"));
        maki_jw_key(w, MAKI_LIT("arguments"));
        maki_jw_string(w, input.len ? input : MAKI_LIT("{}"));
        maki_jw_end_object(w);
        maki_jw_end_object(w);
    }
    maki_jw_end_array(w);
}

/* How many blocks go into content, are calls, are results. */
typedef struct tally {
    size_t parts, calls, results;
} tally;

static tally openai_tally(maki_str content, bool user)
{
    maki_blocks blocks = maki_content_blocks(content);
    maki_str block;
    tally n = { 0 };
    while (maki_blocks_next(&blocks, &block)) {
        n.parts += openai_part(NULL, block, user);
        n.calls += is(block, "tool_use");
        n.results += is(block, "tool_result");
    }
    return n;
}

static void openai_results(maki_jw *w, maki_str content)
{
    maki_blocks blocks = maki_content_blocks(content);
    maki_str block;
    while (maki_blocks_next(&blocks, &block)) {
        if (!is(block, "tool_result")) continue;
        maki_jw_object(w);
        maki_jw_key(w, MAKI_LIT("role"));
        maki_jw_string(w, MAKI_LIT("tool"));
        raw_field(w, "tool_call_id", string_of(block, "tool_use_id"));
        openai_result(w, get(block, "content"));
        maki_jw_end_object(w);
    }
}

static maki_status openai(void *ctx, const maki_seen *seen, maki_err *err)
{
    static const char *const more[] = { "name", "refusal", "function_call", "audio",
                                        "tool_call_id" };
    chat *c = ctx;
    maki_jw *w = &c->w;
    maki_str json = message_of(seen), calls = get(json, "tool_calls");
    maki_str content = get(json, "content"), role_text = string_of(json, "role");
    (void)err;
    if (role_text.len == 0) return MAKI_OK;
    maki_role role = maki_role_of(role_text);
    bool known = role != MAKI_ROLE_OTHER || maki_json_text_is(role_text, MAKI_LIT("developer")) ||
                 maki_json_text_is(role_text, MAKI_LIT("function"));
    bool assistant = role == MAKI_ROLE_ASSISTANT, array = content.len && content.ptr[0] == '[';
    tally n = { 0 };
    if (array && role != MAKI_ROLE_TOOL) {
        n = openai_tally(content, !assistant);
        if (n.results) openai_results(w, content);
    }
    bool made_calls = assistant && (n.calls || (calls.len && calls.ptr[0] == '['));
    if (array && role != MAKI_ROLE_TOOL && n.parts == 0 && !made_calls) return w->status;
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("role"));
    maki_jw_raw(w, known ? role_text : MAKI_LIT("\"user\""));
    if (role == MAKI_ROLE_TOOL) {
        openai_result(w, content);
    } else if (array && n.parts) {
        maki_blocks blocks = maki_content_blocks(content);
        maki_str block;
        maki_jw_key(w, MAKI_LIT("content"));
        maki_jw_array(w);
        while (maki_blocks_next(&blocks, &block))
            openai_part(w, block, !assistant);
        maki_jw_end_array(w);
    } else {
        bool none = array || content.len == 0;
        raw_field(w, "content", none ? MAKI_LIT("null") : content);
    }
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        raw_field(w, more[i], get(json, more[i]));
    }
    if (made_calls) openai_calls(w, array ? content : (maki_str){ "", 0 }, calls);
    maki_jw_end_object(w);
    return w->status;
}

/* ---- Anthropic ------------------------------------------------------------------------------------------------- */

static void anthropic_image(maki_jw *w, const image *im)
{
    begin_block(w, "image");
    maki_jw_key(w, MAKI_LIT("source"));
    begin_block(w, im->data.len ? "base64" : "url");
    if (im->data.len) {
        maki_jw_key(w, MAKI_LIT("media_type"));
        quoted(w, &im->media, 1);
    }
    maki_jw_key(w, im->data.len ? MAKI_LIT("data") : MAKI_LIT("url"));
    quoted(w, im->data.len ? &im->data : &im->url, 1);
    maki_jw_end_object(w);
    maki_jw_end_object(w);
}

static bool anthropic_block(maki_jw *w, maki_str block);

/* Content of a result: a string, or blocks. */
static void anthropic_inner(maki_jw *w, maki_str content)
{
    maki_str block;
    if (content.len == 0) return;
    maki_jw_key(w, MAKI_LIT("content"));
    if (content.ptr[0] != '[') {
        maki_jw_raw(w, content.ptr[0] == '"' ? content : MAKI_LIT("\"\""));
        return;
    }
    maki_blocks blocks = maki_content_blocks(content);
    maki_jw_array(w);
    while (maki_blocks_next(&blocks, &block))
        anthropic_block(w, block);
    maki_jw_end_array(w);
}

/* Is it a block that API takes?  Writes it when `w` is not NULL. */
static bool anthropic_block(maki_jw *w, maki_str block)
{
    static const char *const whole[] = { "redacted_thinking", "document", "search_result",
                                         "server_tool_use", "web_search_tool_result" };
    maki_str text = text_of(block);
    image im;
    if (text.len > 2) { /* empty ones are refused */
        if (!w) return true;
        begin_block(w, "text");
        raw_field(w, "text", text);
        if (block.ptr[0] == '{') raw_field(w, "cache_control", get(block, "cache_control"));
        maki_jw_end_object(w);
        return true;
    }
    if (block.ptr[0] != '{' || text.len) return false;
    if (image_of(block, &im)) {
        if (w) anthropic_image(w, &im);
        return true;
    }
    if (is(block, "tool_use")) {
        if (!w) return true;
        maki_str input = get(block, "input");
        begin_block(w, "tool_use");
        raw_field(w, "id", string_of(block, "id"));
        raw_field(w, "name", string_of(block, "name"));
        raw_field(w, "input", input.len ? input : MAKI_LIT("{}"));
        maki_jw_end_object(w);
        return true;
    }
    if (is(block, "tool_result")) {
        if (!w) return true;
        begin_block(w, "tool_result");
        raw_field(w, "tool_use_id", string_of(block, "tool_use_id"));
        anthropic_inner(w, get(block, "content"));
        raw_field(w, "is_error", get(block, "is_error"));
        maki_jw_end_object(w);
        return true;
    }
    if (is(block, "thinking") && string_of(block, "signature").len > 2) {
        if (!w) return true;
        begin_block(w, "thinking");
        raw_field(w, "thinking", string_of(block, "thinking"));
        raw_field(w, "signature", string_of(block, "signature"));
        maki_jw_end_object(w);
        return true;
    }
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        if (!is(block, whole[i])) continue;
        if (w) maki_jw_raw(w, block);
        return true;
    }
    return false;
}

static void anthropic_call(chat *c, maki_str call)
{
    maki_jw *w = &c->w;
    maki_str function = get(call, "function"), arguments = string_of(function, "arguments"), input;
    begin_block(w, "tool_use");
    raw_field(w, "id", string_of(call, "id"));
    raw_field(w, "name", string_of(function, "name"));
    maki_jw_key(w, MAKI_LIT("input"));
    maki_str text = arguments.len ? maki_json_text(arguments, &c->arena) : (maki_str){ "", 0 };
    if (maki_json_check(text, &input, NULL) == MAKI_OK && input.ptr[0] == '{') {
        maki_jw_raw(w, input);
    } else {
        maki_jw_object(w);
        if (arguments.len > 2) raw_field(w, "arguments", arguments);
        maki_jw_end_object(w);
    }
    maki_jw_end_object(w);
}

static void close_results(chat *c)
{
    if (!c->results) return;
    maki_jw_end_array(&c->w);
    maki_jw_end_object(&c->w);
    c->results = false;
}

static void begin_message(maki_jw *w, bool assistant)
{
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("role"));
    maki_jw_string(w, assistant ? MAKI_LIT("assistant") : MAKI_LIT("user"));
    maki_jw_key(w, MAKI_LIT("content"));
}

/* The results of calls made side by side go into one message: that API wants them all in the next. */
static void anthropic_tool(chat *c, maki_str json)
{
    maki_jw *w = &c->w;
    if (!c->results) {
        begin_message(w, false);
        maki_jw_array(w);
        c->results = true;
    }
    begin_block(w, "tool_result");
    raw_field(w, "tool_use_id", string_of(json, "tool_call_id"));
    anthropic_inner(w, get(json, "content"));
    maki_str error = get(json, "isError");
    if (error.len && maki_json_true(error)) raw_field(w, "is_error", error);
    maki_jw_end_object(w);
}

static bool is_system(maki_str role)
{
    return maki_role_of(role) == MAKI_ROLE_SYSTEM || maki_json_text_is(role, MAKI_LIT("developer"));
}

static maki_status anthropic(void *ctx, const maki_seen *seen, maki_err *err)
{
    chat *c = ctx;
    maki_jw *w = &c->w;
    maki_str json = message_of(seen), calls = get(json, "tool_calls"), block;
    maki_str content = get(json, "content"), role = string_of(json, "role");
    maki_json_item item;
    size_t parts = 0;
    if (role.len == 0 || is_system(role)) return MAKI_OK;
    bool assistant = maki_role_of(role) == MAKI_ROLE_ASSISTANT;
    if (maki_role_of(role) == MAKI_ROLE_TOOL) {
        anthropic_tool(c, json);
        return w->status;
    }
    bool called = assistant && calls.len && calls.ptr[0] == '[';
    bool string = content.len > 2 && content.ptr[0] == '"';
    maki_blocks blocks = maki_content_blocks(content);
    while (maki_blocks_next(&blocks, &block))
        parts += anthropic_block(NULL, block);
    if (parts == 0 && !called) return MAKI_OK;
    close_results(c);
    begin_message(w, assistant);
    if (string && !called) {
        maki_jw_raw(w, content);
        maki_jw_end_object(w);
        return w->status;
    }
    maki_jw_array(w);
    blocks = maki_content_blocks(content);
    while (maki_blocks_next(&blocks, &block))
        anthropic_block(w, block);
    maki_json_iter iter = maki_json_items(called ? calls : MAKI_LIT("null"));
    while (maki_json_next(&iter, &item))
        anthropic_call(c, item.value);
    maki_jw_end_array(w);
    maki_jw_end_object(w);
    maki_status st = maki_arena_status(&c->arena, err);
    maki_arena_free(&c->arena);
    c->arena = maki_arena_new(c->alloc, ARENA_MAX);
    return st == MAKI_OK ? w->status : st;
}

static maki_status anthropic_system(void *ctx, const maki_seen *seen, maki_err *err)
{
    chat *c = ctx;
    maki_str json = message_of(seen), role = string_of(json, "role"), block;
    (void)err;
    if (role.len == 0 || !is_system(role)) return MAKI_OK;
    maki_blocks blocks = maki_content_blocks(get(json, "content"));
    while (maki_blocks_next(&blocks, &block))
        anthropic_block(&c->w, block);
    return c->w.status;
}

static maki_status find_system(void *ctx, const maki_seen *seen, maki_err *err)
{
    bool *found = ctx;
    maki_str role = string_of(message_of(seen), "role");
    (void)err;
    *found = *found || (role.len && is_system(role));
    return MAKI_OK;
}

/* ---- both --------------------------------------------------------------------------------------------------------- */

static maki_status each(maki_conv *conv, const maki_view *view, chat *c, bool anthropic_shape,
                        maki_err *err)
{
    bool system = false;
    maki_status st = MAKI_OK;
    if (anthropic_shape) st = maki_conv_each(conv, view, find_system, &system, err);
    if (st == MAKI_OK && system) {
        maki_jw_object(&c->w);
        maki_jw_key(&c->w, MAKI_LIT("system"));
        maki_jw_array(&c->w);
        st = maki_conv_each(conv, view, anthropic_system, c, err);
        maki_jw_end_array(&c->w);
        maki_jw_key(&c->w, MAKI_LIT("messages"));
    }
    maki_jw_array(&c->w);
    if (st == MAKI_OK)
        st = maki_conv_each(conv, view, anthropic_shape ? anthropic : openai, c, err);
    close_results(c);
    maki_jw_end_array(&c->w);
    if (system) maki_jw_end_object(&c->w);
    return st;
}

maki_status maki_export_chat(maki_conv *conv, bool anthropic_shape, maki_sink sink, maki_err *err)
{
    const maki_view *view;
    chat c = { .alloc = conv->env.alloc, .arena = maki_arena_new(conv->env.alloc, ARENA_MAX) };
    maki_status st = maki_conv_view(conv, MAKI_NOW, MAKI_NOW, &view, err);
    if (st != MAKI_OK) return st;
    maki_jw_init(&c.w, sink, err);
    st = each(conv, view, &c, anthropic_shape, err);
    maki_status written = maki_jw_end(&c.w);
    maki_arena_free(&c.arena);
    return st == MAKI_OK ? written : st;
}

/* import_codex.c -- rollouts of Codex, items of the Responses API, and opencode's messages with parts.
 *
 * Calls and results become OpenAI's shape (tool_calls, role tool) for items, and Anthropic's blocks
 * for opencode, whose parts hold a call and its result in one. */
#include <string.h>

#include "base/json.h"
#include "history/import_inside.h"

static const maki_str payload_field[] = { { "payload", 7 } };

/* ---- items ------------------------------------------------------------------------------------------ */

static void field(maki_buf *out, const char *before, maki_str value, maki_str dflt)
{
    maki_buf_add(out, maki_str_of(before));
    maki_buf_add(out, value.len ? value : dflt);
}

static maki_str get(maki_str object, const char *name)
{
    maki_str value = { "", 0 };
    maki_json_get(object, maki_str_of(name), &value);
    return value;
}

static maki_str string_of(maki_str object, const char *name)
{
    maki_str value = get(object, name);
    return value.len && value.ptr[0] == '"' ? value : (maki_str){ "", 0 };
}

/* The line without what was taken over: the item's `but` fields. */
static void original(maki_buf *out, maki_str line, maki_str item, const maki_str *but, size_t count)
{
    if (line.ptr == item.ptr) {
        maki_import_original(out, item, but, count);
        return;
    }
    maki_import_original(out, line, payload_field, 1);
    if (out->status != MAKI_OK) return;
    out->len--;
    maki_buf_add(out, out->ptr[out->len - 1] == '{' ? MAKI_LIT("\"payload\":{")
                                                    : MAKI_LIT(",\"payload\":{"));
    size_t at = out->len;
    maki_import_fields(out, item, but, count);
    if (out->status == MAKI_OK && out->len > at) {
        memmove(out->ptr + at, out->ptr + at + 1, out->len - at - 1);
        out->len--;
    }
    maki_buf_add(out, MAKI_LIT("}}"));
}

static void time_field(maki_buf *out, maki_str line)
{
    maki_str time = string_of(line, "timestamp");
    if (time.len) field(out, ",\"timestamp\":", time, time);
}

/* Blocks of input_text, output_text, input_image ... in the names of the chat API. */
static void add_blocks(maki_buf *out, maki_str content)
{
    maki_json_iter iter = maki_json_items(content);
    maki_json_item item;
    bool any = false;
    if (content.len == 0 || content.ptr[0] != '[') {
        maki_buf_add(out, content.len ? content : MAKI_LIT("\"\""));
        return;
    }
    maki_buf_add(out, MAKI_LIT("["));
    while (maki_json_next(&iter, &item)) {
        maki_str text = string_of(item.value, "text"), image = string_of(item.value, "image_url");
        if (any) maki_buf_add(out, MAKI_LIT(","));
        any = true;
        if (text.len) {
            field(out, "{\"type\":\"text\",\"text\":", text, text);
            maki_buf_add(out, MAKI_LIT("}"));
        } else if (image.len) {
            field(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":", image, image);
            maki_buf_add(out, MAKI_LIT("}}"));
        } else {
            maki_buf_add(out, item.value);
        }
    }
    maki_buf_add(out, MAKI_LIT("]"));
}

static void add_message(maki_buf *out, maki_str item, maki_str line)
{
    static const maki_str but[] = { { "role", 4 }, { "content", 7 } };
    field(out, "{\"role\":", string_of(item, "role"), MAKI_LIT("\"user\""));
    maki_buf_add(out, MAKI_LIT(",\"content\":"));
    add_blocks(out, get(item, "content"));
    time_field(out, line);
    original(out, line, item, but, 2);
    maki_buf_add(out, MAKI_LIT("}"));
}

/* JSON as the text of a string. */
static void add_quoted(maki_buf *out, maki_str json)
{
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(out), NULL);
    maki_jw_string(&w, json);
    (void)!maki_jw_end(&w); /* the buffer's own status tells */
}

static void add_call(maki_buf *out, maki_str item, maki_str line, const char *arguments)
{
    maki_str but[] = { { "call_id", 7 }, { "name", 4 }, maki_str_of(arguments) };
    maki_str id = string_of(item, "call_id"), value = get(item, arguments);
    if (id.len == 0) id = string_of(item, "id");
    field(out, "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":", id,
          MAKI_LIT("\"call\""));
    maki_str name = string_of(item, "name");
    if (name.len == 0) name = string_of(item, "type");
    field(out, ",\"type\":\"function\",\"function\":{\"name\":", name, MAKI_LIT("\"tool\""));
    maki_buf_add(out, MAKI_LIT(",\"arguments\":"));
    if (value.len == 0)
        maki_buf_add(out, MAKI_LIT("\"{}\""));
    else if (value.ptr[0] == '"')
        maki_buf_add(out, value);
    else
        add_quoted(out, value);
    maki_buf_add(out, MAKI_LIT("}}]"));
    time_field(out, line);
    original(out, line, item, but, 3);
    maki_buf_add(out, MAKI_LIT("}"));
}

static void add_output(maki_buf *out, maki_str item, maki_str line)
{
    static const maki_str but[] = { { "call_id", 7 }, { "output", 6 } };
    maki_str output = get(item, "output"), content = output;
    if (output.len && output.ptr[0] == '{') content = get(output, "content");
    field(out, "{\"role\":\"tool\",\"tool_call_id\":", string_of(item, "call_id"),
          MAKI_LIT("\"call\""));
    maki_buf_add(out, MAKI_LIT(",\"content\":"));
    if (content.len && (content.ptr[0] == '"' || content.ptr[0] == '['))
        add_blocks(out, content);
    else if (output.len)
        add_quoted(out, output);
    else
        maki_buf_add(out, MAKI_LIT("\"\""));
    time_field(out, line);
    original(out, line, item, but, output.len && output.ptr[0] == '{' ? 1 : 2);
    maki_buf_add(out, MAKI_LIT("}"));
}

static void add_reasoning(maki_buf *out, maki_str item, maki_str line)
{
    static const maki_str but[] = { { "summary", 7 } };
    maki_json_iter iter = maki_json_items(get(item, "summary"));
    maki_json_item part;
    bool any = false;
    maki_buf_add(out, MAKI_LIT("{\"role\":\"assistant\",\"content\":["));
    while (maki_json_next(&iter, &part)) {
        maki_str text = string_of(part.value, "text");
        if (text.len == 0) continue;
        field(out, any ? ",{\"type\":\"reasoning\",\"text\":" : "{\"type\":\"reasoning\",\"text\":",
              text, text);
        maki_buf_add(out, MAKI_LIT("}"));
        any = true;
    }
    maki_buf_add(out, MAKI_LIT("]"));
    time_field(out, line);
    original(out, line, item, but, 1);
    maki_buf_add(out, MAKI_LIT("}"));
}

maki_status maki_import_item(maki_importing *im, maki_str item, maki_str line, bool *known,
                             maki_err *err)
{
    maki_str type = string_of(item, "type");
    bool added = false;
#define IS(text) maki_json_text_is(type, MAKI_LIT(text))
    *known = true;
    maki_buf_clear(&im->row);
    if (type.len == 0)
        *known = false;
    else if (IS("message"))
        add_message(&im->row, item, line);
    else if (IS("function_call"))
        add_call(&im->row, item, line, "arguments");
    else if (IS("custom_tool_call"))
        add_call(&im->row, item, line, "input");
    else if (IS("local_shell_call") || IS("web_search_call"))
        add_call(&im->row, item, line, "action");
    else if (IS("function_call_output") || IS("custom_tool_call_output")) {
        add_output(&im->row, item, line);
    } else if (IS("reasoning"))
        add_reasoning(&im->row, item, line);
    else
        *known = false;
#undef IS
    return *known ? maki_import_made_row(im, &added, err) : MAKI_OK;
}

/* ---- Codex ---------------------------------------------------------------------------------------------- */

static maki_status compacted(maki_importing *im, maki_str line, maki_str payload, maki_err *err)
{
    static const maki_str but[] = { { "message", 7 } };
    maki_buf *out = &im->row;
    maki_buf_clear(out);
    field(out, "{\"role\":\"user\",\"content\":", string_of(payload, "message"), MAKI_LIT("\"\""));
    time_field(out, line);
    maki_import_number(out, ",\"isSummary\":true,\"condenseId\":\"compacted-", im->line);
    maki_buf_add(out, MAKI_LIT("\""));
    original(out, line, payload, but, 1);
    maki_buf_add(out, MAKI_LIT("}"));
    maki_status st = maki_buf_status(out, err);
    return st == MAKI_OK ? maki_import_condense(im, im->now.seq + 1, maki_buf_str(out), err) : st;
}

static maki_status codex_line(void *ctx, maki_str line, maki_err *err)
{
    maki_importing *im = ctx;
    maki_str type = string_of(line, "type"), payload = get(line, "payload");
    bool wrapped = payload.len && payload.ptr[0] == '{', known = false;
    maki_status st = MAKI_OK;
    if (wrapped && type.len && maki_json_text_is(type, MAKI_LIT("compacted"))) {
        return compacted(im, line, payload, err);
    }
    bool item =
        wrapped ? type.len && maki_json_text_is(type, MAKI_LIT("response_item")) : type.len > 0;
    if (item) st = maki_import_item(im, wrapped ? payload : line, line, &known, err);
    if (st != MAKI_OK || known) return st;
    im->report->other++;
    bool meta =
        wrapped ? type.len && maki_json_text_is(type, MAKI_LIT("session_meta")) : im->line == 1;
    if (meta && im->notes.len == 0) {
        maki_buf_add(&im->notes, MAKI_LIT(",\"header\":"));
        maki_buf_add(&im->notes, line);
    }
    return MAKI_OK;
}

static maki_status read(maki_importing *im, maki_err *err)
{
    return maki_import_lines(im, codex_line, im, err);
}

static bool one_of(const char *type, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(type, list[i]) == 0) return true;
    }
    return false;
}

static bool is_codex(const maki_sight *s)
{
    static const char *const wrapped[] = { "session_meta", "response_item", "event_msg",
                                           "turn_context", "compacted" };
    static const char *const items[] = { "message", "function_call", "function_call_output",
                                         "reasoning" };
    if (maki_sight_has(s, "payload") && one_of(s->type, wrapped, 5)) return true;
    if (one_of(s->type, items, 4) && !maki_sight_has(s, "parentId")) return true;
    return maki_sight_has(s, "instructions") && maki_sight_has(s, "timestamp") && !s->type[0];
}

const maki_import_format maki_import_codex = { "codex", is_codex, NULL, read };

/* ---- opencode ----------------------------------------------------------------------------------------------- */

/* A message is written as rows: words and calls of the assistant, then the results, then on. */
typedef struct rows {
    maki_importing *im;
    maki_str element, role, time;
    maki_buf calls, results; /* the blocks of the two rows at hand */
    bool any;                /* a row was written: the first one has `original` */
} rows;

static maki_status put_row(rows *r, maki_str role, maki_buf *blocks, maki_err *err)
{
    static const maki_str nothing[1] = { { "", 0 } };
    maki_buf *out = &r->im->row;
    bool added = false;
    if (blocks->len == 0) return maki_buf_status(blocks, err);
    maki_buf_clear(out);
    field(out, "{\"role\":", role, role);
    maki_buf_add(out, MAKI_LIT(",\"content\":["));
    maki_buf_add(out, maki_buf_str(blocks));
    maki_buf_add(out, MAKI_LIT("]"));
    if (r->time.len) field(out, ",\"ts\":", r->time, r->time);
    if (!r->any) maki_import_original(out, r->element, nothing, 0);
    maki_buf_add(out, MAKI_LIT("}"));
    maki_status st = maki_buf_status(blocks, err);
    maki_buf_clear(blocks);
    r->any = true;
    return st == MAKI_OK ? maki_import_made_row(r->im, &added, err) : st;
}

static maki_status put_rows(rows *r, maki_err *err)
{
    maki_status st = put_row(r, r->role, &r->calls, err);
    return st == MAKI_OK ? put_row(r, MAKI_LIT("\"user\""), &r->results, err) : st;
}

static void add_tool(rows *r, maki_str part)
{
    maki_str state = get(part, "state"), id = string_of(part, "callID");
    maki_str output = get(state, "output"), error = get(state, "error");
    if (r->calls.len) maki_buf_add(&r->calls, MAKI_LIT(","));
    field(&r->calls, "{\"type\":\"tool_use\",\"id\":", id, MAKI_LIT("\"call\""));
    field(&r->calls, ",\"name\":", string_of(part, "tool"), MAKI_LIT("\"tool\""));
    field(&r->calls, ",\"input\":", get(state, "input"), MAKI_LIT("{}"));
    maki_buf_add(&r->calls, MAKI_LIT("}"));
    if (output.len == 0 && error.len == 0) return; /* it never ended */
    if (r->results.len) maki_buf_add(&r->results, MAKI_LIT(","));
    field(&r->results, "{\"type\":\"tool_result\",\"tool_use_id\":", id, MAKI_LIT("\"call\""));
    maki_str text = output.len ? output : error;
    maki_buf_add(&r->results, MAKI_LIT(",\"content\":"));
    if (text.ptr[0] == '"')
        maki_buf_add(&r->results, text);
    else
        add_quoted(&r->results, text);
    if (output.len == 0) maki_buf_add(&r->results, MAKI_LIT(",\"is_error\":true"));
    maki_buf_add(&r->results, MAKI_LIT("}"));
}

/* file: a data URL becomes an image block, anything else its name. */
static bool add_file(maki_buf *out, maki_str part)
{
    maki_str url = string_of(part, "url"), mime = string_of(part, "mime");
    maki_str name = string_of(part, "filename");
    if (url.len && mime.len && maki_str_starts(mime, MAKI_LIT("\"image/"))) {
        field(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":", url, url);
        maki_buf_add(out, MAKI_LIT("}}"));
        return true;
    }
    if (name.len == 0) return false;
    maki_buf_add(out, MAKI_LIT("{\"type\":\"text\",\"text\":\"[file "));
    maki_buf_add(out, maki_json_inside(name));
    maki_buf_add(out, MAKI_LIT("]\"}"));
    return true;
}

static maki_status add_part(rows *r, maki_str part, maki_err *err)
{
    maki_str type = string_of(part, "type"), text = string_of(part, "text");
    maki_buf one = maki_buf_new(r->im->env->alloc, (size_t)MAKI_ROW_MAX);
    maki_status st = MAKI_OK;
    if (type.len == 0) return MAKI_OK;
    if (maki_json_text_is(type, MAKI_LIT("tool"))) {
        add_tool(r, part);
    } else if (maki_json_text_is(type, MAKI_LIT("file"))) {
        add_file(&one, part);
    } else if (text.len && (maki_json_text_is(type, MAKI_LIT("text")) ||
                            maki_json_text_is(type, MAKI_LIT("reasoning")))) {
        field(&one, "{\"type\":", type, type);
        field(&one, ",\"text\":", text, text);
        maki_buf_add(&one, MAKI_LIT("}"));
    }
    if (one.len) { /* words after results begin the next reply */
        if (r->results.len) st = put_rows(r, err);
        if (r->calls.len) maki_buf_add(&r->calls, MAKI_LIT(","));
        maki_buf_add(&r->calls, maki_buf_str(&one));
    }
    if (st == MAKI_OK) st = maki_buf_status(&one, err);
    maki_buf_free(&one);
    return st;
}

static maki_status opencode_element(void *ctx, maki_str element, maki_err *err)
{
    maki_importing *im = ctx;
    const maki_alloc *alloc = im->env->alloc;
    maki_str info = get(element, "info"), parts = get(element, "parts");
    rows r = { .im = im,
               .element = element,
               .role = string_of(info, "role"),
               .time = get(get(info, "time"), "created"),
               .calls = maki_buf_new(alloc, (size_t)MAKI_ROW_MAX),
               .results = maki_buf_new(alloc, (size_t)MAKI_ROW_MAX) };
    maki_json_iter iter = maki_json_items(parts);
    maki_json_item part;
    maki_status st = MAKI_OK;
    if (r.role.len == 0) {
        maki_import_skip(im, "a message without info.role");
        return MAKI_OK;
    }
    if (r.time.len && maki_json_kind_of(r.time) != MAKI_JSON_NUMBER) r.time = (maki_str){ "", 0 };
    while (st == MAKI_OK && maki_json_next(&iter, &part))
        st = add_part(&r, part.value, err);
    if (st == MAKI_OK) st = put_rows(&r, err);
    if (st == MAKI_OK && !r.any) { /* nothing was said: keep it all the same */
        maki_buf_add(&r.calls, MAKI_LIT("{\"type\":\"text\",\"text\":\"\"}"));
        st = put_rows(&r, err);
    }
    maki_buf_free(&r.calls);
    maki_buf_free(&r.results);
    return st;
}

static maki_status read_opencode(maki_importing *im, maki_err *err)
{
    return maki_import_elements(im, opencode_element, im, err);
}

static bool is_opencode(const maki_sight *s)
{
    return maki_sight_has(s, "info") && maki_sight_has(s, "parts");
}

const maki_import_format maki_import_opencode = { "opencode", NULL, is_opencode, read_opencode };

/* import_codex.c -- import rollouts of Codex, items of the Responses API, and opencode's messages with parts.
 *
 * In:    lines of a rollout, items of an array or body, or messages of opencode's export.
 * Out:   rows: calls and results of items in OpenAI's shape (tool_calls, role tool); those of opencode, whose parts have
 *        both a call and its result, in Anthropic's blocks.  Fields without a place in a row go into `original`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_access.h"
#include "history/import_internal.h"

/* ---- items ------------------------------------------------------------------------------------------ */

/* A string field of `object`, or `fallback`. */
static maki_str string_or(maki_str object, const char *name, maki_str fallback)
{
    maki_str value = maki_json_string(object, name);
    return value.len ? value : fallback;
}

static void write_time(maki_jw *w, maki_str line)
{
    maki_jw_print(w, "'timestamp':%v", maki_json_string(line, "timestamp"));
}

/* End a row with the line as `original`, without the fields `except` of the item, which were converted. */
static void end_row(maki_jw *w, maki_str line, maki_str item, const char *except)
{
    bool wrapped = line.ptr != item.ptr;
    maki_jw_field_object(w, "original");
    if (wrapped) {
        maki_write_rest(w, line, "payload");
        maki_jw_print(w, "'payload':{");
    }
    maki_write_rest(w, item, except);
    maki_jw_print(w, wrapped ? "}}}" : "}}");
}

/* Blocks of input_text, output_text, input_image ... in the names of the chat API. */
static void write_blocks(maki_jw *w, maki_str content)
{
    if (maki_json_kind_of(content) != MAKI_JSON_ARRAY) {
        maki_jw_raw(w, content.len ? content : MAKI_LIT("\"\""));
        return;
    }
    maki_jw_begin_array(w);
    MAKI_JSON_EACH(item, maki_json_items(content)) {
        maki_str text = maki_json_string(item.value, "text");
        maki_str image = maki_json_string(item.value, "image_url");
        if (text.len)
            maki_jw_print(w, "{'type':'text','text':%v}", text);
        else if (image.len)
            maki_jw_print(w, "{'type':'image_url','image_url':{'url':%v}}", image);
        else
            maki_jw_raw(w, item.value);
    }
    maki_jw_end_array(w);
}

static void write_message(maki_jw *w, maki_str item, maki_str line)
{
    maki_jw_print(w, "{'role':%v,'content':", string_or(item, "role", MAKI_LIT("\"user\"")));
    write_blocks(w, maki_json_field(item, "content"));
    write_time(w, line);
    end_row(w, line, item, "role content");
}

/* A function_call, or one of the calls of hosted tools: {"call_id"|"id", "name"|type, arguments|input|action}. */
static void write_call(maki_jw *w, maki_str item, maki_str line, const char *arguments,
                       const char *except)
{
    maki_str id = string_or(item, "id", MAKI_LIT("\"call\""));
    maki_str name = string_or(item, "type", MAKI_LIT("\"tool\""));
    maki_str value = maki_json_field(item, arguments);
    maki_jw_print(w,
                  "{'role':'assistant','content':null,'tool_calls':[{'id':%v,'type':'function',"
                  "'function':{'name':%v,'arguments':",
                  string_or(item, "call_id", id), string_or(item, "name", name));
    maki_write_quoted(w, value.len ? value : MAKI_LIT("{}"));
    maki_jw_print(w, "}}]");
    write_time(w, line);
    end_row(w, line, item, except);
}

/* The output of a call: text, blocks, or {"content", ...}; anything else becomes text. */
static void write_output(maki_jw *w, maki_str item, maki_str line)
{
    maki_str output = maki_json_field(item, "output"), content = output;
    bool object = maki_json_kind_of(output) == MAKI_JSON_OBJECT;
    if (object) content = maki_json_field(output, "content");
    maki_jw_print(w, "{'role':'tool','tool_call_id':%v,'content':",
                  string_or(item, "call_id", MAKI_LIT("\"call\"")));
    if (content.len && strchr("\"[", content.ptr[0]))
        write_blocks(w, content);
    else
        maki_jw_string(w, output);
    write_time(w, line);
    end_row(w, line, item, object ? "call_id" : "call_id output");
}

static void write_reasoning(maki_jw *w, maki_str item, maki_str line)
{
    maki_jw_print(w, "{'role':'assistant','content':[");
    MAKI_JSON_EACH(part, maki_json_items(maki_json_field(item, "summary"))) {
        maki_str text = maki_json_string(part.value, "text");
        if (text.len) maki_jw_print(w, "{'type':'reasoning','text':%v}", text);
    }
    maki_jw_end_array(w);
    write_time(w, line);
    end_row(w, line, item, "summary");
}

maki_status maki_import_item(maki_importer *im, maki_str item, maki_str line, bool *known,
                             maki_err *err)
{
    maki_jw *w = maki_draft_begin(&im->row);
    maki_str type = maki_json_string(item, "type");
    bool added = false;
#define IS(texts) (type.len && maki_json_text_in(type, texts))
    *known = true;
    if (IS("message"))
        write_message(w, item, line);
    else if (IS("function_call"))
        write_call(w, item, line, "arguments", "call_id name arguments");
    else if (IS("custom_tool_call"))
        write_call(w, item, line, "input", "call_id name input");
    else if (IS("local_shell_call|web_search_call"))
        write_call(w, item, line, "action", "call_id name action");
    else if (IS("function_call_output|custom_tool_call_output"))
        write_output(w, item, line);
    else if (IS("reasoning"))
        write_reasoning(w, item, line);
    else
        *known = false;
#undef IS
    return *known ? maki_import_synthetic_row(im, &added, err) : MAKI_OK;
}

/* ---- Codex ---------------------------------------------------------------------------------------------- */

static maki_status add_compacted(maki_importer *im, maki_str line, maki_str payload, maki_err *err)
{
    maki_jw *w = maki_draft_begin(&im->row);
    char id[40];
    snprintf(id, sizeof id, "compacted-%" PRIu64, im->line);
    maki_jw_print(w, "{'role':'user','content':%v",
                  string_or(payload, "message", MAKI_LIT("\"\"")));
    write_time(w, line);
    maki_jw_print(w, "'isSummary':true,'condenseId':%z", id);
    end_row(w, line, payload, "message");
    return maki_import_condense(im, im->now.seq + 1, err);
}

static maki_status codex_line(void *ctx, maki_str line, maki_err *err)
{
    maki_importer *im = ctx;
    maki_str payload = maki_json_field(line, "payload");
    bool wrapped = maki_json_kind_of(payload) == MAKI_JSON_OBJECT, known = false;
    maki_status st = MAKI_OK;
    if (wrapped && maki_json_field_in(line, "type", "compacted"))
        return add_compacted(im, line, payload, err);
    if (!wrapped || maki_json_field_in(line, "type", "response_item"))
        st = maki_import_item(im, wrapped ? payload : line, line, &known, err);
    if (st != MAKI_OK || known) return st;
    im->report->other++;
    bool meta = wrapped ? maki_json_field_in(line, "type", "session_meta") : im->line == 1;
    if (meta && !im->notes.w.written) maki_jw_print(&im->notes.w, "'header':%v", line);
    return MAKI_OK;
}

static maki_status read(maki_importer *im, maki_err *err)
{
    return maki_import_lines(im, codex_line, im, err);
}

static bool is_codex(const maki_import_probe *s)
{
    maki_str type = maki_str_of(s->type);
    if (maki_import_probe_has(s, "payload") &&
        maki_str_in(type, "session_meta|response_item|event_msg|turn_context|compacted"))
        return true;
    if (maki_str_in(type, "message|function_call|function_call_output|reasoning") &&
        !maki_import_probe_has(s, "parentId"))
        return true;
    return maki_import_probe_has(s, "instructions") && maki_import_probe_has(s, "timestamp") &&
           !s->type[0];
}

const maki_import_format maki_import_codex = { "codex", is_codex, NULL, read };

/* ---- opencode ----------------------------------------------------------------------------------------------- */

/* A message becomes several rows: text and calls of the assistant, their results, and so on. */
typedef struct rows {
    maki_importer *im;
    maki_str element, role, time;
    maki_draft calls, results; /* the blocks of the current two rows */
    bool any;                  /* a row was written: only the first one has `original` */
} rows;

static maki_status write_row(rows *r, maki_str role, maki_draft *blocks, maki_err *err)
{
    maki_str content;
    bool added = false;
    if (!blocks->w.written) return MAKI_OK;
    maki_status st = maki_draft_end(blocks, &content, err);
    maki_jw *w = maki_draft_begin(&r->im->row);
    maki_jw_print(w, "{'role':%v,'content':[%v],'ts':%v", role, content, r->time);
    if (!r->any) maki_import_original(w, r->element, "");
    maki_jw_end_object(w);
    maki_draft_begin(blocks);
    r->any = true;
    return st == MAKI_OK ? maki_import_synthetic_row(r->im, &added, err) : st;
}

static maki_status write_rows(rows *r, maki_err *err)
{
    maki_status st = write_row(r, r->role, &r->calls, err);
    return st == MAKI_OK ? write_row(r, MAKI_LIT("\"user\""), &r->results, err) : st;
}

static void add_tool(rows *r, maki_str part)
{
    maki_str state = maki_json_field(part, "state"), input = maki_json_field(state, "input");
    maki_str id = string_or(part, "callID", MAKI_LIT("\"call\""));
    maki_str output = maki_json_field(state, "output"), error = maki_json_field(state, "error");
    maki_jw_print(&r->calls.w, "{'type':'tool_use','id':%v,'name':%v,'input':%v}", id,
                  string_or(part, "tool", MAKI_LIT("\"tool\"")),
                  input.len ? input : MAKI_LIT("{}"));
    if (output.len == 0 && error.len == 0) return; /* the call has no result */
    maki_jw_print(&r->results.w, "{'type':'tool_result','tool_use_id':%v,'content':", id);
    maki_write_quoted(&r->results.w, output.len ? output : error);
    maki_jw_print(&r->results.w, output.len ? "}" : "'is_error':true}");
}

/* Write the name of a file that is not an image, as text. */
static void write_file_name(maki_jw *w, maki_str name)
{
    maki_jw_print(w, "{'type':'text','text':");
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\"[file "));
    maki_jw_bytes(w, maki_json_strip_quotes(name));
    maki_jw_bytes(w, MAKI_LIT("]\""));
    maki_jw_end_object(w);
}

static maki_status add_part(rows *r, maki_str part, maki_err *err)
{
    maki_str text = maki_json_string(part, "text"), url = maki_json_string(part, "url");
    maki_str name = maki_json_string(part, "filename");
    maki_str mime = maki_json_string(part, "mime"), type = maki_json_string(part, "type");
    if (!type.len) return MAKI_OK;
    bool is_text = text.len && maki_json_text_in(type, "text|reasoning");
    bool file = maki_json_text_in(type, "file");
    bool image = file && url.len && maki_str_starts(mime, MAKI_LIT("\"image/"));
    maki_jw *w = &r->calls.w;
    maki_status st = MAKI_OK;
    if (maki_json_text_in(type, "tool")) add_tool(r, part);
    if (!is_text && !image && !(file && name.len)) return MAKI_OK;
    if (r->results.w.written)
        st = write_rows(r, err); /* text after results begins the next reply */
    if (is_text)
        maki_jw_print(w, "{'type':%v,'text':%v}", type, text);
    else if (image)
        maki_jw_print(w, "{'type':'image_url','image_url':{'url':%v}}", url);
    else
        write_file_name(w, name);
    return st;
}

static maki_status opencode_element(void *ctx, maki_str element, maki_err *err)
{
    maki_importer *im = ctx;
    maki_str info = maki_json_field(element, "info");
    maki_str time = maki_json_field(maki_json_field(info, "time"), "created");
    rows r = { .im = im, .element = element, .role = maki_json_string(info, "role") };
    maki_status st = MAKI_OK;
    if (r.role.len == 0) {
        maki_import_skip(im, "a message without info.role");
        return MAKI_OK;
    }
    if (maki_json_kind_of(time) == MAKI_JSON_NUMBER) r.time = time;
    maki_draft_open(&r.calls, im->env->alloc, (size_t)MAKI_ROW_MAX);
    maki_draft_open(&r.results, im->env->alloc, (size_t)MAKI_ROW_MAX);
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, part, maki_json_items(maki_json_field(element, "parts")))
        st = add_part(&r, part.value, err);
    if (st == MAKI_OK) st = write_rows(&r, err);
    if (st == MAKI_OK && !r.any) { /* an empty message is kept */
        maki_jw_print(&r.calls.w, "{'type':'text','text':''}");
        st = write_rows(&r, err);
    }
    maki_buf_free(&r.calls.text);
    maki_buf_free(&r.results.text);
    return st;
}

static maki_status read_opencode(maki_importer *im, maki_err *err)
{
    return maki_import_elements(im, opencode_element, im, err);
}

static bool is_opencode(const maki_import_probe *s)
{
    return maki_import_probe_has(s, "info") && maki_import_probe_has(s, "parts");
}

const maki_import_format maki_import_opencode = { "opencode", NULL, is_opencode, read_opencode };

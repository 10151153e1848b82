/* write_anthropic.c -- write Anthropic's messages: content is a string or blocks, adjacent messages of a role are one.
 *
 * A native block is sent back with the fields the API accepts; thinking only with its signature, which only
 * Anthropic can create.  A message that is a single string stays one: it is buffered until the next part. */
#include "wire/protocol.h"

enum {
    STRING_MAX = 32 << 10, /* bytes of a buffered string; a longer one is written as a block */
    MAX_TOKENS = 8192      /* default of max_tokens, which the API requires */
};

/* ---- messages ------------------------------------------------------------------------------------------- */

static void begin_message(maki_wire_writer *wr)
{
    maki_jw_print(wr->w, "{'role':%z,'content':",
                  wr->open_author == MAKI_AUTHOR_ASSISTANT ? "assistant" : "user");
}

/* The start of a message is written only when it is known whether it is a single string. */
static void begin(maki_wire_writer *wr, maki_author author)
{
    (void)author;
    wr->message_is_string = true;
    maki_spool_clear(&wr->content);
}

static void end(maki_wire_writer *wr)
{
    if (!wr->message_is_string) {
        maki_jw_print(wr->w, "]}");
        return;
    }
    maki_str string = maki_sticky_spool_text(&wr->failure, &wr->content);
    if (string.len == 0) return;
    begin_message(wr);
    maki_jw_print(wr->w, "%v}", string);
}

static void write_text(maki_jw *w, maki_str text)
{
    maki_jw_print(w, "{'type':'text','text':%v}", text);
}

/* Ensure that a message with blocks is open. */
static maki_jw *begin_blocks(maki_wire_writer *wr, maki_author author)
{
    maki_writer_begin(wr, author);
    if (!wr->message_is_string) return wr->w;
    maki_str string = maki_sticky_spool_text(&wr->failure, &wr->content);
    wr->message_is_string = false;
    begin_message(wr);
    maki_jw_begin_array(wr->w);
    if (string.len) write_text(wr->w, string);
    return wr->w;
}

/* ---- blocks --------------------------------------------------------------------------------------------- */

/* The native blocks, and the fields the API accepts. */
static const struct native_row {
    maki_str type;
    const char *fields;
} native_rows[] = {
    { { "text", 4 }, "type text citations cache_control" },
    { { "image", 5 }, "type source cache_control" },
    { { "document", 8 }, "type source title context citations cache_control" },
    { { "thinking", 8 }, "type thinking signature" },
    { { "redacted_thinking", 17 }, "type data" },
    { { "search_result", 13 }, "type source title content citations cache_control" },
    { { "server_tool_use", 15 }, "type id name input cache_control" },
    { { "web_search_tool_result", 22 }, "type tool_use_id content cache_control" },
};

static const struct native_row *native_of(const maki_content_part *part)
{
    maki_str type = part->type;
    for (size_t i = 0; type.len && i < sizeof native_rows / sizeof native_rows[0]; i++) {
        if (maki_json_text_is(type, native_rows[i].type)) return &native_rows[i];
    }
    return NULL;
}

/* Does the API accept it?  Thinking only with its signature. */
static bool is_supported(const maki_content_part *part)
{
    switch (part->kind) {
    case MAKI_CONTENT_TEXT: return !maki_is_blank(part->text);
    case MAKI_CONTENT_IMAGE:
    case MAKI_CONTENT_FILE: return true;
    case MAKI_CONTENT_THINKING: {
        bool redacted = maki_json_string(part->block, "data").len > 2;
        return native_of(part) && (redacted || maki_json_string(part->block, "signature").len > 2);
    }
    case MAKI_CONTENT_OTHER: return native_of(part) != NULL;
    default: return false;
    }
}

static void write_media(maki_jw *w, const maki_content_part *part)
{
    const maki_media *media = &part->media;
    const char *type = part->kind == MAKI_CONTENT_IMAGE ? "image" : "document";
    if (media->data.len)
        maki_jw_print(w, "{'type':%z,'source':{'type':'base64','media_type':%q,'data':%q}}", type,
                      media->type, media->data);
    else
        maki_jw_print(w, "{'type':%z,'source':{'type':'url','url':%q}}", type, media->url);
}

static void write_block(maki_jw *w, const maki_content_part *part)
{
    const struct native_row *native = native_of(part);
    if (native) {
        maki_jw_begin_object(w);
        maki_write_fields(w, part->block, part->text, native->fields);
        maki_jw_end_object(w);
    } else if (part->kind == MAKI_CONTENT_TEXT) {
        write_text(w, part->text);
    } else {
        write_media(w, part);
    }
}

static void write_call(maki_wire_writer *wr, maki_content_part *call)
{
    maki_pending_call *pending = maki_writer_add_call(wr, call);
    if (!pending) return;
    maki_jw *w = begin_blocks(wr, MAKI_AUTHOR_ASSISTANT);
    maki_jw_print(w, "{'type':'tool_use','id':%v,'name':%v,'input':", pending->id, pending->name);
    maki_write_input(w, call->input);
    maki_jw_print(w, "'cache_control':%v}", call->cache);
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

/* Buffer a part that may be the whole message, as a single string; false: it is not one. */
static bool defer_string(maki_wire_writer *wr, const maki_content_part *part, maki_author author)
{
    bool is_string = part->kind == MAKI_CONTENT_TEXT && part->block.len == 0;
    if (!is_string || wr->open_author == author || part->text.len > STRING_MAX) return false;
    maki_writer_begin(wr, author);
    maki_sticky_spool_add(&wr->failure, &wr->content, part->text);
    return true;
}

static void write_row(maki_wire_writer *wr, const maki_content_parts *row, maki_author author)
{
    maki_row_parts iter = maki_row_parts_of(wr, row);
    maki_content_part part;
    while (maki_row_parts_next(&iter, &part)) {
        if (part.kind == MAKI_CONTENT_CALL)
            write_call(wr, &part);
        else if (is_supported(&part) && !defer_string(wr, &part, author))
            write_block(begin_blocks(wr, author), &part);
    }
}

static void write_result_content(maki_jw *w, maki_str content)
{
    maki_content_parts parts = maki_content_parts_of_content(content);
    maki_content_part part;
    bool any = false;
    if (maki_is_string(content)) {
        if (!maki_is_blank(content)) maki_jw_print(w, "'content':%v", content);
        return;
    }
    while (maki_content_parts_next(&parts, &part)) {
        if (part.kind == MAKI_CONTENT_THINKING || !is_supported(&part)) continue;
        if (!any) maki_jw_print(w, "'content':[");
        any = true;
        write_block(w, &part);
    }
    if (any) maki_jw_end_array(w);
}

static void write_result(maki_wire_writer *wr, maki_jw *w, const maki_pending_call *pending,
                         const maki_content_part *part)
{
    (void)wr;
    maki_jw_print(w, "{'type':'tool_result','tool_use_id':%v", pending->id);
    write_result_content(w, part->content);
    maki_jw_print(w, "'is_error':%v,'cache_control':%v}",
                  part->error ? MAKI_LIT("true") : MAKI_LIT(""), part->cache);
}

static void before_result(maki_wire_writer *wr, const maki_pending_call *pending)
{
    (void)pending;
    begin_blocks(wr, MAKI_AUTHOR_USER);
}

/* ---- requests ------------------------------------------------------------------------------------------- */

static unsigned parse_number(maki_str *text)
{
    unsigned n = 0;
    while (text->len && text->ptr[0] >= '0' && text->ptr[0] <= '9' && n < 100000) {
        n = n * 10 + (unsigned)(text->ptr[0] - '0');
        *text = maki_str_skip(*text, 1);
    }
    return n;
}

/* From 4.6 on the model decides how long it thinks, given an effort.  The name is claude-FAMILY-4-6, where a
 * date may replace the second number; older ones are claude-3-7-FAMILY. */
static bool has_adaptive_thinking(maki_str model)
{
    maki_str rest = MAKI_LIT("claude-");
    if (!maki_str_starts(model, rest)) return false;
    rest = maki_str_skip(model, rest.len);
    while (rest.len && rest.ptr[0] >= 'a' && rest.ptr[0] <= 'z')
        rest = maki_str_skip(rest, 1);
    if (rest.len == 0 || rest.ptr[0] != '-') return false;
    rest = maki_str_skip(rest, 1);
    unsigned major = parse_number(&rest);
    if (rest.len && rest.ptr[0] == '-') rest = maki_str_skip(rest, 1);
    unsigned minor = parse_number(&rest);
    if (minor >= 1000) minor = 0; /* a date */
    return major > 4 || (major == 4 && minor >= 6);
}

static uint64_t max_tokens_of(const maki_request *r)
{
    return r->max_tokens ? r->max_tokens : MAX_TOKENS;
}

/* At most half of max_tokens; the API refuses less than 1024. */
static uint64_t thinking_budget(const maki_request *r)
{
    static const uint64_t budgets[] = { 0, 0, 1024, 4096, 10000, 20000 };
    uint64_t max = max_tokens_of(r) / 2;
    uint64_t budget = budgets[r->thinking] < max ? budgets[r->thinking] : max;
    return budget >= 1024 ? budget : 0;
}

static void write_thinking(maki_jw *w, const maki_request *r, bool on)
{
    if (on && has_adaptive_thinking(r->model))
        maki_jw_print(w, "'thinking':{'type':'adaptive'},'output_config':{'effort':%s}",
                      maki_thinking_level_low(r));
    else if (on)
        maki_jw_print(w, "'thinking':{'type':'enabled','budget_tokens':%i}", thinking_budget(r));
    else if (r->thinking != MAKI_THINKING_UNSET)
        maki_jw_print(w, "'thinking':{'type':'disabled'}");
}

/* The API accepts no temperature with thinking, and no thinking with a required tool. */
static void write_first(maki_jw *w, const maki_request *r)
{
    bool on = maki_request_thinks(r) && !maki_request_requires_tool(r) &&
              (has_adaptive_thinking(r->model) || thinking_budget(r) > 0);
    maki_jw_print(w, "'model':%s,'max_tokens':%i", r->model, max_tokens_of(r));
    if (r->stream) maki_jw_print(w, "'stream':true");
    if (r->has_temperature && !on) maki_jw_print(w, "'temperature':%f", r->temperature);
    if (on || r->thinking == MAKI_THINKING_OFF) write_thinking(w, r, on);
}

static void write_tool(maki_jw *w, const maki_request *r, const maki_tool *tool)
{
    (void)r;
    maki_jw_print(w, "{'name':%v,'description':%v,'input_schema':%v,'cache_control':%v}",
                  tool->name, tool->description, maki_tool_schema(tool),
                  maki_member(tool->json, MAKI_LIT("cache_control")));
}

static bool is_provider_run(const maki_tool *tool)
{
    return tool->type.len && tool->name.len && !maki_is_text(tool->type, MAKI_LIT("custom"));
}

static void write_choice(maki_jw *w, const maki_request *r)
{
    if (r->tool_choice.len == 0) return;
    if (maki_tool_choice_is_name(r))
        maki_jw_print(w, "'tool_choice':{'type':'tool','name':%s}", r->tool_choice);
    else
        maki_jw_print(w, "'tool_choice':{'type':%s}",
                      maki_tool_choice_is(r, "required") ? MAKI_LIT("any") : r->tool_choice);
}

const maki_request_format maki_anthropic_request_format = {
    .format = { .merges = true,
                .begin = begin,
                .end = end,
                .write_row = write_row,
                .write_result = write_result,
                .before_result = before_result },
    .ids_unique = true,
    .ids_alphanumeric = true,
    .system_location = MAKI_SYSTEM_SEPARATE,
    .system_prefix = "'system':[",
    .system_suffix = "]",
    .system_blocks = true,
    .first_fields = write_first,
    .tool = write_tool,
    .is_provider_run = is_provider_run,
    .choice = write_choice,
};

/* write_chat.c -- write OpenAI's chat completions, in the newer form (tool_calls, role tool) and the older one
 * (function_call, role function), which has one call per message: there each call is written right before its
 * result.
 *
 * A message of the assistant is collected in the spools of the writer, because its text and its calls
 * may come from several rows; other messages are written directly. */
#include "wire/protocol.h"

/* ---- parts of content ----------------------------------------------------------------------------------- */

static bool is_block(const maki_content_part *part, maki_str type)
{
    return maki_is_text(part->type, type);
}

static bool is_supported(const maki_content_part *part, maki_author author)
{
    if (part->kind == MAKI_CONTENT_TEXT) return !maki_is_blank(part->text);
    if (author == MAKI_AUTHOR_ASSISTANT) return false;
    return part->kind == MAKI_CONTENT_IMAGE || part->kind == MAKI_CONTENT_FILE ||
           is_block(part, MAKI_LIT("input_audio")) || is_block(part, MAKI_LIT("file"));
}

static void write_file(maki_jw *w, const maki_content_part *part)
{
    maki_jw_print(w, "{'type':'file','file':{'filename':'document.pdf','file_data':");
    maki_write_url(w, &part->media);
    maki_jw_print(w, "}}");
}

static void write_image(maki_jw *w, const maki_content_part *part)
{
    maki_jw_print(w, "{'type':'image_url','image_url':{'url':");
    maki_write_url(w, &part->media);
    maki_write_rest(w, maki_member(part->block, MAKI_LIT("image_url")), "url"); /* detail */
    maki_jw_print(w, "},'cache_control':%v}", part->cache);
}

static void write_text(maki_jw *w, maki_str text, maki_str cache)
{
    maki_jw_print(w, "{'type':'text','text':%v,'cache_control':%v}", text, cache);
}

static void write_part(maki_jw *w, const maki_content_part *part)
{
    bool native = is_block(part, MAKI_LIT("file")) || is_block(part, MAKI_LIT("input_audio"));
    if (part->kind == MAKI_CONTENT_TEXT)
        write_text(w, part->text, part->cache);
    else if (native)
        maki_jw_raw(w, part->block);
    else if (part->kind == MAKI_CONTENT_IMAGE)
        write_image(w, part);
    else
        write_file(w, part);
}

/* ---- the assistant -------------------------------------------------------------------------------------- */

/* The field in which reasoning is sent back; len 0: it is not sent. */
static maki_str reasoning_field_of(const maki_wire_writer *wr, const maki_content_part *part)
{
    static const maki_str content = { "reasoning_content", 17 }, not_sent = { "", 0 };
    if (part->text.len <= 2 || wr->options.reasoning == MAKI_REASONING_REFUSED) return not_sent;
    if (wr->options.reasoning == MAKI_REASONING_CONTENT) return content;
    bool from_ollama = maki_str_equal(part->field, MAKI_LIT("thinking"));
    return from_ollama ? not_sent : part->field;
}

static void add_reasoning(maki_wire_writer *wr, const maki_content_part *part)
{
    maki_str field = reasoning_field_of(wr, part);
    if (field.len == 0 || (wr->reasoning_field.len && !maki_str_equal(wr->reasoning_field, field)))
        return;
    maki_writer_add_text(wr, &wr->reasoning, wr->reasoning_field.len == 0, part->text);
    wr->reasoning_field = field;
}

/* A single text is stored as a string; several as parts. */
static void add_text(maki_wire_writer *wr, const maki_content_part *part)
{
    maki_jw w;
    if (maki_is_blank(part->text)) return;
    if (wr->part_count++ == 0 && part->block.len == 0) {
        wr->content_is_string = true;
        maki_sticky_spool_add(&wr->failure, &wr->content, part->text);
        return;
    }
    if (wr->content_is_string) maki_sticky_spool_add(&wr->failure, &wr->content, MAKI_LIT("},"));
    wr->content_is_string = false;
    maki_sticky_jw_begin(&wr->failure, maki_spool_sink(&wr->content), &w);
    write_text(&w, part->text, part->cache);
    maki_sticky_jw_end(&wr->failure, &w, MAKI_LIT(","));
}

static void write_function(maki_jw *w, const maki_pending_call *pending, maki_str input)
{
    maki_jw_print(w, "{'name':%v,'arguments':", pending->name);
    maki_write_arguments(w, input);
    maki_jw_end_object(w);
}

static void add_call(maki_wire_writer *wr, maki_content_part *call)
{
    maki_pending_call *pending = maki_writer_add_call(wr, call);
    maki_jw w;
    if (!pending) return;
    pending->call_offset = wr->calls.size;
    maki_sticky_jw_begin(&wr->failure, maki_spool_sink(&wr->calls), &w);
    if (wr->options.functions) {
        write_function(&w, pending, call->input);
    } else {
        maki_jw_print(&w, "{'id':%v,'type':'function','function':", pending->id);
        write_function(&w, pending, call->input);
        if (call->field.len) maki_write_rest(&w, call->block, "id type function index");
        maki_jw_end_object(&w);
    }
    maki_sticky_jw_end(&wr->failure, &w, MAKI_LIT(","));
    pending->call_len = wr->calls.size - pending->call_offset - 1;
}

static void add_parts(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_row_parts iter = maki_row_parts_of(wr, row);
    maki_content_part part;
    while (maki_row_parts_next(&iter, &part)) {
        switch (part.kind) {
        case MAKI_CONTENT_TEXT: add_text(wr, &part); break;
        case MAKI_CONTENT_CALL: add_call(wr, &part); break;
        case MAKI_CONTENT_THINKING: add_reasoning(wr, &part); break;
        default: break;
        }
    }
}

static void write_content(maki_wire_writer *wr)
{
    maki_str content = maki_sticky_spool_text(&wr->failure, &wr->content);
    if (content.len == 0) {
        maki_jw_print(wr->w, "'content':null");
    } else if (wr->content_is_string) {
        maki_jw_print(wr->w, "'content':%v", content);
    } else {
        bool first_is_string = content.ptr[0] == '"'; /* the first text was stored as a string */
        maki_jw_print(wr->w, "'content':[");
        maki_jw_begin_value(wr->w);
        if (first_is_string) maki_jw_bytes(wr->w, MAKI_LIT("{\"type\":\"text\",\"text\":"));
        maki_jw_bytes(wr->w, maki_str_prefix(content, content.len - 1));
        maki_jw_end_array(wr->w);
    }
}

/* Write the collected message, except its calls, and leave it open.  `row`: the only row it comes from, or
 * NULL. */
static void write_collected(maki_wire_writer *wr, const maki_content_parts *row)
{
    wr->any_message = true;
    maki_jw_print(wr->w, "{'role':'assistant'");
    write_content(wr);
    if (row)
        maki_jw_print(wr->w, "'name':%v,'refusal':%v,'audio':%v", row->name, row->refusal,
                      row->audio);
    if (wr->reasoning_field.len) {
        maki_jw_key(wr->w, wr->reasoning_field);
        maki_jw_print(wr->w, "%q", maki_sticky_spool_text(&wr->failure, &wr->reasoning));
    }
    maki_writer_clear_message(wr);
}

/* Write the calls of the round; in the older form they are written with their results. */
static void end_calls(maki_wire_writer *wr)
{
    if (wr->options.functions) return;
    write_collected(wr, NULL);
    maki_writer_write_items(wr, "tool_calls", &wr->calls);
    maki_jw_end_object(wr->w);
}

static void before_result(maki_wire_writer *wr, const maki_pending_call *pending)
{
    if (!wr->options.functions) return;
    maki_str calls = maki_sticky_spool_text(&wr->failure, &wr->calls);
    write_collected(wr, NULL); /* the text goes with the first call */
    if (calls.len)
        calls = (maki_str){ calls.ptr + pending->call_offset, (size_t)pending->call_len };
    maki_jw_print(wr->w, "'function_call':%v}", calls);
}

static void write_assistant_row(maki_wire_writer *wr, const maki_content_parts *row)
{
    add_parts(wr, row);
    if (wr->collecting) return; /* wait for further calls */
    if (!wr->part_count && !wr->reasoning_field.len && !row->refusal.len && !row->audio.len) return;
    write_collected(wr, row);
    maki_jw_end_object(wr->w);
}

/* ---- other messages ----------------------------------------------------------------------------------------- */

static void write_row(maki_wire_writer *wr, const maki_content_parts *row, maki_author author)
{
    maki_row_parts iter = maki_row_parts_of(wr, row);
    maki_content_part part;
    size_t count = 0;
    bool is_string = true; /* the content is a single string */
    if (author == MAKI_AUTHOR_ASSISTANT) {
        write_assistant_row(wr, row);
        return;
    }
    while (maki_row_parts_next(&iter, &part)) {
        if (is_supported(&part, author))
            is_string = count++ == 0 && !part.block.len && part.kind == MAKI_CONTENT_TEXT;
    }
    if (count == 0) return;
    iter = maki_row_parts_of(wr, row);
    if (author != MAKI_AUTHOR_SYSTEM) wr->any_message = true;
    maki_jw_print(wr->w, is_string ? "{'role':%v,'content':" : "{'role':%v,'content':[",
                  author == MAKI_AUTHOR_SYSTEM ? row->role : MAKI_LIT("\"user\""));
    while (maki_row_parts_next(&iter, &part)) {
        if (!is_supported(&part, author)) continue;
        if (is_string)
            maki_jw_raw(wr->w, part.text);
        else
            write_part(wr->w, &part);
    }
    if (!is_string) maki_jw_end_array(wr->w);
    maki_jw_print(wr->w, "'name':%v}", /* of a result it would be the tool's name */
                  row->is_result ? MAKI_LIT("") : row->name);
}

/* ---- results -------------------------------------------------------------------------------------------- */

/* A string, or text parts: the API accepts no images here. */
static void write_result_content(maki_jw *w, maki_str content)
{
    maki_content_parts parts = maki_content_parts_of_content(content);
    maki_content_part part;
    bool any = false;
    if (!maki_is_array(content)) {
        maki_write_content_text(w, content);
        return;
    }
    maki_jw_begin_array(w);
    while (maki_content_parts_next(&parts, &part)) {
        bool image = part.kind == MAKI_CONTENT_IMAGE;
        if (part.kind != MAKI_CONTENT_TEXT && !image) continue;
        write_text(w, image ? MAKI_LIT("\"[image]\"") : part.text, part.cache);
        any = true;
    }
    if (!any) write_text(w, MAKI_LIT("\"\""), (maki_str){ "", 0 }); /* the array may not be empty */
    maki_jw_end_array(w);
}

static void write_result(maki_wire_writer *wr, maki_jw *w, const maki_pending_call *pending,
                         const maki_content_part *part)
{
    if (wr->options.functions) {
        maki_jw_print(w, "{'role':'function','name':%v,'content':", pending->name);
        maki_write_content_text(w, part->content);
    } else {
        maki_jw_print(w, "{'role':'tool','tool_call_id':%v,'content':", pending->id);
        write_result_content(w, part->content);
    }
    maki_jw_end_object(w);
}

/* ---- requests ------------------------------------------------------------------------------------------- */

/* OpenAI's newer models refuse max_tokens; other servers accept only that. */
static const char *max_tokens_format(maki_str model)
{
    static const char *const newer[] = { "o1", "o3", "o4", "gpt-5" };
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
        if (maki_str_starts(model, maki_str_of(newer[i]))) return "'max_completion_tokens':%I";
    }
    return "'max_tokens':%I";
}

static void write_thinking(maki_jw *w, const maki_request *r)
{
    bool on = maki_request_thinks(r);
    if (maki_request_reasoning(r) == MAKI_REASONING_CONTENT)
        maki_jw_print(w, "'thinking':{'type':%z}", on ? "enabled" : "disabled");
    else if (on) /* there is no common value for off */
        maki_jw_print(w, "'reasoning_effort':%s", maki_thinking_level(r));
}

static void write_first(maki_jw *w, const maki_request *r)
{
    maki_jw_print(w, "'model':%s", r->model);
    maki_jw_print(w, max_tokens_format(r->model), r->max_tokens);
    if (r->stream) /* without include_usage the stream has no usage */
        maki_jw_print(w, "'stream':true,'stream_options':{'include_usage':true}");
    if (r->has_temperature) maki_jw_print(w, "'temperature':%f", r->temperature);
    if (r->thinking != MAKI_THINKING_UNSET) write_thinking(w, r);
}

static void write_tool(maki_jw *w, const maki_request *r, const maki_tool *tool)
{
    if (r->functions)
        maki_jw_print(w, "{'name':%v,'description':%v,'parameters':%v}", tool->name,
                      tool->description, maki_tool_schema(tool));
    else
        maki_jw_print(w,
                      "{'type':'function','function':{'name':%v,'description':%v,'parameters':%v,"
                      "'strict':%v}}",
                      tool->name, tool->description, maki_tool_schema(tool), tool->strict);
}

/* Always written: requests with tools end in "tool_choice":"auto".  The older form cannot require a call. */
static void write_choice(maki_jw *w, const maki_request *r)
{
    bool is_default =
        r->tool_choice.len == 0 || (r->functions && maki_tool_choice_is(r, "required"));
    maki_jw_key(w, r->functions ? MAKI_LIT("function_call") : MAKI_LIT("tool_choice"));
    if (is_default || !maki_tool_choice_is_name(r))
        maki_jw_string(w, is_default ? MAKI_LIT("auto") : r->tool_choice);
    else if (r->functions)
        maki_jw_print(w, "{'name':%s}", r->tool_choice);
    else
        maki_jw_print(w, "{'type':'function','function':{'name':%s}}", r->tool_choice);
}

const maki_request_format maki_chat_request_format = {
    .format = { .write_row = write_row,
                .end_calls = end_calls,
                .write_result = write_result,
                .before_result = before_result },
    .id_max = 40,
    .old_functions = true,
    .first_fields = write_first,
    .tool = write_tool,
    .choice = write_choice,
};

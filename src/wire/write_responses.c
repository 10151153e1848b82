/* write_responses.c -- write items of OpenAI's Responses API: the inverse of response_items.c.
 *
 * Requests do not rely on what the provider stores (`store` is false), so ids of items are left out: they would refer
 * to items that do not exist there, or require reasoning that is not sent.  Reasoning is sent back when it has
 * its encrypted content. */
#include "wire/protocol.h"

/* ---- content -------------------------------------------------------------------------------------------- */

static bool is_supported(const maki_content_part *part, maki_author author)
{
    if (part->kind == MAKI_CONTENT_TEXT) return !maki_is_blank(part->text);
    return author != MAKI_AUTHOR_ASSISTANT &&
           (part->kind == MAKI_CONTENT_IMAGE || part->kind == MAKI_CONTENT_FILE);
}

static void write_text(maki_jw *w, const maki_content_part *part, bool output)
{
    maki_jw_print(w, "{'type':%z,'text':%v", output ? "output_text" : "input_text", part->text);
    if (output && part->original.len)
        maki_write_fields(w, part->original, MAKI_LIT(""), "annotations logprobs");
    maki_jw_end_object(w);
}

static void write_media(maki_jw *w, const maki_content_part *part)
{
    maki_str image_url = maki_member(part->block, MAKI_LIT("image_url"));
    if (part->kind == MAKI_CONTENT_IMAGE) {
        maki_jw_print(w, "{'type':'input_image','image_url':");
        maki_write_url(w, &part->media);
        maki_jw_print(w, "'detail':%v}", maki_json_string(image_url, "detail"));
        return;
    }
    maki_jw_print(w, part->media.data.len
                         ? "{'type':'input_file','filename':'document.pdf','file_data':"
                         : "{'type':'input_file','file_url':");
    maki_write_url(w, &part->media);
    maki_jw_end_object(w);
}

static void write_part(maki_jw *w, const maki_content_part *part, bool output)
{
    if (part->kind == MAKI_CONTENT_TEXT)
        write_text(w, part, output);
    else
        write_media(w, part);
}

/* ---- items ---------------------------------------------------------------------------------------------- */

/* Fields of `original` of a call or a result, except its id.  Those of other protocols have no
 * type and are ignored. */
static void write_original_fields(maki_jw *w, maki_str original)
{
    if (maki_json_string(original, "type").len) maki_write_rest(w, original, "id type");
}

static void write_message(maki_wire_writer *wr, const maki_content_parts *row, maki_author author,
                          bool is_string)
{
    maki_row_parts iter = maki_row_parts_of(wr, row);
    maki_content_part part;
    maki_jw_begin_object(wr->w);
    if (row->original.len)
        maki_write_fields(wr->w, row->original, MAKI_LIT(""), "type status phase");
    maki_jw_print(wr->w, is_string ? "'role':%v,'content':" : "'role':%v,'content':[",
                  author == MAKI_AUTHOR_USER ? MAKI_LIT("\"user\"") : row->role);
    while (maki_row_parts_next(&iter, &part)) {
        if (!is_supported(&part, author)) continue;
        if (is_string)
            maki_jw_raw(wr->w, part.text);
        else
            write_part(wr->w, &part, author == MAKI_AUTHOR_ASSISTANT);
    }
    if (!is_string) maki_jw_end_array(wr->w);
    maki_jw_end_object(wr->w);
    if (author != MAKI_AUTHOR_SYSTEM) wr->any_message = true;
}

/* The field with the arguments of each type of call. */
static const struct call_row {
    maki_str type, field;
    bool is_string;
} call_rows[] = {
    { { "custom_tool_call", 16 }, { "input", 5 }, true },
    { { "local_shell_call", 16 }, { "action", 6 }, false },
    { { "shell_call", 10 }, { "action", 6 }, false },
    { { "apply_patch_call", 16 }, { "operation", 9 }, false },
    { { "function_call", 13 }, { "arguments", 9 }, true }, /* and all other types */
};

static const struct call_row *row_of(maki_str type)
{
    const struct call_row *row = call_rows, *last = row + sizeof call_rows / sizeof *row - 1;
    while (row < last && !maki_is_text(type, row->type))
        row++;
    return row;
}

static void write_call(maki_wire_writer *wr, maki_content_part *call)
{
    maki_pending_call *pending = maki_writer_add_call(wr, call);
    if (!pending) return;
    const struct call_row *row = row_of(pending->type);
    maki_jw_print(wr->w, "{'type':%v,'call_id':%v,'name':%v",
                  pending->type.len ? pending->type : MAKI_LIT("\"function_call\""), pending->id,
                  row->is_string ? pending->name : MAKI_LIT(""));
    maki_jw_key(wr->w, row->field);
    if (row->is_string)
        maki_write_arguments(wr->w, call->input);
    else
        maki_write_input(wr->w, call->input);
    write_original_fields(wr->w, call->original);
    maki_jw_end_object(wr->w);
    wr->any_message = true;
}

/* Items stored as blocks in the row: reasoning, and calls of tools that the provider runs itself. */
static bool is_item(const maki_content_part *part)
{
    maki_str name = part->type.len ? maki_json_strip_quotes(part->type) : part->type;
    maki_str suffix = MAKI_LIT("_call");
    if (part->kind == MAKI_CONTENT_THINKING)
        return maki_json_string(part->block, "encrypted_content").len > 2;
    return part->kind == MAKI_CONTENT_OTHER && name.len > suffix.len && maki_str_ends(name, suffix);
}

static void write_row(maki_wire_writer *wr, const maki_content_parts *row, maki_author author)
{
    maki_row_parts iter = maki_row_parts_of(wr, row);
    maki_content_part part;
    size_t parts = 0;
    bool is_string = true, calls = false;
    while (maki_row_parts_next(&iter, &part)) {
        calls |= part.kind == MAKI_CONTENT_CALL;
        if (is_item(&part)) maki_jw_raw(wr->w, part.block);
        if (is_supported(&part, author))
            is_string = parts++ == 0 && !part.block.len && part.kind == MAKI_CONTENT_TEXT;
    }
    if (parts) write_message(wr, row, author, is_string);
    iter = maki_row_parts_of(wr, row);
    while (calls && maki_row_parts_next(&iter, &part)) {
        if (part.kind == MAKI_CONTENT_CALL) write_call(wr, &part);
    }
}

/* ---- results -------------------------------------------------------------------------------------------- */

static void write_result_type(maki_jw *w, const maki_pending_call *pending, maki_str original_type)
{
    const maki_str default_type[] = { pending->type.len ? maki_json_strip_quotes(pending->type)
                                                        : MAKI_LIT("function_call"),
                                      MAKI_LIT("_output") };
    maki_jw_key(w, MAKI_LIT("type"));
    if (original_type.len)
        maki_jw_raw(w, original_type);
    else
        maki_write_joined(w, default_type, 2);
}

static void write_result(maki_wire_writer *wr, maki_jw *w, const maki_pending_call *pending,
                         const maki_content_part *part)
{
    maki_content_parts parts = maki_content_parts_of_content(part->content);
    maki_content_part item;
    bool array = maki_is_array(part->content);
    (void)wr;
    maki_jw_begin_object(w);
    write_result_type(w, pending, maki_json_string(part->original, "type"));
    maki_jw_print(w, "'call_id':%v,'output':", pending->id);
    if (array)
        maki_jw_begin_array(w);
    else
        maki_write_content_text(w, part->content);
    while (array && maki_content_parts_next(&parts, &item)) {
        if (is_supported(&item, MAKI_AUTHOR_USER)) write_part(w, &item, false);
    }
    if (array) maki_jw_end_array(w);
    write_original_fields(w, part->original);
    maki_jw_end_object(w);
}

/* ---- requests ------------------------------------------------------------------------------------------- */

/* The reasoning is returned encrypted, so that it can be sent again without being stored there. */
static void write_first(maki_jw *w, const maki_request *r)
{
    maki_jw_print(w, "'model':%s,'max_output_tokens':%I,'store':false", r->model, r->max_tokens);
    if (r->stream) maki_jw_print(w, "'stream':true");
    if (r->has_temperature) maki_jw_print(w, "'temperature':%f", r->temperature);
    if (maki_request_thinks(r))
        maki_jw_print(w, "'reasoning':{'effort':%s},'include':['reasoning.encrypted_content']",
                      maki_thinking_level(r));
}

/* OpenAI's default is strict, which most schemas do not satisfy. */
static void write_tool(maki_jw *w, const maki_request *r, const maki_tool *tool)
{
    (void)r;
    maki_jw_print(w, "{'type':'function','name':%v,'description':%v,'parameters':%v,'strict':%v}",
                  tool->name, tool->description, maki_tool_schema(tool),
                  tool->strict.len ? tool->strict : MAKI_LIT("false"));
}

static bool is_provider_run(const maki_tool *tool)
{
    return tool->type.len && (!tool->name.len || maki_is_text(tool->type, MAKI_LIT("custom")));
}

static void write_choice(maki_jw *w, const maki_request *r)
{
    if (r->tool_choice.len == 0) return;
    if (maki_tool_choice_is_name(r))
        maki_jw_print(w, "'tool_choice':{'type':'function','name':%s}", r->tool_choice);
    else
        maki_jw_print(w, "'tool_choice':%s", r->tool_choice);
}

const maki_request_format maki_responses_request_format = {
    .format = { .write_row = write_row, .write_result = write_result },
    .id_max = 64,
    .ids_unique = true,
    .system_location = MAKI_SYSTEM_STRING,
    .system_field = "instructions",
    .first_fields = write_first,
    .tool = write_tool,
    .is_provider_run = is_provider_run,
    .choice = write_choice,
};

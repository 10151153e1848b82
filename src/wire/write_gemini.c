/* write_gemini.c -- write Gemini's contents with parts: the inverse of gemini_part.c.
 *
 * The fields in a part's `original`, above all its thoughtSignature, are sent back with it.  Thoughts without a signature
 * are left out. */
#include "wire/gemini_part.h"
#include "wire/protocol.h"

static void begin(maki_wire_writer *wr, maki_author author)
{
    maki_jw_print(wr->w, "{'role':%z,'parts':[",
                  author == MAKI_AUTHOR_ASSISTANT ? "model" : "user");
}

static void end(maki_wire_writer *wr)
{
    maki_jw_print(wr->w, "]}");
}

/* ---- parts ---------------------------------------------------------------------------------------------- */

/* Fields of `original` that are Gemini's; those of other protocols are ignored. */
static void write_original_fields(maki_jw *w, const maki_content_part *part)
{
    maki_jw_print(w, "'thoughtSignature':%v", maki_gemini_signature(part->original));
    if (part->original.len)
        maki_write_fields(w, part->original, MAKI_LIT(""), "videoMetadata mediaResolution");
}

/* Fields of `original` inside the part's main object. */
static void write_inner_original(maki_jw *w, const maki_content_part *part, maki_str key)
{
    maki_str inner = maki_member(part->original, key);
    if (inner.len) maki_write_rest(w, inner, "");
}

static void write_text(maki_jw *w, const maki_content_part *part, bool thought)
{
    maki_jw_print(w, "{'thought':%v,'text':%v", thought ? MAKI_LIT("true") : MAKI_LIT(""),
                  part->text);
    write_original_fields(w, part);
    maki_jw_end_object(w);
}

static void write_media(maki_jw *w, const maki_content_part *part)
{
    const maki_media *media = &part->media;
    bool data = media->data.len > 0;
    maki_jw_print(w, data ? "{'inlineData':{'mimeType':%Q" : "{'fileData':{'mimeType':%Q",
                  media->type);
    maki_jw_print(w, data ? "'data':%q" : "'fileUri':%q", data ? media->data : media->url);
    write_inner_original(w, part, data ? MAKI_LIT("inlineData") : MAKI_LIT("fileData"));
    maki_jw_end_object(w);
    write_original_fields(w, part);
    maki_jw_end_object(w);
}

/* Gemini 3 refuses the first call of a turn without a signature; this placeholder is accepted for calls of other
 * models. */
static void write_signature(maki_wire_writer *wr, const maki_content_part *call)
{
    bool has_signature = maki_gemini_signature(call->original).len > 0;
    if (!has_signature && wr->options.sign_calls && wr->pending_count == 1)
        maki_jw_print(wr->w, "'thoughtSignature':'skip_thought_signature_validator'");
}

static void write_call(maki_wire_writer *wr, maki_content_part *call)
{
    maki_pending_call *pending = maki_writer_add_call(wr, call);
    if (!pending) return;
    maki_writer_begin(wr, MAKI_AUTHOR_ASSISTANT);
    maki_jw_print(wr->w, "{'functionCall':{'name':%v,'args':", pending->name);
    maki_write_input(wr->w, call->input);
    write_inner_original(wr->w, call, MAKI_LIT("functionCall"));
    maki_jw_end_object(wr->w);
    write_original_fields(wr->w, call);
    write_signature(wr, call);
    maki_jw_end_object(wr->w);
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

static bool is_supported(const maki_content_part *part)
{
    switch (part->kind) {
    case MAKI_CONTENT_TEXT: return !maki_is_blank(part->text);
    case MAKI_CONTENT_IMAGE:
    case MAKI_CONTENT_FILE: return true;
    case MAKI_CONTENT_THINKING:
        return part->text.len > 2 && maki_gemini_signature(part->original).len > 0;
    /* an unknown part of Gemini: blocks of other protocols have a type */
    case MAKI_CONTENT_OTHER: return maki_is_object(part->block) && !part->type.len;
    default: return false;
    }
}

static void write_row(maki_wire_writer *wr, const maki_content_parts *row, maki_author author)
{
    maki_row_parts iter = maki_row_parts_of(wr, row);
    maki_content_part part;
    while (maki_row_parts_next(&iter, &part)) {
        if (part.kind == MAKI_CONTENT_CALL) write_call(wr, &part);
        if (!is_supported(&part)) continue;
        maki_writer_begin(wr, author);
        if (part.kind == MAKI_CONTENT_OTHER)
            maki_jw_raw(wr->w, part.block);
        else if (part.kind == MAKI_CONTENT_IMAGE || part.kind == MAKI_CONTENT_FILE)
            write_media(wr->w, &part);
        else
            write_text(wr->w, &part, part.kind == MAKI_CONTENT_THINKING);
    }
}

/* The response: the original object, else the text in the field that `original` names, or in output or error. */
static void write_response(maki_jw *w, const maki_content_part *part, maki_str original_response)
{
    maki_json_iter iter = maki_json_items(maki_member(original_response, MAKI_LIT("response")));
    maki_json_item text_field;
    maki_jw_key(w, MAKI_LIT("response"));
    bool has_field = iter.object && maki_json_next(&iter, &text_field);
    bool object = original_response.len && !has_field && maki_is_string(part->content);
    if (object && maki_write_parsed_object(w, part->content)) return;
    maki_jw_begin_object(w);
    maki_jw_key(w, has_field     ? text_field.key
                   : part->error ? MAKI_LIT("error")
                                 : MAKI_LIT("output"));
    maki_write_content_text(w, part->content);
    maki_jw_end_object(w);
}

static void write_result(maki_wire_writer *wr, maki_jw *w, const maki_pending_call *pending,
                         const maki_content_part *part)
{
    maki_str original_response = maki_member(part->original, MAKI_LIT("functionResponse"));
    (void)wr;
    maki_jw_print(w, "{'functionResponse':{'name':%v", pending->name);
    write_response(w, part, original_response);
    maki_write_rest(w, original_response, "name response");
    maki_jw_print(w, "}}");
}

/* ---- requests ------------------------------------------------------------------------------------------- */

/* Gemini 3 has levels, 2.5 a token budget; thinking of 2.5 Pro cannot be turned off. */
static void write_thinking(maki_jw *w, const maki_request *r)
{
    static const int64_t budgets[] = { 0, 0, 512, 1024, 8192, 24576 };
    bool levels = maki_str_starts(r->model, MAKI_LIT("gemini-3")), on = maki_request_thinks(r);
    bool pro = maki_str_contains(r->model, MAKI_LIT("-pro"));
    if (!on && (levels || pro)) return;
    maki_jw_print(w, "'thinkingConfig':{'includeThoughts':%v",
                  on ? MAKI_LIT("true") : MAKI_LIT(""));
    if (levels)
        maki_jw_print(w, "'thinkingLevel':%s}",
                      pro ? maki_thinking_level_low(r) : maki_thinking_level(r));
    else
        maki_jw_print(w, "'thinkingBudget':%i}", budgets[r->thinking]);
}

static void write_last(maki_jw *w, const maki_request *r)
{
    if (!r->max_tokens && !r->has_temperature && r->thinking == MAKI_THINKING_UNSET) return;
    maki_jw_print(w, "'generationConfig':{'maxOutputTokens':%I", r->max_tokens);
    if (r->has_temperature) maki_jw_print(w, "'temperature':%f", r->temperature);
    if (r->thinking != MAKI_THINKING_UNSET) write_thinking(w, r);
    maki_jw_end_object(w);
}

static void write_tool(maki_jw *w, const maki_request *r, const maki_tool *tool)
{
    (void)r;
    if (tool->in_gemini_list)
        maki_jw_raw(w, tool->json);
    else
        maki_jw_print(w, "{'name':%v,'description':%v,'parametersJsonSchema':%v}", tool->name,
                      tool->description, maki_tool_schema(tool));
}

static bool is_provider_run(const maki_tool *tool)
{
    return tool->type.len == 0;
}

static void write_choice(maki_jw *w, const maki_request *r)
{
    const char *mode = "ANY";
    if (r->tool_choice.len == 0) return;
    if (maki_tool_choice_is(r, "auto")) mode = "AUTO";
    if (maki_tool_choice_is(r, "none")) mode = "NONE";
    maki_jw_print(w, "'toolConfig':{'functionCallingConfig':{'mode':%z", mode);
    if (maki_tool_choice_is_name(r))
        maki_jw_print(w, "'allowedFunctionNames':[%s]", r->tool_choice);
    maki_jw_print(w, "}}");
}

const maki_request_format maki_gemini_request_format = {
    .format = { .merges = true,
                .begin = begin,
                .end = end,
                .write_row = write_row,
                .write_result = write_result },
    .system_location = MAKI_SYSTEM_SEPARATE,
    .system_prefix = "'systemInstruction':{'parts':[",
    .system_suffix = "]}",
    .last_fields = write_last,
    .tools_prefix = "{'functionDeclarations':[",
    .tools_suffix = "]}",
    .tool = write_tool,
    .is_provider_run = is_provider_run,
    .choice = write_choice,
};

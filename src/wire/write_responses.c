/* write_responses.c -- items of OpenAI's Responses API, as response_items.c reads them.
 *
 * Requests are made to be answered without what the provider keeps (`store` is false), so ids of items are
 * left out: they would name something that is not there, or ask for reasoning that is not sent.  Reasoning
 * goes back when it carries its encrypted content. */
#include "wire/protocol.h"

/* ---- content -------------------------------------------------------------------------------------------- */

static bool takes(const maki_content_part *piece, maki_speaker by)
{
    if (piece->kind == MAKI_CONTENT_TEXT) return !maki_blank(piece->text);
    return by != MAKI_BY_ASSISTANT &&
           (piece->kind == MAKI_CONTENT_IMAGE || piece->kind == MAKI_CONTENT_FILE);
}

static void write_text(maki_jw *w, const maki_content_part *piece, bool output)
{
    maki_jw_print(w, "{'type':%z,'text':%v", output ? "output_text" : "input_text", piece->text);
    if (output && piece->original.len)
        maki_put_known(w, piece->original, MAKI_LIT(""), "annotations logprobs");
    maki_jw_end_object(w);
}

static void write_media(maki_jw *w, const maki_content_part *piece)
{
    maki_str own = maki_member(piece->block, MAKI_LIT("image_url"));
    if (piece->kind == MAKI_CONTENT_IMAGE) {
        maki_jw_print(w, "{'type':'input_image','image_url':");
        maki_put_url(w, &piece->media);
        maki_jw_print(w, "'detail':%v}", maki_member_string(own, MAKI_LIT("detail")));
        return;
    }
    maki_jw_print(w, piece->media.data.len
                         ? "{'type':'input_file','filename':'document.pdf','file_data':"
                         : "{'type':'input_file','file_url':");
    maki_put_url(w, &piece->media);
    maki_jw_end_object(w);
}

static void write_part(maki_jw *w, const maki_content_part *piece, bool output)
{
    if (piece->kind == MAKI_CONTENT_TEXT)
        write_text(w, piece, output);
    else
        write_media(w, piece);
}

/* ---- items ---------------------------------------------------------------------------------------------- */

/* What the provider said beside a call or a result, but for its id.  Other protocols keep other things
 * there; items have a type. */
static void write_beside(maki_jw *w, maki_str original)
{
    if (maki_member_string(original, MAKI_LIT("type")).len) maki_write_rest(w, original, "id type");
}

static void write_message(maki_wire_writer *wr, const maki_content_parts *row, maki_speaker by,
                          bool string)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    maki_jw_object(wr->w);
    if (row->original.len) maki_put_known(wr->w, row->original, MAKI_LIT(""), "type status phase");
    maki_jw_print(wr->w, string ? "'role':%v,'content':" : "'role':%v,'content':[",
                  by == MAKI_BY_USER ? MAKI_LIT("\"user\"") : row->role);
    while (maki_turn_text_next(&saying, &piece)) {
        if (!takes(&piece, by)) continue;
        if (string)
            maki_jw_raw(wr->w, piece.text);
        else
            write_part(wr->w, &piece, by == MAKI_BY_ASSISTANT);
    }
    if (!string) maki_jw_end_array(wr->w);
    maki_jw_end_object(wr->w);
    if (by != MAKI_BY_SYSTEM) wr->any = true;
}

/* The field that holds what a kind of call is made with, and whether it is a text. */
static const struct call_row {
    maki_str type, field;
    bool text;
} call_rows[] = {
    { { "custom_tool_call", 16 }, { "input", 5 }, true },
    { { "local_shell_call", 16 }, { "action", 6 }, false },
    { { "shell_call", 10 }, { "action", 6 }, false },
    { { "apply_patch_call", 16 }, { "operation", 9 }, false },
    { { "function_call", 13 }, { "arguments", 9 }, true }, /* and all others */
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
    maki_asked *asked = maki_writer_asked(wr, call);
    if (!asked) return;
    const struct call_row *row = row_of(asked->type);
    maki_jw_print(wr->w, "{'type':%v,'call_id':%v,'name':%v",
                  asked->type.len ? asked->type : MAKI_LIT("\"function_call\""), asked->id,
                  row->text ? asked->name : MAKI_LIT(""));
    maki_jw_key(wr->w, row->field);
    if (row->text)
        maki_put_arguments(wr->w, call->input);
    else
        maki_put_input(wr->w, call->input);
    write_beside(wr->w, call->original);
    maki_jw_end_object(wr->w);
    wr->any = true;
}

/* Items that are blocks in the row: reasoning, and calls of tools that the provider runs itself. */
static bool is_item(const maki_content_part *piece)
{
    maki_str name = piece->type.len ? maki_json_inside(piece->type) : piece->type;
    maki_str end = MAKI_LIT("_call");
    if (piece->kind == MAKI_CONTENT_THINKING)
        return maki_member_string(piece->block, MAKI_LIT("encrypted_content")).len > 2;
    return piece->kind == MAKI_CONTENT_OTHER && name.len > end.len && maki_str_ends(name, end);
}

static void say(maki_wire_writer *wr, const maki_content_parts *row, maki_speaker by)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    size_t parts = 0;
    bool string = true, calls = false;
    while (maki_turn_text_next(&saying, &piece)) {
        calls |= piece.kind == MAKI_CONTENT_CALL;
        if (is_item(&piece)) maki_jw_raw(wr->w, piece.block);
        if (takes(&piece, by))
            string = parts++ == 0 && !piece.block.len && piece.kind == MAKI_CONTENT_TEXT;
    }
    if (parts) write_message(wr, row, by, string);
    saying = maki_turn_text_of(wr, row);
    while (calls && maki_turn_text_next(&saying, &piece)) {
        if (piece.kind == MAKI_CONTENT_CALL) write_call(wr, &piece);
    }
}

/* ---- results -------------------------------------------------------------------------------------------- */

static void write_type(maki_jw *w, const maki_asked *asked, maki_str own)
{
    const maki_str made[] = { asked->type.len ? maki_json_inside(asked->type)
                                              : MAKI_LIT("function_call"),
                              MAKI_LIT("_output") };
    maki_jw_key(w, MAKI_LIT("type"));
    if (own.len)
        maki_jw_raw(w, own);
    else
        maki_put_parts(w, made, 2);
}

static void result(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_content_part *piece)
{
    maki_content_parts pieces = maki_content_parts_in(piece->content);
    maki_content_part part;
    bool array = maki_is_array(piece->content);
    (void)wr;
    maki_jw_object(w);
    write_type(w, asked, maki_member_string(piece->original, MAKI_LIT("type")));
    maki_jw_print(w, "'call_id':%v,'output':", asked->id);
    if (array)
        maki_jw_array(w);
    else
        maki_put_text_of(w, piece->content);
    while (array && maki_content_parts_next(&pieces, &part)) {
        if (takes(&part, MAKI_BY_USER)) write_part(w, &part, false);
    }
    if (array) maki_jw_end_array(w);
    write_beside(w, piece->original);
    maki_jw_end_object(w);
}

/* ---- requests ------------------------------------------------------------------------------------------- */

/* The reasoning comes back encrypted, so that it can be sent again without being kept there. */
static void write_first(maki_jw *w, const maki_request *r)
{
    maki_jw_print(w, "'model':%s,'max_output_tokens':%I,'store':false", r->model, r->max_tokens);
    if (r->stream) maki_jw_print(w, "'stream':true");
    if (r->has_temperature) maki_jw_print(w, "'temperature':%f", r->temperature);
    if (maki_request_thinks(r))
        maki_jw_print(w, "'reasoning':{'effort':%s},'include':['reasoning.encrypted_content']",
                      maki_thinking_level(r));
}

/* There a schema is strict unless told otherwise, and few are written for that. */
static void write_tool(maki_jw *w, const maki_request *r, const maki_tool *tool)
{
    (void)r;
    maki_jw_print(w, "{'type':'function','name':%v,'description':%v,'parameters':%v,'strict':%v}",
                  tool->name, tool->about, maki_tool_schema(tool),
                  tool->strict.len ? tool->strict : MAKI_LIT("false"));
}

static bool runs(const maki_tool *tool)
{
    return tool->type.len && (!tool->name.len || maki_is_text(tool->type, MAKI_LIT("custom")));
}

static void write_choice(maki_jw *w, const maki_request *r)
{
    if (r->tool_choice.len == 0) return;
    if (maki_chooses_tool(r))
        maki_jw_print(w, "'tool_choice':{'type':'function','name':%s}", r->tool_choice);
    else
        maki_jw_print(w, "'tool_choice':%s", r->tool_choice);
}

const maki_protocol_writing maki_responses_writing = {
    .shape = { .say = say, .result = result },
    .id_most = 64,
    .ids_once = true,
    .system_place = MAKI_SYSTEM_TEXT,
    .system_open = "instructions",
    .first_fields = write_first,
    .tool = write_tool,
    .runs = runs,
    .choice = write_choice,
};

/* write_responses.c -- items of OpenAI's Responses API, as items.c reads them.
 *
 * Requests are made to be answered without what the provider keeps (`store` is false), so ids of items are
 * left out: they would name something that is not there, or ask for reasoning that is not sent.  Reasoning
 * goes back when it carries its encrypted content. */
#include "wire/write_inside.h"

/* ---- content -------------------------------------------------------------------------------------------- */

static bool takes(const maki_piece *piece, maki_speaker by)
{
    if (piece->kind == MAKI_PIECE_TEXT) return !maki_blank(piece->text);
    return by != MAKI_BY_ASSISTANT &&
           (piece->kind == MAKI_PIECE_IMAGE || piece->kind == MAKI_PIECE_FILE);
}

static void write_text(maki_jw *w, const maki_piece *piece, bool output)
{
    static const maki_str beside[] = { { "annotations", 11 }, { "logprobs", 8 } };
    maki_jw_object(w);
    maki_put_type(w, output ? MAKI_LIT("output_text") : MAKI_LIT("input_text"));
    maki_put_field(w, MAKI_LIT("text"), piece->text);
    if (output && piece->original.len) maki_put_known(w, piece->original, MAKI_LIT(""), beside, 2);
    maki_jw_end_object(w);
}

static void write_media(maki_jw *w, const maki_piece *piece)
{
    bool image = piece->kind == MAKI_PIECE_IMAGE;
    maki_str own = maki_get(piece->block, MAKI_LIT("image_url"));
    maki_jw_object(w);
    maki_put_type(w, image ? MAKI_LIT("input_image") : MAKI_LIT("input_file"));
    if (!image && piece->media.data.len)
        maki_put_field(w, MAKI_LIT("filename"), MAKI_LIT("\"document.pdf\""));
    if (image)
        maki_jw_key(w, MAKI_LIT("image_url"));
    else
        maki_jw_key(w, piece->media.data.len ? MAKI_LIT("file_data") : MAKI_LIT("file_url"));
    maki_put_url(w, &piece->media);
    if (image) maki_put_field(w, MAKI_LIT("detail"), maki_get_string(own, MAKI_LIT("detail")));
    maki_jw_end_object(w);
}

static void write_part(maki_jw *w, const maki_piece *piece, bool output)
{
    if (piece->kind == MAKI_PIECE_TEXT)
        write_text(w, piece, output);
    else
        write_media(w, piece);
}

/* ---- items ---------------------------------------------------------------------------------------------- */

/* What the provider said beside a call or a result, but for its id.  Other protocols keep other things
 * there; items have a type. */
static void write_beside(maki_jw *w, maki_str original)
{
    static const maki_str but[] = { { "id", 2 }, { "type", 4 } };
    if (maki_get_string(original, but[1]).len) maki_write_rest(w, original, but, 2);
}

static void write_message(maki_wire_writer *wr, const maki_pieces *row, maki_speaker by,
                          bool string)
{
    static const maki_str beside[] = { { "type", 4 }, { "status", 6 }, { "phase", 5 } };
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    maki_jw_object(wr->w);
    if (row->original.len) maki_put_known(wr->w, row->original, MAKI_LIT(""), beside, 3);
    maki_write_field(wr->w, MAKI_LIT("role"),
                     by == MAKI_BY_USER ? MAKI_LIT("\"user\"") : row->role);
    maki_jw_key(wr->w, MAKI_LIT("content"));
    if (!string) maki_jw_array(wr->w);
    while (maki_saying_next(&saying, &piece)) {
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
static maki_str input_field(maki_str type, bool *text)
{
    *text = true;
    if (maki_is_text(type, MAKI_LIT("custom_tool_call"))) return MAKI_LIT("input");
    *text = false;
    if (maki_is_text(type, MAKI_LIT("local_shell_call"))) return MAKI_LIT("action");
    if (maki_is_text(type, MAKI_LIT("shell_call"))) return MAKI_LIT("action");
    if (maki_is_text(type, MAKI_LIT("apply_patch_call"))) return MAKI_LIT("operation");
    *text = true;
    return MAKI_LIT("arguments");
}

static void write_call(maki_wire_writer *wr, maki_piece *call)
{
    maki_asked *asked = maki_writer_asked(wr, call);
    bool text;
    if (!asked) return;
    maki_str field = input_field(asked->type, &text);
    maki_jw_object(wr->w);
    maki_put_field(wr->w, MAKI_LIT("type"),
                   asked->type.len ? asked->type : MAKI_LIT("\"function_call\""));
    maki_put_field(wr->w, MAKI_LIT("call_id"), asked->id);
    if (text) maki_put_field(wr->w, MAKI_LIT("name"), asked->name);
    maki_jw_key(wr->w, field);
    if (text)
        maki_put_arguments(wr->w, call->input);
    else
        maki_put_input(wr->w, call->input);
    write_beside(wr->w, call->original);
    maki_jw_end_object(wr->w);
    wr->any = true;
}

/* Items that are blocks in the row: reasoning, and calls of tools that the provider runs itself. */
static bool is_item(const maki_piece *piece)
{
    maki_str name = piece->type.len ? maki_json_inside(piece->type) : piece->type;
    maki_str end = MAKI_LIT("_call");
    if (piece->kind == MAKI_PIECE_THINKING)
        return maki_get_string(piece->block, MAKI_LIT("encrypted_content")).len > 2;
    return piece->kind == MAKI_PIECE_OTHER && name.len > end.len &&
           maki_str_is(maki_str_from(name, name.len - end.len), end);
}

static void say(maki_wire_writer *wr, const maki_pieces *row, maki_speaker by)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    size_t parts = 0;
    bool string = true, calls = false;
    while (maki_saying_next(&saying, &piece)) {
        calls |= piece.kind == MAKI_PIECE_CALL;
        if (is_item(&piece)) maki_jw_raw(wr->w, piece.block);
        if (takes(&piece, by))
            string = parts++ == 0 && !piece.block.len && piece.kind == MAKI_PIECE_TEXT;
    }
    if (parts) write_message(wr, row, by, string);
    saying = maki_saying_of(wr, row);
    while (calls && maki_saying_next(&saying, &piece)) {
        if (piece.kind == MAKI_PIECE_CALL) write_call(wr, &piece);
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
                   const maki_piece *piece)
{
    maki_pieces pieces = maki_pieces_in(piece->content);
    maki_piece part;
    bool array = maki_is_array(piece->content);
    (void)wr;
    maki_jw_object(w);
    write_type(w, asked, maki_get_string(piece->original, MAKI_LIT("type")));
    maki_put_field(w, MAKI_LIT("call_id"), asked->id);
    maki_jw_key(w, MAKI_LIT("output"));
    if (array)
        maki_jw_array(w);
    else
        maki_put_text_of(w, piece->content);
    while (array && maki_pieces_next(&pieces, &part)) {
        if (takes(&part, MAKI_BY_USER)) write_part(w, &part, false);
    }
    if (array) maki_jw_end_array(w);
    write_beside(w, piece->original);
    maki_jw_end_object(w);
}

const maki_shape maki_responses_shape = { .say = say, .result = result };

/* write_ollama.c -- Ollama's chat: content is one string, images are base64 beside it, arguments are objects.
 *
 * A message of the assistant is put together like the chat API's (write_chat.c).  Ids are written though
 * older servers pass over them: newer ones know results by them. */
#include "wire/write_inside.h"

/* ---- the assistant -------------------------------------------------------------------------------------- */

static void keep_text(maki_wire_writer *wr, maki_str text)
{
    if (maki_blank(text)) return;
    if (wr->parts++) maki_writer_keep(wr, &wr->content, MAKI_LIT("\\n"));
    maki_writer_keep(wr, &wr->content, maki_json_inside(text));
}

static void keep_call(maki_wire_writer *wr, maki_piece *call)
{
    maki_asked *asked = maki_writer_asked(wr, call);
    maki_jw w;
    if (!asked) return;
    maki_writer_item(wr, &wr->calls, &w);
    maki_jw_object(&w);
    maki_put_field(&w, MAKI_LIT("id"), asked->id);
    maki_jw_key(&w, MAKI_LIT("function"));
    maki_jw_object(&w);
    maki_put_field(&w, MAKI_LIT("name"), asked->name);
    maki_jw_key(&w, MAKI_LIT("arguments"));
    maki_put_input(&w, call->input);
    maki_jw_end_object(&w);
    maki_jw_end_object(&w);
    maki_writer_item_end(wr, &w, MAKI_LIT(","));
}

/* Its own thoughts go back to it. */
static void keep_thought(maki_wire_writer *wr, const maki_piece *piece)
{
    if (!maki_str_is(piece->field, MAKI_LIT("thinking")) || piece->text.len <= 2) return;
    if (wr->thought_as.len) maki_writer_keep(wr, &wr->thoughts, MAKI_LIT("\\n"));
    wr->thought_as = piece->field;
    maki_writer_keep(wr, &wr->thoughts, maki_json_inside(piece->text));
}

static void put_kept(maki_wire_writer *wr, maki_str name, maki_spool *spool)
{
    maki_str text = maki_writer_kept(wr, spool);
    maki_jw_key(wr->w, name);
    maki_put_parts(wr->w, &text, 1);
    maki_spool_clear(spool);
}

static void write_kept(maki_wire_writer *wr)
{
    maki_str calls = wr->calling ? maki_writer_kept(wr, &wr->calls) : (maki_str){ "", 0 };
    wr->any = true;
    maki_jw_object(wr->w);
    maki_write_field(wr->w, MAKI_LIT("role"), MAKI_LIT("\"assistant\""));
    put_kept(wr, MAKI_LIT("content"), &wr->content);
    if (wr->thought_as.len) put_kept(wr, wr->thought_as, &wr->thoughts);
    if (calls.len) {
        maki_jw_key(wr->w, MAKI_LIT("tool_calls"));
        maki_jw_array(wr->w);
        maki_jw_raw(wr->w, maki_str_to(calls, calls.len - 1));
        maki_jw_end_array(wr->w);
    }
    maki_jw_end_object(wr->w);
    maki_spool_clear(&wr->calls);
    wr->parts = 0;
    wr->thought_as = (maki_str){ "", 0 };
}

static void say_assistant(maki_wire_writer *wr, const maki_pieces *row)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    while (maki_saying_next(&saying, &piece)) {
        if (piece.kind == MAKI_PIECE_TEXT) keep_text(wr, piece.text);
        if (piece.kind == MAKI_PIECE_CALL) keep_call(wr, &piece);
        if (piece.kind == MAKI_PIECE_THINKING) keep_thought(wr, &piece);
    }
    if (!wr->calling && (wr->parts || wr->thought_as.len)) write_kept(wr);
}

/* ---- the others ----------------------------------------------------------------------------------------- */

/* A file cannot be sent, nor an image that is not here: that it was there is said. */
static maki_str words_of(const maki_piece *piece)
{
    if (piece->kind == MAKI_PIECE_TEXT && !maki_blank(piece->text))
        return maki_json_inside(piece->text);
    if (piece->kind == MAKI_PIECE_FILE) return MAKI_LIT("[file]");
    bool image = piece->kind == MAKI_PIECE_IMAGE && !piece->media.data.len;
    return image ? MAKI_LIT("[image]") : (maki_str){ "", 0 };
}

static bool has_bytes(const maki_piece *piece)
{
    return piece->kind == MAKI_PIECE_IMAGE && piece->media.data.len > 0;
}

static void write_words(maki_wire_writer *wr, const maki_pieces *row)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    bool any = false;
    maki_jw_key(wr->w, MAKI_LIT("content"));
    maki_jw_begin_value(wr->w);
    maki_jw_bytes(wr->w, MAKI_LIT("\""));
    while (maki_saying_next(&saying, &piece)) {
        maki_str words = words_of(&piece);
        if (any && words.len) maki_jw_bytes(wr->w, MAKI_LIT("\\n"));
        maki_jw_bytes(wr->w, words);
        any |= words.len > 0;
    }
    maki_jw_bytes(wr->w, MAKI_LIT("\""));
}

static void write_images(maki_wire_writer *wr, const maki_pieces *row)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    maki_jw_key(wr->w, MAKI_LIT("images"));
    maki_jw_array(wr->w);
    while (maki_saying_next(&saying, &piece)) {
        if (has_bytes(&piece)) maki_put_parts(wr->w, &piece.media.data, 1);
    }
    maki_jw_end_array(wr->w);
}

static void say(maki_wire_writer *wr, const maki_pieces *row, maki_speaker by)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    bool words = false, images = false;
    if (by == MAKI_BY_ASSISTANT) {
        say_assistant(wr, row);
        return;
    }
    while (maki_saying_next(&saying, &piece)) {
        words |= words_of(&piece).len > 0;
        images |= has_bytes(&piece);
    }
    if (!words && !images) return;
    if (by != MAKI_BY_SYSTEM) wr->any = true;
    maki_jw_object(wr->w);
    maki_write_field(wr->w, MAKI_LIT("role"),
                     by == MAKI_BY_SYSTEM ? MAKI_LIT("\"system\"") : MAKI_LIT("\"user\""));
    write_words(wr, row);
    if (images) write_images(wr, row);
    maki_jw_end_object(wr->w);
}

static void result(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_piece *piece)
{
    (void)wr;
    maki_jw_object(w);
    maki_write_field(w, MAKI_LIT("role"), MAKI_LIT("\"tool\""));
    maki_put_field(w, MAKI_LIT("tool_name"), asked->name);
    maki_put_field(w, MAKI_LIT("tool_call_id"), asked->id);
    maki_jw_key(w, MAKI_LIT("content"));
    maki_put_text_of(w, piece->content);
    maki_jw_end_object(w);
}

const maki_shape maki_ollama_shape = { .say = say, .called = write_kept, .result = result };

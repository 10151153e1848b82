/* write_anthropic.c -- messages with blocks.  A block of that API's own goes back with the fields it takes;
 * thinking only with its signature, which no one else can make. */
#include "wire/write_inside.h"

enum { LONE_MOST = 32 << 10 }; /* a longer string is not kept back to see what follows */

/* ---- messages ------------------------------------------------------------------------------------------- */

static void write_head(maki_wire_writer *wr)
{
    bool assistant = wr->open == MAKI_BY_ASSISTANT;
    maki_jw_object(wr->w);
    maki_write_field(wr->w, MAKI_LIT("role"),
                     assistant ? MAKI_LIT("\"assistant\"") : MAKI_LIT("\"user\""));
    maki_jw_key(wr->w, MAKI_LIT("content"));
}

/* Nothing is written before it is known whether the message is more than one string. */
static void begin(maki_wire_writer *wr, maki_speaker by)
{
    (void)by;
    wr->lone = true;
    maki_spool_clear(&wr->content);
}

static void end(maki_wire_writer *wr)
{
    if (!wr->lone) {
        maki_jw_end_array(wr->w);
        maki_jw_end_object(wr->w);
        return;
    }
    maki_str string = maki_writer_kept(wr, &wr->content);
    if (string.len == 0) return;
    write_head(wr);
    maki_jw_raw(wr->w, string);
    maki_jw_end_object(wr->w);
}

static void write_text(maki_jw *w, maki_str text)
{
    maki_jw_object(w);
    maki_put_type(w, MAKI_LIT("text"));
    maki_put_field(w, MAKI_LIT("text"), text);
    maki_jw_end_object(w);
}

/* Blocks follow. */
static maki_jw *blocks(maki_wire_writer *wr, maki_speaker by)
{
    maki_writer_begin(wr, by);
    if (!wr->lone) return wr->w;
    maki_str string = maki_writer_kept(wr, &wr->content);
    wr->lone = false;
    write_head(wr);
    maki_jw_array(wr->w);
    if (string.len) write_text(wr->w, string);
    return wr->w;
}

/* ---- blocks --------------------------------------------------------------------------------------------- */

/* The blocks of that API's own, and the fields it takes of them. */
static const struct own_row {
    maki_str type;
    maki_str fields[6];
} own_rows[] = {
    { { "text", 4 },
      { { "type", 4 }, { "text", 4 }, { "citations", 9 }, { "cache_control", 13 } } },
    { { "image", 5 }, { { "type", 4 }, { "source", 6 }, { "cache_control", 13 } } },
    { { "document", 8 },
      { { "type", 4 },
        { "source", 6 },
        { "title", 5 },
        { "context", 7 },
        { "citations", 9 },
        { "cache_control", 13 } } },
    { { "thinking", 8 }, { { "type", 4 }, { "thinking", 8 }, { "signature", 9 } } },
    { { "redacted_thinking", 17 }, { { "type", 4 }, { "data", 4 } } },
    { { "search_result", 13 },
      { { "type", 4 },
        { "source", 6 },
        { "title", 5 },
        { "content", 7 },
        { "citations", 9 },
        { "cache_control", 13 } } },
    { { "server_tool_use", 15 },
      { { "type", 4 }, { "id", 2 }, { "name", 4 }, { "input", 5 }, { "cache_control", 13 } } },
    { { "web_search_tool_result", 22 },
      { { "type", 4 }, { "tool_use_id", 11 }, { "content", 7 }, { "cache_control", 13 } } },
};

static const struct own_row *own_of(const maki_piece *piece)
{
    maki_str type = piece->type;
    for (size_t i = 0; type.len && i < sizeof own_rows / sizeof own_rows[0]; i++) {
        if (maki_json_text_is(type, own_rows[i].type)) return &own_rows[i];
    }
    return NULL;
}

/* Does that API take it?  A thought only with the signature it came with. */
static bool takes(const maki_piece *piece)
{
    switch (piece->kind) {
    case MAKI_PIECE_TEXT: return !maki_blank(piece->text);
    case MAKI_PIECE_IMAGE:
    case MAKI_PIECE_FILE: return true;
    case MAKI_PIECE_THINKING: {
        bool hidden = maki_get_string(piece->block, MAKI_LIT("data")).len > 2;
        return own_of(piece) &&
               (hidden || maki_get_string(piece->block, MAKI_LIT("signature")).len > 2);
    }
    case MAKI_PIECE_OTHER: return own_of(piece) != NULL;
    default: return false;
    }
}

static void write_media(maki_jw *w, const maki_piece *piece)
{
    const maki_media *media = &piece->media;
    maki_jw_object(w);
    maki_put_type(w, piece->kind == MAKI_PIECE_IMAGE ? MAKI_LIT("image") : MAKI_LIT("document"));
    maki_jw_key(w, MAKI_LIT("source"));
    maki_jw_object(w);
    maki_put_type(w, media->data.len ? MAKI_LIT("base64") : MAKI_LIT("url"));
    if (media->data.len) {
        maki_jw_key(w, MAKI_LIT("media_type"));
        maki_put_parts(w, &media->type, 1);
    }
    maki_jw_key(w, media->data.len ? MAKI_LIT("data") : MAKI_LIT("url"));
    maki_put_parts(w, media->data.len ? &media->data : &media->url, 1);
    maki_jw_end_object(w);
    maki_jw_end_object(w);
}

static void write_block(maki_jw *w, const maki_piece *piece)
{
    const struct own_row *own = own_of(piece);
    if (own) {
        maki_jw_object(w);
        maki_put_known(w, piece->block, piece->text, own->fields, 6);
        maki_jw_end_object(w);
    } else if (piece->kind == MAKI_PIECE_TEXT) {
        write_text(w, piece->text);
    } else {
        write_media(w, piece);
    }
}

static void write_call(maki_wire_writer *wr, maki_piece *call)
{
    maki_asked *asked = maki_writer_asked(wr, call);
    if (!asked) return;
    maki_jw *w = blocks(wr, MAKI_BY_ASSISTANT);
    maki_jw_object(w);
    maki_put_type(w, MAKI_LIT("tool_use"));
    maki_put_field(w, MAKI_LIT("id"), asked->id);
    maki_put_field(w, MAKI_LIT("name"), asked->name);
    maki_jw_key(w, MAKI_LIT("input"));
    maki_put_input(w, call->input);
    maki_put_field(w, MAKI_LIT("cache_control"), call->cache);
    maki_jw_end_object(w);
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

/* A message that is one string stays one, unless more of its speaker follows. */
static bool keep_lone(maki_wire_writer *wr, const maki_piece *piece, maki_speaker by)
{
    bool bare = piece->kind == MAKI_PIECE_TEXT && piece->block.len == 0;
    if (!bare || wr->open == by || piece->text.len > LONE_MOST) return false;
    maki_writer_begin(wr, by);
    maki_writer_keep(wr, &wr->content, piece->text);
    return true;
}

static void say(maki_wire_writer *wr, const maki_pieces *row, maki_speaker by)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    while (maki_saying_next(&saying, &piece)) {
        if (piece.kind == MAKI_PIECE_CALL)
            write_call(wr, &piece);
        else if (takes(&piece) && !keep_lone(wr, &piece, by))
            write_block(blocks(wr, by), &piece);
    }
}

static void write_inner(maki_jw *w, maki_str content)
{
    maki_pieces pieces = maki_pieces_in(content);
    maki_piece piece;
    bool any = false;
    if (maki_is_string(content)) {
        if (!maki_blank(content)) maki_put_field(w, MAKI_LIT("content"), content);
        return;
    }
    while (maki_pieces_next(&pieces, &piece)) {
        if (piece.kind == MAKI_PIECE_THINKING || !takes(&piece)) continue;
        if (!any) {
            maki_jw_key(w, MAKI_LIT("content"));
            maki_jw_array(w);
        }
        any = true;
        write_block(w, &piece);
    }
    if (any) maki_jw_end_array(w);
}

static void result(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_piece *piece)
{
    (void)wr;
    maki_jw_object(w);
    maki_put_type(w, MAKI_LIT("tool_result"));
    maki_put_field(w, MAKI_LIT("tool_use_id"), asked->id);
    write_inner(w, piece->content);
    if (piece->error) maki_put_field(w, MAKI_LIT("is_error"), MAKI_LIT("true"));
    maki_put_field(w, MAKI_LIT("cache_control"), piece->cache);
    maki_jw_end_object(w);
}

static void before_result(maki_wire_writer *wr, const maki_asked *asked)
{
    (void)asked;
    blocks(wr, MAKI_BY_USER);
}

const maki_shape maki_anthropic_shape = {
    .merges = true,
    .begin = begin,
    .end = end,
    .say = say,
    .result = result,
    .before_result = before_result,
};

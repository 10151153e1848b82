/* write_gemini.c -- contents with parts, as gemini_part.c reads them.  What Gemini said beside a part, its
 * signature above all, goes back with it. */
#include "wire/gemini_part.h"
#include "wire/write_inside.h"

static const maki_str signature_name = { "thoughtSignature", 16 };

static void begin(maki_wire_writer *wr, maki_speaker by)
{
    maki_jw_object(wr->w);
    maki_write_field(wr->w, MAKI_LIT("role"),
                     by == MAKI_BY_ASSISTANT ? MAKI_LIT("\"model\"") : MAKI_LIT("\"user\""));
    maki_jw_key(wr->w, MAKI_LIT("parts"));
    maki_jw_array(wr->w);
}

static void end(maki_wire_writer *wr)
{
    maki_jw_end_array(wr->w);
    maki_jw_end_object(wr->w);
}

/* ---- parts ---------------------------------------------------------------------------------------------- */

/* What Gemini said beside a part; other protocols keep other things there. */
static void write_beside(maki_jw *w, const maki_piece *piece)
{
    static const maki_str names[] = { { "videoMetadata", 13 }, { "mediaResolution", 15 } };
    maki_put_field(w, signature_name, maki_gemini_signature(piece->original));
    if (piece->original.len) maki_put_known(w, piece->original, MAKI_LIT(""), names, 2);
}

/* And in the object that the part is about. */
static void write_inside(maki_jw *w, const maki_piece *piece, maki_str key)
{
    maki_str inner = maki_get(piece->original, key);
    if (inner.len) maki_write_rest(w, inner, NULL, 0);
}

static void write_text(maki_jw *w, const maki_piece *piece, bool thought)
{
    maki_jw_object(w);
    if (thought) maki_put_field(w, MAKI_LIT("thought"), MAKI_LIT("true"));
    maki_put_field(w, MAKI_LIT("text"), piece->text);
    write_beside(w, piece);
    maki_jw_end_object(w);
}

static void write_media(maki_jw *w, const maki_piece *piece)
{
    const maki_media *media = &piece->media;
    bool data = media->data.len > 0;
    maki_str key = data ? MAKI_LIT("inlineData") : MAKI_LIT("fileData");
    maki_jw_object(w);
    maki_jw_key(w, key);
    maki_jw_object(w);
    if (media->type.len) {
        maki_jw_key(w, MAKI_LIT("mimeType"));
        maki_put_parts(w, &media->type, 1);
    }
    maki_jw_key(w, data ? MAKI_LIT("data") : MAKI_LIT("fileUri"));
    maki_put_parts(w, data ? &media->data : &media->url, 1);
    write_inside(w, piece, key);
    maki_jw_end_object(w);
    write_beside(w, piece);
    maki_jw_end_object(w);
}

/* Gemini 3 refuses the first call of a turn without a signature; this is what it takes for one that it did
 * not make. */
static void write_signature(maki_wire_writer *wr, const maki_piece *call)
{
    bool has = maki_gemini_signature(call->original).len > 0;
    if (!has && wr->style.sign_calls && wr->asked_count == 1)
        maki_put_field(wr->w, signature_name, MAKI_LIT("\"skip_thought_signature_validator\""));
}

static void write_call(maki_wire_writer *wr, maki_piece *call)
{
    maki_str key = MAKI_LIT("functionCall");
    maki_asked *asked = maki_writer_asked(wr, call);
    if (!asked) return;
    maki_writer_begin(wr, MAKI_BY_ASSISTANT);
    maki_jw_object(wr->w);
    maki_jw_key(wr->w, key);
    maki_jw_object(wr->w);
    maki_put_field(wr->w, MAKI_LIT("name"), asked->name);
    maki_jw_key(wr->w, MAKI_LIT("args"));
    maki_put_input(wr->w, call->input);
    write_inside(wr->w, call, key);
    maki_jw_end_object(wr->w);
    write_beside(wr->w, call);
    write_signature(wr, call);
    maki_jw_end_object(wr->w);
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

static bool takes(const maki_piece *piece)
{
    switch (piece->kind) {
    case MAKI_PIECE_TEXT: return !maki_blank(piece->text);
    case MAKI_PIECE_IMAGE:
    case MAKI_PIECE_FILE: return true;
    case MAKI_PIECE_THINKING:
        return piece->text.len > 2 && maki_gemini_signature(piece->original).len > 0;
    /* a part of its own that we do not know: blocks of the others have a type */
    case MAKI_PIECE_OTHER: return maki_is_object(piece->block) && !piece->type.len;
    default: return false;
    }
}

static void say(maki_wire_writer *wr, const maki_pieces *row, maki_speaker by)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    while (maki_saying_next(&saying, &piece)) {
        if (piece.kind == MAKI_PIECE_CALL) write_call(wr, &piece);
        if (!takes(&piece)) continue;
        maki_writer_begin(wr, by);
        if (piece.kind == MAKI_PIECE_OTHER)
            maki_jw_raw(wr->w, piece.block);
        else if (piece.kind == MAKI_PIECE_IMAGE || piece.kind == MAKI_PIECE_FILE)
            write_media(wr->w, &piece);
        else
            write_text(wr->w, &piece, piece.kind == MAKI_PIECE_THINKING);
    }
}

/* The object that a tool answered with: as it was where that is known, else its text under a name. */
static void write_response(maki_jw *w, const maki_piece *piece, maki_str own)
{
    maki_json_iter iter = maki_json_items(maki_get(own, MAKI_LIT("response")));
    maki_json_item only;
    maki_jw_key(w, MAKI_LIT("response"));
    bool named = iter.object && maki_json_next(&iter, &only);
    bool object = own.len && !named && maki_is_string(piece->content);
    if (object && maki_put_object_in(w, piece->content)) return;
    maki_jw_object(w);
    if (named)
        maki_jw_key(w, only.key);
    else
        maki_jw_key(w, piece->error ? MAKI_LIT("error") : MAKI_LIT("output"));
    maki_put_text_of(w, piece->content);
    maki_jw_end_object(w);
}

static void result(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_piece *piece)
{
    static const maki_str taken[] = { { "name", 4 }, { "response", 8 } };
    maki_str key = MAKI_LIT("functionResponse"), own = maki_get(piece->original, key);
    (void)wr;
    maki_jw_object(w);
    maki_jw_key(w, key);
    maki_jw_object(w);
    maki_put_field(w, MAKI_LIT("name"), asked->name);
    write_response(w, piece, own);
    maki_write_rest(w, own, taken, 2);
    maki_jw_end_object(w);
    maki_jw_end_object(w);
}

const maki_shape maki_gemini_shape = {
    .merges = true,
    .begin = begin,
    .end = end,
    .say = say,
    .result = result,
};

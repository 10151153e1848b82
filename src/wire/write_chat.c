/* write_chat.c -- OpenAI's chat completions, in the newer form (tool_calls, role tool) and the older one
 * (function_call, role function), which has one call a message: there each call is written right before its
 * result.
 *
 * A message of the assistant is put together in the spools of the writer, because its text and its calls
 * may come from several rows; messages of others go straight through. */
#include "wire/write_inside.h"

/* ---- parts of content ----------------------------------------------------------------------------------- */

static bool is_block(const maki_piece *piece, maki_str type)
{
    return maki_is_text(piece->type, type);
}

static bool takes(const maki_piece *piece, maki_speaker by)
{
    if (piece->kind == MAKI_PIECE_TEXT) return !maki_blank(piece->text);
    if (by == MAKI_BY_ASSISTANT) return false;
    return piece->kind == MAKI_PIECE_IMAGE || piece->kind == MAKI_PIECE_FILE ||
           is_block(piece, MAKI_LIT("input_audio")) || is_block(piece, MAKI_LIT("file"));
}

static void write_file(maki_jw *w, const maki_piece *piece)
{
    maki_jw_object(w);
    maki_put_type(w, MAKI_LIT("file"));
    maki_jw_key(w, MAKI_LIT("file"));
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("filename"));
    maki_jw_string(w, MAKI_LIT("document.pdf"));
    maki_jw_key(w, MAKI_LIT("file_data"));
    maki_put_url(w, &piece->media);
    maki_jw_end_object(w);
    maki_jw_end_object(w);
}

static void write_image(maki_jw *w, const maki_piece *piece)
{
    static const maki_str url[] = { { "url", 3 } };
    maki_str own = maki_get(piece->block, MAKI_LIT("image_url"));
    maki_jw_object(w);
    maki_put_type(w, MAKI_LIT("image_url"));
    maki_jw_key(w, MAKI_LIT("image_url"));
    maki_jw_object(w);
    maki_jw_key(w, url[0]);
    maki_put_url(w, &piece->media);
    maki_write_rest(w, own, url, 1); /* detail */
    maki_jw_end_object(w);
    maki_put_field(w, MAKI_LIT("cache_control"), piece->cache);
    maki_jw_end_object(w);
}

static void write_text(maki_jw *w, maki_str text, maki_str cache)
{
    maki_jw_object(w);
    maki_put_type(w, MAKI_LIT("text"));
    maki_put_field(w, MAKI_LIT("text"), text);
    maki_put_field(w, MAKI_LIT("cache_control"), cache);
    maki_jw_end_object(w);
}

static void write_part(maki_jw *w, const maki_piece *piece)
{
    bool own = is_block(piece, MAKI_LIT("file")) || is_block(piece, MAKI_LIT("input_audio"));
    if (piece->kind == MAKI_PIECE_TEXT)
        write_text(w, piece->text, piece->cache);
    else if (own)
        maki_jw_raw(w, piece->block);
    else if (piece->kind == MAKI_PIECE_IMAGE)
        write_image(w, piece);
    else
        write_file(w, piece);
}

/* ---- the assistant -------------------------------------------------------------------------------------- */

/* The field in which a thought goes back; len 0: it does not. */
static maki_str thought_as(const maki_wire_writer *wr, const maki_piece *piece)
{
    static const maki_str content = { "reasoning_content", 17 }, nowhere = { "", 0 };
    if (piece->text.len <= 2 || wr->style.reasoning == MAKI_REASONING_REFUSED) return nowhere;
    if (wr->style.reasoning == MAKI_REASONING_CONTENT) return content;
    bool ollamas = maki_str_is(piece->field, MAKI_LIT("thinking"));
    return ollamas ? nowhere : piece->field;
}

static void keep_thought(maki_wire_writer *wr, const maki_piece *piece)
{
    maki_str as = thought_as(wr, piece);
    if (as.len == 0 || (wr->thought_as.len && !maki_str_is(wr->thought_as, as))) return;
    if (wr->thought_as.len) maki_writer_keep(wr, &wr->thoughts, MAKI_LIT("\\n"));
    wr->thought_as = as;
    maki_writer_keep(wr, &wr->thoughts, maki_json_inside(piece->text));
}

/* The text goes in as it stands while it is the only one, else as parts. */
static void keep_text(maki_wire_writer *wr, const maki_piece *piece)
{
    maki_jw w;
    if (maki_blank(piece->text)) return;
    if (wr->parts++ == 0 && piece->block.len == 0) {
        wr->from_string = true;
        maki_writer_keep(wr, &wr->content, piece->text);
        return;
    }
    if (wr->from_string) maki_writer_keep(wr, &wr->content, MAKI_LIT("},"));
    wr->from_string = false;
    maki_writer_item(wr, &wr->content, &w);
    write_text(&w, piece->text, piece->cache);
    maki_writer_item_end(wr, &w, MAKI_LIT(","));
}

static void write_function(maki_jw *w, const maki_asked *asked, maki_str input)
{
    maki_jw_object(w);
    maki_put_field(w, MAKI_LIT("name"), asked->name);
    maki_jw_key(w, MAKI_LIT("arguments"));
    maki_put_arguments(w, input);
    maki_jw_end_object(w);
}

static void keep_call(maki_wire_writer *wr, maki_piece *call)
{
    static const maki_str taken[] = {
        { "id", 2 }, { "type", 4 }, { "function", 8 }, { "index", 5 }
    };
    maki_asked *asked = maki_writer_asked(wr, call);
    maki_jw w;
    if (!asked) return;
    asked->call_at = wr->calls.size;
    maki_writer_item(wr, &wr->calls, &w);
    if (wr->style.functions) {
        write_function(&w, asked, call->input);
    } else {
        maki_jw_object(&w);
        maki_put_field(&w, taken[0], asked->id);
        maki_put_type(&w, taken[2]);
        maki_jw_key(&w, taken[2]);
        write_function(&w, asked, call->input);
        if (call->field.len) maki_write_rest(&w, call->block, taken, 4);
        maki_jw_end_object(&w);
    }
    maki_writer_item_end(wr, &w, MAKI_LIT(","));
    asked->call_len = wr->calls.size - asked->call_at - 1;
}

static void keep_row(maki_wire_writer *wr, const maki_pieces *row)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    while (maki_saying_next(&saying, &piece)) {
        switch (piece.kind) {
        case MAKI_PIECE_TEXT: keep_text(wr, &piece); break;
        case MAKI_PIECE_CALL: keep_call(wr, &piece); break;
        case MAKI_PIECE_THINKING: keep_thought(wr, &piece); break;
        default: break;
        }
    }
}

static void write_content(maki_wire_writer *wr)
{
    maki_str content = maki_writer_kept(wr, &wr->content);
    maki_jw_key(wr->w, MAKI_LIT("content"));
    if (content.len == 0) {
        maki_jw_null(wr->w);
    } else if (wr->from_string) {
        maki_jw_raw(wr->w, content);
    } else {
        bool began = content.ptr[0] == '"'; /* with a string, which was not the only text */
        maki_jw_array(wr->w);
        maki_jw_begin_value(wr->w);
        if (began) maki_jw_bytes(wr->w, MAKI_LIT("{\"type\":\"text\",\"text\":"));
        maki_jw_bytes(wr->w, maki_str_to(content, content.len - 1));
        maki_jw_end_array(wr->w);
    }
}

/* The beginning of a message of what was kept: all but its calls.  `row`: the one row it comes from, or
 * NULL. */
static void write_kept(maki_wire_writer *wr, const maki_pieces *row)
{
    wr->any = true;
    maki_jw_object(wr->w);
    maki_write_field(wr->w, MAKI_LIT("role"), MAKI_LIT("\"assistant\""));
    write_content(wr);
    if (row) {
        maki_put_field(wr->w, MAKI_LIT("name"), row->name);
        maki_put_field(wr->w, MAKI_LIT("refusal"), row->refusal);
        maki_put_field(wr->w, MAKI_LIT("audio"), row->audio);
    }
    maki_str thoughts = wr->thought_as.len ? maki_writer_kept(wr, &wr->thoughts) : wr->thought_as;
    if (thoughts.len) {
        maki_jw_key(wr->w, wr->thought_as);
        maki_put_parts(wr->w, &thoughts, 1);
    }
    maki_spool_clear(&wr->content);
    maki_spool_clear(&wr->thoughts);
    wr->parts = 0;
    wr->from_string = false;
    wr->thought_as = (maki_str){ "", 0 };
}

/* All calls of the turn are here; in the older form they are written with their results. */
static void called(maki_wire_writer *wr)
{
    if (wr->style.functions) return;
    maki_str calls = maki_writer_kept(wr, &wr->calls);
    write_kept(wr, NULL);
    if (calls.len) {
        maki_jw_key(wr->w, MAKI_LIT("tool_calls"));
        maki_jw_array(wr->w);
        maki_jw_raw(wr->w, maki_str_to(calls, calls.len - 1));
        maki_jw_end_array(wr->w);
    }
    maki_jw_end_object(wr->w);
    maki_spool_clear(&wr->calls);
}

static void before_result(maki_wire_writer *wr, const maki_asked *asked)
{
    if (!wr->style.functions) return;
    maki_str calls = maki_writer_kept(wr, &wr->calls);
    write_kept(wr, NULL); /* the text goes with the first */
    if (calls.len)
        maki_put_field(wr->w, MAKI_LIT("function_call"),
                       (maki_str){ calls.ptr + asked->call_at, (size_t)asked->call_len });
    maki_jw_end_object(wr->w);
}

static void say_assistant(maki_wire_writer *wr, const maki_pieces *row)
{
    keep_row(wr, row);
    if (wr->calling) return; /* until all calls are here */
    if (!wr->parts && !wr->thought_as.len && !row->refusal.len && !row->audio.len) return;
    write_kept(wr, row);
    maki_jw_end_object(wr->w);
}

/* ---- the others ----------------------------------------------------------------------------------------- */

/* How many parts the content has, and is it but one string? */
static size_t count_parts(maki_wire_writer *wr, const maki_pieces *row, maki_speaker by,
                          bool *string)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    size_t n = 0;
    *string = true;
    while (maki_saying_next(&saying, &piece)) {
        if (!takes(&piece, by)) continue;
        *string = n++ == 0 && piece.block.len == 0 && piece.kind == MAKI_PIECE_TEXT;
    }
    return n;
}

static void say(maki_wire_writer *wr, const maki_pieces *row, maki_speaker by)
{
    maki_saying saying = maki_saying_of(wr, row);
    maki_piece piece;
    bool string;
    if (by == MAKI_BY_ASSISTANT) {
        say_assistant(wr, row);
        return;
    }
    if (count_parts(wr, row, by, &string) == 0) return;
    if (by != MAKI_BY_SYSTEM) wr->any = true;
    maki_jw_object(wr->w);
    maki_write_field(wr->w, MAKI_LIT("role"),
                     by == MAKI_BY_SYSTEM ? row->role : MAKI_LIT("\"user\""));
    maki_jw_key(wr->w, MAKI_LIT("content"));
    if (!string) maki_jw_array(wr->w);
    while (maki_saying_next(&saying, &piece)) {
        if (!takes(&piece, by)) continue;
        if (string)
            maki_jw_raw(wr->w, piece.text);
        else
            write_part(wr->w, &piece);
    }
    if (!string) maki_jw_end_array(wr->w);
    if (!row->is_result)
        maki_put_field(wr->w, MAKI_LIT("name"), row->name); /* else it is the tool's */
    maki_jw_end_object(wr->w);
}

/* ---- results -------------------------------------------------------------------------------------------- */

/* A string, or parts of text: that API takes no images there. */
static void write_result(maki_jw *w, maki_str content)
{
    maki_pieces pieces = maki_pieces_in(content);
    maki_piece piece;
    bool any = false;
    maki_jw_key(w, MAKI_LIT("content"));
    if (!maki_is_array(content)) {
        maki_put_text_of(w, content);
        return;
    }
    maki_jw_array(w);
    while (maki_pieces_next(&pieces, &piece)) {
        bool image = piece.kind == MAKI_PIECE_IMAGE;
        if (piece.kind != MAKI_PIECE_TEXT && !image) continue;
        write_text(w, image ? MAKI_LIT("\"[image]\"") : piece.text, piece.cache);
        any = true;
    }
    if (!any) write_text(w, MAKI_LIT("\"\""), (maki_str){ "", 0 }); /* it may not be empty */
    maki_jw_end_array(w);
}

static void result(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_piece *piece)
{
    maki_jw_object(w);
    if (wr->style.functions) {
        maki_write_field(w, MAKI_LIT("role"), MAKI_LIT("\"function\""));
        maki_put_field(w, MAKI_LIT("name"), asked->name);
        maki_jw_key(w, MAKI_LIT("content"));
        maki_put_text_of(w, piece->content);
    } else {
        maki_write_field(w, MAKI_LIT("role"), MAKI_LIT("\"tool\""));
        maki_put_field(w, MAKI_LIT("tool_call_id"), asked->id);
        write_result(w, piece->content);
    }
    maki_jw_end_object(w);
}

const maki_shape maki_chat_shape = {
    .say = say,
    .called = called,
    .result = result,
    .before_result = before_result,
};

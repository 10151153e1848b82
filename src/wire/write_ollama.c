/* write_ollama.c -- Ollama's chat: content is one string, images are base64 beside it, arguments are objects.
 *
 * A message of the assistant is put together like the chat API's (write_chat.c).  Ids are written though
 * older servers pass over them: newer ones know results by them. */
#include "wire/protocol.h"

/* ---- the assistant -------------------------------------------------------------------------------------- */

static void keep_text(maki_wire_writer *wr, maki_str text)
{
    if (!maki_blank(text)) maki_writer_add_text(wr, &wr->content, wr->parts++ == 0, text);
}

static void keep_call(maki_wire_writer *wr, maki_content_part *call)
{
    maki_asked *asked = maki_writer_asked(wr, call);
    maki_jw w;
    if (!asked) return;
    maki_sticky_begin(&wr->failure, maki_spool_sink(&wr->calls), &w);
    maki_jw_print(&w, "{'id':%v,'function':{'name':%v,'arguments':", asked->id, asked->name);
    maki_put_input(&w, call->input);
    maki_jw_print(&w, "}}");
    maki_sticky_end(&wr->failure, &w, MAKI_LIT(","));
}

/* Its own thoughts go back to it. */
static void keep_thought(maki_wire_writer *wr, const maki_content_part *piece)
{
    if (!maki_str_is(piece->field, MAKI_LIT("thinking")) || piece->text.len <= 2) return;
    maki_writer_add_text(wr, &wr->thoughts, wr->thought_as.len == 0, piece->text);
    wr->thought_as = piece->field;
}

static void write_kept(maki_wire_writer *wr)
{
    wr->any = true;
    maki_jw_print(wr->w, "{'role':'assistant','content':%q",
                  maki_sticky_text(&wr->failure, &wr->content));
    if (wr->thought_as.len)
        maki_jw_print(wr->w, "'thinking':%q", maki_sticky_text(&wr->failure, &wr->thoughts));
    if (wr->calling) maki_writer_put_items(wr, "tool_calls", &wr->calls);
    maki_jw_end_object(wr->w);
    maki_spool_clear(&wr->content);
    maki_spool_clear(&wr->thoughts);
    maki_spool_clear(&wr->calls);
    wr->parts = 0;
    wr->thought_as = (maki_str){ "", 0 };
}

static void say_assistant(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    while (maki_turn_text_next(&saying, &piece)) {
        if (piece.kind == MAKI_CONTENT_TEXT) keep_text(wr, piece.text);
        if (piece.kind == MAKI_CONTENT_CALL) keep_call(wr, &piece);
        if (piece.kind == MAKI_CONTENT_THINKING) keep_thought(wr, &piece);
    }
    if (!wr->calling && (wr->parts || wr->thought_as.len)) write_kept(wr);
}

/* ---- the others ----------------------------------------------------------------------------------------- */

/* A file cannot be sent, nor an image that is not here: that it was there is said. */
static maki_str words_of(const maki_content_part *piece)
{
    if (piece->kind == MAKI_CONTENT_TEXT && !maki_blank(piece->text))
        return maki_json_inside(piece->text);
    if (piece->kind == MAKI_CONTENT_FILE) return MAKI_LIT("[file]");
    bool image = piece->kind == MAKI_CONTENT_IMAGE && !piece->media.data.len;
    return image ? MAKI_LIT("[image]") : (maki_str){ "", 0 };
}

static bool has_bytes(const maki_content_part *piece)
{
    return piece->kind == MAKI_CONTENT_IMAGE && piece->media.data.len > 0;
}

static void write_words(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    bool any = false;
    maki_jw_begin_value(wr->w);
    maki_jw_bytes(wr->w, MAKI_LIT("\""));
    while (maki_turn_text_next(&saying, &piece)) {
        maki_str words = words_of(&piece);
        if (any && words.len) maki_jw_bytes(wr->w, MAKI_LIT("\\n"));
        maki_jw_bytes(wr->w, words);
        any |= words.len > 0;
    }
    maki_jw_bytes(wr->w, MAKI_LIT("\""));
}

static void write_images(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    maki_jw_print(wr->w, "'images':[");
    while (maki_turn_text_next(&saying, &piece)) {
        if (has_bytes(&piece)) maki_jw_print(wr->w, "%q", piece.media.data);
    }
    maki_jw_end_array(wr->w);
}

static void say(maki_wire_writer *wr, const maki_content_parts *row, maki_speaker by)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    bool words = false, images = false;
    if (by == MAKI_BY_ASSISTANT) {
        say_assistant(wr, row);
        return;
    }
    while (maki_turn_text_next(&saying, &piece)) {
        words |= words_of(&piece).len > 0;
        images |= has_bytes(&piece);
    }
    if (!words && !images) return;
    if (by != MAKI_BY_SYSTEM) wr->any = true;
    maki_jw_print(wr->w, "{'role':%z,'content':", by == MAKI_BY_SYSTEM ? "system" : "user");
    write_words(wr, row);
    if (images) write_images(wr, row);
    maki_jw_end_object(wr->w);
}

static void result(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_content_part *piece)
{
    (void)wr;
    maki_jw_print(w, "{'role':'tool','tool_name':%v,'tool_call_id':%v,'content':", asked->name,
                  asked->id);
    maki_put_text_of(w, piece->content);
    maki_jw_end_object(w);
}

/* ---- requests ------------------------------------------------------------------------------------------- */

static void write_first(maki_jw *w, const maki_request *r)
{
    bool on = maki_request_thinks(r);
    maki_jw_print(w, "'model':%s,'stream':%b", r->model, r->stream); /* it streams unless told */
    if (on && maki_str_starts(r->model, MAKI_LIT("gpt-oss"))) /* it has levels, others a switch */
        maki_jw_print(w, "'think':%s", maki_thinking_level_low(r));
    else if (r->thinking != MAKI_THINKING_UNSET)
        maki_jw_print(w, "'think':%b", on);
    if (r->max_tokens || r->window || r->has_temperature) {
        maki_jw_print(w, "'options':{'num_ctx':%I,'num_predict':%I", r->window, r->max_tokens);
        if (r->has_temperature) maki_jw_print(w, "'temperature':%f", r->temperature);
        maki_jw_end_object(w);
    }
}

static void write_tool(maki_jw *w, const maki_request *r, const maki_tool *tool)
{
    (void)r;
    maki_jw_print(w, "{'type':'function','function':{'name':%v,'description':%v,'parameters':%v}}",
                  tool->name, tool->about, maki_tool_schema(tool));
}

const maki_protocol_writing maki_ollama_writing = {
    .shape = { .say = say, .called = write_kept, .result = result },
    .first_fields = write_first,
    .tool = write_tool,
};

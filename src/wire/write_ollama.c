/* write_ollama.c -- write Ollama's chat: content is one string, images are a list of base64, arguments are objects.
 *
 * Every message is collected in the spools of the writer (write_chat.c).  Ids are written although
 * older servers ignore them: newer ones match results by them. */
#include "wire/protocol.h"

/* ---- the assistant -------------------------------------------------------------------------------------- */

static void add_text(maki_wire_writer *wr, maki_str text)
{
    if (!maki_is_blank(text)) maki_writer_add_text(wr, &wr->content, wr->part_count++ == 0, text);
}

static void add_call(maki_wire_writer *wr, maki_content_part *call)
{
    maki_pending_call *pending = maki_writer_add_call(wr, call);
    maki_jw w;
    if (!pending) return;
    maki_sticky_jw_begin(&wr->failure, maki_spool_sink(&wr->calls), &w);
    maki_jw_print(&w, "{'id':%v,'function':{'name':%v,'arguments':", pending->id, pending->name);
    maki_write_input(&w, call->input);
    maki_jw_print(&w, "}}");
    maki_sticky_jw_end(&wr->failure, &w, MAKI_LIT(","));
}

/* Only reasoning from Ollama is sent back. */
static void add_reasoning(maki_wire_writer *wr, const maki_content_part *part)
{
    if (!maki_str_equal(part->field, MAKI_LIT("thinking")) || part->text.len <= 2) return;
    maki_writer_add_text(wr, &wr->reasoning, wr->reasoning_field.len == 0, part->text);
    wr->reasoning_field = part->field;
}

static void write_collected(maki_wire_writer *wr)
{
    wr->any_message = true;
    maki_jw_print(wr->w, "{'role':'assistant','content':%q",
                  maki_sticky_spool_text(&wr->failure, &wr->content));
    if (wr->reasoning_field.len)
        maki_jw_print(wr->w, "'thinking':%q", maki_sticky_spool_text(&wr->failure, &wr->reasoning));
    if (wr->collecting) maki_writer_write_items(wr, "tool_calls", &wr->calls);
    maki_jw_end_object(wr->w);
    maki_writer_clear_message(wr);
    maki_spool_clear(&wr->calls);
}

static void write_assistant_row(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_row_parts iter = maki_row_parts_of(wr, row);
    maki_content_part part;
    while (maki_row_parts_next(&iter, &part)) {
        if (part.kind == MAKI_CONTENT_TEXT) add_text(wr, part.text);
        if (part.kind == MAKI_CONTENT_CALL) add_call(wr, &part);
        if (part.kind == MAKI_CONTENT_THINKING) add_reasoning(wr, &part);
    }
    if (!wr->collecting && (wr->part_count || wr->reasoning_field.len)) write_collected(wr);
}

/* ---- other messages ----------------------------------------------------------------------------------------- */

/* A file cannot be sent, nor an image by URL: a placeholder replaces it.  A JSON string; len 0: nothing. */
static maki_str text_of(const maki_content_part *part)
{
    if (part->kind == MAKI_CONTENT_TEXT && !maki_is_blank(part->text)) return part->text;
    if (part->kind == MAKI_CONTENT_FILE) return MAKI_LIT("\"[file]\"");
    bool image = part->kind == MAKI_CONTENT_IMAGE && !part->media.data.len;
    return image ? MAKI_LIT("\"[image]\"") : (maki_str){ "", 0 };
}

static void add_image(maki_wire_writer *wr, maki_str data)
{
    maki_jw w;
    maki_sticky_jw_begin(&wr->failure, maki_spool_sink(&wr->images), &w);
    maki_jw_print(&w, "%q", data);
    maki_sticky_jw_end(&wr->failure, &w, MAKI_LIT(","));
}

static void write_row(maki_wire_writer *wr, const maki_content_parts *row, maki_author author)
{
    maki_row_parts iter = maki_row_parts_of(wr, row);
    maki_content_part part;
    if (author == MAKI_AUTHOR_ASSISTANT) {
        write_assistant_row(wr, row);
        return;
    }
    while (maki_row_parts_next(&iter, &part)) {
        maki_str text = text_of(&part);
        if (text.len) maki_writer_add_text(wr, &wr->content, wr->part_count++ == 0, text);
        if (part.kind == MAKI_CONTENT_IMAGE && part.media.data.len) add_image(wr, part.media.data);
    }
    if (!wr->part_count && !wr->images.size) return;
    if (author != MAKI_AUTHOR_SYSTEM) wr->any_message = true;
    maki_jw_print(wr->w, "{'role':%z,'content':%q",
                  author == MAKI_AUTHOR_SYSTEM ? "system" : "user",
                  maki_sticky_spool_text(&wr->failure, &wr->content));
    maki_writer_write_items(wr, "images", &wr->images);
    maki_jw_end_object(wr->w);
    maki_writer_clear_message(wr);
}

static void write_result(maki_wire_writer *wr, maki_jw *w, const maki_pending_call *pending,
                         const maki_content_part *part)
{
    (void)wr;
    maki_jw_print(w, "{'role':'tool','tool_name':%v,'tool_call_id':%v,'content':", pending->name,
                  pending->id);
    maki_write_content_text(w, part->content);
    maki_jw_end_object(w);
}

/* ---- requests ------------------------------------------------------------------------------------------- */

static void write_first(maki_jw *w, const maki_request *r)
{
    bool on = maki_request_thinks(r);
    maki_jw_print(w, "'model':%s,'stream':%b", r->model, r->stream); /* streaming is its default */
    if (on && maki_str_starts(r->model, MAKI_LIT("gpt-oss")))        /* levels, not a boolean */
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
                  tool->name, tool->description, maki_tool_schema(tool));
}

const maki_request_format maki_ollama_request_format = {
    .format = { .write_row = write_row,
                .end_calls = write_collected,
                .write_result = write_result },
    .first_fields = write_first,
    .tool = write_tool,
};

/* write_chat.c -- OpenAI's chat completions, in the newer form (tool_calls, role tool) and the older one
 * (function_call, role function), which has one call a message: there each call is written right before its
 * result.
 *
 * A message of the assistant is put together in the spools of the writer, because its text and its calls
 * may come from several rows; messages of others go straight through. */
#include "wire/protocol.h"

/* ---- parts of content ----------------------------------------------------------------------------------- */

static bool is_block(const maki_content_part *piece, maki_str type)
{
    return maki_is_text(piece->type, type);
}

static bool takes(const maki_content_part *piece, maki_speaker by)
{
    if (piece->kind == MAKI_CONTENT_TEXT) return !maki_blank(piece->text);
    if (by == MAKI_BY_ASSISTANT) return false;
    return piece->kind == MAKI_CONTENT_IMAGE || piece->kind == MAKI_CONTENT_FILE ||
           is_block(piece, MAKI_LIT("input_audio")) || is_block(piece, MAKI_LIT("file"));
}

static void write_file(maki_jw *w, const maki_content_part *piece)
{
    maki_jw_print(w, "{'type':'file','file':{'filename':'document.pdf','file_data':");
    maki_put_url(w, &piece->media);
    maki_jw_print(w, "}}");
}

static void write_image(maki_jw *w, const maki_content_part *piece)
{
    maki_jw_print(w, "{'type':'image_url','image_url':{'url':");
    maki_put_url(w, &piece->media);
    maki_write_rest(w, maki_member(piece->block, MAKI_LIT("image_url")), "url"); /* detail */
    maki_jw_print(w, "},'cache_control':%v}", piece->cache);
}

static void write_text(maki_jw *w, maki_str text, maki_str cache)
{
    maki_jw_print(w, "{'type':'text','text':%v,'cache_control':%v}", text, cache);
}

static void write_part(maki_jw *w, const maki_content_part *piece)
{
    bool own = is_block(piece, MAKI_LIT("file")) || is_block(piece, MAKI_LIT("input_audio"));
    if (piece->kind == MAKI_CONTENT_TEXT)
        write_text(w, piece->text, piece->cache);
    else if (own)
        maki_jw_raw(w, piece->block);
    else if (piece->kind == MAKI_CONTENT_IMAGE)
        write_image(w, piece);
    else
        write_file(w, piece);
}

/* ---- the assistant -------------------------------------------------------------------------------------- */

/* The field in which a thought goes back; len 0: it does not. */
static maki_str thought_as(const maki_wire_writer *wr, const maki_content_part *piece)
{
    static const maki_str content = { "reasoning_content", 17 }, nowhere = { "", 0 };
    if (piece->text.len <= 2 || wr->style.reasoning == MAKI_REASONING_REFUSED) return nowhere;
    if (wr->style.reasoning == MAKI_REASONING_CONTENT) return content;
    bool ollamas = maki_str_is(piece->field, MAKI_LIT("thinking"));
    return ollamas ? nowhere : piece->field;
}

static void keep_thought(maki_wire_writer *wr, const maki_content_part *piece)
{
    maki_str as = thought_as(wr, piece);
    if (as.len == 0 || (wr->thought_as.len && !maki_str_is(wr->thought_as, as))) return;
    maki_writer_add_text(wr, &wr->thoughts, wr->thought_as.len == 0, piece->text);
    wr->thought_as = as;
}

/* The text goes in as it stands while it is the only one, else as parts. */
static void keep_text(maki_wire_writer *wr, const maki_content_part *piece)
{
    maki_jw w;
    if (maki_blank(piece->text)) return;
    if (wr->parts++ == 0 && piece->block.len == 0) {
        wr->from_string = true;
        maki_sticky_add(&wr->failure, &wr->content, piece->text);
        return;
    }
    if (wr->from_string) maki_sticky_add(&wr->failure, &wr->content, MAKI_LIT("},"));
    wr->from_string = false;
    maki_sticky_begin(&wr->failure, maki_spool_sink(&wr->content), &w);
    write_text(&w, piece->text, piece->cache);
    maki_sticky_end(&wr->failure, &w, MAKI_LIT(","));
}

static void write_function(maki_jw *w, const maki_asked *asked, maki_str input)
{
    maki_jw_print(w, "{'name':%v,'arguments':", asked->name);
    maki_put_arguments(w, input);
    maki_jw_end_object(w);
}

static void keep_call(maki_wire_writer *wr, maki_content_part *call)
{
    maki_asked *asked = maki_writer_asked(wr, call);
    maki_jw w;
    if (!asked) return;
    asked->call_at = wr->calls.size;
    maki_sticky_begin(&wr->failure, maki_spool_sink(&wr->calls), &w);
    if (wr->style.functions) {
        write_function(&w, asked, call->input);
    } else {
        maki_jw_print(&w, "{'id':%v,'type':'function','function':", asked->id);
        write_function(&w, asked, call->input);
        if (call->field.len) maki_write_rest(&w, call->block, "id type function index");
        maki_jw_end_object(&w);
    }
    maki_sticky_end(&wr->failure, &w, MAKI_LIT(","));
    asked->call_len = wr->calls.size - asked->call_at - 1;
}

static void keep_row(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    while (maki_turn_text_next(&saying, &piece)) {
        switch (piece.kind) {
        case MAKI_CONTENT_TEXT: keep_text(wr, &piece); break;
        case MAKI_CONTENT_CALL: keep_call(wr, &piece); break;
        case MAKI_CONTENT_THINKING: keep_thought(wr, &piece); break;
        default: break;
        }
    }
}

static void write_content(maki_wire_writer *wr)
{
    maki_str content = maki_sticky_text(&wr->failure, &wr->content);
    if (content.len == 0) {
        maki_jw_print(wr->w, "'content':null");
    } else if (wr->from_string) {
        maki_jw_print(wr->w, "'content':%v", content);
    } else {
        bool began = content.ptr[0] == '"'; /* with a string, which was not the only text */
        maki_jw_print(wr->w, "'content':[");
        maki_jw_begin_value(wr->w);
        if (began) maki_jw_bytes(wr->w, MAKI_LIT("{\"type\":\"text\",\"text\":"));
        maki_jw_bytes(wr->w, maki_str_to(content, content.len - 1));
        maki_jw_end_array(wr->w);
    }
}

/* The beginning of a message of what was kept: all but its calls.  `row`: the one row it comes from, or
 * NULL. */
static void write_kept(maki_wire_writer *wr, const maki_content_parts *row)
{
    wr->any = true;
    maki_jw_print(wr->w, "{'role':'assistant'");
    write_content(wr);
    if (row)
        maki_jw_print(wr->w, "'name':%v,'refusal':%v,'audio':%v", row->name, row->refusal,
                      row->audio);
    if (wr->thought_as.len) {
        maki_jw_key(wr->w, wr->thought_as);
        maki_jw_print(wr->w, "%q", maki_sticky_text(&wr->failure, &wr->thoughts));
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
    write_kept(wr, NULL);
    maki_writer_put_items(wr, "tool_calls", &wr->calls);
    maki_jw_end_object(wr->w);
}

static void before_result(maki_wire_writer *wr, const maki_asked *asked)
{
    if (!wr->style.functions) return;
    maki_str calls = maki_sticky_text(&wr->failure, &wr->calls);
    write_kept(wr, NULL); /* the text goes with the first */
    if (calls.len) calls = (maki_str){ calls.ptr + asked->call_at, (size_t)asked->call_len };
    maki_jw_print(wr->w, "'function_call':%v}", calls);
}

static void say_assistant(maki_wire_writer *wr, const maki_content_parts *row)
{
    keep_row(wr, row);
    if (wr->calling) return; /* until all calls are here */
    if (!wr->parts && !wr->thought_as.len && !row->refusal.len && !row->audio.len) return;
    write_kept(wr, row);
    maki_jw_end_object(wr->w);
}

/* ---- the others ----------------------------------------------------------------------------------------- */

static void say(maki_wire_writer *wr, const maki_content_parts *row, maki_speaker by)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    size_t count = 0;
    bool string = true; /* the content is but one */
    if (by == MAKI_BY_ASSISTANT) {
        say_assistant(wr, row);
        return;
    }
    while (maki_turn_text_next(&saying, &piece)) {
        if (takes(&piece, by))
            string = count++ == 0 && !piece.block.len && piece.kind == MAKI_CONTENT_TEXT;
    }
    if (count == 0) return;
    saying = maki_turn_text_of(wr, row);
    if (by != MAKI_BY_SYSTEM) wr->any = true;
    maki_jw_print(wr->w, string ? "{'role':%v,'content':" : "{'role':%v,'content':[",
                  by == MAKI_BY_SYSTEM ? row->role : MAKI_LIT("\"user\""));
    while (maki_turn_text_next(&saying, &piece)) {
        if (!takes(&piece, by)) continue;
        if (string)
            maki_jw_raw(wr->w, piece.text);
        else
            write_part(wr->w, &piece);
    }
    if (!string) maki_jw_end_array(wr->w);
    maki_jw_print(wr->w, "'name':%v}", /* a result's is the tool's */
                  row->is_result ? MAKI_LIT("") : row->name);
}

/* ---- results -------------------------------------------------------------------------------------------- */

/* A string, or parts of text: that API takes no images there. */
static void write_result(maki_jw *w, maki_str content)
{
    maki_content_parts pieces = maki_content_parts_in(content);
    maki_content_part piece;
    bool any = false;
    if (!maki_is_array(content)) {
        maki_put_text_of(w, content);
        return;
    }
    maki_jw_array(w);
    while (maki_content_parts_next(&pieces, &piece)) {
        bool image = piece.kind == MAKI_CONTENT_IMAGE;
        if (piece.kind != MAKI_CONTENT_TEXT && !image) continue;
        write_text(w, image ? MAKI_LIT("\"[image]\"") : piece.text, piece.cache);
        any = true;
    }
    if (!any) write_text(w, MAKI_LIT("\"\""), (maki_str){ "", 0 }); /* it may not be empty */
    maki_jw_end_array(w);
}

static void result(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_content_part *piece)
{
    if (wr->style.functions) {
        maki_jw_print(w, "{'role':'function','name':%v,'content':", asked->name);
        maki_put_text_of(w, piece->content);
    } else {
        maki_jw_print(w, "{'role':'tool','tool_call_id':%v,'content':", asked->id);
        write_result(w, piece->content);
    }
    maki_jw_end_object(w);
}

/* ---- requests ------------------------------------------------------------------------------------------- */

/* OpenAI's newer models refuse max_tokens; other servers know nothing else. */
static const char *limit_name(maki_str model)
{
    static const char *const newer[] = { "o1", "o3", "o4", "gpt-5" };
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
        if (maki_str_starts(model, maki_str_of(newer[i]))) return "'max_completion_tokens':%I";
    }
    return "'max_tokens':%I";
}

static void write_thinking(maki_jw *w, const maki_request *r)
{
    bool on = maki_request_thinks(r);
    if (maki_request_reasoning(r) == MAKI_REASONING_CONTENT)
        maki_jw_print(w, "'thinking':{'type':%z}", on ? "enabled" : "disabled");
    else if (on) /* no word for off is understood by all */
        maki_jw_print(w, "'reasoning_effort':%s", maki_thinking_level(r));
}

static void write_first(maki_jw *w, const maki_request *r)
{
    maki_jw_print(w, "'model':%s", r->model);
    maki_jw_print(w, limit_name(r->model), r->max_tokens);
    if (r->stream) /* else nothing is said about tokens */
        maki_jw_print(w, "'stream':true,'stream_options':{'include_usage':true}");
    if (r->has_temperature) maki_jw_print(w, "'temperature':%f", r->temperature);
    if (r->thinking != MAKI_THINKING_UNSET) write_thinking(w, r);
}

static void write_tool(maki_jw *w, const maki_request *r, const maki_tool *tool)
{
    if (r->functions)
        maki_jw_print(w, "{'name':%v,'description':%v,'parameters':%v}", tool->name, tool->about,
                      maki_tool_schema(tool));
    else
        maki_jw_print(w,
                      "{'type':'function','function':{'name':%v,'description':%v,'parameters':%v,"
                      "'strict':%v}}",
                      tool->name, tool->about, maki_tool_schema(tool), tool->strict);
}

/* It is said in any case: task requests end in "tool_choice":"auto".  The older form cannot require one. */
static void write_choice(maki_jw *w, const maki_request *r)
{
    bool none = r->tool_choice.len == 0 || (r->functions && maki_chooses(r, "required"));
    maki_jw_key(w, r->functions ? MAKI_LIT("function_call") : MAKI_LIT("tool_choice"));
    if (none || !maki_chooses_tool(r))
        maki_jw_string(w, none ? MAKI_LIT("auto") : r->tool_choice);
    else if (r->functions)
        maki_jw_print(w, "{'name':%s}", r->tool_choice);
    else
        maki_jw_print(w, "{'type':'function','function':{'name':%s}}", r->tool_choice);
}

const maki_protocol_writing maki_chat_writing = {
    .shape = { .say = say, .called = called, .result = result, .before_result = before_result },
    .id_most = 40,
    .old_functions = true,
    .first_fields = write_first,
    .tool = write_tool,
    .choice = write_choice,
};

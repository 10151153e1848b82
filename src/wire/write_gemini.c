/* write_gemini.c -- contents with parts, as gemini_part.c reads them.  What Gemini said beside a part, its
 * signature above all, goes back with it. */
#include "wire/gemini_part.h"
#include "wire/protocol.h"

static void begin(maki_wire_writer *wr, maki_speaker by)
{
    maki_jw_print(wr->w, "{'role':%z,'parts':[", by == MAKI_BY_ASSISTANT ? "model" : "user");
}

static void end(maki_wire_writer *wr)
{
    maki_jw_print(wr->w, "]}");
}

/* ---- parts ---------------------------------------------------------------------------------------------- */

/* What Gemini said beside a part; other protocols keep other things there. */
static void write_beside(maki_jw *w, const maki_content_part *piece)
{
    maki_jw_print(w, "'thoughtSignature':%v", maki_gemini_signature(piece->original));
    if (piece->original.len)
        maki_put_known(w, piece->original, MAKI_LIT(""), "videoMetadata mediaResolution");
}

/* And in the object that the part is about. */
static void write_inside(maki_jw *w, const maki_content_part *piece, maki_str key)
{
    maki_str inner = maki_member(piece->original, key);
    if (inner.len) maki_write_rest(w, inner, "");
}

static void write_text(maki_jw *w, const maki_content_part *piece, bool thought)
{
    maki_jw_print(w, "{'thought':%v,'text':%v", thought ? MAKI_LIT("true") : MAKI_LIT(""),
                  piece->text);
    write_beside(w, piece);
    maki_jw_end_object(w);
}

static void write_media(maki_jw *w, const maki_content_part *piece)
{
    const maki_media *media = &piece->media;
    bool data = media->data.len > 0;
    maki_jw_print(w, data ? "{'inlineData':{'mimeType':%Q" : "{'fileData':{'mimeType':%Q",
                  media->type);
    maki_jw_print(w, data ? "'data':%q" : "'fileUri':%q", data ? media->data : media->url);
    write_inside(w, piece, data ? MAKI_LIT("inlineData") : MAKI_LIT("fileData"));
    maki_jw_end_object(w);
    write_beside(w, piece);
    maki_jw_end_object(w);
}

/* Gemini 3 refuses the first call of a turn without a signature; this is what it takes for one that it did
 * not make. */
static void write_signature(maki_wire_writer *wr, const maki_content_part *call)
{
    bool has = maki_gemini_signature(call->original).len > 0;
    if (!has && wr->style.sign_calls && wr->asked_count == 1)
        maki_jw_print(wr->w, "'thoughtSignature':'skip_thought_signature_validator'");
}

static void write_call(maki_wire_writer *wr, maki_content_part *call)
{
    maki_asked *asked = maki_writer_asked(wr, call);
    if (!asked) return;
    maki_writer_begin(wr, MAKI_BY_ASSISTANT);
    maki_jw_print(wr->w, "{'functionCall':{'name':%v,'args':", asked->name);
    maki_put_input(wr->w, call->input);
    write_inside(wr->w, call, MAKI_LIT("functionCall"));
    maki_jw_end_object(wr->w);
    write_beside(wr->w, call);
    write_signature(wr, call);
    maki_jw_end_object(wr->w);
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

static bool takes(const maki_content_part *piece)
{
    switch (piece->kind) {
    case MAKI_CONTENT_TEXT: return !maki_blank(piece->text);
    case MAKI_CONTENT_IMAGE:
    case MAKI_CONTENT_FILE: return true;
    case MAKI_CONTENT_THINKING:
        return piece->text.len > 2 && maki_gemini_signature(piece->original).len > 0;
    /* a part of its own that we do not know: blocks of the others have a type */
    case MAKI_CONTENT_OTHER: return maki_is_object(piece->block) && !piece->type.len;
    default: return false;
    }
}

static void say(maki_wire_writer *wr, const maki_content_parts *row, maki_speaker by)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    while (maki_turn_text_next(&saying, &piece)) {
        if (piece.kind == MAKI_CONTENT_CALL) write_call(wr, &piece);
        if (!takes(&piece)) continue;
        maki_writer_begin(wr, by);
        if (piece.kind == MAKI_CONTENT_OTHER)
            maki_jw_raw(wr->w, piece.block);
        else if (piece.kind == MAKI_CONTENT_IMAGE || piece.kind == MAKI_CONTENT_FILE)
            write_media(wr->w, &piece);
        else
            write_text(wr->w, &piece, piece.kind == MAKI_CONTENT_THINKING);
    }
}

/* The object that a tool answered with: as it was where that is known, else its text under a name. */
static void write_response(maki_jw *w, const maki_content_part *piece, maki_str own)
{
    maki_json_iter iter = maki_json_items(maki_member(own, MAKI_LIT("response")));
    maki_json_item only;
    maki_jw_key(w, MAKI_LIT("response"));
    bool named = iter.object && maki_json_next(&iter, &only);
    bool object = own.len && !named && maki_is_string(piece->content);
    if (object && maki_put_object_in(w, piece->content)) return;
    maki_jw_object(w);
    maki_jw_key(w, named ? only.key : piece->error ? MAKI_LIT("error") : MAKI_LIT("output"));
    maki_put_text_of(w, piece->content);
    maki_jw_end_object(w);
}

static void result(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_content_part *piece)
{
    maki_str own = maki_member(piece->original, MAKI_LIT("functionResponse"));
    (void)wr;
    maki_jw_print(w, "{'functionResponse':{'name':%v", asked->name);
    write_response(w, piece, own);
    maki_write_rest(w, own, "name response");
    maki_jw_print(w, "}}");
}

/* ---- requests ------------------------------------------------------------------------------------------- */

/* Gemini 3 has levels, 2.5 a number of tokens; 2.5 Pro cannot be told to stop. */
static void write_thinking(maki_jw *w, const maki_request *r)
{
    static const int64_t budgets[] = { 0, 0, 512, 1024, 8192, 24576 };
    bool levels = maki_str_starts(r->model, MAKI_LIT("gemini-3")), on = maki_request_thinks(r);
    bool pro = maki_str_has(r->model, MAKI_LIT("-pro"));
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
    if (tool->declared)
        maki_jw_raw(w, tool->given);
    else
        maki_jw_print(w, "{'name':%v,'description':%v,'parametersJsonSchema':%v}", tool->name,
                      tool->about, maki_tool_schema(tool));
}

static bool runs(const maki_tool *tool)
{
    return tool->type.len == 0;
}

static void write_choice(maki_jw *w, const maki_request *r)
{
    const char *mode = "ANY";
    if (r->tool_choice.len == 0) return;
    if (maki_chooses(r, "auto")) mode = "AUTO";
    if (maki_chooses(r, "none")) mode = "NONE";
    maki_jw_print(w, "'toolConfig':{'functionCallingConfig':{'mode':%z", mode);
    if (maki_chooses_tool(r)) maki_jw_print(w, "'allowedFunctionNames':[%s]", r->tool_choice);
    maki_jw_print(w, "}}");
}

const maki_protocol_writing maki_gemini_writing = {
    .shape = { .merges = true, .begin = begin, .end = end, .say = say, .result = result },
    .system_place = MAKI_SYSTEM_APART,
    .system_open = "'systemInstruction':{'parts':[",
    .system_close = "]}",
    .last_fields = write_last,
    .tools_open = "{'functionDeclarations':[",
    .tools_close = "]}",
    .tool = write_tool,
    .runs = runs,
    .choice = write_choice,
};

/* write_anthropic.c -- messages with blocks.  A block of that API's own goes back with the fields it takes;
 * thinking only with its signature, which no one else can make. */
#include "wire/protocol.h"

enum {
    LONE_MAX = 32 << 10, /* a longer string is not kept back to see what follows */
    MAX_TOKENS = 8192    /* a limit must be said */
};

/* ---- messages ------------------------------------------------------------------------------------------- */

static void write_head(maki_wire_writer *wr)
{
    maki_jw_print(wr->w,
                  "{'role':%z,'content':", wr->open == MAKI_BY_ASSISTANT ? "assistant" : "user");
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
        maki_jw_print(wr->w, "]}");
        return;
    }
    maki_str string = maki_sticky_text(&wr->failure, &wr->content);
    if (string.len == 0) return;
    write_head(wr);
    maki_jw_print(wr->w, "%v}", string);
}

static void write_text(maki_jw *w, maki_str text)
{
    maki_jw_print(w, "{'type':'text','text':%v}", text);
}

/* Blocks follow. */
static maki_jw *blocks(maki_wire_writer *wr, maki_speaker by)
{
    maki_writer_begin(wr, by);
    if (!wr->lone) return wr->w;
    maki_str string = maki_sticky_text(&wr->failure, &wr->content);
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
    const char *fields;
} own_rows[] = {
    { { "text", 4 }, "type text citations cache_control" },
    { { "image", 5 }, "type source cache_control" },
    { { "document", 8 }, "type source title context citations cache_control" },
    { { "thinking", 8 }, "type thinking signature" },
    { { "redacted_thinking", 17 }, "type data" },
    { { "search_result", 13 }, "type source title content citations cache_control" },
    { { "server_tool_use", 15 }, "type id name input cache_control" },
    { { "web_search_tool_result", 22 }, "type tool_use_id content cache_control" },
};

static const struct own_row *own_of(const maki_content_part *piece)
{
    maki_str type = piece->type;
    for (size_t i = 0; type.len && i < sizeof own_rows / sizeof own_rows[0]; i++) {
        if (maki_json_text_is(type, own_rows[i].type)) return &own_rows[i];
    }
    return NULL;
}

/* Does that API take it?  A thought only with the signature it came with. */
static bool takes(const maki_content_part *piece)
{
    switch (piece->kind) {
    case MAKI_CONTENT_TEXT: return !maki_blank(piece->text);
    case MAKI_CONTENT_IMAGE:
    case MAKI_CONTENT_FILE: return true;
    case MAKI_CONTENT_THINKING: {
        bool hidden = maki_member_string(piece->block, MAKI_LIT("data")).len > 2;
        return own_of(piece) &&
               (hidden || maki_member_string(piece->block, MAKI_LIT("signature")).len > 2);
    }
    case MAKI_CONTENT_OTHER: return own_of(piece) != NULL;
    default: return false;
    }
}

static void write_media(maki_jw *w, const maki_content_part *piece)
{
    const maki_media *media = &piece->media;
    const char *type = piece->kind == MAKI_CONTENT_IMAGE ? "image" : "document";
    if (media->data.len)
        maki_jw_print(w, "{'type':%z,'source':{'type':'base64','media_type':%q,'data':%q}}", type,
                      media->type, media->data);
    else
        maki_jw_print(w, "{'type':%z,'source':{'type':'url','url':%q}}", type, media->url);
}

static void write_block(maki_jw *w, const maki_content_part *piece)
{
    const struct own_row *own = own_of(piece);
    if (own) {
        maki_jw_object(w);
        maki_put_known(w, piece->block, piece->text, own->fields);
        maki_jw_end_object(w);
    } else if (piece->kind == MAKI_CONTENT_TEXT) {
        write_text(w, piece->text);
    } else {
        write_media(w, piece);
    }
}

static void write_call(maki_wire_writer *wr, maki_content_part *call)
{
    maki_asked *asked = maki_writer_asked(wr, call);
    if (!asked) return;
    maki_jw *w = blocks(wr, MAKI_BY_ASSISTANT);
    maki_jw_print(w, "{'type':'tool_use','id':%v,'name':%v,'input':", asked->id, asked->name);
    maki_put_input(w, call->input);
    maki_jw_print(w, "'cache_control':%v}", call->cache);
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

/* A message that is one string stays one, unless more of its speaker follows. */
static bool keep_lone(maki_wire_writer *wr, const maki_content_part *piece, maki_speaker by)
{
    bool bare = piece->kind == MAKI_CONTENT_TEXT && piece->block.len == 0;
    if (!bare || wr->open == by || piece->text.len > LONE_MAX) return false;
    maki_writer_begin(wr, by);
    maki_sticky_add(&wr->failure, &wr->content, piece->text);
    return true;
}

static void say(maki_wire_writer *wr, const maki_content_parts *row, maki_speaker by)
{
    maki_turn_text saying = maki_turn_text_of(wr, row);
    maki_content_part piece;
    while (maki_turn_text_next(&saying, &piece)) {
        if (piece.kind == MAKI_CONTENT_CALL)
            write_call(wr, &piece);
        else if (takes(&piece) && !keep_lone(wr, &piece, by))
            write_block(blocks(wr, by), &piece);
    }
}

static void write_inner(maki_jw *w, maki_str content)
{
    maki_content_parts pieces = maki_content_parts_in(content);
    maki_content_part piece;
    bool any = false;
    if (maki_is_string(content)) {
        if (!maki_blank(content)) maki_jw_print(w, "'content':%v", content);
        return;
    }
    while (maki_content_parts_next(&pieces, &piece)) {
        if (piece.kind == MAKI_CONTENT_THINKING || !takes(&piece)) continue;
        if (!any) maki_jw_print(w, "'content':[");
        any = true;
        write_block(w, &piece);
    }
    if (any) maki_jw_end_array(w);
}

static void result(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_content_part *piece)
{
    (void)wr;
    maki_jw_print(w, "{'type':'tool_result','tool_use_id':%v", asked->id);
    write_inner(w, piece->content);
    maki_jw_print(w, "'is_error':%v,'cache_control':%v}",
                  piece->error ? MAKI_LIT("true") : MAKI_LIT(""), piece->cache);
}

static void before_result(maki_wire_writer *wr, const maki_asked *asked)
{
    (void)asked;
    blocks(wr, MAKI_BY_USER);
}

/* ---- requests ------------------------------------------------------------------------------------------- */

static unsigned number_at(maki_str *text)
{
    unsigned n = 0;
    while (text->len && text->ptr[0] >= '0' && text->ptr[0] <= '9' && n < 100000) {
        n = n * 10 + (unsigned)(text->ptr[0] - '0');
        *text = maki_str_from(*text, 1);
    }
    return n;
}

/* From 4.6 on the model decides how long it thinks, and is told how hard.  The name is claude-FAMILY-4-6, a
 * date may stand in the place of the second number; older ones are claude-3-7-FAMILY. */
static bool adapts(maki_str model)
{
    maki_str rest = MAKI_LIT("claude-");
    if (!maki_str_starts(model, rest)) return false;
    rest = maki_str_from(model, rest.len);
    while (rest.len && rest.ptr[0] >= 'a' && rest.ptr[0] <= 'z')
        rest = maki_str_from(rest, 1);
    if (rest.len == 0 || rest.ptr[0] != '-') return false;
    rest = maki_str_from(rest, 1);
    unsigned major = number_at(&rest);
    if (rest.len && rest.ptr[0] == '-') rest = maki_str_from(rest, 1);
    unsigned minor = number_at(&rest);
    if (minor >= 1000) minor = 0; /* a date */
    return major > 4 || (major == 4 && minor >= 6);
}

static uint64_t most_tokens(const maki_request *r)
{
    return r->max_tokens ? r->max_tokens : MAX_TOKENS;
}

/* Half of the answer at most; under 1024 it is refused. */
static uint64_t budget_of(const maki_request *r)
{
    static const uint64_t budgets[] = { 0, 0, 1024, 4096, 10000, 20000 };
    uint64_t most = most_tokens(r) / 2;
    uint64_t budget = budgets[r->thinking] < most ? budgets[r->thinking] : most;
    return budget >= 1024 ? budget : 0;
}

static void write_thinking(maki_jw *w, const maki_request *r, bool on)
{
    if (on && adapts(r->model))
        maki_jw_print(w, "'thinking':{'type':'adaptive'},'output_config':{'effort':%s}",
                      maki_thinking_level_low(r));
    else if (on)
        maki_jw_print(w, "'thinking':{'type':'enabled','budget_tokens':%i}", budget_of(r));
    else if (r->thinking != MAKI_THINKING_UNSET)
        maki_jw_print(w, "'thinking':{'type':'disabled'}");
}

/* It takes no temperature while it thinks, and does not think where a tool must be called. */
static void write_first(maki_jw *w, const maki_request *r)
{
    bool on =
        maki_request_thinks(r) && !maki_request_forces(r) && (adapts(r->model) || budget_of(r) > 0);
    maki_jw_print(w, "'model':%s,'max_tokens':%i", r->model, most_tokens(r));
    if (r->stream) maki_jw_print(w, "'stream':true");
    if (r->has_temperature && !on) maki_jw_print(w, "'temperature':%f", r->temperature);
    if (on || r->thinking == MAKI_THINKING_OFF) write_thinking(w, r, on);
}

static void write_tool(maki_jw *w, const maki_request *r, const maki_tool *tool)
{
    (void)r;
    maki_jw_print(w, "{'name':%v,'description':%v,'input_schema':%v,'cache_control':%v}",
                  tool->name, tool->about, maki_tool_schema(tool),
                  maki_member(tool->given, MAKI_LIT("cache_control")));
}

static bool runs(const maki_tool *tool)
{
    return tool->type.len && tool->name.len && !maki_is_text(tool->type, MAKI_LIT("custom"));
}

static void write_choice(maki_jw *w, const maki_request *r)
{
    if (r->tool_choice.len == 0) return;
    if (maki_chooses_tool(r))
        maki_jw_print(w, "'tool_choice':{'type':'tool','name':%s}", r->tool_choice);
    else
        maki_jw_print(w, "'tool_choice':{'type':%s}",
                      maki_chooses(r, "required") ? MAKI_LIT("any") : r->tool_choice);
}

const maki_protocol_writing maki_anthropic_writing = {
    .shape = { .merges = true,
               .begin = begin,
               .end = end,
               .say = say,
               .result = result,
               .before_result = before_result },
    .ids_once = true,
    .ids_plain = true,
    .system_place = MAKI_SYSTEM_APART,
    .system_open = "'system':[",
    .system_close = "]",
    .system_blocks = true,
    .first_fields = write_first,
    .tool = write_tool,
    .runs = runs,
    .choice = write_choice,
};

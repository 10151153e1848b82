/* anthropic.c -- Anthropic's messages: kept verbatim. */
#include "wire/protocol.h"

/* The fields of an event that matter here. */
enum { TYPE, INDEX, DELTA, BLOCK, MESSAGE, USAGE, FIELDS };

static void note_message(maki_wire_reply *r, maki_str message)
{
    maki_reply_note(r, MAKI_NOTE_ID, maki_member_string(message, MAKI_LIT("id")));
    maki_reply_note(r, MAKI_NOTE_MODEL, maki_member_string(message, MAKI_LIT("model")));
    maki_reply_note(r, MAKI_NOTE_STOP, maki_member_string(message, MAKI_LIT("stop_reason")));
    maki_reply_usage(r, maki_member(message, MAKI_LIT("usage")));
}

static void block_start(maki_wire_reply *r, const maki_str *v)
{
    bool object = maki_is_object(v[BLOCK]);
    maki_part *part = object ? maki_reply_new_part(r, maki_count_of(v[INDEX])) : NULL;
    r->garbage |= !object;
    if (!part) return;
    maki_reply_delta(r, MAKI_DELTA_TEXT, maki_member(v[BLOCK], MAKI_LIT("text")));
    if (maki_is_object(maki_member(v[BLOCK], MAKI_LIT("input"))))
        maki_reply_delta_call(r, part, maki_member(v[BLOCK], MAKI_LIT("name")),
                              maki_member(v[BLOCK], MAKI_LIT("id")));
    maki_json_assembler_start(&part->fields, v[BLOCK]);
}

/* Texts, thinking and signatures grow under their own names, and so does what we do not know yet. */
static void block_delta(maki_wire_reply *r, const maki_str *v)
{
    enum { JSON, CITATION, TEXT, THINKING, COUNT };
    static const maki_str names[] = {
        { "partial_json", 12 }, { "citation", 8 }, { "text", 4 }, { "thinking", 8 }
    };
    maki_part *part = maki_reply_part(r, maki_count_of(v[INDEX]));
    maki_str d[COUNT];
    if (!part) {
        r->garbage = true;
        return;
    }
    maki_member_each(v[DELTA], names, d, COUNT);
    maki_reply_delta(r, MAKI_DELTA_TEXT, d[TEXT]);
    maki_reply_delta(r, MAKI_DELTA_REASONING, d[THINKING]);
    maki_reply_delta_input(r, part, d[JSON]);
    if (maki_is_string(d[JSON]))
        maki_json_assembler_add(&part->fields, MAKI_ASSEMBLE_JSON, MAKI_LIT("input"), d[JSON]);
    if (d[CITATION].len)
        maki_json_assembler_add(&part->fields, MAKI_ASSEMBLE_LIST, MAKI_LIT("citations"),
                                d[CITATION]);
    maki_json_assembler_merge(&part->fields, v[DELTA], "type partial_json citation");
}

static void event(maki_wire_reply *r, maki_str value)
{
    static const maki_str names[] = { { "type", 4 },           { "index", 5 },   { "delta", 5 },
                                      { "content_block", 13 }, { "message", 7 }, { "usage", 5 } };
    maki_str v[FIELDS];
    maki_member_each(value, names, v, FIELDS);
#define IS(text) maki_is_text(v[TYPE], MAKI_LIT(text))
    if (IS("content_block_delta")) {
        block_delta(r, v);
    } else if (IS("content_block_start")) {
        block_start(r, v);
    } else if (IS("content_block_stop")) {
        maki_part *part = maki_reply_part(r, maki_count_of(v[INDEX]));
        if (part) part->done = true;
        maki_reply_flush(r, false);
    } else if (IS("message_start")) {
        note_message(r, v[MESSAGE]);
    } else if (IS("message_delta")) {
        maki_reply_note(r, MAKI_NOTE_STOP, maki_member_string(v[DELTA], MAKI_LIT("stop_reason")));
        maki_reply_usage(r, v[USAGE]);
    } else if (IS("error")) {
        maki_reply_note(r, MAKI_NOTE_ERROR, value);
    } else if (IS("message_stop")) {
        r->complete = true;
    } /* ping, and what comes after our time */
#undef IS
}

static void whole(maki_wire_reply *r, maki_str value)
{
    maki_json_iter iter = maki_array_items(maki_member(value, MAKI_LIT("content")));
    maki_json_item item;
    if (maki_is_text(maki_member(value, MAKI_LIT("type")), MAKI_LIT("error"))) {
        maki_reply_note(r, MAKI_NOTE_ERROR, value);
        return;
    }
    note_message(r, value);
    while (maki_json_next(&iter, &item))
        maki_reply_block(r, item.value);
}

static void finish(maki_wire_reply *r)
{
    maki_jw w;
    maki_reply_flush(r, true);
    maki_str blocks = maki_reply_blocks(r);
    if (blocks.len == 0) return;
    maki_reply_row(r, &w);
    maki_jw_print(&w, "{'role':'assistant','content':[%v]}", maki_str_to(blocks, blocks.len - 1));
    maki_reply_row_end(r, &w);
}

/* Its input is without what came from the cache. */
static maki_wire_usage usage(maki_str u)
{
    maki_wire_usage out = { .cache_read = maki_member_count(u, MAKI_LIT("cache_read_input_tokens")),
                            .cache_write =
                                maki_member_count(u, MAKI_LIT("cache_creation_input_tokens")),
                            .output = maki_member_count(u, MAKI_LIT("output_tokens")) };
    out.input = maki_member_count(u, MAKI_LIT("input_tokens")) + out.cache_read + out.cache_write;
    return out;
}

const maki_protocol_spec maki_anthropic_protocol = {
    .name = "anthropic",
    .upstream = "anthropic",
    .paths = { { "/v1/messages", false }, { "/v1/messages/count_tokens", true } },
    .version = "/v1",
    .target = "/messages",
    .key_line = "x-api-key: ",
    .head = "anthropic-version: 2023-06-01",
    .messages = "messages",
    .fields = { [MAKI_FIELD_SYSTEM] = "system",
                [MAKI_FIELD_MAX_TOKENS] = "max_tokens",
                [MAKI_FIELD_METADATA] = "metadata" },
    .item = maki_verbatim_item,
    .event = event,
    .whole = whole,
    .finish = finish,
    .usage = usage,
    .writing = &maki_anthropic_writing,
};

/* anthropic.c -- Anthropic's Messages API.
 *
 * Messages of a request are rows, unchanged.  A reply is assembled from content_block_start, _delta and _stop: each block
 * is an open part, found by its index, and its fields are concatenated by name, also unknown ones. */
#include "wire/protocol.h"

/* The fields of an event that are used. */
enum { TYPE, INDEX, DELTA, BLOCK, MESSAGE, USAGE, FIELDS };

static void read_meta(maki_wire_reply *r, maki_str message)
{
    maki_reply_set_meta(r, MAKI_META_ID, maki_json_string(message, "id"));
    maki_reply_set_meta(r, MAKI_META_MODEL, maki_json_string(message, "model"));
    maki_reply_set_meta(r, MAKI_META_STOP, maki_json_string(message, "stop_reason"));
    maki_reply_add_usage(r, maki_member(message, MAKI_LIT("usage")));
}

static void block_start(maki_wire_reply *r, const maki_str *v)
{
    bool object = maki_is_object(v[BLOCK]);
    maki_open_part *part = object ? maki_reply_add_part(r, maki_count_of(v[INDEX])) : NULL;
    r->invalid |= !object;
    if (!part) return;
    maki_reply_emit(r, MAKI_DELTA_TEXT, maki_member(v[BLOCK], MAKI_LIT("text")));
    if (maki_is_object(maki_member(v[BLOCK], MAKI_LIT("input"))))
        maki_reply_emit_call(r, part, maki_member(v[BLOCK], MAKI_LIT("name")),
                             maki_member(v[BLOCK], MAKI_LIT("id")));
    maki_json_assembler_start(&part->fields, v[BLOCK]);
}

/* Append a delta to its block: partial_json to `input`, a citation to `citations`, any other field to that of the same
 * name. */
static void block_delta(maki_wire_reply *r, const maki_str *v)
{
    enum { JSON, CITATION, TEXT, THINKING, COUNT };
    static const maki_str names[] = {
        { "partial_json", 12 }, { "citation", 8 }, { "text", 4 }, { "thinking", 8 }
    };
    maki_open_part *part = maki_reply_find_part(r, maki_count_of(v[INDEX]));
    maki_str d[COUNT];
    if (!part) {
        r->invalid = true;
        return;
    }
    maki_member_each(v[DELTA], names, d, COUNT);
    maki_reply_emit(r, MAKI_DELTA_TEXT, d[TEXT]);
    maki_reply_emit(r, MAKI_DELTA_REASONING, d[THINKING]);
    maki_reply_emit_input(r, part, d[JSON]);
    if (maki_is_string(d[JSON]))
        maki_json_assembler_add(&part->fields, MAKI_ASSEMBLE_JSON, MAKI_LIT("input"), d[JSON]);
    if (d[CITATION].len)
        maki_json_assembler_add(&part->fields, MAKI_ASSEMBLE_LIST, MAKI_LIT("citations"),
                                d[CITATION]);
    maki_json_assembler_merge(&part->fields, v[DELTA], "type partial_json citation");
}

static void on_event(maki_wire_reply *r, maki_str value)
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
        maki_open_part *part = maki_reply_find_part(r, maki_count_of(v[INDEX]));
        if (part) part->done = true;
        maki_reply_flush(r, false);
    } else if (IS("message_start")) {
        read_meta(r, v[MESSAGE]);
    } else if (IS("message_delta")) {
        maki_reply_set_meta(r, MAKI_META_STOP, maki_json_string(v[DELTA], "stop_reason"));
        maki_reply_add_usage(r, v[USAGE]);
    } else if (IS("error")) {
        maki_reply_set_meta(r, MAKI_META_ERROR, value);
    } else if (IS("message_stop")) {
        r->complete = true;
    } /* ping, and unknown events, are ignored */
#undef IS
}

static void on_body(maki_wire_reply *r, maki_str value)
{
    if (maki_json_field_is(value, "type", "error")) {
        maki_reply_set_meta(r, MAKI_META_ERROR, value);
        return;
    }
    read_meta(r, value);
    MAKI_JSON_EACH(item, maki_array_items(maki_member(value, MAKI_LIT("content"))))
        maki_reply_add_block(r, item.value);
}

static void on_end(maki_wire_reply *r)
{
    maki_jw w;
    maki_reply_flush(r, true);
    maki_str blocks = maki_reply_blocks(r);
    if (blocks.len == 0) return;
    maki_reply_begin_row(r, &w);
    maki_jw_print(&w, "{'role':'assistant','content':[%v]}",
                  maki_str_prefix(blocks, blocks.len - 1));
    maki_reply_end_row(r, &w);
}

/* Anthropic's input_tokens exclude cached tokens: they are added. */
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
    .key_header = "x-api-key: ",
    .head = "anthropic-version: 2023-06-01",
    .messages = "messages",
    .fields = { [MAKI_FIELD_SYSTEM] = "system",
                [MAKI_FIELD_MAX_TOKENS] = "max_tokens",
                [MAKI_FIELD_METADATA] = "metadata" },
    .read_item = maki_copy_item,
    .on_event = on_event,
    .on_body = on_body,
    .on_end = on_end,
    .usage = usage,
    .request_format = &maki_anthropic_request_format,
};

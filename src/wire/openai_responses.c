/* openai_responses.c -- OpenAI's Responses API: requests and replies are lists of items (response_items.h).
 *
 * Reasoning is deferred and becomes part of the row of the next item.  A stream sends the deltas of an item, then the
 * complete item, which replaces them; for a truncated item the deltas are assembled into its blocks. */
#include "wire/protocol.h"
#include "wire/response_items.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

/* Reasoning without a following item of the model gets a row of its own.  Reading cannot resume after it: in
 * another body an item might follow. */
static maki_status flush_reasoning(maki_request_reader *r)
{
    maki_str reasoning;
    maki_jw w;
    maki_status st = maki_spool_text(&r->reasoning, &reasoning, r->err);
    if (st != MAKI_OK || reasoning.len == 0) return st;
    maki_request_reader_begin(r, &w);
    maki_item_write_reasoning(&w, reasoning);
    maki_spool_clear(&r->reasoning);
    return maki_request_reader_end(r, &w, (maki_str){ "", 0 });
}

static maki_status defer_reasoning(maki_request_reader *r, maki_str item)
{
    maki_status st = maki_spool_add(&r->reasoning, item, r->err);
    return st == MAKI_OK ? maki_spool_add(&r->reasoning, MAKI_LIT(","), r->err) : st;
}

static maki_status emit_text(maki_request_reader *r, maki_str text)
{
    maki_jw w;
    maki_request_reader_begin(r, &w);
    maki_jw_print(&w, "{'role':'user','content':%v}", text);
    return maki_request_reader_end(r, &w, (maki_str){ "", 0 });
}

static maki_status read_item(maki_request_reader *r, maki_str item, bool single)
{
    maki_str reasoning = { "", 0 };
    maki_status st = MAKI_OK;
    maki_jw w;
    if (single && maki_is_string(item)) return emit_text(r, item);
    if (single) return maki_request_reader_wrong_type(r);
    if (!maki_is_object(item)) return maki_request_reader_fail(r, "must be an object");
    if (maki_item_is_reasoning(item)) return defer_reasoning(r, item);
    if (maki_item_is_reference(item)) r->checkpoint.by_reference = true;
    if (maki_item_is_assistant(item))
        st = maki_spool_text(&r->reasoning, &reasoning, r->err);
    else
        st = flush_reasoning(r);
    if (st != MAKI_OK) return st;
    maki_request_reader_begin(r, &w);
    maki_item_write_row(&w, item, reasoning);
    maki_spool_clear(&r->reasoning);
    return maki_request_reader_end(r, &w, item);
}

/* ---- replies ------------------------------------------------------------------------------------------ */

/* Deltas, by type of event: texts of a message or of reasoning are collected in the part's `nested`, in case the
 * stream is truncated; others are fields of the item. */
static const struct delta_row {
    maki_str type;
    maki_str field;
    bool nested;
    maki_delta_kind kind;
} delta_rows[] = {
    /* clang-format off */
    { { "response.output_text.delta", 26 },             { "text", 4 },      true,  MAKI_DELTA_TEXT },
    { { "response.refusal.delta", 22 },                 { "refusal", 7 },   true,  MAKI_DELTA_TEXT },
    { { "response.reasoning_summary_text.delta", 37 },  { "summary", 7 },   true,  MAKI_DELTA_REASONING },
    { { "response.reasoning_text.delta", 29 },          { "reasoning", 9 }, true,  MAKI_DELTA_REASONING },
    { { "response.function_call_arguments.delta", 38 }, { "arguments", 9 }, false, MAKI_DELTA_INPUT },
    { { "response.mcp_call_arguments.delta", 33 },      { "arguments", 9 }, false, MAKI_DELTA_INPUT },
    { { "response.custom_tool_call_input.delta", 37 },  { "input", 5 },     false, MAKI_DELTA_INPUT },
    /* clang-format on */
};

static uint64_t index_of(maki_str value)
{
    return maki_member_count(value, MAKI_LIT("output_index"));
}

static void item_added(maki_wire_reply *r, maki_str value)
{
    maki_str item = maki_member(value, MAKI_LIT("item"));
    maki_open_part *part = maki_reply_find_part(r, index_of(value));
    if (!maki_is_object(item)) return;
    if (!part) part = maki_reply_add_part(r, index_of(value));
    if (!part) return;
    if (maki_member(item, MAKI_LIT("call_id")).len)
        maki_reply_emit_call(r, part, maki_member(item, MAKI_LIT("name")),
                             maki_member(item, MAKI_LIT("call_id")));
    maki_json_assembler_start(&part->fields, item);
}

/* The complete item replaces its deltas. */
static void item_done(maki_wire_reply *r, maki_str value)
{
    maki_open_part *part = maki_reply_find_part(r, index_of(value));
    if (!maki_is_object(maki_member(value, MAKI_LIT("item")))) return;
    if (part) {
        maki_json_assembler_free(&part->fields);
        maki_json_assembler_free(&part->nested);
    }
    item_added(r, value);
    part = maki_reply_find_part(r, index_of(value));
    if (part) part->done = true;
    maki_reply_flush(r, false);
}

static void item_delta(maki_wire_reply *r, const struct delta_row *row, maki_str value)
{
    maki_str delta = maki_json_string(value, "delta");
    maki_open_part *part = maki_reply_find_part(r, index_of(value));
    if (!part || delta.len == 0) return;
    if (row->kind == MAKI_DELTA_INPUT)
        maki_reply_emit_input(r, part, delta);
    else
        maki_reply_emit(r, row->kind, delta);
    maki_json_assembler_add(row->nested ? &part->nested : &part->fields, MAKI_ASSEMBLE_TEXT,
                            row->field, delta);
}

static void read_meta(maki_wire_reply *r, maki_str response)
{
    enum { ID, MODEL, ERROR, USAGE, COUNT };
    static const maki_str names[] = { { "id", 2 }, { "model", 5 }, { "error", 5 }, { "usage", 5 } };
    maki_str v[COUNT];
    maki_member_each(response, names, v, COUNT);
    maki_reply_set_meta_once(r, MAKI_META_ID, v[ID]);
    maki_reply_set_meta_once(r, MAKI_META_MODEL, v[MODEL]);
    maki_reply_set_meta(r, MAKI_META_ERROR, v[ERROR]);
    maki_reply_add_usage(r, v[USAGE]);
}

/* The stop reason; only valid in the last event. */
static maki_str stop_reason(maki_str response)
{
    maki_str details = maki_member(response, MAKI_LIT("incomplete_details"));
    maki_str reason = maki_json_string(details, "reason");
    return reason.len ? reason : maki_json_string(response, "status");
}

/* The complete response; its items, unless they came one by one. */
static void on_body(maki_wire_reply *r, maki_str response)
{
    read_meta(r, response);
    maki_reply_set_meta(r, MAKI_META_STOP, stop_reason(response));
    if (r->blocks.size || r->part_count) return;
    MAKI_JSON_EACH(item, maki_array_items(maki_member(response, MAKI_LIT("output"))))
        maki_reply_add_block(r, item.value);
}

static void on_event(maki_wire_reply *r, maki_str value)
{
    maki_str type = maki_json_string(value, "type");
    maki_str response = maki_member(value, MAKI_LIT("response"));
    for (size_t i = 0; i < sizeof delta_rows / sizeof delta_rows[0]; i++) {
        if (!maki_is_text(type, delta_rows[i].type)) continue;
        item_delta(r, &delta_rows[i], value);
        return;
    }
#define IS(text) maki_is_text(type, MAKI_LIT(text))
    bool is_last = IS("response.completed") || IS("response.incomplete") || IS("response.failed") ||
                   IS("response.cancelled");
    if (IS("response.output_item.added")) {
        item_added(r, value);
    } else if (IS("response.output_item.done")) {
        item_done(r, value);
    } else if (IS("error")) {
        maki_reply_set_meta(r, MAKI_META_ERROR, value);
    } else if (maki_is_object(response) && is_last) {
        r->complete = true;
        on_body(r, response);
    } else if (maki_is_object(response)) {
        read_meta(r, response);
    }
#undef IS
}

/* A truncated item: its collected texts become the blocks of `field`, as in a complete item. */
static void assemble_blocks(maki_wire_reply *r, maki_open_part *part, maki_str field)
{
    static const struct {
        maki_str field, source, type, text;
    } blocks[] = {
        { { "content", 7 }, { "reasoning", 9 }, { "reasoning_text", 14 }, { "text", 4 } },
        { { "content", 7 }, { "text", 4 }, { "output_text", 11 }, { "text", 4 } },
        { { "content", 7 }, { "refusal", 7 }, { "refusal", 7 }, { "refusal", 7 } },
        { { "summary", 7 }, { "summary", 7 }, { "summary_text", 12 }, { "text", 4 } },
    };
    maki_spool list = maki_spool_new(r->env, 32 << 10);
    maki_jw w;
    maki_sticky_jw_begin(&r->failure, maki_spool_sink(&list), &w);
    maki_jw_begin_array(&w);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        maki_str text = maki_json_assembler_get(&part->nested, blocks[i].source);
        if (text.len == 0 || !maki_str_equal(blocks[i].field, field)) continue;
        maki_jw_print(&w, "{'type':%s", blocks[i].type);
        maki_jw_key(&w, blocks[i].text);
        maki_jw_print(&w, "%q}", text);
    }
    maki_jw_end_array(&w);
    maki_sticky_jw_end(&r->failure, &w, MAKI_LIT(""));
    maki_str json = maki_sticky_spool_text(&r->failure, &list);
    if (json.len > 2) maki_json_assembler_add(&part->fields, MAKI_ASSEMBLE_VALUE, field, json);
    maki_spool_free(&list);
}

static void end_items(maki_wire_reply *r)
{
    for (size_t i = 0; i < r->part_count; i++) {
        maki_open_part *part = r->parts[i];
        if (part->nested.count == 0) continue;
        assemble_blocks(r, part, MAKI_LIT("content"));
        assemble_blocks(r, part, MAKI_LIT("summary"));
        maki_json_assembler_free(&part->nested);
    }
    maki_reply_flush(r, true);
}

/* Write the items as rows; reasoning goes into the row that follows, at the end into its own. */
static void on_end(maki_wire_reply *r)
{
    maki_spool reasoning = maki_spool_new(r->env, 32 << 10);
    maki_jw w;
    end_items(r);
    MAKI_JSON_EACH(item, maki_items_iter(maki_reply_blocks(r))) {
        if (!maki_is_object(item.value)) continue;
        if (maki_item_is_reasoning(item.value)) {
            maki_sticky_spool_add(&r->failure, &reasoning, item.value);
            maki_sticky_spool_add(&r->failure, &reasoning, MAKI_LIT(","));
            continue;
        }
        maki_reply_begin_row(r, &w);
        maki_item_write_row(&w, item.value, maki_sticky_spool_text(&r->failure, &reasoning));
        maki_reply_end_row(r, &w);
        maki_spool_clear(&reasoning);
    }
    maki_str rest = maki_sticky_spool_text(&r->failure, &reasoning);
    if (rest.len) {
        maki_reply_begin_row(r, &w);
        maki_item_write_reasoning(&w, rest);
        maki_reply_end_row(r, &w);
    }
    maki_spool_free(&reasoning);
}

static maki_wire_usage usage(maki_str u)
{
    maki_str input = maki_member(u, MAKI_LIT("input_tokens_details"));
    maki_str output = maki_member(u, MAKI_LIT("output_tokens_details"));
    return (maki_wire_usage){ .input = maki_member_count(u, MAKI_LIT("input_tokens")),
                              .output = maki_member_count(u, MAKI_LIT("output_tokens")),
                              .cache_read = maki_member_count(input, MAKI_LIT("cached_tokens")),
                              .reasoning =
                                  maki_member_count(output, MAKI_LIT("reasoning_tokens")) };
}

const maki_protocol_spec maki_responses_protocol = {
    .name = "responses",
    .upstream = "openai",
    .paths = { { "/v1/responses", false } },
    .version = "/v1",
    .target = "/responses",
    .messages = "input",
    .fields = { [MAKI_FIELD_SYSTEM] = "instructions",
                [MAKI_FIELD_MAX_TOKENS] = "max_output_tokens",
                [MAKI_FIELD_METADATA] = "metadata",
                [MAKI_FIELD_CLIENT_ID] = "prompt_cache_key",
                [MAKI_FIELD_PREVIOUS] = "previous_response_id",
                [MAKI_FIELD_CONVERSATION] = "conversation",
                [MAKI_FIELD_REFERENCE] = "prompt" },
    .read_item = read_item,
    .read_end = flush_reasoning,
    .on_event = on_event,
    .on_body = on_body,
    .on_end = on_end,
    .usage = usage,
    .continues_by_id = true,
    .request_format = &maki_responses_request_format,
};

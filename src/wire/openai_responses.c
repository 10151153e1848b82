/* openai_responses.c -- OpenAI's Responses API: a list of items (items.h). */
#include "wire/items.h"
#include "wire/read.h"
#include "wire/reply.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

/* Reasoning that nothing of the model's follows gets a row of its own.  Reading cannot go on after it: in
 * another body something might follow. */
static maki_status give_waiting(maki_reading *r)
{
    maki_str waiting;
    maki_jw w;
    maki_status st = maki_spool_text(&r->waiting, &waiting, r->err);
    if (st != MAKI_OK || waiting.len == 0) return st;
    maki_reading_begin(r, &w);
    maki_item_waited(&w, waiting);
    maki_spool_clear(&r->waiting);
    return maki_reading_end(r, &w, (maki_str){ "", 0 });
}

static maki_status keep_waiting(maki_reading *r, maki_str item)
{
    maki_status st = maki_spool_add(&r->waiting, item, r->err);
    return st == MAKI_OK ? maki_spool_add(&r->waiting, MAKI_LIT(","), r->err) : st;
}

static maki_status give_text(maki_reading *r, maki_str text)
{
    maki_jw w;
    maki_reading_begin(r, &w);
    maki_jw_object(&w);
    maki_write_field(&w, MAKI_LIT("role"), MAKI_LIT("\"user\""));
    maki_write_field(&w, MAKI_LIT("content"), text);
    maki_jw_end_object(&w);
    return maki_reading_end(r, &w, (maki_str){ "", 0 });
}

maki_status maki_responses_item(maki_reading *r, maki_str item, bool single)
{
    maki_str waiting = { "", 0 };
    maki_status st = MAKI_OK;
    maki_jw w;
    if (single && maki_is_string(item)) return give_text(r, item);
    if (single) return maki_reading_wrong(r, "must stand in an array");
    if (!maki_is_object(item)) return maki_reading_wrong(r, "must be an object");
    if (maki_item_waits(item)) return keep_waiting(r, item);
    if (maki_item_reference(item)) r->mark.by_reference = true;
    if (maki_item_assistant(item))
        st = maki_spool_text(&r->waiting, &waiting, r->err);
    else
        st = give_waiting(r);
    if (st != MAKI_OK) return st;
    maki_reading_begin(r, &w);
    maki_item_row(&w, item, waiting);
    maki_spool_clear(&r->waiting);
    return maki_reading_end(r, &w, item);
}

maki_status maki_responses_last(maki_reading *r)
{
    return give_waiting(r);
}

/* ---- replies ------------------------------------------------------------------------------------------ */

/* Pieces, by the type of the event: texts of a message or of reasoning wait in the part's `inner`, until it
 * is known that the whole item does not come; the rest is a field of the item. */
static const struct piece_row {
    maki_str event;
    maki_str field;
    bool inner;
    maki_delta_kind kind;
} piece_rows[] = {
    { { "response.output_text.delta", 26 }, { "text", 4 }, true, MAKI_DELTA_TEXT },
    { { "response.refusal.delta", 22 }, { "refusal", 7 }, true, MAKI_DELTA_TEXT },
    { { "response.reasoning_summary_text.delta", 37 },
      { "summary", 7 },
      true,
      MAKI_DELTA_REASONING },
    { { "response.reasoning_text.delta", 29 }, { "reasoning", 9 }, true, MAKI_DELTA_REASONING },
    { { "response.function_call_arguments.delta", 38 },
      { "arguments", 9 },
      false,
      MAKI_DELTA_INPUT },
    { { "response.mcp_call_arguments.delta", 33 }, { "arguments", 9 }, false, MAKI_DELTA_INPUT },
    { { "response.custom_tool_call_input.delta", 37 }, { "input", 5 }, false, MAKI_DELTA_INPUT },
};

static uint64_t index_of(maki_str value)
{
    return maki_get_count(value, MAKI_LIT("output_index"));
}

static maki_status item_added(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_str item = maki_get(value, MAKI_LIT("item"));
    maki_part *part = maki_reply_part(r, index_of(value));
    maki_status st = MAKI_OK;
    if (!maki_is_object(item)) return MAKI_OK;
    if (!part) st = maki_reply_new_part(r, index_of(value), &part, err);
    if (st == MAKI_OK && maki_get(item, MAKI_LIT("call_id")).len)
        st = maki_reply_heard_call(r, part, maki_get(item, MAKI_LIT("name")),
                                   maki_get(item, MAKI_LIT("call_id")), err);
    return st == MAKI_OK ? maki_gather_start(&part->fields, item, err) : st;
}

/* The item as a whole: its pieces are not needed any more. */
static maki_status item_done(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_part *part = maki_reply_part(r, index_of(value));
    if (!maki_is_object(maki_get(value, MAKI_LIT("item")))) return MAKI_OK;
    if (part) {
        maki_gather_free(&part->fields);
        maki_gather_free(&part->inner);
    }
    maki_status st = item_added(r, value, err);
    if (st != MAKI_OK) return st;
    maki_reply_part(r, index_of(value))->done = true;
    return maki_reply_flush(r, false, err);
}

static maki_status item_piece(maki_wire_reply *r, const struct piece_row *row, maki_str value,
                              maki_err *err)
{
    maki_str delta = maki_get_string(value, MAKI_LIT("delta"));
    maki_part *part = maki_reply_part(r, index_of(value));
    if (!part || delta.len == 0) return MAKI_OK;
    maki_status st = row->kind == MAKI_DELTA_INPUT ? maki_reply_heard_input(r, part, delta, err)
                                                   : maki_reply_heard(r, row->kind, delta, err);
    if (st != MAKI_OK) return st;
    return maki_gather_add(row->inner ? &part->inner : &part->fields, MAKI_GATHER_TEXT, row->field,
                           delta, err);
}

static maki_status note(maki_wire_reply *r, maki_str response, maki_err *err)
{
    enum { ID, MODEL, ERROR, USAGE, COUNT };
    static const maki_str names[] = { { "id", 2 }, { "model", 5 }, { "error", 5 }, { "usage", 5 } };
    maki_str v[COUNT];
    maki_get_each(response, names, v, COUNT);
    maki_status st = maki_reply_note_first(r, MAKI_NOTE_ID, v[ID], err);
    if (st == MAKI_OK) st = maki_reply_note_first(r, MAKI_NOTE_MODEL, v[MODEL], err);
    if (st == MAKI_OK) st = maki_reply_note(r, MAKI_NOTE_ERROR, v[ERROR], err);
    return st == MAKI_OK ? maki_reply_usage(r, v[USAGE], err) : st;
}

/* Why it ended; before the end the status says nothing. */
static maki_str stop_of(maki_str response)
{
    maki_str details = maki_get(response, MAKI_LIT("incomplete_details"));
    maki_str reason = maki_get_string(details, MAKI_LIT("reason"));
    return reason.len ? reason : maki_get_string(response, MAKI_LIT("status"));
}

/* The response as a whole; its items, unless they came one by one. */
static maki_status whole(maki_wire_reply *r, maki_str response, maki_err *err)
{
    maki_str output = maki_get(response, MAKI_LIT("output"));
    maki_json_iter iter = maki_json_items(output);
    maki_json_item item;
    maki_status st = note(r, response, err);
    if (st == MAKI_OK) st = maki_reply_note(r, MAKI_NOTE_STOP, stop_of(response), err);
    if (r->blocks.size || r->part_count || !maki_is_array(output)) return st;
    while (st == MAKI_OK && maki_json_next(&iter, &item))
        st = maki_reply_block(r, item.value, err);
    return st;
}

static maki_status event(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_str type = maki_get_string(value, MAKI_LIT("type"));
    maki_str response = maki_get(value, MAKI_LIT("response"));
    for (size_t i = 0; i < sizeof piece_rows / sizeof piece_rows[0]; i++) {
        if (maki_is_text(type, piece_rows[i].event))
            return item_piece(r, &piece_rows[i], value, err);
    }
#define IS(text) maki_is_text(type, MAKI_LIT(text))
    if (IS("response.output_item.added")) return item_added(r, value, err);
    if (IS("response.output_item.done")) return item_done(r, value, err);
    if (IS("error")) return maki_reply_note(r, MAKI_NOTE_ERROR, value, err);
    if (!maki_is_object(response)) return MAKI_OK;
    bool last = IS("response.completed") || IS("response.incomplete") || IS("response.failed") ||
                IS("response.cancelled");
#undef IS
    if (last) r->complete = true;
    return last ? whole(r, response, err) : note(r, response, err);
}

/* One block with the text of a piece, as the item would have it. */
static maki_status add_block(maki_jw *w, maki_gather *inner, maki_str name, maki_str type,
                             maki_err *err)
{
    maki_str text;
    maki_status st = maki_gather_get(inner, name, &text, err);
    if (st != MAKI_OK || text.len == 0) return st;
    maki_jw_object(w);
    maki_write_field(w, MAKI_LIT("type"), type);
    bool refusal = maki_str_is(name, MAKI_LIT("refusal"));
    maki_write_field(w, refusal ? name : MAKI_LIT("text"), MAKI_LIT("\""));
    maki_jw_bytes(w, text);
    maki_jw_bytes(w, MAKI_LIT("\""));
    maki_jw_end_object(w);
    return MAKI_OK;
}

/* An item that was cut: the texts that came of it become its `field`. */
static maki_status piece_together(maki_wire_reply *r, maki_part *part, maki_str field,
                                  maki_err *err)
{
    maki_spool list = maki_spool_new(r->env, 32 << 10);
    maki_str json;
    maki_jw w;
    bool summary = maki_str_is(field, MAKI_LIT("summary"));
    maki_jw_init(&w, maki_spool_sink(&list), err);
    maki_jw_array(&w);
    maki_status st = MAKI_OK;
    if (summary) {
        st = add_block(&w, &part->inner, field, MAKI_LIT("\"summary_text\""), err);
    } else {
        st =
            add_block(&w, &part->inner, MAKI_LIT("reasoning"), MAKI_LIT("\"reasoning_text\""), err);
        if (st == MAKI_OK)
            st = add_block(&w, &part->inner, MAKI_LIT("text"), MAKI_LIT("\"output_text\""), err);
        if (st == MAKI_OK)
            st = add_block(&w, &part->inner, MAKI_LIT("refusal"), MAKI_LIT("\"refusal\""), err);
    }
    maki_jw_end_array(&w);
    maki_status ended = maki_jw_end(&w);
    if (st == MAKI_OK) st = ended;
    if (st == MAKI_OK) st = maki_spool_text(&list, &json, err);
    if (st == MAKI_OK && json.len > 2)
        st = maki_gather_add(&part->fields, MAKI_GATHER_VALUE, field, json, err);
    maki_spool_free(&list);
    return st;
}

static maki_status end_items(maki_wire_reply *r, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < r->part_count; i++) {
        maki_part *part = r->parts[i];
        if (part->inner.count == 0) continue;
        st = piece_together(r, part, MAKI_LIT("content"), err);
        if (st == MAKI_OK) st = piece_together(r, part, MAKI_LIT("summary"), err);
        maki_gather_free(&part->inner);
    }
    return st == MAKI_OK ? maki_reply_flush(r, true, err) : st;
}

/* Items as rows; reasoning goes into the row that follows. */
static maki_status write_rows(maki_wire_reply *r, maki_json_iter items, maki_spool *waiting,
                              maki_err *err)
{
    maki_status st = MAKI_OK;
    maki_str waited;
    maki_json_item item;
    maki_jw w;
    while (st == MAKI_OK && maki_json_next(&items, &item)) {
        if (!maki_is_object(item.value)) continue;
        if (maki_item_waits(item.value)) {
            st = maki_spool_add(waiting, item.value, err);
            if (st == MAKI_OK) st = maki_spool_add(waiting, MAKI_LIT(","), err);
            continue;
        }
        st = maki_spool_text(waiting, &waited, err);
        if (st != MAKI_OK) break;
        maki_reply_row(r, &w, err);
        maki_item_row(&w, item.value, waited);
        st = maki_reply_row_end(r, &w, err);
        maki_spool_clear(waiting);
    }
    if (st == MAKI_OK) st = maki_spool_text(waiting, &waited, err);
    if (st != MAKI_OK || waited.len == 0) return st;
    maki_reply_row(r, &w, err);
    maki_item_waited(&w, waited);
    return maki_reply_row_end(r, &w, err);
}

static maki_status finish(maki_wire_reply *r, maki_err *err)
{
    maki_json_iter items = { 0 };
    maki_spool waiting = maki_spool_new(r->env, 32 << 10);
    maki_status st = end_items(r, err);
    if (st == MAKI_OK) st = maki_reply_blocks(r, &items, err);
    if (st == MAKI_OK) st = write_rows(r, items, &waiting, err);
    maki_spool_free(&waiting);
    return st;
}

const maki_reply_rules maki_responses_reply = { event, whole, finish };

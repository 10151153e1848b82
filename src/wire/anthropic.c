/* anthropic.c -- Anthropic's messages: kept verbatim. */
#include "wire/read.h"
#include "wire/reply.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

maki_status maki_anthropic_item(maki_reading *r, maki_str item, bool single)
{
    if (single) return maki_reading_wrong(r, "must stand in an array");
    return maki_reading_give(r, item);
}

/* ---- replies ------------------------------------------------------------------------------------------ */

static const maki_str index_name = { "index", 5 };

static maki_status note_message(maki_wire_reply *r, maki_str message, maki_err *err)
{
    maki_status st =
        maki_reply_note(r, MAKI_NOTE_ID, maki_get_string(message, MAKI_LIT("id")), err);
    if (st == MAKI_OK)
        st = maki_reply_note(r, MAKI_NOTE_MODEL, maki_get_string(message, MAKI_LIT("model")), err);
    if (st == MAKI_OK)
        st = maki_reply_note(r, MAKI_NOTE_STOP, maki_get_string(message, MAKI_LIT("stop_reason")),
                             err);
    return st == MAKI_OK ? maki_reply_usage(r, maki_get(message, MAKI_LIT("usage")), err) : st;
}

static maki_status block_start(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_str block = maki_get(value, MAKI_LIT("content_block"));
    maki_part *part = NULL;
    if (!maki_is_object(block)) {
        r->garbage = true;
        return MAKI_OK;
    }
    maki_status st = maki_reply_new_part(r, maki_get_count(value, index_name), &part, err);
    return st == MAKI_OK ? maki_gather_start(&part->fields, block, err) : st;
}

/* Texts, thinking and signatures grow under their own names, and so does what we do not know yet. */
static maki_status block_delta(maki_wire_reply *r, maki_str value, maki_err *err)
{
    static const maki_str but[] = { { "type", 4 }, { "partial_json", 12 }, { "citation", 8 } };
    maki_part *part = maki_reply_part(r, maki_get_count(value, index_name));
    maki_str delta = maki_get(value, MAKI_LIT("delta"));
    maki_str json = maki_get_string(delta, but[1]), citation = maki_get(delta, but[2]);
    maki_status st = MAKI_OK;
    if (!part) {
        r->garbage = r->garbage || !r->given_up;
        return MAKI_OK;
    }
    if (json.len)
        st = maki_gather_add(&part->fields, MAKI_GATHER_JSON, MAKI_LIT("input"), json, err);
    if (st == MAKI_OK && citation.len)
        st = maki_gather_add(&part->fields, MAKI_GATHER_LIST, MAKI_LIT("citations"), citation, err);
    return st == MAKI_OK ? maki_gather_merge(&part->fields, delta, but, 3, err) : st;
}

static maki_status block_stop(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_part *part = maki_reply_part(r, maki_get_count(value, index_name));
    if (part) part->done = true;
    return maki_reply_flush(r, false, err);
}

static maki_status message_delta(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_str delta = maki_get(value, MAKI_LIT("delta"));
    maki_status st =
        maki_reply_note(r, MAKI_NOTE_STOP, maki_get_string(delta, MAKI_LIT("stop_reason")), err);
    return st == MAKI_OK ? maki_reply_usage(r, maki_get(value, MAKI_LIT("usage")), err) : st;
}

static maki_status event(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_str type = maki_get_string(value, MAKI_LIT("type"));
#define IS(text) maki_is_text(type, MAKI_LIT(text))
    if (IS("content_block_delta")) return block_delta(r, value, err);
    if (IS("content_block_start")) return block_start(r, value, err);
    if (IS("content_block_stop")) return block_stop(r, value, err);
    if (IS("message_start")) return note_message(r, maki_get(value, MAKI_LIT("message")), err);
    if (IS("message_delta")) return message_delta(r, value, err);
    if (IS("error")) return maki_reply_note(r, MAKI_NOTE_ERROR, value, err);
    if (IS("message_stop")) r->complete = true;
#undef IS
    return MAKI_OK; /* ping, and what comes after our time */
}

static maki_status whole(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_str content = maki_get(value, MAKI_LIT("content"));
    maki_json_iter iter = maki_json_items(content);
    maki_json_item item;
    if (maki_is_text(maki_get(value, MAKI_LIT("type")), MAKI_LIT("error")))
        return maki_reply_note(r, MAKI_NOTE_ERROR, value, err);
    maki_status st = note_message(r, value, err);
    while (st == MAKI_OK && maki_is_array(content) && maki_json_next(&iter, &item))
        st = maki_reply_block(r, item.value, err);
    return st;
}

static maki_status finish(maki_wire_reply *r, maki_err *err)
{
    maki_str blocks;
    maki_jw w;
    maki_status st = maki_reply_flush(r, true, err);
    if (st == MAKI_OK) st = maki_spool_text(&r->blocks, &blocks, err);
    if (st != MAKI_OK || blocks.len == 0) return st;
    maki_reply_row(r, &w, err);
    maki_jw_object(&w);
    maki_write_field(&w, MAKI_LIT("role"), MAKI_LIT("\"assistant\""));
    maki_jw_key(&w, MAKI_LIT("content"));
    maki_jw_array(&w);
    maki_jw_raw(&w, maki_str_to(blocks, blocks.len - 1)); /* without the last comma */
    maki_jw_end_array(&w);
    maki_jw_end_object(&w);
    return maki_reply_row_end(r, &w, err);
}

const maki_reply_rules maki_anthropic_reply = { event, whole, finish };

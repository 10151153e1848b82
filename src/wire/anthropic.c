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

/* The fields of an event that matter here. */
enum { TYPE, INDEX, DELTA, BLOCK, MESSAGE, USAGE, FIELDS };

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

static maki_status block_start(maki_wire_reply *r, const maki_str *v, maki_err *err)
{
    maki_part *part = NULL;
    if (!maki_is_object(v[BLOCK])) {
        r->garbage = true;
        return MAKI_OK;
    }
    maki_status st = maki_reply_new_part(r, maki_count_of(v[INDEX]), &part, err);
    if (st == MAKI_OK)
        st = maki_reply_heard(r, MAKI_DELTA_TEXT, maki_get(v[BLOCK], MAKI_LIT("text")), err);
    if (st == MAKI_OK && maki_is_object(maki_get(v[BLOCK], MAKI_LIT("input"))))
        st = maki_reply_heard_call(r, part, maki_get(v[BLOCK], MAKI_LIT("name")),
                                   maki_get(v[BLOCK], MAKI_LIT("id")), err);
    return st == MAKI_OK ? maki_gather_start(&part->fields, v[BLOCK], err) : st;
}

static maki_status hear_delta(maki_wire_reply *r, const maki_part *part, maki_str delta,
                              maki_err *err)
{
    enum { TEXT, THINKING, JSON, COUNT };
    static const maki_str names[] = { { "text", 4 }, { "thinking", 8 }, { "partial_json", 12 } };
    maki_str d[COUNT];
    maki_get_each(delta, names, d, COUNT);
    maki_status st = maki_reply_heard(r, MAKI_DELTA_TEXT, d[TEXT], err);
    if (st == MAKI_OK) st = maki_reply_heard(r, MAKI_DELTA_REASONING, d[THINKING], err);
    return st == MAKI_OK ? maki_reply_heard_input(r, part, d[JSON], err) : st;
}

/* Texts, thinking and signatures grow under their own names, and so does what we do not know yet. */
static maki_status block_delta(maki_wire_reply *r, const maki_str *v, maki_err *err)
{
    enum { KIND, JSON, CITATION, COUNT };
    static const maki_str names[] = { { "type", 4 }, { "partial_json", 12 }, { "citation", 8 } };
    maki_part *part = maki_reply_part(r, maki_count_of(v[INDEX]));
    maki_str d[COUNT];
    maki_status st = MAKI_OK;
    if (!part) {
        r->garbage = true;
        return MAKI_OK;
    }
    maki_get_each(v[DELTA], names, d, COUNT);
    if (r->ear.fn) st = hear_delta(r, part, v[DELTA], err);
    if (st == MAKI_OK && maki_is_string(d[JSON]))
        st = maki_gather_add(&part->fields, MAKI_GATHER_JSON, MAKI_LIT("input"), d[JSON], err);
    if (st == MAKI_OK && d[CITATION].len)
        st = maki_gather_add(&part->fields, MAKI_GATHER_LIST, MAKI_LIT("citations"), d[CITATION],
                             err);
    return st == MAKI_OK ? maki_gather_merge(&part->fields, v[DELTA], names, COUNT, err) : st;
}

static maki_status block_stop(maki_wire_reply *r, const maki_str *v, maki_err *err)
{
    maki_part *part = maki_reply_part(r, maki_count_of(v[INDEX]));
    if (part) part->done = true;
    return maki_reply_flush(r, false, err);
}

static maki_status message_delta(maki_wire_reply *r, const maki_str *v, maki_err *err)
{
    maki_str stop = maki_get_string(v[DELTA], MAKI_LIT("stop_reason"));
    maki_status st = maki_reply_note(r, MAKI_NOTE_STOP, stop, err);
    return st == MAKI_OK ? maki_reply_usage(r, v[USAGE], err) : st;
}

static maki_status event(maki_wire_reply *r, maki_str value, maki_err *err)
{
    static const maki_str names[] = { { "type", 4 },           { "index", 5 },   { "delta", 5 },
                                      { "content_block", 13 }, { "message", 7 }, { "usage", 5 } };
    maki_str v[FIELDS];
    maki_get_each(value, names, v, FIELDS);
#define IS(text) maki_is_text(v[TYPE], MAKI_LIT(text))
    if (IS("content_block_delta")) return block_delta(r, v, err);
    if (IS("content_block_start")) return block_start(r, v, err);
    if (IS("content_block_stop")) return block_stop(r, v, err);
    if (IS("message_start")) return note_message(r, v[MESSAGE], err);
    if (IS("message_delta")) return message_delta(r, v, err);
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

/* gemini.c -- Google's generateContent: contents with parts. */
#include "wire/gemini_part.h"
#include "wire/read.h"
#include "wire/reply.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

/* Answers find their call in the model's last content, after the answers that came since. */
static void look_back(const maki_reading *r, maki_gemini_ids *ids)
{
    maki_json_iter turn = maki_reading_turn(r);
    maki_json_item content, part;
    if (!maki_json_next(&turn, &content)) return;
    ids->asked = maki_gemini_parts(content.value);
    while (ids->answered < MAKI_ANSWERS_MOST && maki_json_next(&turn, &content)) {
        maki_json_iter parts = maki_gemini_parts(content.value);
        while (maki_json_next(&parts, &part))
            maki_gemini_pass(part.value, ids);
    }
}

static bool has_answers(maki_str content)
{
    maki_json_iter parts = maki_gemini_parts(content);
    maki_json_item part;
    maki_str value;
    while (maki_json_next(&parts, &part)) {
        if (maki_gemini_kind_of(part.value, &value) == MAKI_GEMINI_ANSWER) return true;
    }
    return false;
}

maki_status maki_gemini_item(maki_reading *r, maki_str item, bool single)
{
    static const maki_str but[] = { { "role", 4 }, { "parts", 5 } };
    maki_gemini_ids ids = { 0 };
    maki_json_iter parts = maki_gemini_parts(item);
    maki_json_item part;
    maki_jw w;
    if (!maki_is_object(item)) return maki_reading_wrong(r, "must be an object with parts");
    bool model = maki_is_text(maki_get(item, MAKI_LIT("role")), MAKI_LIT("model"));
    if (!model && has_answers(item)) look_back(r, &ids);
    maki_reading_begin(r, &w);
    maki_jw_object(&w);
    maki_write_field(&w, MAKI_LIT("role"),
                     model ? MAKI_LIT("\"assistant\"") : MAKI_LIT("\"user\""));
    maki_jw_key(&w, MAKI_LIT("content"));
    maki_jw_array(&w);
    while (maki_json_next(&parts, &part))
        maki_gemini_write_part(&w, part.value, &ids);
    maki_jw_end_array(&w);
    maki_write_original(&w, item, but, 2);
    maki_jw_end_object(&w);
    return maki_reading_end(r, &w, single ? (maki_str){ "", 0 } : item);
}

/* ---- replies ------------------------------------------------------------------------------------------ */

/* The first of the candidates: only one can go on. */
static maki_str candidate_of(maki_str value)
{
    maki_str candidates = maki_get(value, MAKI_LIT("candidates"));
    maki_json_iter iter = maki_json_items(candidates);
    maki_json_item item;
    while (maki_is_array(candidates) && maki_json_next(&iter, &item)) {
        if (maki_get_count(item.value, MAKI_LIT("index")) == 0) return item.value;
    }
    return (maki_str){ "", 0 };
}

/* Texts of a kind that follow each other are one; a signature ends it. */
static maki_status add_text(maki_wire_reply *r, maki_str part, maki_gemini_kind kind, maki_err *err)
{
    static const maki_str but[] = { { "thought", 7 } };
    maki_part *open = r->part_count ? r->parts[0] : NULL;
    maki_status st =
        maki_reply_heard(r, kind == MAKI_GEMINI_THOUGHT ? MAKI_DELTA_REASONING : MAKI_DELTA_TEXT,
                         maki_get(part, MAKI_LIT("text")), err);
    if (st != MAKI_OK) return st;
    if (open && open->index != (uint64_t)kind) {
        st = maki_reply_flush(r, true, err);
        open = NULL;
    }
    if (st == MAKI_OK && !open) {
        bool thought = kind == MAKI_GEMINI_THOUGHT;
        st = maki_reply_new_part(r, (uint64_t)kind, &open, err);
        if (st == MAKI_OK && thought)
            st = maki_gather_start(&open->fields, MAKI_LIT("{\"thought\":true}"), err);
    }
    if (st == MAKI_OK) st = maki_gather_merge(&open->fields, part, but, 1, err);
    if (st == MAKI_OK && maki_gemini_signature(part).len) st = maki_reply_flush(r, true, err);
    return st;
}

/* {"name", "args"}; an id of its own is not the call's (gemini_part.h). */
static maki_status hear_call(maki_wire_reply *r, maki_str call, maki_err *err)
{
    maki_status st =
        maki_reply_heard_call(r, NULL, maki_get(call, MAKI_LIT("name")), (maki_str){ "", 0 }, err);
    if (st != MAKI_OK) return st;
    return maki_reply_heard_input(r, NULL, maki_get(call, MAKI_LIT("args")), err);
}

static maki_status add_part(maki_wire_reply *r, maki_str part, maki_err *err)
{
    maki_str value;
    maki_gemini_kind kind = maki_gemini_kind_of(part, &value);
    if (kind == MAKI_GEMINI_TEXT || kind == MAKI_GEMINI_THOUGHT)
        return add_text(r, part, kind, err);
    maki_status st = maki_reply_flush(r, true, err);
    if (st == MAKI_OK && kind == MAKI_GEMINI_CALL) st = hear_call(r, value, err);
    return st == MAKI_OK ? maki_reply_block(r, part, err) : st;
}

static maki_status note(maki_wire_reply *r, maki_str value, maki_str candidate, maki_err *err)
{
    maki_str error = maki_get(value, MAKI_LIT("error")).len ? value : (maki_str){ "", 0 };
    maki_str stop = maki_get_string(candidate, MAKI_LIT("finishReason"));
    maki_str feedback = maki_get(value, MAKI_LIT("promptFeedback"));
    if (!stop.len) stop = maki_get_string(feedback, MAKI_LIT("blockReason"));
    if (stop.len) r->complete = true;
    maki_status st =
        maki_reply_note_first(r, MAKI_NOTE_ID, maki_get_string(value, MAKI_LIT("responseId")), err);
    if (st == MAKI_OK)
        st = maki_reply_note_first(r, MAKI_NOTE_MODEL,
                                   maki_get_string(value, MAKI_LIT("modelVersion")), err);
    if (st == MAKI_OK) st = maki_reply_note(r, MAKI_NOTE_STOP, stop, err);
    if (st == MAKI_OK) st = maki_reply_note(r, MAKI_NOTE_ERROR, error, err);
    if (st != MAKI_OK) return st;
    return maki_reply_usage(r, maki_get(value, MAKI_LIT("usageMetadata")), err);
}

static maki_status event(maki_wire_reply *r, maki_str value, maki_err *err)
{
    maki_str candidate = candidate_of(value);
    maki_json_iter parts = maki_gemini_parts(maki_get(candidate, MAKI_LIT("content")));
    maki_json_item part;
    maki_status st = note(r, value, candidate, err);
    while (st == MAKI_OK && maki_json_next(&parts, &part)) {
        if (maki_is_object(part.value)) st = add_part(r, part.value, err);
    }
    return st;
}

static maki_status finish(maki_wire_reply *r, maki_err *err)
{
    maki_gemini_ids ids = { 0 };
    maki_json_iter parts = { 0 };
    maki_json_item part;
    maki_jw w;
    maki_status st = maki_reply_flush(r, true, err);
    if (st == MAKI_OK) st = maki_reply_blocks(r, &parts, err);
    if (st != MAKI_OK || r->blocks.size == 0) return st;
    maki_reply_row(r, &w, err);
    maki_jw_object(&w);
    maki_write_field(&w, MAKI_LIT("role"), MAKI_LIT("\"assistant\""));
    maki_jw_key(&w, MAKI_LIT("content"));
    maki_jw_array(&w);
    while (maki_json_next(&parts, &part))
        maki_gemini_write_part(&w, part.value, &ids);
    maki_jw_end_array(&w);
    maki_jw_end_object(&w);
    return maki_reply_row_end(r, &w, err);
}

const maki_reply_rules maki_gemini_reply = { event, event, finish };

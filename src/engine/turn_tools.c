/* turn_tools.c -- run the tool calls of a reply by the caller's on_call, and append their results to the session.
 *
 * Each result is a row of its own, durable as soon as it is appended: a process that is killed in between loses no
 * result that was reported.  It has the format of the row with the call (OpenAI's, Anthropic's or the old
 * functions). */
#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "engine/turn_internal.h"
#include "history/blocks.h"
#include "wire/content_part.h"

enum { RESULT_MAX = 64 << 20, CALL_MAX = 64 << 20 };

maki_status maki_turn_each_reply(maki_turn_state *w, maki_reply_row_fn fn, maki_err *err)
{
    maki_str rest, row;
    maki_status st = maki_spool_text(&w->reply, &rest, err);
    while (st == MAKI_OK &&
           maki_str_take(&rest, '\0', &row)) /* an incomplete last row: the spool was full */
        st = fn(w, row, err);
    return st;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static maki_status add_result(maki_turn_state *w, const maki_content_part *call, maki_str text,
                              bool failed, maki_err *err)
{
    maki_turn_row row;
    bool block = maki_json_field_in(call->block, "type", "tool_use");
    maki_turn_row_begin(w, &row, err);
    if (block)
        maki_jw_print(&row.w, "{'role':'user','content':[{'type':'tool_result','tool_use_id':%v",
                      call->id);
    else if (call->id.len)
        maki_jw_print(&row.w, "{'role':'tool','tool_call_id':%v", call->id);
    else
        maki_jw_print(&row.w, "{'role':'function','name':%v", call->name);
    maki_jw_key(&row.w, MAKI_LIT("content"));
    maki_jw_string_lossy(&row.w, text); /* the output of a tool may be any bytes */
    if (block && failed) maki_jw_field_bool(&row.w, "is_error", true);
    if (block) maki_jw_print(&row.w, "}]");
    return maki_turn_row_end(w, &row, NULL, MAKI_OK, err);
}

/* ---- running ------------------------------------------------------------------------------------------------------- */

static maki_status run_call(maki_turn_state *w, const maki_content_part *piece, maki_err *err)
{
    bool failed = false;
    maki_buf text = maki_buf_new(w->options->env->alloc, RESULT_MAX);
    maki_arena arena =
        maki_arena_new(w->options->env->alloc, CALL_MAX); /* a turn may have many calls */
    bool quoted = maki_is_string(piece->input);
    maki_turn_call call = { .name = maki_json_text(piece->name, &arena),
                            .input = quoted ? maki_json_text(piece->input, &arena) : piece->input,
                            .id = piece->id.len ? maki_json_text(piece->id, &arena)
                                                : (maki_str){ "", 0 } };
    maki_status st = maki_arena_status(&arena, err);
    if (st == MAKI_OK && maki_turn_cancelled(w)) st = maki_fail(err, MAKI_CANCELLED, "cancelled");
    if (st == MAKI_OK) st = w->callbacks->on_call(w->callbacks->ctx, &call, &text, &failed, err);
    if (st == MAKI_OK) st = maki_buf_status(&text, err);
    if (st == MAKI_OK) st = add_result(w, piece, maki_buf_str(&text), failed, err);
    if (st == MAKI_OK) w->result->calls++;
    maki_buf_free(&text);
    maki_arena_free(&arena);
    return st;
}

static maki_status run_row(maki_turn_state *w, maki_str row, maki_err *err)
{
    maki_content_parts pieces = maki_content_parts_of_row(row);
    maki_content_part piece;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_content_parts_next(&pieces, &piece)) {
        if (piece.kind == MAKI_CONTENT_CALL && piece.name.len) st = run_call(w, &piece, err);
    }
    return st;
}

maki_status maki_turn_run_calls(maki_turn_state *w, maki_err *err)
{
    return maki_turn_each_reply(w, run_row, err);
}

/* turn_tools.c -- the calls of a reply: handed to whoever runs tools, their results into the session.
 *
 * Each result is a row of its own, written as soon as it is there: a process that dies in between has lost
 * no result that was told to somebody.  It has the shape of the row with the call. */
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "base/text.h"
#include "engine/turn_inside.h"
#include "history/blocks.h"
#include "wire/piece.h"

enum { RESULT_MAX = 64 << 20, CALL_MAX = 64 << 20 };

maki_status maki_turn_each_reply(maki_turn_work *w, maki_reply_row_fn fn, maki_err *err)
{
    maki_str rest;
    maki_status st = maki_spool_text(&w->reply, &rest, err);
    while (st == MAKI_OK && rest.len) {
        const char *end = memchr(rest.ptr, '\0', rest.len);
        if (!end) break; /* the spool took only a part of it */
        size_t n = (size_t)(end - rest.ptr);
        st = fn(w, maki_str_to(rest, n), err);
        rest = maki_str_from(rest, n + 1);
    }
    return st;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void put(maki_jw *out, const char *name, maki_str json)
{
    maki_jw_key(out, maki_str_of(name));
    maki_jw_raw(out, json);
}

static void put_word(maki_jw *out, const char *name, const char *text)
{
    maki_jw_key(out, maki_str_of(name));
    maki_jw_string(out, maki_str_of(text));
}

/* What a tool prints may be any bytes: those that are no UTF-8 become U+FFFD. */
static void put_output(maki_jw *out, maki_str text)
{
    maki_jw_begin_value(out);
    maki_jw_bytes(out, MAKI_LIT("\""));
    while (text.len) {
        size_t bad = text.len;
        if (maki_utf8_valid(text, &bad)) bad = text.len;
        maki_jw_escaped(out, maki_str_to(text, bad));
        if (bad < text.len) maki_jw_escaped(out, MAKI_LIT("\xEF\xBF\xBD"));
        text = maki_str_from(text, bad < text.len ? bad + 1 : bad);
    }
    maki_jw_bytes(out, MAKI_LIT("\""));
}

static void put_block(maki_jw *out, const maki_piece *call, maki_str text, bool failed)
{
    put_word(out, "role", "user");
    maki_jw_key(out, MAKI_LIT("content"));
    maki_jw_array(out);
    maki_jw_object(out);
    put_word(out, "type", "tool_result");
    put(out, "tool_use_id", call->id);
    maki_jw_key(out, MAKI_LIT("content"));
    put_output(out, text);
    if (failed) {
        maki_jw_key(out, MAKI_LIT("is_error"));
        maki_jw_bool(out, true);
    }
    maki_jw_end_object(out);
    maki_jw_end_array(out);
}

static void put_message(maki_jw *out, const maki_piece *call, maki_str text)
{
    put_word(out, "role", call->id.len ? "tool" : "function");
    if (call->id.len)
        put(out, "tool_call_id", call->id);
    else
        put(out, "name", call->name);
    maki_jw_key(out, MAKI_LIT("content"));
    put_output(out, text);
}

static maki_status add_result(maki_turn_work *w, const maki_piece *call, maki_str text, bool failed,
                              maki_err *err)
{
    maki_jw out;
    maki_str row;
    maki_spool spool = maki_spool_new(w->options->env, MAKI_SPOOL_MEMORY);
    const maki_clock *clock = w->options->env->clock;
    maki_jw_init(&out, maki_spool_sink(&spool), err);
    maki_jw_object(&out);
    if (maki_block_is(call->block, MAKI_LIT("tool_use")))
        put_block(&out, call, text, failed);
    else
        put_message(&out, call, text);
    maki_jw_key(&out, MAKI_LIT("createdAt"));
    maki_jw_int(&out, clock->now_ms(clock));
    maki_jw_end_object(&out);
    maki_status st = maki_jw_end(&out);
    if (st == MAKI_OK) st = maki_spool_text(&spool, &row, err);
    if (st == MAKI_OK) st = maki_turn_add_row(w, row, err);
    maki_spool_free(&spool);
    return st;
}

/* ---- running ------------------------------------------------------------------------------------------------------- */

static maki_status run_call(maki_turn_work *w, const maki_piece *piece, maki_err *err)
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
    if (st == MAKI_OK && maki_turn_cancelled(w))
        st = maki_fail(err, MAKI_CANCELLED, "it was cancelled");
    if (st == MAKI_OK) st = w->calls->on_call(w->calls->ctx, &call, &text, &failed, err);
    if (st == MAKI_OK) st = maki_buf_status(&text, err);
    if (st == MAKI_OK) st = add_result(w, piece, maki_buf_str(&text), failed, err);
    if (st == MAKI_OK) w->result->calls++;
    maki_buf_free(&text);
    maki_arena_free(&arena);
    return st;
}

static maki_status run_row(maki_turn_work *w, maki_str row, maki_err *err)
{
    maki_pieces pieces = maki_pieces_of(row);
    maki_piece piece;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_pieces_next(&pieces, &piece)) {
        if (piece.kind == MAKI_PIECE_CALL && piece.name.len) st = run_call(w, &piece, err);
    }
    return st;
}

maki_status maki_turn_run_calls(maki_turn_work *w, maki_err *err)
{
    return maki_turn_each_reply(w, run_row, err);
}

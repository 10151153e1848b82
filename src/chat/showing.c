/* showing.c -- see showing.h. */
#include "chat/showing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "base/str.h"
#include "base/text.h"
#include "chat/terminal.h"

void maki_showing_begin(maki_showing *s, maki_showing_form form, maki_sink out, maki_sink notes)
{
    unsigned width = maki_terminal_width();
    *s = (maki_showing){ .form = form, .out = out, .notes = notes, .last = '\n' };
    maki_markdown_begin(&s->text, out, width, maki_terminal_coloured());
    s->thoughts = maki_flow_new(out, width, maki_terminal_coloured());
}

static maki_status note(maki_showing *s, const char *line, maki_err *err)
{
    return s->notes.write(s->notes.ctx, maki_str_of(line), err);
}

/* ---- in a terminal --------------------------------------------------------------------------------- */

static void follow_size(maki_showing *s)
{
    if (!maki_terminal_take_resize()) return;
    maki_markdown_resize(&s->text, maki_terminal_width());
    s->thoughts.width = s->text.flow.width;
}

static maki_status think(maki_showing *s, maki_str text, maki_err *err)
{
    size_t len = 0;
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t code = maki_utf8_char(text, at, &len);
        if (code == '\n') {
            maki_flow_line(&s->thoughts);
        } else {
            maki_flow_put(&s->thoughts, code, MAKI_LOOK_DIM | MAKI_LOOK_ITALIC);
        }
    }
    s->thinking = true;
    return maki_flow_flush(&s->thoughts, err);
}

static maki_status end_thoughts(maki_showing *s, maki_err *err)
{
    if (!s->thinking) return MAKI_OK;
    s->thinking = false;
    maki_flow_line(&s->thoughts);
    maki_flow_line(&s->thoughts);
    return maki_flow_flush(&s->thoughts, err);
}

static maki_status show_delta(maki_showing *s, const maki_delta *piece, maki_err *err)
{
    follow_size(s);
    s->shown = true;
    if (piece->kind == MAKI_DELTA_REASONING) return think(s, piece->text, err);
    if (piece->kind == MAKI_DELTA_INPUT) return MAKI_OK;
    maki_status st = end_thoughts(s, err);
    if (st != MAKI_OK) return st;
    if (piece->kind == MAKI_DELTA_TEXT) return maki_markdown_add(&s->text, piece->text, err);
    char line[120];
    maki_str name = maki_utf8_cut(piece->text, 80);
    snprintf(line, sizeof line, "\n\n`calls %.*s`\n", (int)name.len, name.ptr);
    return maki_markdown_add(&s->text, maki_str_of(line), err);
}

/* ---- in a pipe ------------------------------------------------------------------------------------- */

static maki_status print_delta(maki_showing *s, const maki_delta *piece, maki_err *err)
{
    if (piece->kind != MAKI_DELTA_TEXT || piece->text.len == 0) return MAKI_OK;
    s->last = piece->text.ptr[piece->text.len - 1];
    return s->out.write(s->out.ctx, piece->text, err);
}

/* ---- JSON lines ------------------------------------------------------------------------------------ */

static void begin_line(maki_jw *w, maki_sink out, const char *type, maki_err *err)
{
    maki_jw_init(w, out, err);
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("type"));
    maki_jw_string(w, maki_str_of(type));
}

static maki_status end_line(maki_jw *w)
{
    maki_jw_end_object(w);
    maki_jw_bytes(w, MAKI_LIT("\n"));
    return maki_jw_end(w);
}

static void put_text(maki_jw *w, const char *key, maki_str text)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_string(w, text);
}

static void put_number(maki_jw *w, const char *key, double value)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_double(w, value);
}

static void put_error(maki_jw *w, const char *key, const maki_err *err)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_object(w);
    put_text(w, "code", maki_str_of(err->code));
    put_text(w, "message", maki_str_of(err->msg));
    maki_jw_end_object(w);
}

static maki_status write_delta(maki_showing *s, const maki_delta *piece, maki_err *err)
{
    static const char *const types[] = { [MAKI_DELTA_TEXT] = "text",
                                         [MAKI_DELTA_REASONING] = "reasoning",
                                         [MAKI_DELTA_CALL] = "call",
                                         [MAKI_DELTA_INPUT] = "input" };
    maki_jw w;
    begin_line(&w, s->out, types[piece->kind], err);
    put_text(&w, "text", piece->text);
    if (piece->kind == MAKI_DELTA_CALL || piece->kind == MAKI_DELTA_INPUT)
        put_number(&w, "call", piece->call);
    if (piece->id.len) put_text(&w, "id", piece->id);
    return end_line(&w);
}

/* A pipe that is gone ends the program at its next answer. */
void maki_showing_note(maki_sink out, maki_str text)
{
    maki_jw w;
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    begin_line(&w, out, "note", NULL);
    put_text(&w, "text", text);
    (void)!end_line(&w);
}

void maki_showing_error(maki_sink out, const maki_err *failed)
{
    maki_jw w;
    begin_line(&w, out, "error", NULL);
    put_error(&w, "error", failed);
    (void)!end_line(&w);
}

void maki_showing_of_command(maki_sink out, const char *command, maki_str answer)
{
    maki_jw w;
    begin_line(&w, out, "answer", NULL);
    put_text(&w, "command", maki_str_of(command));
    maki_jw_key(&w, MAKI_LIT("answer"));
    maki_jw_raw(&w, answer);
    (void)!end_line(&w);
}

static const char *stop_name(maki_stop stop)
{
    switch (stop) {
    case MAKI_STOP_END: return "end";
    case MAKI_STOP_CALLS: return "calls";
    case MAKI_STOP_LENGTH: return "length";
    case MAKI_STOP_REFUSED: return "refused";
    case MAKI_STOP_OTHER: return "other";
    default: return "none";
    }
}

static maki_status write_end(maki_showing *s, maki_status st, const maki_err *failed,
                             const maki_turn_result *r, maki_err *err)
{
    maki_jw w;
    begin_line(&w, s->out, "end", err);
    put_text(&w, "status", maki_str_of(maki_status_name(st)));
    if (st != MAKI_OK) put_error(&w, "error", failed);
    put_text(&w, "session", maki_str_of(r->path));
    put_text(&w, "provider", maki_str_of(r->provider));
    put_text(&w, "model", maki_str_of(r->model));
    put_text(&w, "stop", maki_str_of(stop_name(r->stop)));
    put_number(&w, "asked", (double)r->asked);
    put_number(&w, "last", (double)r->last);
    put_number(&w, "inputTokens", (double)r->usage.input);
    put_number(&w, "outputTokens", (double)r->usage.output);
    put_number(&w, "contextTokens", round(r->tokens));
    put_number(&w, "window", r->window);
    if (r->has_cost) put_number(&w, "cost", r->cost);
    return end_line(&w);
}

/* ---- a turn's callbacks ---------------------------------------------------------------------------- */

static maki_status on_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    maki_showing *s = ctx;
    switch (s->form) {
    case MAKI_SHOWING_TERMINAL: return show_delta(s, piece, err);
    case MAKI_SHOWING_JSON: return write_delta(s, piece, err);
    default: return print_delta(s, piece, err);
    }
}

static maki_status on_retry(void *ctx, unsigned nth, uint32_t pause_ms, const maki_err *why,
                            maki_err *err)
{
    maki_showing *s = ctx;
    char line[300];
    if (s->form == MAKI_SHOWING_JSON) {
        maki_jw w;
        begin_line(&w, s->out, "retry", err);
        put_number(&w, "try", nth);
        put_number(&w, "pauseMs", pause_ms);
        put_error(&w, "why", why);
        return end_line(&w);
    }
    snprintf(line, sizeof line, "%s%strying again in %.1f s\n", s->retried ? "" : why->msg,
             s->retried ? "" : "; ", pause_ms / 1000.0);
    s->retried = true;
    return note(s, line, err);
}

static maki_status on_managing(void *ctx, const maki_manage_report *done, maki_err *err)
{
    maki_showing *s = ctx;
    char line[160];
    if (s->form == MAKI_SHOWING_JSON) {
        maki_jw w;
        begin_line(&w, s->out, "managing", err);
        put_text(&w, "action", maki_str_of(done ? maki_step_name(done->action) : "begins"));
        if (done) put_number(&w, "tokensBefore", round(done->tokens_before));
        if (done) put_number(&w, "tokensAfter", round(done->tokens_after));
        return end_line(&w);
    }
    if (!done) return note(s, "making room in the window ...\n", err);
    if (done->action == MAKI_STEP_NONE) return MAKI_OK;
    snprintf(line, sizeof line, "room was made (%s): %.0f -> %.0f tokens; /undo takes it back\n",
             maki_step_name(done->action), done->tokens_before, done->tokens_after);
    return note(s, line, err);
}

static bool cancelled(void *ctx)
{
    (void)ctx;
    return maki_terminal_interrupted();
}

void maki_showing_listen(maki_showing *showing, maki_turn_calls *calls)
{
    *calls = (maki_turn_calls){ .ctx = showing,
                                .on_delta = on_delta,
                                .on_retry = on_retry,
                                .on_managing = on_managing,
                                .cancelled = cancelled };
}

maki_status maki_showing_end(maki_showing *s, maki_status st, const maki_err *failed,
                             const maki_turn_result *result, maki_err *err)
{
    maki_status ended = MAKI_OK;
    switch (s->form) {
    case MAKI_SHOWING_TERMINAL:
        ended = end_thoughts(s, err);
        if (ended == MAKI_OK) ended = maki_markdown_end(&s->text, err);
        if (ended == MAKI_OK && s->shown && st == MAKI_OK)
            ended = s->out.write(s->out.ctx, MAKI_LIT("\n"), err);
        break;
    case MAKI_SHOWING_JSON: ended = write_end(s, st, failed, result, err); break;
    case MAKI_SHOWING_PLAIN:
        if (s->last != '\n') ended = s->out.write(s->out.ctx, MAKI_LIT("\n"), err);
        break;
    }
    return ended;
}

/* output.c -- see output.h. */
#include "chat/output.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/str_util.h"
#include "base/text.h"
#include "chat/terminal.h"

maki_output maki_output_new(const maki_files *files, maki_output_form form)
{
    return (maki_output){ .form = form,
                          .out = { files, STDOUT_FILENO },
                          .notes = { files, STDERR_FILENO },
                          .last = '\n' };
}

static maki_status write_to(maki_fd_sink *to, const char *text, maki_err *err)
{
    return maki_file_write(to->files, to->fd, maki_str_of(text), err);
}

/* ---- pieces of an answer --------------------------------------------------------------------------- */

static void put_delta(maki_jw *w, const void *what)
{
    const maki_delta *piece = what;
    maki_jw_field_string(w, "text", piece->text);
    if (piece->kind == MAKI_DELTA_CALL || piece->kind == MAKI_DELTA_INPUT)
        maki_jw_field_number(w, "call", piece->call);
    if (piece->id.len) maki_jw_field_string(w, "id", piece->id);
}

static maki_status print_text(maki_output *s, const void *what, maki_err *err)
{
    const maki_delta *piece = what;
    if (piece->text.len == 0) return MAKI_OK;
    s->last = piece->text.ptr[piece->text.len - 1];
    return maki_file_write(s->out.files, s->out.fd, piece->text, err);
}

static void follow_size(maki_output *s)
{
    s->shown = true;
    if (!maki_terminal_take_resize()) return;
    maki_markdown_resize(&s->text, maki_terminal_width());
    s->thoughts.width = s->text.flow.width;
}

static maki_status style_thought(maki_output *s, const void *what, maki_err *err)
{
    const maki_delta *piece = what;
    size_t len = 0;
    follow_size(s);
    for (size_t at = 0; at < piece->text.len; at += len) {
        uint32_t code = maki_utf8_decode(piece->text, at, &len);
        if (code == '\n') {
            maki_text_wrap_line(&s->thoughts);
        } else {
            maki_text_wrap_put(&s->thoughts, code, MAKI_LOOK_DIM | MAKI_LOOK_ITALIC);
        }
    }
    s->thinking = true;
    return maki_text_wrap_flush(&s->thoughts, err);
}

static maki_status end_thoughts(maki_output *s, maki_err *err)
{
    if (!s->thinking) return MAKI_OK;
    s->thinking = false;
    maki_text_wrap_line(&s->thoughts);
    maki_text_wrap_line(&s->thoughts);
    return maki_text_wrap_flush(&s->thoughts, err);
}

static maki_status style_text(maki_output *s, const void *what, maki_err *err)
{
    const maki_delta *piece = what;
    follow_size(s);
    maki_status st = end_thoughts(s, err);
    return st == MAKI_OK ? maki_markdown_add(&s->text, piece->text, err) : st;
}

static maki_status style_call(maki_output *s, const void *what, maki_err *err)
{
    char line[120];
    maki_str name = maki_utf8_truncate(((const maki_delta *)what)->text, 80);
    int n = snprintf(line, sizeof line, "\n\n`calls %.*s`\n", MAKI_PRINTED(name));
    maki_delta words = { .text = { line, (size_t)n } };
    return style_text(s, &words, err);
}

/* ---- what happens besides -------------------------------------------------------------------------- */

static void put_error(maki_jw *w, const char *name, const maki_err *err)
{
    maki_jw_field_object(w, name);
    maki_jw_field_string(w, "code", maki_str_of(err->code));
    maki_jw_field_string(w, "message", maki_str_of(err->msg));
    maki_jw_end_object(w);
}

typedef struct retry {
    unsigned nth;
    uint32_t pause_ms;
    const maki_err *why;
} retry;

static void put_retry(maki_jw *w, const void *what)
{
    const retry *r = what;
    maki_jw_field_count(w, "try", r->nth);
    maki_jw_field_count(w, "pauseMs", r->pause_ms);
    put_error(w, "why", r->why);
}

static maki_status note_retry(maki_output *s, const void *what, maki_err *err)
{
    const retry *r = what;
    char line[300];
    snprintf(line, sizeof line, "%s%strying again in %.1f s\n", s->retried ? "" : r->why->msg,
             s->retried ? "" : "; ", r->pause_ms / 1000.0);
    s->retried = true;
    return write_to(&s->notes, line, err);
}

static void put_managing(maki_jw *w, const void *what)
{
    const maki_manage_report *done = what;
    maki_jw_field_text(w, "action", done ? maki_step_name(done->action) : "begins");
    if (!done) return;
    maki_jw_field_number(w, "tokensBefore", round(done->tokens_before));
    maki_jw_field_number(w, "tokensAfter", round(done->tokens_after));
}

static maki_status note_managing(maki_output *s, const void *what, maki_err *err)
{
    const maki_manage_report *done = what;
    char line[160];
    if (!done) return write_to(&s->notes, "making room in the window ...\n", err);
    if (done->action == MAKI_STEP_NONE) return MAKI_OK;
    snprintf(line, sizeof line, "room was made (%s): %.0f -> %.0f tokens; /undo takes it back\n",
             maki_step_name(done->action), done->tokens_before, done->tokens_after);
    return write_to(&s->notes, line, err);
}

/* ---- the end of a turn ----------------------------------------------------------------------------- */

typedef struct ending {
    maki_status status;
    const maki_err *failed;
    const maki_turn_result *result;
    const maki_status_bar *now;
} ending;

static const struct stop_row {
    const char *name, *words; /* words NULL: nothing is to be said */
} stops[] = {
    [MAKI_STOP_NONE] = { "none", NULL },
    [MAKI_STOP_END] = { "end", NULL },
    [MAKI_STOP_CALLS] = { "calls", "(the model wants a tool, and a chat has none)\n" },
    [MAKI_STOP_LENGTH] = { "length", "(the answer came to its limit of tokens; say \"go on\")\n" },
    [MAKI_STOP_REFUSED] = { "refused", "(the model, or a filter, does not want to answer)\n" },
    [MAKI_STOP_OTHER] = { "other", NULL },
};

static void put_end(maki_jw *w, const void *what)
{
    const ending *e = what;
    const maki_turn_result *r = e->result;
    maki_jw_field_string(w, "status", maki_str_of(maki_status_name(e->status)));
    if (e->status != MAKI_OK) put_error(w, "error", e->failed);
    maki_jw_field_string(w, "session", maki_str_of(r->path));
    maki_jw_field_string(w, "provider", maki_str_of(r->provider));
    maki_jw_field_string(w, "model", maki_str_of(r->model));
    maki_jw_field_string(w, "stop", maki_str_of(stops[r->stop].name));
    maki_jw_field_count(w, "asked", r->asked);
    maki_jw_field_count(w, "last", r->last);
    maki_jw_field_number(w, "inputTokens", (double)r->usage.input);
    maki_jw_field_number(w, "outputTokens", (double)r->usage.output);
    maki_jw_field_number(w, "contextTokens", e->now->known ? e->now->tokens : round(r->tokens));
    maki_jw_field_number(w, "window", r->window);
    if (r->has_cost) maki_jw_field_number(w, "cost", r->cost);
}

static maki_status style_end(maki_output *s, const void *what, maki_err *err)
{
    const ending *e = what;
    maki_status st = end_thoughts(s, err);
    if (st == MAKI_OK) st = maki_markdown_end(&s->text, err);
    if (st == MAKI_OK && s->shown && e->status == MAKI_OK) st = write_to(&s->out, "\n", err);
    return st;
}

static maki_status print_end(maki_output *s, const void *what, maki_err *err)
{
    (void)what;
    return s->last == '\n' ? MAKI_OK : write_to(&s->out, "\n", err);
}

/* ---- besides turns --------------------------------------------------------------------------------- */

typedef struct words {
    maki_str text;
    bool asked;
} words;

static void put_note(maki_jw *w, const void *what)
{
    maki_str text = ((const words *)what)->text;
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    maki_jw_field_string(w, "text", text);
}

static maki_status write_note(maki_output *s, const void *what, maki_err *err)
{
    const words *note = what;
    maki_fd_sink *to = note->asked ? &s->out : &s->notes;
    return maki_file_write(to->files, to->fd, note->text, err);
}

static void put_failure(maki_jw *w, const void *what)
{
    put_error(w, "error", what);
}

static maki_status note_failure(maki_output *s, const void *what, maki_err *err)
{
    char line[sizeof((maki_err *)NULL)->msg + 20];
    snprintf(line, sizeof line, "maki chat: %s\n", ((const maki_err *)what)->msg);
    return write_to(&s->notes, line, err);
}

typedef struct answer {
    const char *command;
    maki_str answer;
} answer;

static void put_answer(maki_jw *w, const void *what)
{
    const answer *a = what;
    maki_jw_field_string(w, "command", maki_str_of(a->command));
    maki_jw_field_raw(w, "answer", a->answer);
}

/* ---- the table ------------------------------------------------------------------------------------- */

typedef enum event { /* the kinds of maki_delta first */
                     RETRY = MAKI_DELTA_INPUT + 1,
                     MANAGING,
                     END,
                     NOTE,
                     FAILURE,
                     ANSWER
} event;

static const struct row {
    const char *type; /* of its JSON line, */
    void (*fields)(maki_jw *w, const void *what);
    /* in a terminal, and in a pipe; NULL: nothing is shown */
    maki_status (*styled)(maki_output *s, const void *what, maki_err *err);
    maki_status (*plain)(maki_output *s, const void *what, maki_err *err);
} rows[] = {
    [MAKI_DELTA_TEXT] = { "text", put_delta, style_text, print_text },
    [MAKI_DELTA_REASONING] = { "reasoning", put_delta, style_thought, NULL },
    [MAKI_DELTA_CALL] = { "call", put_delta, style_call, NULL },
    [MAKI_DELTA_INPUT] = { "input", put_delta, NULL, NULL },
    [RETRY] = { "retry", put_retry, note_retry, note_retry },
    [MANAGING] = { "managing", put_managing, note_managing, note_managing },
    [END] = { "end", put_end, style_end, print_end },
    [NOTE] = { "note", put_note, write_note, write_note },
    [FAILURE] = { "error", put_failure, note_failure, note_failure },
    [ANSWER] = { "answer", put_answer, NULL, NULL },
};

static maki_status show(maki_output *s, unsigned nth, const void *what, maki_err *err)
{
    const struct row *row = &rows[nth];
    maki_jw w;
    if (s->form == MAKI_OUTPUT_TERMINAL) return row->styled ? row->styled(s, what, err) : MAKI_OK;
    if (s->form == MAKI_OUTPUT_PLAIN) return row->plain ? row->plain(s, what, err) : MAKI_OK;
    maki_jw_init(&w, maki_fd_sink_of(&s->out), err);
    maki_jw_object(&w);
    maki_jw_field_string(&w, "type", maki_str_of(row->type));
    row->fields(&w, what);
    maki_jw_end_object(&w);
    maki_jw_bytes(&w, MAKI_LIT("\n"));
    return maki_jw_end(&w);
}

/* ---- what calls it --------------------------------------------------------------------------------- */

static maki_status on_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    return show(ctx, piece->kind, piece, err);
}

static maki_status on_retry(void *ctx, unsigned nth, uint32_t pause_ms, const maki_err *why,
                            maki_err *err)
{
    return show(ctx, RETRY, &(retry){ nth, pause_ms, why }, err);
}

static maki_status on_managing(void *ctx, const maki_manage_report *done, maki_err *err)
{
    return show(ctx, MANAGING, done, err);
}

static bool cancelled(void *ctx)
{
    (void)ctx;
    return maki_terminal_interrupted();
}

void maki_output_begin(maki_output *s, maki_turn_callbacks *calls)
{
    unsigned width = maki_terminal_width();
    maki_markdown_begin(&s->text, maki_fd_sink_of(&s->out), width, maki_terminal_coloured());
    s->thoughts = maki_text_wrap_new(maki_fd_sink_of(&s->out), width, maki_terminal_coloured());
    s->thinking = s->retried = s->shown = false;
    s->last = '\n';
    *calls = (maki_turn_callbacks){ .ctx = s,
                                    .on_delta = on_delta,
                                    .on_retry = on_retry,
                                    .on_managing = on_managing,
                                    .cancelled = cancelled };
}

maki_status maki_output_end(maki_output *s, maki_status st, const maki_err *failed,
                            const maki_turn_result *result, const maki_status_bar *now,
                            maki_err *err)
{
    return show(s, END, &(ending){ st, failed, result, now }, err);
}

void maki_output_stop(maki_output *s, maki_stop stop)
{
    if (stops[stop].words)
        (void)!show(s, NOTE, &(words){ maki_str_of(stops[stop].words), false }, NULL);
}

void maki_output_error(maki_output *s, const maki_err *failed)
{
    (void)!show(s, FAILURE, failed, NULL);
}

void maki_output_note(maki_output *s, bool asked, const char *fmt, ...)
{
    char line[1200];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n < 0) return;
    size_t len = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    (void)!show(s, NOTE, &(words){ { line, len }, asked }, NULL);
}

bool maki_output_answer(maki_output *s, const char *command, maki_str text)
{
    if (s->form != MAKI_OUTPUT_JSON) return false;
    (void)!show(s, ANSWER, &(answer){ command, text }, NULL);
    return true;
}

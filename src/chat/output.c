/* output.c -- print answers, notes and errors by a table: each row has functions for JSON, a terminal and a pipe.
 *
 * In:    the callbacks of a turn, and what chat.c and chat_command.c print.
 * Out:   answers to standard output; notes, retries and errors to standard error; as JSON lines everything to standard
 *        output.
 * `data` of a row's functions is the argument of its callback. */
#include "chat/output.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_print.h"
#include "base/str_util.h"
#include "base/text.h"
#include "chat/terminal.h"

maki_output maki_output_new(const maki_files *files, maki_output_format format)
{
    return (maki_output){ .format = format,
                          .out = { files, STDOUT_FILENO },
                          .notes = { files, STDERR_FILENO },
                          .last = '\n' };
}

static maki_status write_to(maki_fd_sink *to, const char *text, maki_err *err)
{
    return maki_file_write(to->files, to->fd, maki_str_of(text), err);
}

/* ---- deltas --------------------------------------------------------------------------- */

static void put_delta(maki_jw *w, const void *data)
{
    const maki_delta *delta = data;
    maki_jw_print(w, "'text':%s", delta->text);
    if (delta->kind == MAKI_DELTA_CALL || delta->kind == MAKI_DELTA_INPUT)
        maki_jw_print(w, "'call':%i", (int64_t)delta->call);
    maki_jw_print(w, "'id':%S", delta->id);
}

static maki_status print_text(maki_output *s, const void *data, maki_err *err)
{
    const maki_delta *delta = data;
    if (delta->text.len == 0) return MAKI_OK;
    s->last = delta->text.ptr[delta->text.len - 1];
    return maki_file_write(s->out.files, s->out.fd, delta->text, err);
}

static void update_width(maki_output *s)
{
    s->shown = true;
    if (!maki_terminal_take_resize()) return;
    maki_markdown_resize(&s->text, maki_terminal_width());
    s->reasoning.width = s->text.wrap.width;
}

static maki_status style_reasoning(maki_output *s, const void *data, maki_err *err)
{
    const maki_delta *delta = data;
    size_t len = 0;
    update_width(s);
    for (size_t offset = 0; offset < delta->text.len; offset += len) {
        uint32_t code = maki_utf8_decode(delta->text, offset, &len);
        if (code == '\n') {
            maki_text_wrap_newline(&s->reasoning);
        } else {
            maki_text_wrap_put(&s->reasoning, code, MAKI_STYLE_DIM | MAKI_STYLE_ITALIC);
        }
    }
    s->in_reasoning = true;
    return maki_text_wrap_flush(&s->reasoning, err);
}

static maki_status end_reasoning(maki_output *s, maki_err *err)
{
    if (!s->in_reasoning) return MAKI_OK;
    s->in_reasoning = false;
    maki_text_wrap_newline(&s->reasoning);
    maki_text_wrap_newline(&s->reasoning);
    return maki_text_wrap_flush(&s->reasoning, err);
}

static maki_status style_text(maki_output *s, const void *data, maki_err *err)
{
    const maki_delta *delta = data;
    update_width(s);
    maki_status st = end_reasoning(s, err);
    return st == MAKI_OK ? maki_markdown_add(&s->text, delta->text, err) : st;
}

static maki_status style_call(maki_output *s, const void *data, maki_err *err)
{
    char line[120];
    maki_str name = maki_utf8_truncate(((const maki_delta *)data)->text, 80);
    int n = snprintf(line, sizeof line, "\n\n`calls %.*s`\n", MAKI_PRINTED(name));
    maki_delta code = { .text = { line, (size_t)n } };
    return style_text(s, &code, err);
}

/* ---- retries and condensing -------------------------------------------------------------------------- */

static void put_error(maki_jw *w, const char *name, const maki_err *err)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_print(w, "{'code':%s,'message':%s}", maki_str_of(err->code), maki_str_of(err->msg));
}

typedef struct retry {
    unsigned nth;
    uint32_t backoff_ms;
    const maki_err *why;
} retry;

static void put_retry(maki_jw *w, const void *data)
{
    const retry *r = data;
    maki_jw_print(w, "'try':%i,'pauseMs':%i", (int64_t)r->nth, (int64_t)r->backoff_ms);
    put_error(w, "why", r->why);
}

static maki_status note_retry(maki_output *s, const void *data, maki_err *err)
{
    const retry *r = data;
    char line[300];
    snprintf(line, sizeof line, "%s%sretry in %.1f s\n", s->retried ? "" : r->why->msg,
             s->retried ? "" : "; ", r->backoff_ms / 1000.0);
    s->retried = true;
    return write_to(&s->notes, line, err);
}

static void put_managing(maki_jw *w, const void *data)
{
    const maki_manage_report *done = data;
    maki_jw_print(w, "'action':%z", done ? maki_step_name(done->action) : "begins");
    if (done)
        maki_jw_print(w, "'tokensBefore':%f,'tokensAfter':%f,'messagesRemoved':%i",
                      round(done->tokens_before), round(done->tokens_after),
                      (uint64_t)done->effect.hidden);
    if (done) maki_fallback_write(w, &done->fallback_reason);
}

static maki_status note_managing(maki_output *s, const void *data, maki_err *err)
{
    const maki_manage_report *done = data;
    char line[500 + MAKI_VIEW_CHANGE_MAX], effect[MAKI_VIEW_CHANGE_MAX];
    bool offline = done && done->fallback_reason.status != MAKI_OK;
    if (!done) return write_to(&s->notes, "condensing ...\n", err);
    if (done->action == MAKI_STEP_NONE) return MAKI_OK;
    maki_view_change_text(&done->effect, effect);
    snprintf(line, sizeof line, "condensed (%s): %s%s%.0f -> %.0f tokens; /undo reverts it\n%s%s%s",
             maki_step_name(done->action), effect, effect[0] ? ", " : "", done->tokens_before,
             done->tokens_after, offline ? "(offline summary: " : "",
             offline ? done->fallback_reason.msg : "", offline ? ")\n" : "");
    return write_to(&s->notes, line, err);
}

/* ---- the end of a turn ----------------------------------------------------------------------------- */

typedef struct turn_end {
    maki_status status;
    const maki_err *failed;
    const maki_turn_result *result;
    const maki_status_bar *usage;
} turn_end;

static const struct stop_row {
    const char *name, *note; /* note NULL: none is needed */
} stops[] = {
    [MAKI_STOP_NONE] = { "none", NULL },
    [MAKI_STOP_END] = { "end", NULL },
    [MAKI_STOP_CALLS] = { "calls", "(the model calls a tool, and a chat has none)\n" },
    [MAKI_STOP_LENGTH] = { "length",
                           "(the answer reached its limit of tokens; write \"continue\")\n" },
    [MAKI_STOP_REFUSED] = { "refused", "(the model or a content filter refused to answer)\n" },
    [MAKI_STOP_OTHER] = { "other", NULL },
};

static void put_end(maki_jw *w, const void *data)
{
    const turn_end *e = data;
    const maki_turn_result *r = e->result;
    maki_jw_print(w, "'status':%z", maki_status_name(e->status));
    if (e->status != MAKI_OK) put_error(w, "error", e->failed);
    maki_jw_print(w, "'session':%s,'provider':%s,'model':%s,'stop':%z,'asked':%i,'last':%i",
                  maki_str_of(r->path), maki_str_of(r->provider), maki_str_of(r->model),
                  stops[r->stop].name, r->asked, r->last);
    maki_jw_print(w, "'inputTokens':%i,'outputTokens':%i,'contextTokens':%f,'window':%f",
                  r->usage.input, r->usage.output,
                  e->usage->known ? e->usage->tokens : round(r->tokens), r->window);
    if (r->has_cost) maki_jw_print(w, "'cost':%f", r->cost);
}

static maki_status style_end(maki_output *s, const void *data, maki_err *err)
{
    const turn_end *e = data;
    maki_status st = end_reasoning(s, err);
    if (st == MAKI_OK) st = maki_markdown_end(&s->text, err);
    if (st == MAKI_OK && s->shown && e->status == MAKI_OK) st = write_to(&s->out, "\n", err);
    return st;
}

static maki_status print_end(maki_output *s, const void *data, maki_err *err)
{
    (void)data;
    return s->last == '\n' ? MAKI_OK : write_to(&s->out, "\n", err);
}

/* ---- notes, errors, answers --------------------------------------------------------------------------- */

typedef struct note {
    maki_str text;
    bool requested;
} note;

static void put_note(maki_jw *w, const void *data)
{
    maki_str text = ((const note *)data)->text;
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    maki_jw_print(w, "'text':%s", text);
}

static maki_status write_note(maki_output *s, const void *data, maki_err *err)
{
    const note *n = data;
    maki_fd_sink *to = n->requested ? &s->out : &s->notes;
    return maki_file_write(to->files, to->fd, n->text, err);
}

static void put_failure(maki_jw *w, const void *data)
{
    put_error(w, "error", data);
}

static maki_status note_failure(maki_output *s, const void *data, maki_err *err)
{
    char line[sizeof((maki_err *)NULL)->msg + 20];
    snprintf(line, sizeof line, "maki chat: %s\n", ((const maki_err *)data)->msg);
    return write_to(&s->notes, line, err);
}

typedef struct answer {
    const char *command;
    maki_str answer;
} answer;

static void put_answer(maki_jw *w, const void *data)
{
    const answer *a = data;
    maki_jw_print(w, "'command':%z,'answer':%v", a->command, a->answer);
}

/* ---- the table ------------------------------------------------------------------------------------- */

typedef enum output_event { /* the kinds of maki_delta first */
                            RETRY = MAKI_DELTA_INPUT + 1,
                            MANAGING,
                            END,
                            NOTE,
                            FAILURE,
                            ANSWER
} output_event;

static const struct row {
    const char *type; /* of its JSON line */
    void (*fields)(maki_jw *w, const void *data);
    /* in a terminal, and in a pipe; NULL: nothing */
    maki_status (*styled)(maki_output *s, const void *data, maki_err *err);
    maki_status (*plain)(maki_output *s, const void *data, maki_err *err);
} rows[] = {
    [MAKI_DELTA_TEXT] = { "text", put_delta, style_text, print_text },
    [MAKI_DELTA_REASONING] = { "reasoning", put_delta, style_reasoning, NULL },
    [MAKI_DELTA_CALL] = { "call", put_delta, style_call, NULL },
    [MAKI_DELTA_INPUT] = { "input", put_delta, NULL, NULL },
    [RETRY] = { "retry", put_retry, note_retry, note_retry },
    [MANAGING] = { "managing", put_managing, note_managing, note_managing },
    [END] = { "end", put_end, style_end, print_end },
    [NOTE] = { "note", put_note, write_note, write_note },
    [FAILURE] = { "error", put_failure, note_failure, note_failure },
    [ANSWER] = { "answer", put_answer, NULL, NULL },
};

static maki_status emit(maki_output *s, unsigned event, const void *data, maki_err *err)
{
    const struct row *row = &rows[event];
    maki_jw w;
    if (s->format == MAKI_OUTPUT_TERMINAL) return row->styled ? row->styled(s, data, err) : MAKI_OK;
    if (s->format == MAKI_OUTPUT_PLAIN) return row->plain ? row->plain(s, data, err) : MAKI_OK;
    maki_jw_init(&w, maki_fd_sink_of(&s->out), err);
    maki_jw_print(&w, "{'type':%z", row->type);
    row->fields(&w, data);
    maki_jw_end_object(&w);
    maki_jw_bytes(&w, MAKI_LIT("\n"));
    return maki_jw_end(&w);
}

/* ---- callbacks and calls --------------------------------------------------------------------------------- */

static maki_status on_delta(void *ctx, const maki_delta *delta, maki_err *err)
{
    return emit(ctx, delta->kind, delta, err);
}

static maki_status on_retry(void *ctx, unsigned nth, uint32_t backoff_ms, const maki_err *why,
                            maki_err *err)
{
    return emit(ctx, RETRY, &(retry){ nth, backoff_ms, why }, err);
}

static maki_status on_managing(void *ctx, const maki_manage_report *done, maki_err *err)
{
    return emit(ctx, MANAGING, done, err);
}

static bool cancelled(void *ctx)
{
    (void)ctx;
    return maki_terminal_interrupted();
}

void maki_output_begin(maki_output *s, maki_turn_callbacks *callbacks)
{
    unsigned width = maki_terminal_width();
    maki_markdown_begin(&s->text, maki_fd_sink_of(&s->out), width, maki_terminal_coloured());
    s->reasoning = maki_text_wrap_new(maki_fd_sink_of(&s->out), width, maki_terminal_coloured());
    s->in_reasoning = s->retried = s->shown = false;
    s->last = '\n';
    *calls = (maki_turn_callbacks){ .ctx = s,
                                    .on_delta = on_delta,
                                    .on_retry = on_retry,
                                    .on_managing = on_managing,
                                    .cancelled = cancelled };
}

maki_status maki_output_end(maki_output *s, maki_status st, const maki_err *failed,
                            const maki_turn_result *result, const maki_status_bar *usage,
                            maki_err *err)
{
    return emit(s, END, &(turn_end){ st, failed, result, usage }, err);
}

void maki_output_stop(maki_output *s, maki_stop stop)
{
    if (stops[stop].note)
        (void)!emit(s, NOTE, &(note){ maki_str_of(stops[stop].note), false }, NULL);
}

void maki_output_error(maki_output *s, const maki_err *failed)
{
    (void)!emit(s, FAILURE, failed, NULL);
}

void maki_output_note(maki_output *s, bool requested, const char *fmt, ...)
{
    char line[1200];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n < 0) return;
    size_t len = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    (void)!emit(s, NOTE, &(note){ { line, len }, requested }, NULL);
}

bool maki_output_answer(maki_output *s, const char *command, maki_str text)
{
    if (s->format != MAKI_OUTPUT_JSON) return false;
    (void)!emit(s, ANSWER, &(answer){ command, text }, NULL);
    return true;
}

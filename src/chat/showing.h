/* showing.h -- an answer as it comes: Markdown in a terminal, plain text in a pipe, or JSON lines.
 *
 * JSON lines, each with a `type`: text, reasoning, call, input (as they come; `text`), retry, managing, and at
 * last end: how the turn went, in which session, what it used.  An error is the `error` of the end.  Besides
 * turns: answer (of a command's operation), error, note (words for a person). */
#ifndef MAKI_CHAT_SHOWING_H
#define MAKI_CHAT_SHOWING_H

#include "chat/markdown.h"
#include "engine/turn.h"

typedef enum maki_showing_form {
    MAKI_SHOWING_TERMINAL,
    MAKI_SHOWING_PLAIN, /* the text of the answer, and nothing else */
    MAKI_SHOWING_JSON
} maki_showing_form;

typedef struct maki_showing {
    maki_showing_form form;
    maki_sink out;   /* of standard output */
    maki_sink notes; /* what is said about the answer, in a terminal and plain */
    maki_markdown text;
    maki_flow thoughts; /* in a terminal: reasoning, dim */
    bool thinking;      /* the line of thoughts is open */
    bool retried;       /* why was told */
    bool shown;         /* in a terminal: there was something */
    char last;          /* byte written of plain text; '\n' at the beginning */
} maki_showing;

void maki_showing_begin(maki_showing *showing, maki_showing_form form, maki_sink out,
                        maki_sink notes);
/* The callbacks of a turn: calls->ctx is the answer. */
void maki_showing_listen(maki_showing *showing, maki_turn_calls *calls);
/* The turn is over: `st` and `failed` are what it returned. */
maki_status maki_showing_end(maki_showing *showing, maki_status st, const maki_err *failed,
                             const maki_turn_result *result, maki_err *err);

/* Lines of JSON besides a turn's. */
void maki_showing_note(maki_sink out, maki_str text);
void maki_showing_error(maki_sink out, const maki_err *failed);
void maki_showing_of_command(maki_sink out, const char *command, maki_str answer);

#endif

/* output.h -- what a chat shows: Markdown in a terminal, plain text in a pipe, or JSON lines.
 *
 * What there is to show is one row of the table in output.c: its type, its fields in JSON, and how it looks in a
 * terminal and in a pipe.  JSON lines of a turn are text, reasoning, call, input (as they come), retry, managing,
 * and at last end; besides turns answer (of a command's operation), error, note (words for a person). */
#ifndef MAKI_CHAT_OUTPUT_H
#define MAKI_CHAT_OUTPUT_H

#include "base/files.h"
#include "chat/markdown.h"
#include "chat/status_bar.h"
#include "engine/turn.h"

typedef enum maki_output_format {
    MAKI_OUTPUT_TERMINAL,
    MAKI_OUTPUT_PLAIN, /* the text of the answer, and nothing else */
    MAKI_OUTPUT_JSON
} maki_output_format;

typedef struct maki_output {
    maki_output_format form;
    maki_fd_sink out;   /* standard output */
    maki_fd_sink notes; /* standard error: what is said about an answer, in a terminal and plain */
    maki_markdown text;
    maki_text_wrap thoughts; /* in a terminal: reasoning, dim */
    bool thinking;           /* the line of thoughts is open */
    bool retried;            /* why was told */
    bool shown;              /* in a terminal: there was something */
    char last;               /* byte written of plain text; '\n' at the beginning */
} maki_output;

/* `files` is borrowed.  Text goes to standard output, notes to standard error. */
maki_output maki_output_new(const maki_files *files, maki_output_format form);

/* A turn begins.  The callbacks of it: calls->ctx is `output`. */
void maki_output_begin(maki_output *output, maki_turn_callbacks *calls);
/* It is over: `st` and `failed` are what it returned. */
maki_status maki_output_end(maki_output *output, maki_status st, const maki_err *failed,
                            const maki_turn_result *result, const maki_status_bar *now,
                            maki_err *err);
/* Why the answer ends where it does, if that needs words. */
void maki_output_stop(maki_output *output, maki_stop stop);

/* Besides a turn.  A pipe that is gone ends the program at its next answer, so nothing is told of it here. */
void maki_output_error(maki_output *output, const maki_err *failed);
/* Words for a person: to standard output when they were `asked` for. */
void maki_output_note(maki_output *output, bool asked, const char *fmt, ...) MAKI_PRINTF(3, 4);
/* What a command's operation answered; false: it is for words, and nothing was shown. */
bool maki_output_answer(maki_output *output, const char *command, maki_str answer);

#endif

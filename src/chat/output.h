/* output.h -- the output of a chat: Markdown in a terminal, plain text in a pipe, or JSON lines.
 *
 * Each kind of output is a row of the table in output.c: its type, its fields in JSON, and its functions for a terminal
 * and for a pipe.  The JSON lines of a turn are text, reasoning, call, input (as they come), retry, managing, and at its
 * end end; outside of turns answer (of a command's operation), error, note (text for a person). */
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
    maki_output_format format;
    maki_fd_sink out;   /* standard output */
    maki_fd_sink notes; /* standard error: everything but answers, unless JSON */
    maki_markdown text;
    maki_text_wrap reasoning; /* in a terminal: reasoning */
    bool in_reasoning;        /* reasoning was printed, and its last line is not ended */
    bool retried;             /* the reason of the first retry was printed */
    bool shown;               /* in a terminal: something was printed */
    char last;                /* byte of plain text; '\n' at the beginning */
} maki_output;

/* `files` is borrowed.  Text goes to standard output, notes to standard error. */
maki_output maki_output_new(const maki_files *files, maki_output_format format);

/* Begin a turn; sets its callbacks. */
void maki_output_begin(maki_output *output, maki_turn_callbacks *callbacks);
/* End it; `st` and `failed` are what maki_turn returned. */
maki_status maki_output_end(maki_output *output, maki_status st, const maki_err *failed,
                            const maki_turn_result *result, const maki_status_bar *usage,
                            maki_err *err);
/* Print why the answer ended, unless it is complete. */
void maki_output_stop(maki_output *output, maki_stop stop);

/* Print an error outside of a turn.  Failures of the sink are ignored: the next answer reports them. */
void maki_output_error(maki_output *output, const maki_err *failed);
/* Text for a person: to standard output if `requested`, else to standard error. */
void maki_output_note(maki_output *output, bool requested, const char *fmt, ...) MAKI_PRINTF(3, 4);
/* The answer of a command's operation, as JSON; false: the format is another one, and nothing was printed. */
bool maki_output_answer(maki_output *output, const char *command, maki_str answer);

#endif

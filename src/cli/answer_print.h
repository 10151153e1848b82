/* answer_print.h -- how the answer of a command is shown to a person: what the column `answer` of a command names. */
#ifndef MAKI_CLI_ANSWER_PRINT_H
#define MAKI_CLI_ANSWER_PRINT_H

#include "cli.h"

/* What was typed, and for which command. */
typedef struct cli_typed {
    maki_op_bound_command shown;
    maki_op_typed typed;
    cli_style style;
} cli_typed;

typedef struct answer_row {
    const char *name;
    void (*print)(maki_str answer, const cli_typed *typed);
    int (*run)(
        maki *m,
        const cli_typed *typed); /* instead: it goes through a whole conversation; the exit code */
} answer_row;

const answer_row *answer_find(const char *name);

/* Those that stream (stream.c). */
int stream_append(maki *m, const cli_typed *typed);
int stream_log(maki *m, const cli_typed *typed);
int stream_view(maki *m, const cli_typed *typed);
int stream_show(maki *m, const cli_typed *typed);
int stream_export(maki *m, const cli_typed *typed);
int stream_import(maki *m, const cli_typed *typed);

#endif

/* answer_print.h -- print the answer of a command for a person: the column `answer` of its row in the table of operations
 * names the format. */
#ifndef MAKI_CLI_ANSWER_PRINT_H
#define MAKI_CLI_ANSWER_PRINT_H

#include "cli.h"

/* A parsed command line, and the command that it names. */
typedef struct cli_parsed {
    maki_op_bound_command bound;
    maki_op_parsed_args args;
    cli_style style;
} cli_parsed;

typedef struct answer_row {
    const char *name;
    void (*print)(maki_str answer, const cli_parsed *parsed);
    /* Instead of an operation, for commands that stream a conversation (stream.c); returns the exit code. */
    int (*run)(maki *m, const cli_parsed *parsed);
} answer_row;

const answer_row *answer_find(const char *name); /* the row "fields" for an unknown name */

/* stream.c */
int stream_append(maki *m, const cli_parsed *parsed);
int stream_log(maki *m, const cli_parsed *parsed);
int stream_view(maki *m, const cli_parsed *parsed);
int stream_show(maki *m, const cli_parsed *parsed);
int stream_delete(maki *m, const cli_parsed *parsed);
int stream_export(maki *m, const cli_parsed *parsed);
int stream_import(maki *m, const cli_parsed *parsed);

#endif

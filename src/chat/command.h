/* command.h -- what is typed with a slash before it: one table gives the parsing, the operation and the help.
 *
 *     /rewind 12        back to message 12
 *
 * A line that begins with a slash and a letter is a command; a space before the slash makes it a message. */
#ifndef MAKI_CHAT_COMMAND_H
#define MAKI_CHAT_COMMAND_H

#include <stdbool.h>

#include "base/buf.h"

typedef enum maki_command_kind {
    MAKI_COMMAND_STATUS,
    MAKI_COMMAND_STEP, /* an operation that appends an event */
    MAKI_COMMAND_RETRY,
    MAKI_COMMAND_FORK,
    MAKI_COMMAND_DIFF,
    MAKI_COMMAND_LOG,
    MAKI_COMMAND_MODEL,
    MAKI_COMMAND_HELP,
    MAKI_COMMAND_QUIT
} maki_command_kind;

typedef enum maki_argument_type {
    MAKI_ARGUMENT_NUMBER,
    MAKI_ARGUMENT_MOMENT, /* SEQ, or SEQ:EVENT */
    MAKI_ARGUMENT_TEXT
} maki_argument_type;

typedef struct maki_argument {
    const char *field; /* of the operation; NULL: there are no more */
    maki_argument_type type;
    bool optional;
} maki_argument;

enum { MAKI_COMMAND_ARGUMENTS = 2 };

typedef struct maki_command_row {
    const char *name, *takes, *help;
    maki_command_kind kind;
    bool conversation; /* it is about one: something was said before */
    const char *op;    /* NULL: none */
    const char *done;  /* of a step: what it did */
    maki_argument arguments[MAKI_COMMAND_ARGUMENTS];
} maki_command_row;

/* The table; NULL behind the last. */
const maki_command_row *maki_command_at(size_t index);

typedef struct maki_command {
    const maki_command_row *row;
    maki_str arguments[MAKI_COMMAND_ARGUMENTS]; /* borrowed from the line */
    size_t count;
} maki_command;

bool maki_command_is(maki_str line);
/* MAKI_NOTFOUND names the nearest command; MAKI_INVALID says what it takes. */
maki_status maki_command_parse(maki_str line, maki_command *out, maki_err *err);

/* The input of its operation: {"conversation": ..., and its arguments}.  `path`, if not NULL, is the field of
 * that name. */
void maki_command_input(const maki_command *command, const char *conversation, const char *path,
                        maki_buf *out);

#endif

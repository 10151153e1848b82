/* slash_command.h -- parse slash commands, check their arguments, write the input of their operations.
 *
 *     /rewind 12        back to message 12
 *
 * A command is an operation with a row for the group "chat" (src/ops/table.c), or a command of the chat itself
 * (slash_command.c).  The row has the arguments and the help.  A line that begins with a slash and a letter is a
 * command; a space before the slash makes it a message. */
#ifndef MAKI_CHAT_SLASH_COMMAND_H
#define MAKI_CHAT_SLASH_COMMAND_H

#include <stdbool.h>

#include <maki/op.h>

#include "base/buf.h"

enum { MAKI_SLASH_COMMAND_ARGUMENTS = 4, MAKI_SLASH_COMMAND_FIELDS = 80 };

typedef struct maki_slash_command {
    const maki_op_command *row;
    const maki_op_info *op;                           /* NULL: a command of the chat itself */
    maki_str arguments[MAKI_SLASH_COMMAND_ARGUMENTS]; /* borrowed from the line */
    size_t count;
} maki_slash_command;

/* Iterate over all commands, without arguments; false after the last. */
bool maki_slash_command_at(size_t index, maki_slash_command *out);
/* The arguments of a command: "SEQ", "A [B]". */
const char *maki_slash_command_usage(const maki_op_command *row,
                                     char out[MAKI_SLASH_COMMAND_FIELDS]);

bool maki_slash_command_is(maki_str line);
/* MAKI_NOTFOUND: the error suggests a command; MAKI_INVALID: it prints the usage. */
maki_status maki_slash_command_parse(maki_str line, maki_slash_command *out, maki_err *err);

/* The input of its operation: {"conversation": ..., and its arguments}.  `path`, if not NULL, is the field of
 * that name. */
void maki_slash_command_input(const maki_slash_command *command, const char *conversation,
                              const char *path, maki_buf *out);

#endif

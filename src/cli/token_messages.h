/* token_messages.h -- count the tokens of messages in files of JSON. */
#ifndef MAKI_CLI_TOKEN_MESSAGES_H
#define MAKI_CLI_TOKEN_MESSAGES_H

#include "token_files.h"

/* What a request costs besides its messages. */
typedef struct token_request {
    double factor;
    double error; /* the largest of what was counted */
    bool exact;
} token_request;

/* Count the messages of a file: an array of them, {"messages": [...]} with `system` and `tools` beside
 * it, or one message a line.  `field` is "model" or "encoding", `name` its value.  Messages are counted
 * one by one, so memory grows with the longest.  Sets tokens, fixed, messages and bytes, or the error. */
void token_count_messages(maki *m, token_file *file, const char *field, const char *name,
                          token_request *request);

#endif

/* token_messages.h -- count the tokens of the messages in JSON files. */
#ifndef MAKI_CLI_TOKEN_MESSAGES_H
#define MAKI_CLI_TOKEN_MESSAGES_H

#include "token_files.h"

/* The accuracy of the counts of a request. */
typedef struct token_request {
    double factor;
    double error; /* the maximum of all counts */
    bool exact;
} token_request;

/* Count the messages of a file: an array of them, {"messages": [...]} with `system` and `tools`,
 * or one message a line.  `field` is "model" or "encoding", `name` its value.  Sets
 * tokens, fixed, messages and bytes, or the error. */
void token_count_messages(maki *m, token_file *file, const char *field, const char *name,
                          token_request *request);

#endif

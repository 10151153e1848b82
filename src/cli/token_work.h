/* token_work.h -- count the tokens of files: in bounded pieces, on all cores when it is worth it. */
#ifndef MAKI_CLI_TOKEN_WORK_H
#define MAKI_CLI_TOKEN_WORK_H

#include "token_files.h"

typedef struct token_options {
    const maki_encoding *encoding;
    bool special;
    bool all; /* binary files of folders too */
} token_options;

/* Count every file that has no error yet.  Its tokens, bytes and error are set.  A terminal on standard
 * error is shown how far it is, from the first second on. */
void token_count_files(token_files *files, const token_options *options);

/* Read a file from its beginning to its end, or encode it: `fn` gets the ids. */
void token_encode_file(token_file *file, const token_options *options, maki_ids_fn fn, void *ctx);

#endif

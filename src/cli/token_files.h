/* token_files.h -- the files that `maki tokens` was asked about, and what was counted in each. */
#ifndef MAKI_CLI_TOKEN_FILES_H
#define MAKI_CLI_TOKEN_FILES_H

#include <stdio.h>

#include <maki/maki.h>

typedef struct token_file {
    maki_token_file counted; /* found in a folder: passed over when it is binary */
    char *name;              /* "-" is standard input */
    uint64_t messages;       /* with --messages */
    uint64_t fixed;          /* with --messages: what the factor is not for */
} token_file;

typedef struct token_files {
    token_file *at;
    size_t count, capacity;
} token_files;

/* Add what a path names: a file, or all files of a folder, in the order of their names.  .git is passed
 * over, links in folders are not followed.  What cannot be read is added with its error. */
void token_files_add(token_files *files, const char *path);
void token_files_free(token_files *files);

/* A name for a person: bytes that are no UTF-8, and control characters, cannot do harm there. */
void token_name_print(FILE *to, const char *name);

#endif

/* token_files.h -- the files of a `maki tokens` command, each with its counts or its error. */
#ifndef MAKI_CLI_TOKEN_FILES_H
#define MAKI_CLI_TOKEN_FILES_H

#include <stdio.h>

#include <maki/maki.h>

typedef struct token_file {
    maki_token_file counted; /* found in a directory: skipped when it is binary */
    char *name;              /* "-" is standard input */
    uint64_t messages;       /* with --messages */
    uint64_t fixed;          /* with --messages: tokens that the model's factor does not apply to */
} token_file;

typedef struct token_files {
    token_file *items;
    size_t count, capacity;
} token_files;

/* Add a file, or all files of a directory and below, sorted by name.  .git is skipped, symbolic links in directories are not
 * followed.  Files that cannot be read are added with their error. */
void token_files_add(token_files *files, const char *path);
void token_files_free(token_files *files);

/* Print a name; invalid UTF-8 and control characters become '?', because a terminal would interpret them. */
void token_name_print(FILE *to, const char *name);

#endif

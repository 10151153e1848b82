/* directory.h -- a temporary directory for the files of one test, removed when the test is over. */
#ifndef MAKI_TESTS_DIRECTORY_H
#define MAKI_TESTS_DIRECTORY_H

#include <maki/str.h>

typedef struct directory {
    char path[256];
} directory;

/* Create one in $TMPDIR or /tmp; a failure aborts the test. */
void directory_open(directory *dir);
void directory_close(directory *dir); /* removes it with its contents */

/* The path of `name` in the directory, borrowed until the next call. */
const char *directory_file(const directory *dir, const char *name);
/* The number of entries. */
size_t directory_count(const directory *dir);

/* Read a file; the caller calls free() on ptr, which is NULL if the file does not exist. */
maki_str directory_read(const char *path);
void directory_write(const char *path, maki_str bytes);

#endif

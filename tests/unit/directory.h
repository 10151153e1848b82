/* directory.h -- a fresh folder for the files of one test, gone when the test is over. */
#ifndef MAKI_TESTS_DIRECTORY_H
#define MAKI_TESTS_DIRECTORY_H

#include <maki/str.h>

typedef struct directory {
    char path[256];
} directory;

/* Make one in $TMPDIR or /tmp; no test can go on without, so failure aborts. */
void directory_open(directory *f);
void directory_close(directory *f); /* removes it with all that is in it */

/* The path of `name` in the folder, borrowed until the next call. */
const char *directory_file(const directory *f, const char *name);
/* How many entries it has. */
size_t directory_count(const directory *f);

/* The whole file, to be freed by the caller with free(); ptr is NULL when there is none. */
maki_str directory_read(const char *path);
void directory_write(const char *path, maki_str bytes);

#endif

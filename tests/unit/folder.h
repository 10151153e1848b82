/* folder.h -- a fresh folder for the files of one test, gone when the test is over. */
#ifndef MAKI_TESTS_FOLDER_H
#define MAKI_TESTS_FOLDER_H

#include <maki/str.h>

typedef struct folder {
    char path[256];
} folder;

/* Make one in $TMPDIR or /tmp; no test can go on without, so failure aborts. */
void folder_open(folder *f);
void folder_close(folder *f); /* removes it with all that is in it */

/* The path of `name` in the folder, borrowed until the next call. */
const char *folder_file(const folder *f, const char *name);
/* How many entries it has. */
size_t folder_count(const folder *f);

/* The whole file, to be freed by the caller with free(); ptr is NULL when there is none. */
maki_str folder_read(const char *path);
void folder_write(const char *path, maki_str bytes);

#endif

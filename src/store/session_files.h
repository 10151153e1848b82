/* session_files.h -- list the messages files in a directory, and check their names. */
#ifndef MAKI_STORE_SESSION_FILES_H
#define MAKI_STORE_SESSION_FILES_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct maki_file_name {
    maki_str text; /* without .jsonl; NUL-terminated */
    bool seen;     /* free for use by the caller */
} maki_file_name;

typedef struct maki_file_names {
    maki_arena arena;
    maki_file_name *items; /* sorted by their bytes */
    size_t count, capacity;
} maki_file_names;

/* List a directory.  Names that cannot be ids (hidden, too long, not UTF-8, with control characters) are
 * skipped.  Freed by maki_file_names_free, also after a failure. */
maki_status maki_file_names_read(maki_file_names *names, const maki_env *env, const char *directory,
                                 maki_err *err);
void maki_file_names_free(maki_file_names *names); /* accepts a zeroed list */

/* The name in the list that equals `text`; NULL: none. */
maki_file_name *maki_file_names_find(const maki_file_names *names, maki_str text);

/* The other file name of the same id: "session-x" for "x" and "x" for "session-x".  False: it does not fit. */
bool maki_file_name_alternative(maki_str text, char *out, size_t capacity);

/* Is it the name of a messages file?  *stem is the name without .jsonl. */
bool maki_file_name_stem(const char *file, maki_str *stem);

#endif

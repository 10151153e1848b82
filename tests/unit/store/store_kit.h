/* store_kit.h -- helpers of the tests of store/: sessions written to files, and reading their index. */
#ifndef MAKI_TESTS_STORE_KIT_H
#define MAKI_TESTS_STORE_KIT_H

#include "directory.h"
#include "fake_env.h"
#include "store/session_index.h"

typedef struct kit {
    fake_env fe; /* its clock is years behind that of the files: a view may always be written */
    directory home;
    char sessions[300], view[300], lock[300];
} kit;

void kit_open(kit *k); /* with an empty directory of agent "default" */
void kit_close(kit *k);

/* Write the files of a session; `events` may be NULL. */
void kit_session(const kit *k, const char *id, const char *rows, const char *events);
/* Add to one. */
void kit_append(const kit *k, const char *id, const char *file, const char *text);

/* All of them as text, one a line, sorted:
 * "id key messages input output model state overrides", with - for what is empty. */
typedef struct kit_all {
    char text[16384];
    maki_status status;
    maki_err err;
    maki_session_index_report report;
} kit_all;
void kit_read(kit *k, kit_all *out);

#endif

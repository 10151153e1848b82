/* workspace.h -- read the bootstrap files of a workspace, as texts for a prompt.
 *
 * The files of a workspace are untrusted, and what they contain is sent to a provider.  So:
 *   - a file that is too long is not read whole: only its head and tail are, and memory depends on the limit alone;
 *   - only regular files are read: reading never waits for a pipe, and no device is opened;
 *   - a symbolic link that leads out of the workspace is not followed: AGENTS.md could point to a private key;
 *   - invalid UTF-8 becomes U+FFFD, and a file with NUL bytes is not text.
 * None of this stops a turn: what was not read is reported, in the prompt and to the caller. */
#ifndef MAKI_ASSEMBLE_WORKSPACE_H
#define MAKI_ASSEMBLE_WORKSPACE_H

#include <limits.h>

#include "assemble/bootstrap.h"
#include "base/arena.h"

typedef struct maki_workspace {
    const maki_env *env;
    char path[PATH_MAX]; /* with all symbolic links resolved */
} maki_workspace;

/* `path` is absolute, begins with ~/ or is relative to the working directory.  MAKI_NOTFOUND, MAKI_INVALID: there is
 * no such directory. */
maki_status maki_workspace_open(const maki_env *env, maki_str path, maki_workspace *out,
                                maki_err *err) MAKI_MUST_CHECK;

typedef enum maki_bootstrap_state {
    MAKI_BOOTSTRAP_NOT_REQUESTED, /* the mode does not use it */
    MAKI_BOOTSTRAP_MISSING,
    MAKI_BOOTSTRAP_UNREADABLE, /* `why` */
    MAKI_BOOTSTRAP_OMITTED,    /* no space is left in the prompt */
    MAKI_BOOTSTRAP_EMPTY,
    MAKI_BOOTSTRAP_WHOLE,
    MAKI_BOOTSTRAP_TRIMMED
} maki_bootstrap_state;
const char *maki_bootstrap_state_name(maki_bootstrap_state state);

/* The outcome for a file; plain data. */
typedef struct maki_bootstrap_report {
    const char *name;
    maki_bootstrap_state state;
    bool repaired;  /* not all of what was read is UTF-8 */
    uint64_t bytes; /* of the file */
    uint64_t units; /* UTF-16 code units that go into the prompt */
    char why[100];  /* of UNREADABLE and OMITTED; else "" */
} maki_bootstrap_report;

/* Read `file`, at most about max_units of it (0: only its state), without white space at its end.  *text is in the
 * arena; len 0: no text.  Fails only when out of memory. */
maki_status maki_workspace_read(const maki_workspace *ws, const maki_bootstrap_file *file,
                                uint64_t max_units, maki_arena *arena,
                                maki_bootstrap_report *report, maki_str *text, maki_err *err)
    MAKI_MUST_CHECK;

#endif

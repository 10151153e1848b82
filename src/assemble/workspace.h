/* workspace.h -- the bootstrap files of a workspace, as texts for a prompt.
 *
 * A workspace may be a folder that somebody else filled, and what stands in it goes to a provider.  So:
 *   - a file is never read as a whole: of one that is too long only the head and the tail are, and memory follows
 *     from the limit alone;
 *   - only files are read: no pipe is waited for, no device opened;
 *   - a link that leads out of the workspace is not followed: AGENTS.md could be the name of a private key;
 *   - what is no UTF-8 becomes U+FFFD, and a file with NUL bytes is no text.
 * None of this stops a turn: what was not read is told, in the prompt and to the caller. */
#ifndef MAKI_ASSEMBLE_WORKSPACE_H
#define MAKI_ASSEMBLE_WORKSPACE_H

#include <limits.h>

#include "assemble/bootstrap.h"
#include "base/arena.h"

typedef struct maki_workspace {
    const maki_env *env;
    char path[PATH_MAX]; /* with all links resolved */
} maki_workspace;

/* `path` is absolute, begins with ~/ or counts from the working folder.  MAKI_NOTFOUND, MAKI_INVALID: there is no
 * such folder. */
maki_status maki_workspace_open(const maki_env *env, maki_str path, maki_workspace *out,
                                maki_err *err) MAKI_MUST_CHECK;

typedef enum maki_boot_state {
    MAKI_BOOT_NOT_REQUESTED, /* the mode does not want it */
    MAKI_BOOT_MISSING,
    MAKI_BOOT_UNREADABLE, /* `why` */
    MAKI_BOOT_LEFT_OUT,   /* there is no room for any of it */
    MAKI_BOOT_EMPTY,
    MAKI_BOOT_WHOLE,
    MAKI_BOOT_TRIMMED
} maki_boot_state;
const char *maki_boot_state_name(maki_boot_state state);

/* What became of a file; plain data. */
typedef struct maki_boot_report {
    const char *name;
    maki_boot_state state;
    bool repaired;  /* not all of what was read is UTF-8 */
    uint64_t bytes; /* of the file */
    uint64_t units; /* that go into the prompt */
    char why[100];  /* UNREAD, LEFT_OUT: in words; else "" */
} maki_boot_report;

/* Read `file`, at most about max_units of it (0: it is only looked at), without white space at its end.  *text is in the arena; len 0: there is
 * none.  Fails only for want of memory. */
maki_status maki_workspace_read(const maki_workspace *ws, const maki_bootstrap_file *file,
                                uint64_t max_units, maki_arena *arena, maki_boot_report *told,
                                maki_str *text, maki_err *err) MAKI_MUST_CHECK;

#endif

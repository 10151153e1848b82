/* files.h -- what is done with files more than once: write all, replace a whole file at once. */
#ifndef MAKI_BASE_FILES_H
#define MAKI_BASE_FILES_H

#include <maki/env.h>

/* All of `bytes`, in as many calls as it takes. */
maki_status maki_file_write(const maki_files *files, int fd, maki_str bytes, maki_err *err);

/* The file at `path` holds `bytes` afterwards, mode 0600, or is what it was before: never half of
 * one.  Written beside it, synced, renamed over it; a failure leaves no temporary file behind. */
maki_status maki_file_replace(const maki_env *env, const char *path, maki_str bytes, maki_err *err)
    MAKI_MUST_CHECK;

/* A sink that writes to a descriptor. */
typedef struct maki_fd_sink {
    const maki_files *files;
    int fd;
} maki_fd_sink;
maki_sink maki_fd_sink_of(maki_fd_sink *target);

#endif

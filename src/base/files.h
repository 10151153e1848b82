/* files.h -- helpers over maki_files: write everything, read a range, replace a file atomically; size, identity and
 * mtime; a sink. */
#ifndef MAKI_BASE_FILES_H
#define MAKI_BASE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

#include "base/limits.h"

/* Write all of `bytes`, in as many calls as it takes. */
maki_status maki_file_write(const maki_files *files, int fd, maki_str bytes, maki_err *err);

/* Write all of `bytes` at offset `at`; read `n` bytes from there, fewer (*got) only at the end of the file. */
maki_status maki_file_write_at(const maki_files *files, int fd, uint64_t at, maki_str bytes,
                               maki_err *err);
maki_status maki_file_read_at(const maki_files *files, int fd, uint64_t at, void *out, size_t n,
                              size_t *got, maki_err *err);

/* Replace the file at `path` atomically by `bytes`, mode 0600; on failure it is unchanged.  A temporary file in the
 * same directory is written, synced and renamed; a failure leaves no temporary file behind. */
maki_status maki_file_replace(const maki_env *env, const char *path, maki_str bytes, maki_err *err)
    MAKI_MUST_CHECK;

/* -1 and errno on failure. */
off_t maki_file_size(const maki_files *files, int fd);
/* The same, and ENOENT when the file has been unlinked. */
off_t maki_file_linked_size(const maki_files *files, int fd);
/* 1 when `fd` is the file at `path`, 0 when it is not, -1 and errno on failure. */
int maki_file_same(const maki_files *files, int fd, const char *path);
/* Is there a file of this type (S_IFREG, S_IFDIR)? */
bool maki_file_is(const maki_files *files, const char *path, mode_t kind);
bool maki_file_exists(const maki_files *files, const char *path);
/* Create a directory and its parents, mode 0700; `path` is modified during the call and restored. */
maki_status maki_make_directories(const maki_files *files, char *path, maki_err *err);
int64_t maki_file_mtime_ms(const struct stat *st); /* mtime, milliseconds since 1970 */

/* A sink that writes to a descriptor. */
typedef struct maki_fd_sink {
    const maki_files *files;
    int fd;
} maki_fd_sink;
maki_sink maki_fd_sink_of(maki_fd_sink *target);

#endif

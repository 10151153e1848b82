/* lines.h -- helpers for the files of a log: lines in constant memory, copies, sizes, locks. */
#ifndef MAKI_LOG_LINES_H
#define MAKI_LOG_LINES_H

#include <stdint.h>

#include <maki/env.h>

/* Called with each line, without its newline, and its offset.  Not MAKI_OK stops. */
typedef maki_status (*maki_log_line_fn)(void *ctx, maki_str line, uint64_t offset, maki_err *err);

/* Visit every complete line from offset `from` on; *end is one past the last newline.  MAKI_TOOBIG
 * when one is longer than `max_line`. */
maki_status maki_lines_each(const maki_env *env, int fd, uint64_t from, uint64_t max_line,
                            maki_log_line_fn fn, void *ctx, uint64_t *end, maki_err *err);

enum { MAKI_QUARANTINE_NAME_LEN = 300 };

/* Copy bytes [from, to) of `fd` into a new file `path`.damaged-N, synced; `name` becomes its base name.  The
 * originals stay in place. */
maki_status maki_lines_quarantine(const maki_env *env, int fd, const char *path, uint64_t from,
                                  uint64_t to, char name[MAKI_QUARANTINE_NAME_LEN], maki_err *err);

/* Copy bytes [from, to) of one file to offset `at` of another.  MAKI_CORRUPT: the file was truncated meanwhile. */
maki_status maki_file_copy(const maki_env *env, int from_fd, uint64_t from, uint64_t to, int to_fd,
                           uint64_t at, maki_err *err);
maki_status maki_file_get_size(const maki_env *env, int fd, uint64_t *out, maki_err *err);
/* flock() that is not interrupted by signals. */
maki_status maki_file_lock(const maki_env *env, int fd, int operation, maki_err *err);

/* fsync the directory of `path`: names in it survive a power failure. */
maki_status maki_directory_sync(const maki_env *env, const char *path, maki_err *err);

#endif

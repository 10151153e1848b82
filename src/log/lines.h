/* lines.h -- a file of lines, read in constant memory, and a part of it put aside. */
#ifndef MAKI_LOG_LINES_H
#define MAKI_LOG_LINES_H

#include <stdint.h>

#include <maki/env.h>

/* Called with each line, without its newline, and where it begins.  Not MAKI_OK stops. */
typedef maki_status (*maki_log_line_fn)(void *ctx, maki_str line, uint64_t at, maki_err *err);

/* Every line from `from` on that has its newline; *end is one past the last newline.  MAKI_TOOBIG
 * when one is longer than `max_line`. */
maki_status maki_lines_each(const maki_env *env, int fd, uint64_t from, uint64_t max_line,
                            maki_log_line_fn fn, void *ctx, uint64_t *end, maki_err *err);

enum { MAKI_ASIDE_LEN = 300 };

/* Copy bytes [from, to) of `fd` into a new file `path`.damaged-N beside it, synced; `name` becomes
 * the last part of its path.  The bytes stay where they are. */
maki_status maki_lines_aside(const maki_env *env, int fd, const char *path, uint64_t from,
                             uint64_t to, char name[MAKI_ASIDE_LEN], maki_err *err);

/* The names in the folder of `path` survive a power cut from now on. */
maki_status maki_directory_sync(const maki_env *env, const char *path, maki_err *err);

#endif

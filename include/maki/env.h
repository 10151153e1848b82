/* env.h -- the outside world, as tables of functions that are passed at open.
 *
 * Maki calls malloc, the clock, the random source and the file system only through these, so a host can replace them and
 * a test can make the n-th call fail.  Every table is borrowed: it must live as long as the object that was opened with
 * it.  Its functions are called by the thread that uses that object; objects that start threads (conversation.h) call
 * them from several threads at once. */
#ifndef MAKI_ENV_H
#define MAKI_ENV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <maki/status.h>
#include <maki/str.h>

MAKI_BEGIN_DECLS

typedef struct maki_alloc maki_alloc;
struct maki_alloc {
    /* As realloc, with the old size given: p NULL allocates, size 0 frees and returns NULL.  NULL for a size above 0
     * means out of memory, and p is still valid then. */
    void *(*resize)(const maki_alloc *self, void *p, size_t old_size, size_t size);
};

typedef struct maki_clock maki_clock;
struct maki_clock {
    int64_t (*now_ms)(const maki_clock *self); /* milliseconds since 1970, UTC */
};

typedef struct maki_random maki_random;
struct maki_random {
    maki_status (*fill)(const maki_random *self, void *out, size_t n, maki_err *err);
};

/* Each function returns like the system call of its name: a value below 0 is a failure, described by errno.  read and
 * write may be short; callers loop. */
typedef struct maki_files maki_files;
struct maki_files {
    int (*open)(const maki_files *self, const char *path, int flags, mode_t mode);
    int (*temp)(
        const maki_files *self); /* an unlinked temporary file, open for reading and writing */
    int (*close)(const maki_files *self, int fd);
    ssize_t (*read)(const maki_files *self, int fd, void *out, size_t n);
    ssize_t (*pread)(const maki_files *self, int fd, void *out, size_t n, off_t at);
    ssize_t (*write)(const maki_files *self, int fd, const void *bytes, size_t n);
    int (*sync)(const maki_files *self, int fd); /* fdatasync */
    int (*rename)(const maki_files *self, const char *from, const char *to);
    int (*unlink)(const maki_files *self, const char *path);
    void *(*map)(const maki_files *self, int fd, size_t n); /* read-only; NULL on failure */
    void (*unmap)(const maki_files *self, void *at, size_t n);
    ssize_t (*pwrite)(const maki_files *self, int fd, const void *bytes, size_t n, off_t at);
    int (*truncate)(const maki_files *self, int fd, off_t size);
    int (*lock)(const maki_files *self, int fd, int operation); /* flock: LOCK_EX, LOCK_UN ... */
    int (*dup)(const maki_files *self, int fd);
    int (*allocate)(const maki_files *self, int fd, off_t size); /* as posix_fallocate, from 0 */
    /* As fstatat: `path` relative to the directory `fd` or AT_FDCWD.  `path` NULL: `fd` itself. */
    int (*stat)(const maki_files *self, int fd, const char *path, struct stat *out);
    int (*mkdir)(const maki_files *self, const char *path, mode_t mode);
    /* Each name in a directory except . and .., until `name` returns false. */
    int (*list)(const maki_files *self, const char *directory,
                bool (*name)(void *ctx, const char *name), void *ctx);
    /* As realpath, into PATH_MAX bytes; ~ at the beginning is the home directory of the user. */
    int (*resolve)(const maki_files *self, const char *path, char *out);
    int64_t (*space)(const maki_files *self,
                     const char *directory); /* bytes available to this process, or -1 */
};

typedef struct maki_env {
    const maki_alloc *alloc;
    const maki_clock *clock;
    const maki_random *random;
    const maki_files *files;
} maki_env;

/* libc's allocator, the system clock, getrandom and POSIX files. */
MAKI_API maki_env maki_env_system(void);

/* A consumer of bytes.  `write` accepts all of `bytes` or returns a status; it is never called with 0 bytes. */
typedef struct maki_sink {
    maki_status (*write)(void *ctx, maki_str bytes, maki_err *err);
    void *ctx;
} maki_sink;

MAKI_END_DECLS

#endif

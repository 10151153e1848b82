/* env.c -- the tables of env.h implemented with libc, the system clock, getentropy and POSIX files.
 *
 * Every function returns what its system call returns; none has state. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <maki/env.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/platform.h"

static void *libc_resize(const maki_alloc *self, void *p, size_t old_size, size_t size)
{
    (void)self;
    (void)old_size;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

static int64_t system_now_ms(const maki_clock *self)
{
    struct timespec ts;
    (void)self;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static maki_status system_fill(const maki_random *self, void *out, size_t n, maki_err *err)
{
    enum { GETENTROPY_MAX = 256 };
    unsigned char *next = out;
    (void)self;
    while (n) {
        size_t part = n < GETENTROPY_MAX ? n : GETENTROPY_MAX;
        if (getentropy(next, part) != 0) return maki_fail_errno(err, "cannot get random bytes");
        next += part;
        n -= part;
    }
    return MAKI_OK;
}

/* Functions that only forward to a system call. */
#define FORWARD(type, name, call, ...)                            \
    static type posix_##name(const maki_files *self, __VA_ARGS__) \
    {                                                             \
        (void)self;                                               \
        return call;                                              \
    }
/* clang-format off */
FORWARD(int, open, open(path, flags | O_CLOEXEC, mode), const char *path, int flags, mode_t mode)
FORWARD(int, close, close(fd), int fd)
FORWARD(ssize_t, read, read(fd, out, n), int fd, void *out, size_t n)
FORWARD(ssize_t, pread, pread(fd, out, n, at), int fd, void *out, size_t n, off_t at)
FORWARD(ssize_t, write, write(fd, bytes, n), int fd, const void *bytes, size_t n)
FORWARD(ssize_t, pwrite, pwrite(fd, bytes, n, at), int fd, const void *bytes, size_t n, off_t at)
FORWARD(int, truncate, ftruncate(fd, size), int fd, off_t size)
FORWARD(int, allocate, maki_allocate(fd, size), int fd, off_t size)
FORWARD(int, sync, fdatasync(fd), int fd)
FORWARD(int, lock, flock(fd, operation), int fd, int operation)
FORWARD(int, dup, fcntl(fd, F_DUPFD_CLOEXEC, 0), int fd)
FORWARD(int, rename, rename(from, to), const char *from, const char *to)
FORWARD(int, unlink, unlink(path), const char *path)
FORWARD(int, mkdir, mkdir(path, mode), const char *path, mode_t mode)
FORWARD(int, stat, path ? fstatat(fd, path, out, 0) : fstat(fd, out), int fd, const char *path, struct stat *out)
/* clang-format on */

static int posix_temp(const maki_files *self)
{
    char path[MAKI_PATH_MAX];
    const char *directory = getenv("TMPDIR");
    (void)self;
    if (!directory || !directory[0]) directory = "/tmp";
    int fd = maki_open_unnamed(directory);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
    if (snprintf(path, sizeof path, "%s/maki.XXXXXX", directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

static void *posix_map(const maki_files *self, int fd, size_t n)
{
    (void)self;
    void *at = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void posix_unmap(const maki_files *self, void *at, size_t n)
{
    (void)self;
    munmap(at, n);
}

static int posix_list(const maki_files *self, const char *directory,
                      bool (*name)(void *ctx, const char *name), void *ctx)
{
    DIR *dir = opendir(directory);
    struct dirent *entry = NULL;
    (void)self;
    if (!dir) return -1;
    do {
        errno = 0;
        entry = readdir(dir);
    } while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                       name(ctx, entry->d_name)));
    int error = entry ? 0 : errno;
    closedir(dir);
    errno = error;
    return error ? -1 : 0;
}

static int posix_resolve(const maki_files *self, const char *path, char *out)
{
    char expanded[PATH_MAX];
    const char *home = getenv("HOME");
    bool tilde = home && path[0] == '~' && (path[1] == '/' || path[1] == '\0');
    (void)self;
    int n = snprintf(expanded, sizeof expanded, "%s%s", tilde ? home : "", path + tilde);
    if (n < 0 || (size_t)n >= sizeof expanded) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return realpath(expanded, out) ? 0 : -1;
}

static int64_t posix_space(const maki_files *self, const char *directory)
{
    struct statvfs fs;
    (void)self;
    return statvfs(directory, &fs) != 0 ? -1 : (int64_t)(fs.f_bavail * fs.f_frsize);
}

maki_env maki_env_system(void)
{
    static const maki_alloc alloc = { libc_resize };
    static const maki_clock clock = { system_now_ms };
    static const maki_random random = { system_fill };
    static const maki_files files = {
        .open = posix_open,
        .temp = posix_temp,
        .close = posix_close,
        .read = posix_read,
        .pread = posix_pread,
        .write = posix_write,
        .sync = posix_sync,
        .rename = posix_rename,
        .unlink = posix_unlink,
        .map = posix_map,
        .unmap = posix_unmap,
        .pwrite = posix_pwrite,
        .truncate = posix_truncate,
        .lock = posix_lock,
        .dup = posix_dup,
        .allocate = posix_allocate,
        .stat = posix_stat,
        .mkdir = posix_mkdir,
        .list = posix_list,
        .resolve = posix_resolve,
        .space = posix_space,
    };
    return (maki_env){ &alloc, &clock, &random, &files };
}

/* files.c -- read, write and replace files, query them, create directories: loops over system calls that may be short
 * or interrupted.
 *
 * A replaced file is durable: the file is synced before the rename, the directory after it. */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/str_util.h"

static const uint64_t CURRENT_OFFSET = UINT64_MAX; /* use the file offset of the descriptor */

static maki_status write_all(const maki_files *files, int fd, uint64_t at, maki_str bytes,
                             maki_err *err)
{
    while (bytes.len) {
        ssize_t n = at == CURRENT_OFFSET
                        ? files->write(files, fd, bytes.ptr, bytes.len)
                        : files->pwrite(files, fd, bytes.ptr, bytes.len, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC; /* a maki_files that writes nothing and reports no error */
        if (n <= 0) return maki_fail_errno(err, "cannot write");
        bytes = maki_str_skip(bytes, (size_t)n);
        if (at != CURRENT_OFFSET) at += (uint64_t)n;
    }
    return MAKI_OK;
}

maki_status maki_file_write(const maki_files *files, int fd, maki_str bytes, maki_err *err)
{
    return write_all(files, fd, CURRENT_OFFSET, bytes, err);
}

maki_status maki_file_write_at(const maki_files *files, int fd, uint64_t at, maki_str bytes,
                               maki_err *err)
{
    return write_all(files, fd, at, bytes, err);
}

maki_status maki_file_read_at(const maki_files *files, int fd, uint64_t at, void *out, size_t n,
                              size_t *got, maki_err *err)
{
    *got = 0;
    while (*got < n) {
        ssize_t part = files->pread(files, fd, (char *)out + *got, n - *got, (off_t)(at + *got));
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return maki_fail_errno(err, "cannot read");
        if (part == 0) break;
        *got += (size_t)part;
    }
    return MAKI_OK;
}

/* Sync the directory of `path` (which is truncated to it), so that the rename is durable too. */
static maki_status sync_directory(const maki_files *files, char *path, maki_err *err)
{
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path ? 1 : 0] = '\0';
    int fd = files->open(files, slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0) return maki_fail_errno(err, "cannot open the directory");
    maki_status st = MAKI_OK;
    if (files->sync(files, fd) < 0 && errno != EINVAL)
        st = maki_fail_errno(err, "cannot sync the directory");
    files->close(files, fd);
    return st;
}

/* Create a temporary file in the directory of `path`; returns its descriptor, or -1 and *st.  It is not named after the file:
 * a name may be as long as the file system allows. */
static int create_temporary(const maki_env *env, const char *path, char temp[MAKI_PATH_MAX],
                            maki_status *st, maki_err *err)
{
    char id[MAKI_UUID_LEN + 1];
    const char *slash = strrchr(path, '/');
    int directory = slash ? (int)(slash + 1 - path) : 0;
    *st = maki_uuid(env->random, id, err);
    if (*st != MAKI_OK) return -1;
    if (strlen(path) >= MAKI_PATH_MAX ||
        snprintf(temp, MAKI_PATH_MAX, "%.*s%s.tmp", directory, path, id) >= MAKI_PATH_MAX) {
        *st = maki_fail(err, MAKI_TOOBIG, "the path is longer than %d bytes", MAKI_PATH_MAX);
        return -1;
    }
    int fd = env->files->open(env->files, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) *st = maki_fail_errno(err, "cannot create a temporary file");
    return fd;
}

maki_status maki_file_replace(const maki_env *env, const char *path, maki_str bytes, maki_err *err)
{
    const maki_files *files = env->files;
    char temp[MAKI_PATH_MAX];
    maki_status st;
    int fd = create_temporary(env, path, temp, &st, err);
    if (fd < 0) return st;
    st = maki_file_write(files, fd, bytes, err);
    if (st == MAKI_OK && files->sync(files, fd) < 0) st = maki_fail_errno(err, "cannot sync");
    if (files->close(files, fd) < 0 && st == MAKI_OK) st = maki_fail_errno(err, "cannot close");
    if (st == MAKI_OK && files->rename(files, temp, path) < 0)
        st = maki_fail_errno(err, "cannot rename a temporary file");
    if (st == MAKI_OK) return sync_directory(files, temp, err);
    files->unlink(files, temp);
    return st;
}

static maki_status fd_write(void *ctx, maki_str bytes, maki_err *err)
{
    maki_fd_sink *target = ctx;
    return maki_file_write(target->files, target->fd, bytes, err);
}

maki_sink maki_fd_sink_of(maki_fd_sink *target)
{
    return (maki_sink){ fd_write, target };
}

off_t maki_file_size(const maki_files *files, int fd)
{
    struct stat st;
    return files->stat(files, fd, NULL, &st) != 0 ? -1 : st.st_size;
}

off_t maki_file_linked_size(const maki_files *files, int fd)
{
    struct stat st;
    if (files->stat(files, fd, NULL, &st) != 0) return -1;
    if (st.st_nlink > 0) return st.st_size;
    errno = ENOENT;
    return -1;
}

int maki_file_same(const maki_files *files, int fd, const char *path)
{
    struct stat opened, named;
    if (files->stat(files, fd, NULL, &opened) != 0) return -1;
    if (files->stat(files, AT_FDCWD, path, &named) != 0) return errno == ENOENT ? 0 : -1;
    return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

bool maki_file_is(const maki_files *files, const char *path, mode_t kind)
{
    struct stat st;
    return files->stat(files, AT_FDCWD, path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

bool maki_file_exists(const maki_files *files, const char *path)
{
    struct stat st;
    return files->stat(files, AT_FDCWD, path, &st) == 0;
}

maki_status maki_make_directories(const maki_files *files, char *path, maki_err *err)
{
    for (char *slash = path + 1;; slash++) {
        if (*slash && *slash != '/') continue;
        char saved = *slash;
        *slash = '\0';
        int failed = files->mkdir(files, path, 0700) != 0 && errno != EEXIST;
        *slash = saved;
        if (failed) return maki_fail_errno(err, "cannot create the directory");
        if (!saved) return MAKI_OK;
    }
}

int64_t maki_file_mtime_ms(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

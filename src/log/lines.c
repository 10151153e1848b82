/* lines.c -- reads a file in blocks and splits it into lines; copies ranges of files, quarantines damaged bytes, locks
 * files and syncs directories.
 *
 * A line may span blocks: the buffer holds the incomplete last line and grows to at most `max_line` and a block. */
#include "log/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/block.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files.h"

enum { BLOCK = 1 << 16, COPY_BLOCK = 1 << 20, QUARANTINE_MAX = 1000 };

/* Call `fn` for each complete line of `text`, which begins at `offset` of the file; the first `scanned` bytes have no newline.
 * *used is one past the last line. */
static maki_status each_complete(maki_str text, size_t scanned, uint64_t offset,
                                 maki_log_line_fn fn, void *ctx, size_t *used, maki_err *err)
{
    *used = 0;
    for (;;) {
        const char *newline = memchr(text.ptr + scanned, '\n', text.len - scanned);
        if (!newline) return MAKI_OK;
        size_t stop = (size_t)(newline - text.ptr);
        maki_status st = fn(ctx, (maki_str){ text.ptr + *used, stop - *used }, offset + *used, err);
        if (st != MAKI_OK) return st;
        scanned = *used = stop + 1;
    }
}

maki_status maki_lines_each(const maki_env *env, int fd, uint64_t from, uint64_t max_line,
                            maki_log_line_fn fn, void *ctx, uint64_t *end, maki_err *err)
{
    maki_buf text = maki_buf_new(env->alloc, (size_t)max_line + BLOCK + 1);
    maki_status st = MAKI_OK;
    uint64_t offset = from; /* of `text` in the file */
    *end = from;
    while (st == MAKI_OK) {
        size_t got = 0, used = 0, scanned = text.len;
        char *out = maki_buf_reserve(&text, BLOCK);
        if (!out) break;
        st = maki_file_read_at(env->files, fd, offset + text.len, out, BLOCK, &got, err);
        if (st != MAKI_OK || got == 0) break;
        text.len += got;
        st = each_complete(maki_buf_str(&text), scanned, offset, fn, ctx, &used, err);
        memmove(text.ptr, text.ptr + used, text.len - used);
        text.len -= used;
        offset += used;
        *end = offset;
        if (st == MAKI_OK && text.len > max_line) {
            st = maki_fail(err, MAKI_TOOBIG,
                           "the row at byte %" PRIu64 " is longer than %" PRIu64 " bytes", offset,
                           max_line);
        }
    }
    if (st == MAKI_OK) st = maki_buf_status(&text, err);
    maki_buf_free(&text);
    return st;
}

maki_status maki_file_copy(const maki_env *env, int from_fd, uint64_t from, uint64_t to, int to_fd,
                           uint64_t at, maki_err *err)
{
    maki_block block = maki_block_new(env->alloc, COPY_BLOCK);
    maki_status st = block.at ? MAKI_OK : maki_fail_nomem(err);
    while (st == MAKI_OK && from < to) {
        size_t wanted = to - from < COPY_BLOCK ? (size_t)(to - from) : COPY_BLOCK, got = 0;
        st = maki_file_read_at(env->files, from_fd, from, block.at, wanted, &got, err);
        if (st == MAKI_OK)
            st = maki_file_write_at(env->files, to_fd, at, (maki_str){ block.at, got }, err);
        if (st == MAKI_OK && got < wanted)
            st = maki_fail(err, MAKI_CORRUPT, "a file was truncated while in use");
        from += got;
        at += got;
    }
    maki_block_free(env->alloc, &block);
    return st;
}

maki_status maki_file_get_size(const maki_env *env, int fd, uint64_t *out, maki_err *err)
{
    off_t size = maki_file_size(env->files, fd);
    if (size < 0) return maki_fail_errno(err, "cannot get the size of a file");
    *out = (uint64_t)size;
    return MAKI_OK;
}

maki_status maki_file_lock(const maki_env *env, int fd, int operation, maki_err *err)
{
    while (env->files->lock(env->files, fd, operation) < 0) {
        if (errno != EINTR) return maki_fail_errno(err, "cannot lock the messages");
    }
    return MAKI_OK;
}

/* Create the first of `path`.damaged-1, -2 ... that does not exist. */
static int create_quarantine(const maki_files *files, const char *path, char *name, size_t capacity)
{
    for (int n = 1; n <= QUARANTINE_MAX; n++) {
        snprintf(name, capacity, "%s.damaged-%d", path, n);
        int fd = files->open(files, name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

maki_status maki_lines_quarantine(const maki_env *env, int fd, const char *path, uint64_t from,
                                  uint64_t to, char name[MAKI_QUARANTINE_NAME_LEN], maki_err *err)
{
    const maki_files *files = env->files;
    char file[MAKI_PATH_MAX + 32];
    int out = create_quarantine(files, path, file, sizeof file);
    if (out < 0) return maki_fail_errno(err, "cannot create a quarantine file");
    maki_status st = maki_file_copy(env, fd, from, to, out, 0, err);
    if (st == MAKI_CORRUPT) st = MAKI_OK; /* truncated meanwhile: everything there is was copied */
    if (st == MAKI_OK && files->sync(files, out) < 0) st = maki_fail_errno(err, "cannot sync");
    files->close(files, out);
    if (st == MAKI_OK) st = maki_directory_sync(env, path, err);
    if (st != MAKI_OK) {
        files->unlink(files, file); /* a copy: the originals are still in place */
        return st;
    }
    const char *slash = strrchr(file, '/');
    snprintf(name, MAKI_QUARANTINE_NAME_LEN, "%s", slash ? slash + 1 : file);
    return MAKI_OK;
}

maki_status maki_directory_sync(const maki_env *env, const char *path, maki_err *err)
{
    const maki_files *files = env->files;
    char directory[MAKI_PATH_MAX + 1];
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash - path) : 0;
    snprintf(directory, sizeof directory, "%.*s", n ? n : 1, slash ? (n ? path : "/") : ".");
    int fd = files->open(files, directory, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 && (errno == EACCES || errno == EPERM))
        return MAKI_OK; /* searchable, but not readable */
    if (fd < 0) return maki_fail_errno(err, "cannot open the directory");
    maki_status st = MAKI_OK;
    if (files->sync(files, fd) < 0 && errno != EINVAL) {
        st = maki_fail_errno(err, "cannot sync the directory");
    }
    files->close(files, fd);
    return st;
}

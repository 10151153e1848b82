/* lines.c -- see lines.h. */
#include "log/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files.h"

enum { BLOCK = 1 << 16, ASIDE_MAX = 1000 };

/* Hand out the whole lines of `text`, whose first byte stands at `at`; *used is one past the last. */
static maki_status each_whole(maki_str text, size_t seen, uint64_t at, maki_log_line_fn fn,
                              void *ctx, size_t *used, maki_err *err)
{
    *used = 0;
    for (;;) {
        const char *newline = memchr(text.ptr + seen, '\n', text.len - seen);
        if (!newline) return MAKI_OK;
        size_t stop = (size_t)(newline - text.ptr);
        maki_status st = fn(ctx, (maki_str){ text.ptr + *used, stop - *used }, at + *used, err);
        if (st != MAKI_OK) return st;
        seen = *used = stop + 1;
    }
}

maki_status maki_lines_each(const maki_env *env, int fd, uint64_t from, uint64_t max_line,
                            maki_log_line_fn fn, void *ctx, uint64_t *end, maki_err *err)
{
    maki_buf text = maki_buf_new(env->alloc, (size_t)max_line + BLOCK + 1);
    maki_status st = MAKI_OK;
    uint64_t at = from; /* where text begins in the file */
    *end = from;
    while (st == MAKI_OK) {
        size_t got = 0, used = 0, seen = text.len;
        char *capacity = maki_buf_reserve(&text, BLOCK);
        if (!capacity) break;
        st = maki_file_read_at(env->files, fd, at + text.len, capacity, BLOCK, &got, err);
        if (st != MAKI_OK || got == 0) break;
        text.len += got;
        st = each_whole(maki_buf_str(&text), seen, at, fn, ctx, &used, err);
        memmove(text.ptr, text.ptr + used, text.len - used);
        text.len -= used;
        at += used;
        *end = at;
        if (st == MAKI_OK && text.len > max_line) {
            st = maki_fail(err, MAKI_TOOBIG,
                           "the row at byte %" PRIu64 " is longer than %" PRIu64 " bytes", at,
                           max_line);
        }
    }
    if (st == MAKI_OK) st = maki_buf_status(&text, err);
    maki_buf_free(&text);
    return st;
}

static maki_status copy(const maki_env *env, int from_fd, uint64_t from, uint64_t to, int to_fd,
                        maki_err *err)
{
    maki_status st = MAKI_OK;
    char *block = env->alloc->resize(env->alloc, NULL, 0, BLOCK);
    if (!block) return maki_fail_nomem(err);
    for (uint64_t at = from; st == MAKI_OK && at < to;) {
        size_t want = to - at < BLOCK ? (size_t)(to - at) : BLOCK, got = 0;
        st = maki_file_read_at(env->files, from_fd, at, block, want, &got, err);
        if (st == MAKI_OK && got == 0) break; /* it became shorter: all there is was copied */
        if (st == MAKI_OK) {
            st = maki_file_write_at(env->files, to_fd, at - from, (maki_str){ block, got }, err);
        }
        at += got;
    }
    env->alloc->resize(env->alloc, block, BLOCK, 0);
    return st;
}

/* The first of `path`.damaged-1, -2 ... that is not there yet. */
static int make_aside(const maki_files *files, const char *path, char *aside, size_t capacity)
{
    for (int n = 1; n <= ASIDE_MAX; n++) {
        snprintf(aside, capacity, "%s.damaged-%d", path, n);
        int fd = files->open(files, aside, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

maki_status maki_lines_aside(const maki_env *env, int fd, const char *path, uint64_t from,
                             uint64_t to, char name[MAKI_ASIDE_LEN], maki_err *err)
{
    const maki_files *files = env->files;
    char aside[MAKI_PATH_MAX + 32];
    int out = make_aside(files, path, aside, sizeof aside);
    if (out < 0) return maki_fail_errno(err, "making a file for what is damaged");
    maki_status st = copy(env, fd, from, to, out, err);
    if (st == MAKI_OK && files->sync(files, out) < 0) st = maki_fail_errno(err, "syncing");
    files->close(files, out);
    if (st == MAKI_OK) st = maki_directory_sync(env, path, err);
    if (st != MAKI_OK) {
        files->unlink(files, aside); /* a copy: the bytes are still where they were */
        return st;
    }
    const char *slash = strrchr(aside, '/');
    snprintf(name, MAKI_ASIDE_LEN, "%s", slash ? slash + 1 : aside);
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
    if (fd < 0 && (errno == EACCES || errno == EPERM)) return MAKI_OK; /* enter, but not look at */
    if (fd < 0) return maki_fail_errno(err, "opening the folder");
    maki_status st = MAKI_OK;
    if (files->sync(files, fd) < 0 && errno != EINVAL) {
        st = maki_fail_errno(err, "syncing the folder");
    }
    files->close(files, fd);
    return st;
}

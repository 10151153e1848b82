/* fake_record.c -- see fake_record.h. */
#include "fake/fake_record.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { HEAD_MAX = 1 << 20 };

static int create(const fake_record *record, const char *kind)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%06u.%s", record->directory, record->count, kind);
    if (n < 0 || (size_t)n >= sizeof path) return -1;
    return record->env->files->open(record->env->files, path,
                                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

maki_status fake_record_body(fake_record *record, int body_fd, maki_str bytes, maki_err *err)
{
    const maki_files *files = record->env->files;
    while (body_fd >= 0 && bytes.len) {
        ssize_t n = files->write(files, body_fd, bytes.ptr, bytes.len);
        if (n < 0) return maki_fail_errno(err, "recording a request");
        bytes = (maki_str){ bytes.ptr + n, bytes.len - (size_t)n };
    }
    return MAKI_OK;
}

static void add_line(maki_buf *out, maki_str a, const char *between, maki_str b, const char *end)
{
    maki_buf_add(out, a);
    maki_buf_add(out, maki_str_of(between));
    maki_buf_add(out, b);
    maki_buf_add(out, maki_str_of(end));
}

maki_status fake_record_head(fake_record *record, const maki_http_head *head, int *body_fd,
                             maki_err *err)
{
    maki_buf text = maki_buf_new(record->env->alloc, HEAD_MAX);
    *body_fd = -1;
    if (!record->directory) return MAKI_OK;
    record->count++;
    int fd = create(record, "head");
    if (fd < 0) return maki_fail_errno(err, "recording a request");
    add_line(&text, head->method, " ", head->target,
             head->minor ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
    for (size_t i = 0; i < head->field_count; i++)
        add_line(&text, head->fields[i].name, ": ", head->fields[i].value, "\r\n");
    maki_status st = maki_buf_status(&text, err);
    if (st == MAKI_OK) st = fake_record_body(record, fd, maki_buf_str(&text), err);
    maki_buf_free(&text);
    fake_record_end(record, fd);
    if (st == MAKI_OK && (*body_fd = create(record, "body")) < 0)
        st = maki_fail_errno(err, "recording a request");
    return st;
}

void fake_record_end(fake_record *record, int body_fd)
{
    if (body_fd >= 0) record->env->files->close(record->env->files, body_fd);
}

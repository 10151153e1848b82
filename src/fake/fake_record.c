/* fake_record.c -- write the head of a request into one file, its body as it arrives into another.  Errors are
 * returned: a test must not compare with an incomplete file. */
#include "fake/fake_record.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str_util.h"

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
        if (n < 0) return maki_fail_errno(err, "cannot record a request");
        bytes = (maki_str){ bytes.ptr + n, bytes.len - (size_t)n };
    }
    return MAKI_OK;
}

maki_status fake_record_head(fake_record *record, const maki_http_head *head, int *body_fd,
                             maki_err *err)
{
    maki_buf text = maki_buf_new(record->env->alloc, HEAD_MAX);
    *body_fd = -1;
    if (!record->directory) return MAKI_OK;
    record->count++;
    int fd = create(record, "head");
    if (fd < 0) return maki_fail_errno(err, "cannot record a request");
    maki_buf_print(&text, "%.*s %.*s HTTP/1.%d\r\n", MAKI_PRINTED(head->method),
                   MAKI_PRINTED(head->target), head->minor);
    for (size_t i = 0; i < head->field_count; i++) {
        const maki_http_field *field = &head->fields[i];
        maki_buf_print(&text, "%.*s: %.*s\r\n", MAKI_PRINTED(field->name),
                       MAKI_PRINTED(field->value));
    }
    maki_status st = maki_buf_status(&text, err);
    if (st == MAKI_OK) st = fake_record_body(record, fd, maki_buf_str(&text), err);
    maki_buf_free(&text);
    fake_record_end(record, fd);
    if (st == MAKI_OK && (*body_fd = create(record, "body")) < 0)
        st = maki_fail_errno(err, "cannot record a request");
    return st;
}

void fake_record_end(fake_record *record, int body_fd)
{
    if (body_fd >= 0) record->env->files->close(record->env->files, body_fd);
}

/* err.c -- the accessors of the status table, and the formatting of error messages.
 *
 * A message is always one line of valid UTF-8, so a hostile name cannot forge a log line. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

typedef struct status_row {
    const char *name;
    int http;
    int exit;
    const char *meaning;
} status_row;

static const status_row rows[] = {
#define STATUS_ROW(name, http, exit, meaning) { #name, http, exit, meaning },
    MAKI_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
};

static const status_row *row_of(maki_status status)
{
    size_t i = (size_t)status;
    return &rows[i < sizeof rows / sizeof rows[0] ? i : (size_t)MAKI_IO];
}

const char *maki_status_name(maki_status status)
{
    return row_of(status)->name;
}

const char *maki_status_meaning(maki_status status)
{
    return row_of(status)->meaning;
}

int maki_status_http(maki_status status)
{
    return row_of(status)->http;
}

int maki_status_exit(maki_status status)
{
    return row_of(status)->exit;
}

/* One line of valid UTF-8: a hostile name must not forge a log line or break a terminal. */
static void sanitize(char *msg)
{
    size_t n = strlen(msg);
    size_t bad_at = 0;
    maki_utf8_one_line(msg, n);
    size_t incomplete = maki_utf8_incomplete((maki_str){ msg, n });
    while (!maki_utf8_valid((maki_str){ msg, n }, &bad_at)) {
        if (n - bad_at == incomplete) { /* vsnprintf truncated inside a character: end before it */
            msg[bad_at] = '\0';
            return;
        }
        msg[bad_at] = '?';
    }
}

static maki_status fail_v(maki_err *err, maki_status status, const char *code, const char *fmt,
                          va_list args)
{
    if (!err) return status;
    err->status = status;
    snprintf(err->code, sizeof err->code, "%s", code);
    vsnprintf(err->msg, sizeof err->msg, fmt, args);
    sanitize(err->msg);
    return status;
}

maki_status maki_fail(maki_err *err, maki_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_v(err, status, maki_status_name(status), fmt, args);
    va_end(args);
    return status;
}

maki_status maki_refuse(maki_err *err, const char *code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_v(err, MAKI_REFUSED, code, fmt, args);
    va_end(args);
    return MAKI_REFUSED;
}

maki_status maki_fail_nomem(maki_err *err)
{
    return maki_fail(err, MAKI_NOMEM, "out of memory");
}

static maki_status status_of_errno(int code)
{
    switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return MAKI_FULL;
    case ENOENT:
    case ENOTDIR: return MAKI_NOTFOUND;
    case EACCES:
    case EPERM:
    case EROFS: return MAKI_DENIED;
    case ENOMEM: return MAKI_NOMEM;
    default: return MAKI_IO;
    }
}

maki_status maki_fail_errno(maki_err *err, const char *action)
{
    return maki_fail(err, status_of_errno(errno), "%s%s%s", action, action[0] ? ": " : "",
                     strerror(errno));
}

maki_status maki_fail_path(maki_err *err, const char *path)
{
    return maki_fail(err, status_of_errno(errno), "cannot open %.140s: %s", path, strerror(errno));
}

void maki_perror(const char *action, const maki_err *err)
{
    fprintf(stderr, "%s: %s (%s)\n", action, err->msg, err->code);
}

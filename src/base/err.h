/* err.h -- where an error is born: set the status and the words, return the status. */
#ifndef MAKI_BASE_ERR_H
#define MAKI_BASE_ERR_H

#include <maki/status.h>

/* Fill *err (unless NULL) and return `status`.  The words come out as one line of valid UTF-8,
 * whatever was formatted into them: names from outside may be quoted with %.*s as they are. */
maki_status maki_fail(maki_err *err, maki_status status, const char *fmt, ...) MAKI_PRINTF(3, 4);

/* MAKI_REFUSED with a code that a program can act on. */
maki_status maki_refuse(maki_err *err, const char *code, const char *fmt, ...) MAKI_PRINTF(3, 4);

maki_status maki_fail_nomem(maki_err *err);

/* A failed system call: MAKI_FULL, MAKI_NOTFOUND, MAKI_DENIED, MAKI_NOMEM or MAKI_IO by errno, "doing: why"; "why" alone when
 * `doing` is empty. */
maki_status maki_fail_errno(maki_err *err, const char *doing);

#endif

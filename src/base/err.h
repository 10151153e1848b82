/* err.h -- create an error: set the status and the message, return the status. */
#ifndef MAKI_BASE_ERR_H
#define MAKI_BASE_ERR_H

#include <maki/status.h>

/* Fill *err (unless NULL) and return `status`.  The message becomes one line of valid UTF-8, whatever was formatted
 * into it: names from outside may be passed to %.*s as they are. */
maki_status maki_fail(maki_err *err, maki_status status, const char *fmt, ...) MAKI_PRINTF(3, 4);

/* MAKI_REFUSED with a code that a program can act on. */
maki_status maki_refuse(maki_err *err, const char *code, const char *fmt, ...) MAKI_PRINTF(3, 4);

maki_status maki_fail_nomem(maki_err *err);

/* A failed system call: MAKI_FULL, MAKI_NOTFOUND, MAKI_DENIED, MAKI_NOMEM or MAKI_IO by errno.  The message is
 * "action: strerror", or strerror alone when `action` is empty. */
maki_status maki_fail_errno(maki_err *err, const char *action);
/* The same for a file that cannot be opened, by its name. */
maki_status maki_fail_path(maki_err *err, const char *path);

#endif

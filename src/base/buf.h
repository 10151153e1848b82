/* buf.h -- an owned, growing buffer that always has a limit.
 *
 * The first failure sticks, and later calls do nothing: check maki_buf_status once at the end. */
#ifndef MAKI_BASE_BUF_H
#define MAKI_BASE_BUF_H

#include <maki/env.h>

#include "base/arena.h"

typedef struct maki_buf {
    const maki_alloc *alloc;
    char *ptr;
    size_t len;
    size_t capacity;
    size_t max;
    maki_status status;
} maki_buf;

maki_buf maki_buf_new(const maki_alloc *alloc, size_t max);
void maki_buf_free(maki_buf *buf); /* accepts one that was zeroed or freed */

void maki_buf_add(maki_buf *buf, maki_str bytes);
void maki_buf_add_byte(maki_buf *buf, char byte);
void maki_buf_print(maki_buf *buf, const char *fmt, ...) MAKI_PRINTF(2, 3); /* printf to the end */
void maki_buf_clear(
    maki_buf *buf); /* discards the bytes and the failure; the memory stays allocated */
/* Reserve capacity for `n` more bytes and return the end of the buffer: the caller writes there and adds to buf->len.
 * NULL on failure. */
char *maki_buf_reserve(maki_buf *buf, size_t n);

/* The bytes so far, borrowed until the next call that changes the buffer. */
maki_str maki_buf_str(const maki_buf *buf);
/* MAKI_OK, MAKI_NOMEM or MAKI_TOOBIG with a message in *err. */
maki_status maki_buf_status(const maki_buf *buf, maki_err *err);
/* Copy the bytes so far into `arena`.  The buffer is freed, on failure too. */
maki_status maki_buf_to_arena(maki_buf *buf, maki_arena *arena, maki_str *out, maki_err *err)
    MAKI_MUST_CHECK;
/* Add `bytes` in base64, padded. */
void maki_buf_add_base64(maki_buf *buf, maki_str bytes);
/* A sink that adds to the buffer; the buffer must not move while it is in use. */
maki_sink maki_buf_sink(maki_buf *buf);

#endif

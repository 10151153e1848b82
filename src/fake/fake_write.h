/* fake_write.h -- JSON by example: what goes over the wire stands in the source as it will look.
 *
 *     fake_write(out, "{'id':%t,'created':%n,'choices':%r}", id, (int64_t)1, choices);
 *
 * ' becomes ", and
 *     %t   a maki_str, as a JSON string with its quotes
 *     %r   a maki_str, as it is
 *     %n   an int64_t
 *     %x   a uint64_t in 16 hexadecimal digits
 *     %%   a percent sign
 * A failure sticks to the buffer. */
#ifndef MAKI_FAKE_FAKE_WRITE_H
#define MAKI_FAKE_FAKE_WRITE_H

#include <stdarg.h>

#include "base/buf.h"

void fake_write(maki_buf *out, const char *shape, ...);
void fake_vwrite(maki_buf *out, const char *shape, va_list args);

/* A server-sent event: `event: NAME` (NULL: none) and `data: ` with the shape. */
void fake_event(maki_buf *out, const char *name, const char *shape, ...);

/* %E6%B5%B7 as the bytes it stands for, as many as there is room for; returns how many. */
size_t fake_unescape(maki_str text, char *out, size_t capacity);

/* Piece `nth` of `text` in `of` pieces of about the same length, cut between characters. */
maki_str fake_chunk(maki_str text, unsigned nth, unsigned of);

#endif

/* fake_write.h -- a printf for JSON, and helpers for streams: events, chunks, percent-encoding.
 *
 *     fake_write(out, "{'id':%t,'created':%n,'choices':%r}", id, (int64_t)1, choices);
 *
 * ' becomes ", and
 *     %t   a maki_str, as a JSON string with its quotes
 *     %r   a maki_str, unchanged
 *     %n   an int64_t
 *     %x   a uint64_t in 16 hexadecimal digits
 *     %%   a percent sign
 * A failure is stored in the buffer: see maki_buf_status. */
#ifndef MAKI_FAKE_FAKE_WRITE_H
#define MAKI_FAKE_FAKE_WRITE_H

#include "base/buf.h"

void fake_write(maki_buf *out, const char *format, ...);

/* A server-sent event: `event: NAME` (NULL: none) and `data: ` with the format. */
void fake_event(maki_buf *out, const char *name, const char *format, ...);

/* Decode percent-encoding (%E6%B5%B7), up to `capacity` bytes; returns how many. */
size_t fake_unescape(maki_str text, char *out, size_t capacity);

/* Chunk `nth` of `text` in `count` chunks of about the same length, split between characters. */
maki_str fake_chunk(maki_str text, unsigned nth, unsigned count);

#endif

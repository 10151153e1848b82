/* sse.h -- an incremental parser of server-sent events.
 *
 * Feed it bytes of any length; each event is assembled in a buffer with a limit.  Lines end with LF,
 * CRLF or CR; several `data` lines are joined with LF; comments and unknown fields are skipped. */
#ifndef MAKI_NET_SSE_H
#define MAKI_NET_SSE_H

#include <stdbool.h>

#include "base/buf.h"

typedef struct maki_sse_event {
    maki_str name; /* the field `event`; len 0: none ("message") */
    maki_str data;
} maki_sse_event;

/* Called for each event with data; the spans are valid during the call.  Any status but MAKI_OK stops the parsing and
 * is returned. */
typedef maki_status (*maki_sse_fn)(void *ctx, const maki_sse_event *event, maki_err *err);

typedef struct maki_sse {
    maki_buf line; /* the start of an incomplete line */
    maki_buf name, data;
    bool has_data, after_cr, started;
} maki_sse;

/* `max`: the limit of a line and of an event's data; above it maki_sse_feed returns MAKI_TOOBIG. */
maki_sse maki_sse_new(const maki_alloc *alloc, size_t max);
void maki_sse_free(maki_sse *sse);

maki_status maki_sse_feed(maki_sse *sse, maki_str bytes, maki_sse_fn fn, void *ctx, maki_err *err);

#endif

/* sticky_error.h -- appending to spools with an error that sticks: one check at the end instead of one per append.
 *
 * After the first failure every call does nothing.  Used where a reply or a message is assembled from many parts. */
#ifndef MAKI_WIRE_STICKY_ERROR_H
#define MAKI_WIRE_STICKY_ERROR_H

#include "base/json_write.h"
#include "base/spool.h"

typedef struct maki_sticky_error {
    maki_status status; /* the first failure; nothing is done after it */
    maki_err *err;      /* of the current call */
} maki_sticky_error;

void maki_sticky_spool_add(maki_sticky_error *failure, maki_spool *spool, maki_str bytes);
/* The contents of a spool; len 0 after a failure. */
maki_str maki_sticky_spool_text(maki_sticky_error *failure, maki_spool *spool);
/* Record the status of another operation. */
void maki_sticky_set(maki_sticky_error *failure, maki_status status);

/* Write JSON into a sink with `w`: begin, write one value, end with the bytes after it. */
void maki_sticky_jw_begin(maki_sticky_error *failure, maki_sink sink, maki_jw *w);
void maki_sticky_jw_end(maki_sticky_error *failure, maki_jw *w, maki_str after);

#endif

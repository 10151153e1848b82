/* sticky_error.h -- spools whose first failure sticks: one check at the end for all that was kept.
 *
 * What is put together piece by piece (a reply, a message that waits) goes through here, so that what says what is
 * kept need not ask after each piece whether it could be. */
#ifndef MAKI_WIRE_STICKY_ERROR_H
#define MAKI_WIRE_STICKY_ERROR_H

#include "base/json_write.h"
#include "base/spool.h"

typedef struct maki_sticky_error {
    maki_status status; /* the first failure; nothing is done after it */
    maki_err *err;      /* of the call we are in */
} maki_sticky_error;

void maki_sticky_add(maki_sticky_error *failure, maki_spool *spool, maki_str bytes);
/* What a spool holds; len 0 after a failure. */
maki_str maki_sticky_text(maki_sticky_error *failure, maki_spool *spool);
/* Something else failed, or did not. */
void maki_sticky_set(maki_sticky_error *failure, maki_status status);

/* What one writes with `w` into a spool: begin, write a value, end with what comes after it. */
void maki_sticky_begin(maki_sticky_error *failure, maki_sink sink, maki_jw *w);
void maki_sticky_end(maki_sticky_error *failure, maki_jw *w, maki_str after);

#endif

/* keep.h -- spools whose first failure sticks: one check at the end for all that was kept.
 *
 * What is put together piece by piece (a reply, a message that waits) goes through here, so that what says what is
 * kept need not ask after each piece whether it could be. */
#ifndef MAKI_WIRE_KEEP_H
#define MAKI_WIRE_KEEP_H

#include "base/json_write.h"
#include "base/spool.h"

typedef struct maki_failure {
    maki_status status; /* the first failure; nothing is done after it */
    maki_err *err;      /* of the call we are in */
} maki_failure;

void maki_keep_add(maki_failure *failure, maki_spool *spool, maki_str bytes);
/* What a spool holds; len 0 after a failure. */
maki_str maki_keep_text(maki_failure *failure, maki_spool *spool);
/* Something else failed, or did not. */
void maki_note_failure(maki_failure *failure, maki_status status);

/* What one writes with `w` into a spool: begin, write a value, end with what comes after it. */
void maki_keep_begin(maki_failure *failure, maki_sink sink, maki_jw *w);
void maki_keep_end(maki_failure *failure, maki_jw *w, maki_str after);

#endif

/* portion.h -- texts in order, gathered into portions of at most so many tokens.
 *
 * A text is parted from the next rather than cut; one that fits no portion is cut where its tokens do not
 * change by it, in any case between two characters. */
#ifndef MAKI_SUMMARY_PORTION_H
#define MAKI_SUMMARY_PORTION_H

#include <maki/token.h>

#include "base/spool.h"

typedef struct maki_portions {
    maki_tokenizer *tokenizer; /* borrowed */
    uint64_t most;             /* tokens of a portion */
    maki_spool text;           /* the portion that is being filled */
    uint64_t tokens;           /* of it */
    /* Called when the next text does not fit any more: to use the portion, which is empty afterwards. */
    maki_status (*full)(void *ctx, maki_err *err);
    void *ctx;
} maki_portions;

/* `text` is valid UTF-8 that ends with a newline. */
maki_status maki_portions_add(maki_portions *portions, maki_str text, maki_err *err);
/* Use the portion as if it were full. */
maki_status maki_portions_end(maki_portions *portions, maki_err *err);

#endif

/* truncate.h -- hide the older half of the visible messages behind a marker with their number. */
#ifndef MAKI_REFERENCE_TRUNCATE_H
#define MAKI_REFERENCE_TRUNCATE_H

#include "reference/message.h"

#define MAKI_HIDE_FRACTION 0.5 /* of the visible messages */

typedef struct maki_truncated {
    maki_msgs messages;
    size_t removed;
    maki_str id; /* a JSON string; generated even when nothing is hidden, as in the reference */
} maki_truncated;

/* Hide an even number of messages, about `fraction` of those after the first visible one. */
maki_status maki_truncate(maki_msgs list, double fraction, double now, const maki_random *random,
                          maki_arena *arena, maki_truncated *out, maki_err *err);

#endif

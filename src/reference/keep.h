/* keep.h -- the tail that a condense does not change, and the earlier blocks that it requires.
 *
 * A kept tool_result whose call is condensed away would be refused by the provider.  So the call
 * blocks are looked up by id in the few messages before the tail and preserved, together with the
 * reasoning of the messages that contain them. */
#ifndef MAKI_REFERENCE_KEEP_H
#define MAKI_REFERENCE_KEEP_H

#include "reference/message.h"

typedef struct maki_kept {
    maki_msgs tail;
    size_t start;    /* the index of its first message */
    maki_str *calls; /* tool_use blocks, in the order of the results */
    size_t call_count;
    maki_str *reasoning; /* reasoning blocks; once for each preserved call of their message */
    size_t reasoning_count;
} maki_kept;

/* The last `keep` messages with their calls. */
maki_status maki_keep(maki_msgs list, size_t keep, maki_arena *arena, maki_kept *out,
                      maki_err *err);
/* The last `keep` messages and nothing more. */
maki_kept maki_keep_plain(maki_msgs list, size_t keep);

#endif

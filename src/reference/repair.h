/* repair.h -- tool calls and their results made to fit each other. */
#ifndef MAKI_REFERENCE_REPAIR_H
#define MAKI_REFERENCE_REPAIR_H

#include "reference/message.h"

/* Anthropic shape: the tool_results of a new user message against the calls of the last assistant
 * message in `history`.  Repeated results go; a result with a foreign id takes the id of the call at
 * its place if that is free, else it goes; calls without a result get a made one in front.  *out is
 * `message` itself when nothing had to be done. */
maki_status maki_repair_results(maki_msgs history, maki_msg *message, maki_arena *arena,
                                maki_msg **out, maki_err *err);

/* OpenAI shape: every call is answered once, right after it and in call order; what stood between
 * follows; results that answer nothing go; missing ones are made. */
maki_status maki_repair_pairs(maki_msgs list, maki_arena *arena, maki_msgs *out, maki_err *err);

#endif

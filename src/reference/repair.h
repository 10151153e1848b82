/* repair.h -- match tool results with tool calls, as providers require. */
#ifndef MAKI_REFERENCE_REPAIR_H
#define MAKI_REFERENCE_REPAIR_H

#include "reference/message.h"

/* Anthropic shape: the tool_results of a new user message against the calls of the last assistant
 * message in `history`.  Repeated results are dropped; a result with an unknown id gets the id of the
 * call at its index if that is free, else it is dropped; calls without a result get a synthetic one in
 * front.  *out is `message` itself when nothing had to change. */
maki_status maki_repair_results(maki_msgs history, maki_msg *message, maki_arena *arena,
                                maki_msg **out, maki_err *err);

/* OpenAI shape: every call is answered once, right after it and in call order; messages in between
 * follow; results that answer nothing are dropped; missing ones are synthetic. */
maki_status maki_repair_pairs(maki_msgs list, maki_arena *arena, maki_msgs *out, maki_err *err);

#endif

/* tools_count.h -- what the definitions of tools cost.
 *
 * OpenAI writes them into the prompt in a form of its own, of which it publishes how to count it: a few
 * tokens for each function, argument and value, and a line of text each.  It says nothing of objects
 * inside of arguments; those are counted the same way.  Others are counted as compact JSON. */
#ifndef MAKI_TOKEN_TOOLS_COUNT_H
#define MAKI_TOKEN_TOOLS_COUNT_H

#include "token/family.h"

/* `tools` is an array in any provider's shape (tool_list.h).  Anything else has no tokens. */
maki_status maki_count_tools(maki_tokenizer *t, const maki_family *family, maki_str tools,
                             uint64_t *tokens, maki_err *err) MAKI_MUST_CHECK;

#endif

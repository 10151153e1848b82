/* tools_count.h -- the tokens of tool definitions.
 *
 * OpenAI puts them into the prompt in a form of its own and documents how to count it: a few tokens for each function,
 * argument and enum value, and a line of text each.  Nested objects are not documented; they are counted the same way.
 * For other providers the definitions are counted as compact JSON. */
#ifndef MAKI_TOKEN_TOOLS_COUNT_H
#define MAKI_TOKEN_TOOLS_COUNT_H

#include "token/family.h"

/* `tools` is an array in any provider's shape (tool_list.h).  Any other value has no tokens. */
maki_status maki_count_tools(maki_tokenizer *t, const maki_family *family, maki_str tools,
                             uint64_t *tokens, maki_err *err) MAKI_MUST_CHECK;

#endif

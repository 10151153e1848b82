/* response_items.h -- convert items of OpenAI's Responses API to rows, in requests and replies alike.
 *
 *     message                         role and content, texts and images in the chat API's names
 *     ..._call with a call_id         assistant with tool_calls
 *     ..._call_output with a call_id  role tool
 *     reasoning                       becomes the first block of the row that follows, verbatim
 *     anything else                   a block, verbatim, in a row of its role or the assistant's
 *
 * Reasoning has no row of its own because clients may leave it out: the other rows stay the same. */
#ifndef MAKI_WIRE_RESPONSE_ITEMS_H
#define MAKI_WIRE_RESPONSE_ITEMS_H

#include <stdbool.h>

#include "base/json_write.h"

bool maki_item_is_reasoning(maki_str item); /* it becomes part of the row of the next one */
bool maki_item_is_assistant(maki_str item); /* by the model: reasoning before it belongs to it */
bool maki_item_is_reference(maki_str item); /* it refers to an item that the provider stores */

/* Write the row of an item.  `reasoning`: the reasoning items before it, a comma after each; may be empty. */
void maki_item_write_row(maki_jw *w, maki_str item, maki_str reasoning);
/* Write a row of reasoning alone. */
void maki_item_write_reasoning(maki_jw *w, maki_str reasoning);

#endif

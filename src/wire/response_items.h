/* response_items.h -- items of OpenAI's Responses API as rows, for requests and replies alike.
 *
 *     message                         role and content, texts and images in the chat API's names
 *     ..._call with a call_id         assistant with tool_calls
 *     ..._call_output with a call_id  role tool
 *     reasoning                       waits, and becomes the first block of the row that follows, verbatim
 *     anything else                   a block, verbatim, in a row of its role or the assistant's
 *
 * Reasoning has no row of its own because clients may leave it out: the rows are then still the same. */
#ifndef MAKI_WIRE_RESPONSE_ITEMS_H
#define MAKI_WIRE_RESPONSE_ITEMS_H

#include <stdbool.h>

#include "base/json_write.h"

bool maki_item_waits(maki_str item);     /* it goes into the row of the next one */
bool maki_item_assistant(maki_str item); /* the model said it: what waits belongs to it */
bool maki_item_reference(maki_str item); /* it names something the provider keeps */

/* The row of an item.  `waiting`: the items that waited for it, a comma after each; may be empty. */
void maki_item_row(maki_jw *w, maki_str item, maki_str waiting);
/* The row of items that waited for nothing. */
void maki_item_waited(maki_jw *w, maki_str waiting);

#endif

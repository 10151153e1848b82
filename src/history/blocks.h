/* blocks.h -- the role of a message, and an iterator over the blocks of its content; both read its JSON only.
 *
 * Shapes: Anthropic (content a string or blocks), OpenAI, and anything else with a role. */
#ifndef MAKI_HISTORY_BLOCKS_H
#define MAKI_HISTORY_BLOCKS_H

#include <stdbool.h>

#include "base/json_access.h"

typedef enum maki_role {
    MAKI_ROLE_OTHER,
    MAKI_ROLE_SYSTEM,
    MAKI_ROLE_USER,
    MAKI_ROLE_ASSISTANT,
    MAKI_ROLE_TOOL
} maki_role;
maki_role maki_role_of(maki_str role); /* of a JSON string */

/* The blocks of a content in order: the items of an array, or a string, which counts as one block. */
typedef struct maki_blocks {
    maki_json_iter iter;
    maki_str single;
} maki_blocks;
maki_blocks maki_content_blocks(maki_str content);
bool maki_blocks_next(maki_blocks *blocks, maki_str *block);

#endif

/* blocks.h -- the role and the blocks of a message, of its JSON alone.
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

/* The blocks of a content in order: the items of an array, or a string as the one block it is. */
typedef struct maki_blocks {
    maki_json_iter iter;
    maki_str single;
} maki_blocks;
maki_blocks maki_content_blocks(maki_str content);
bool maki_blocks_next(maki_blocks *blocks, maki_str *block);

#endif

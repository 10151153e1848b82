/* blocks.c -- the role of a message, and an iterator over the blocks of its content.
 *
 * In:    JSON that was checked (base/json_access.h).  Out: spans of it; nothing is copied or allocated. */
#include "history/blocks.h"

maki_role maki_role_of(maki_str text)
{
    static const struct {
        maki_str name;
        maki_role role;
    } roles[] = { { { "user", 4 }, MAKI_ROLE_USER },
                  { { "assistant", 9 }, MAKI_ROLE_ASSISTANT },
                  { { "tool", 4 }, MAKI_ROLE_TOOL },
                  { { "system", 6 }, MAKI_ROLE_SYSTEM } };
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (maki_json_text_is(text, roles[i].name)) return roles[i].role;
    }
    return MAKI_ROLE_OTHER;
}

maki_blocks maki_content_blocks(maki_str content)
{
    if (content.len && content.ptr[0] == '"') return (maki_blocks){ .single = content };
    return (maki_blocks){ .iter = maki_json_items(content) };
}

bool maki_blocks_next(maki_blocks *blocks, maki_str *block)
{
    maki_json_item item;
    if (blocks->single.len) {
        *block = blocks->single;
        blocks->single.len = 0;
        return true;
    }
    if (!maki_json_next(&blocks->iter, &item)) return false;
    *block = item.value;
    return true;
}

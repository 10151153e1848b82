/* key.c -- split a session key at its colons; all parts from the third on are the main key. */
#include "store/key.h"

#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"

/* Remove the next part that is not empty from *rest. */
static bool next_part(maki_str *rest, maki_str *part)
{
    while (rest->len && rest->ptr[0] == ':')
        *rest = maki_str_skip(*rest, 1);
    maki_str_take(rest, ':', part);
    return part->len > 0;
}

maki_status maki_session_key_parse(maki_str key, maki_arena *arena, maki_session_key *out,
                                   maki_err *err)
{
    maki_str rest = maki_str_trim(key), first, part;
    char *main_key = maki_arena_get(arena, rest.len + 1);
    size_t n = 0;
    if (!main_key) return maki_arena_status(arena, err);
    bool agent = next_part(&rest, &first) && maki_str_equal(first, MAKI_LIT("agent")) &&
                 next_part(&rest, &out->agent_id);
    while (agent && next_part(&rest, &part)) {
        if (n) main_key[n++] = ':';
        memcpy(main_key + n, part.ptr, part.len);
        n += part.len;
    }
    out->main_key = (maki_str){ main_key, n };
    if (n > 0) return MAKI_OK;
    return maki_fail(err, MAKI_INVALID,
                     "a session key is agent:AGENT:KEY, as in agent:default:telegram:123456789");
}

/* key.c -- see key.h. */
#include "store/key.h"

#include <string.h>

#include "base/err.h"
#include "base/str.h"

maki_status maki_session_key_parse(maki_str key, maki_session_key *out, maki_err *err)
{
    maki_str rest = maki_str_trim(key);
    maki_str prefix = MAKI_LIT("agent:");
    if (maki_str_starts(rest, prefix)) {
        rest = maki_str_from(rest, prefix.len);
        const char *colon = memchr(rest.ptr, ':', rest.len);
        size_t len = colon ? (size_t)(colon - rest.ptr) : 0;
        if (len > 0 && len + 1 < rest.len && rest.ptr[len + 1] != ':') {
            *out = (maki_session_key){ maki_str_to(rest, len), maki_str_from(rest, len + 1) };
            return MAKI_OK;
        }
    }
    return maki_fail(err, MAKI_INVALID,
                     "a session key is agent:AGENT:KEY, as in agent:default:telegram:123456789");
}

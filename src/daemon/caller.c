/* caller.c -- see caller.h. */
#include "daemon/caller.h"

#include "base/str.h"

/* Fields in which agents name their conversation, as recorded requests show.  The first that is there counts;
 * one a line, so that the next agent is one line more. */
static const char *const id_fields[] = {
    "x-claude-code-session-id", "session_id",           "session-id",
    "conversation_id",          "x-session-id",         "x-session-affinity",
    "x-opencode-session",       "x-qwen-code-session",  "x-gemini-session-id",
    "x-conversation-id",        "x-litellm-session-id", "helicone-session-id",
};

static const char *const key_fields[] = { "authorization", "x-api-key", "x-goog-api-key",
                                          "api-key" };

static maki_str first_of(const maki_http_head *head, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const maki_str *value = maki_http_field_named(head, maki_str_of(names[i]));
        if (value && value->len) return *value;
    }
    return (maki_str){ "", 0 };
}

maki_str maki_caller_id(const maki_http_head *head)
{
    return first_of(head, id_fields, sizeof id_fields / sizeof id_fields[0]);
}

static maki_str query_value(maki_str query, maki_str name)
{
    while (query.len) {
        const char *amp = memchr(query.ptr, '&', query.len);
        maki_str pair = amp ? maki_str_to(query, (size_t)(amp - query.ptr)) : query;
        if (maki_str_starts(pair, name) && pair.len > name.len && pair.ptr[name.len] == '=') {
            return maki_str_from(pair, name.len + 1);
        }
        query = maki_str_from(query, amp ? pair.len + 1 : pair.len);
    }
    return (maki_str){ "", 0 };
}

maki_str maki_caller_credential(const maki_http_head *head, maki_str query)
{
    maki_str key = first_of(head, key_fields, sizeof key_fields / sizeof key_fields[0]);
    return key.len ? key : query_value(query, MAKI_LIT("key"));
}

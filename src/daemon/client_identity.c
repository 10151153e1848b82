/* client_identity.c -- find the conversation id and the credential in a request: one table of header field names for
 * each. */
#include "daemon/client_identity.h"

#include "base/str_util.h"

/* Fields in which agents send their conversation id, as recorded requests show.  The first present one is used. */
static const char *const id_fields[] = {
    "x-claude-code-session-id", "session_id",           "session-id",
    "conversation_id",          "x-session-id",         "x-session-affinity",
    "x-opencode-session",       "x-qwen-code-session",  "x-gemini-session-id",
    "x-conversation-id",        "x-litellm-session-id", "helicone-session-id",
};

static const char *const credential_fields[] = { "authorization", "x-api-key", "x-goog-api-key",
                                                 "api-key" };

static maki_str first_value(const maki_http_head *head, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        maki_str value = maki_http_value(head, names[i]);
        if (value.len) return value;
    }
    return (maki_str){ "", 0 };
}

maki_str maki_client_identity_id(const maki_http_head *head)
{
    return first_value(head, id_fields, sizeof id_fields / sizeof id_fields[0]);
}

maki_str maki_query_value(maki_str query, const char *name)
{
    while (query.len) {
        maki_str value = maki_str_cut(&query, '&');
        if (maki_str_is(maki_str_cut(&value, '='), maki_str_of(name))) return value;
    }
    return query;
}

maki_str maki_client_identity_credential(const maki_http_head *head, maki_str query)
{
    maki_str key = first_value(head, credential_fields,
                               sizeof credential_fields / sizeof credential_fields[0]);
    return key.len ? key : maki_query_value(query, "key");
}

/* client_identity.c -- find the conversation id, the client's name and the credential in a request: a table for each. */
#include "daemon/client_identity.h"

#include "base/ascii.h"
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

/* What the User-Agent begins with or contains, in the order in which they are compared: an agent's name comes with that
 * of the library it uses. */
static const struct client_row {
    const char *part, *name;
} clients[] = {
    { "claude-cli", "Claude Code" },
    { "claude-code", "Claude Code" },
    { "codex_", "Codex" },
    { "codex-", "Codex" },
    { "opencode", "opencode" },
    { "qwencode", "Qwen Code" },
    { "qwen-code", "Qwen Code" },
    { "geminicli", "Gemini CLI" },
    { "gemini-cli", "Gemini CLI" },
    { "pi-coding-agent", "Pi" },
    { "maki-demo", "maki demo" },
    { "maki/", "maki" },
    { "openai/", "OpenAI SDK" },
    { "anthropic/", "Anthropic SDK" },
    { "google-genai-sdk", "Google Gen AI SDK" },
    { "langchain", "LangChain" },
    { "ai-sdk", "Vercel AI SDK" },
    { "ai/", "Vercel AI SDK" },
    { "ollama", "Ollama client" },
    { "mozilla/", "browser" },
};

/* Of a client whose User-Agent is that of a library: the field in which it sends its conversation's id. */
static const struct id_row {
    const char *field, *name;
} named_fields[] = {
    { "x-claude-code-session-id", "Claude Code" },
    { "x-opencode-session", "opencode" },
    { "x-qwen-code-session", "Qwen Code" },
    { "x-gemini-session-id", "Gemini CLI" },
};

/* "name/1.2 (linux)" -> "name" */
static maki_str product(maki_str agent)
{
    enum { NAME_MAX_LEN = 32 };
    size_t n = 0;
    while (n < agent.len && n < NAME_MAX_LEN &&
           (maki_is_word_char(agent.ptr[n]) || agent.ptr[n] == '-' || agent.ptr[n] == '.'))
        n++;
    return maki_str_prefix(agent, n);
}

maki_str maki_client_identity_name(const maki_http_head *head)
{
    maki_str agent = maki_http_value(head, "user-agent");
    for (size_t i = 0; i < sizeof named_fields / sizeof named_fields[0]; i++) {
        if (maki_http_value(head, named_fields[i].field).len)
            return maki_str_of(named_fields[i].name);
    }
    if (maki_str_starts(agent, MAKI_LIT("pi/")) || maki_str_starts(agent, MAKI_LIT("pi ")))
        return MAKI_LIT("Pi");
    for (size_t i = 0; i < sizeof clients / sizeof clients[0]; i++) {
        if (maki_str_contains_nocase(agent, maki_str_of(clients[i].part)))
            return maki_str_of(clients[i].name);
    }
    return product(agent);
}

maki_str maki_query_value(maki_str query, const char *name)
{
    while (query.len) {
        maki_str value = maki_str_cut(&query, '&');
        if (maki_str_equal(maki_str_cut(&value, '='), maki_str_of(name))) return value;
    }
    return query;
}

maki_str maki_client_identity_credential(const maki_http_head *head, maki_str query)
{
    maki_str key = first_value(head, credential_fields,
                               sizeof credential_fields / sizeof credential_fields[0]);
    return key.len ? key : maki_query_value(query, "key");
}

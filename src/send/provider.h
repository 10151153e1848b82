/* provider.h -- a provider (address, protocol, key), read from the configuration; paths and headers of its requests.
 *
 * A provider is a name under `llm` in the configuration.  Some names are built in (anthropic, openai, gemini,
 * ollama, lmstudio, openrouter, deepseek, zai): they need only a key and a model.  Any other name is a
 * server that speaks OpenAI's chat completions unless `protocol` names another. */
#ifndef MAKI_SEND_PROVIDER_H
#define MAKI_SEND_PROVIDER_H

#include <maki/config.h>

#include "base/buf.h"
#include "wire/wire.h"

/* Plain data.  Spans are borrowed: from the configuration when it was read from one. */
typedef struct maki_provider {
    char name[64];
    maki_protocol protocol;
    char origin[160];        /* "https://api.openai.com" */
    char path[160];          /* prefix of every path: "" or "/api/v1" */
    maki_str key;            /* len 0: none.  Never in a log, an error or a file */
    maki_str model;          /* len 0: given by each request */
    const char *ca_file;     /* certificates to trust instead of the system's; NULL: the system's */
    const maki_str *headers; /* additional ones, "Name: value" each */
    size_t header_count;
    uint64_t window;     /* of the model, as configured; 0: not configured */
    uint64_t max_tokens; /* of an answer; 0: not configured */
    uint32_t timeout_ms; /* without a byte received */
    bool functions;      /* tools are written in OpenAI's older form */
} maki_provider;

/* Read the provider `name`, else (len 0) the agent's, else llm.provider.  If it is the agent's, the agent's model and
 * maxTokens win over the provider's; `agent` may be empty.  `model` is the one that the caller will name in requests: with
 * it, none has to be configured, and out->model, always the configured one, may be empty.
 * MAKI_NOTFOUND: no provider or no model is configured; MAKI_DENIED: the key is missing; MAKI_INVALID: it has no base_url.
 * The error names the missing setting. */
maki_status maki_provider_from_config(const maki_config *config, maki_str agent, maki_str name,
                                      maki_str model, maki_provider *out, maki_err *err)
    MAKI_MUST_CHECK;

/* Set origin and path: "http://127.0.0.1:11434", with or without a slash or /v1 at its end. */
maki_status maki_provider_set_url(maki_provider *provider, maki_str url, maki_err *err);

/* Does it run on the user's own machine? */
bool maki_provider_is_local(const maki_provider *provider);

/* The target of a completion request, with the prefix: "/v1/messages",
 * "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse". */
void maki_provider_target(const maki_provider *provider, maki_str model, bool stream,
                          maki_buf *out);
/* Any other path; `version` ("/v1") is omitted when the prefix has a version. */
void maki_provider_path(const maki_provider *provider, maki_str version, maki_str path,
                        maki_buf *out);
/* Percent-encode a model's name for a path. */
void maki_provider_add_model(maki_str model, maki_buf *out);

/* The header fields of a request, "Name: value\n" each, with the key: overwrite them after use.  MAKI_INVALID: the key has a
 * control character. */
maki_status maki_provider_head(const maki_provider *provider, uint64_t body_length, maki_buf *out,
                               maki_err *err);

#endif

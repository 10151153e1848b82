/* provider.h -- who is asked: where it is, what it speaks, and which key it wants.
 *
 * A provider is a name under `llm` in the configuration.  Some names are known (anthropic, openai, gemini,
 * ollama, lmstudio, openrouter, deepseek, zai): they need no more than a key and a model.  Any other name is a
 * server that speaks OpenAI's chat completions unless its `protocol` says otherwise. */
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
    char path[160];          /* what stands before every path: "" or "/api/v1" */
    maki_str key;            /* len 0: it wants none.  Never in a log, an error or a file */
    maki_str model;          /* len 0: each request names one */
    const char *ca_file;     /* certificates to trust instead of the system's; NULL: the system's */
    const maki_str *headers; /* more of them, "Name: value" each */
    size_t header_count;
    uint64_t window;     /* of the model, as the configuration says it; 0: it does not */
    uint64_t max_tokens; /* of an answer; 0: not said */
    uint32_t timeout_ms; /* without a byte */
    bool functions;      /* tools are written in OpenAI's older form */
} maki_provider;

/* Of `config`: the provider `name`, or (len 0) the agent's, or llm.provider.  The agent's model and maxTokens win
 * over the provider's, where it is the agent's; `agent` may be empty too.  `model` is the one that the caller will name in
 * requests; with it the configuration needs none, and out->model, which is always the configuration's, may be empty.
 * MAKI_NOTFOUND: no provider is chosen, or no model; MAKI_DENIED: its key is missing; MAKI_INVALID: it has no
 * base_url.  The words say what to write where. */
maki_status maki_provider_from_config(const maki_config *config, maki_str agent, maki_str name,
                                      maki_str model, maki_provider *out, maki_err *err)
    MAKI_MUST_CHECK;

/* Set origin and path: "http://127.0.0.1:11434", with or without a slash or /v1 at its end. */
maki_status maki_provider_set_url(maki_provider *provider, maki_str url, maki_err *err);

/* Is it one that runs on the user's own machine, so that "is it running?" is the question to ask? */
bool maki_provider_is_local(const maki_provider *provider);

/* The target of a request for an answer, after the base's path: "/v1/messages",
 * "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse". */
void maki_provider_target(const maki_provider *provider, maki_str model, bool stream,
                          maki_buf *out);
/* Any other path; `version` ("/v1") is left out where the base has one of its own. */
void maki_provider_path(const maki_provider *provider, maki_str version, maki_str path,
                        maki_buf *out);
/* A model's name as it stands in a path. */
void maki_provider_add_model(maki_str model, maki_buf *out);

/* The fields of a request's head, "Name: value\n" each, with the key: wipe it after use.  MAKI_INVALID: the key
 * has a character that no header may have. */
maki_status maki_provider_head(const maki_provider *provider, uint64_t body_length, maki_buf *out,
                               maki_err *err);

#endif

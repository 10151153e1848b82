/* provider.c -- read a provider from the configuration; build the paths and header fields of its requests.
 *
 * In:    the settings llm.NAME.*, agents.AGENT.*, serve.ca_file.
 * Out:   a maki_provider whose spans point into the configuration.
 * Defaults of the built-in providers (addresses, variables of the keys) are rows of config/settings.c, so that the
 * reference page shows them. */
#include "send/provider.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str_util.h"
#include "base/suggest.h"
#include "config/config_path.h"
#include "net/url.h"
#include "wire/protocol.h"

/* The built-in names. */
static const struct provider_row {
    const char *name;
    bool local; /* runs on the user's machine, without a key */
} provider_rows[] = {
    { "anthropic", false }, { "openai", false }, { "gemini", false }, { "openrouter", false },
    { "deepseek", false },  { "zai", false },    { "ollama", true },  { "lmstudio", true },
};

static const struct provider_row *row_of(maki_str name)
{
    for (size_t i = 0; i < sizeof provider_rows / sizeof provider_rows[0]; i++) {
        if (maki_str_equal(name, maki_str_of(provider_rows[i].name))) return &provider_rows[i];
    }
    return NULL;
}

bool maki_provider_is_local(const maki_provider *p)
{
    const struct provider_row *row = row_of(maki_str_of(p->name));
    return row ? row->local : maki_url_is_loopback(maki_str_of(p->origin));
}

/* ---- from the configuration ---------------------------------------------------------------------------- */

static maki_str text_of(const maki_config *config, const char *outer, maki_str name,
                        const char *field)
{
    return maki_config_text(config, maki_config_path_of(outer, name, field).text);
}

static uint64_t count_of(const maki_config *config, const char *outer, maki_str name,
                         const char *field)
{
    int64_t n = maki_config_integer(config, maki_config_path_of(outer, name, field).text);
    return n > 0 ? (uint64_t)n : 0;
}

/* The agent's provider, else the default one. */
static maki_str default_provider(const maki_config *config, maki_str agent)
{
    maki_str name = MAKI_LIT("");
    if (agent.len) name = text_of(config, "agents", agent, "provider");
    return name.len ? name : maki_config_text(config, "llm.provider");
}

/* Set out->name: the given name, else that of the default provider. */
static maki_status resolve_name(const maki_config *config, maki_str agent, maki_str name,
                                maki_provider *out, maki_err *err)
{
    if (!name.len) name = default_provider(config, agent);
    if (!name.len) {
        return maki_fail(
            err, MAKI_NOTFOUND,
            "no provider is configured; set llm.provider to anthropic, openai, gemini, "
            "ollama, lmstudio ... in maki.yaml");
    }
    if (maki_str_copy(name, out->name, sizeof out->name)) return MAKI_OK;
    return maki_fail(err, MAKI_TOOBIG, "the provider's name has %zu bytes, at most %zu", name.len,
                     sizeof out->name - 1);
}

/* The configured protocol, else that of a built-in provider of the same name, else chat completions, the most common. */
static maki_protocol protocol_of(const maki_config *config, maki_str name)
{
    maki_protocol configured = maki_protocol_parse(text_of(config, "llm", name, "protocol"));
    maki_protocol built_in = row_of(name) ? maki_protocol_parse(name) : MAKI_WIRE_NONE;
    if (maki_protocol_of(configured)->request_format) return configured;
    return built_in != MAKI_WIRE_NONE ? built_in : MAKI_WIRE_CHAT;
}

static maki_status read_key(const maki_config *config, maki_provider *out, maki_err *err)
{
    maki_str name = maki_str_of(out->name);
    const struct provider_row *row = row_of(name);
    maki_config_path path = maki_config_path_of("llm", name, "api_key");
    maki_config_value value;
    if (maki_config_find_value(config, path.text, &value)) {
        maki_status st = maki_config_secret(config, path.text, &out->key, err);
        if (st != MAKI_OK) return st; /* its variable is not set */
    }
    if (out->key.len || !row || row->local) return MAKI_OK;
    char variable[sizeof out->name] = "";
    for (size_t i = 0; i < name.len; i++)
        variable[i] = (char)toupper((unsigned char)name.ptr[i]);
    return maki_fail(err, MAKI_DENIED, "%s needs an API key; set the variable %s_API_KEY, or %s",
                     out->name, variable, path.text);
}

/* The agent's model is one of its own provider. */
static maki_status read_model(const maki_config *config, maki_str agent, bool has_request_model,
                              maki_provider *out, maki_err *err)
{
    maki_str name = maki_str_of(out->name);
    if (agent.len && maki_str_equal(name, default_provider(config, agent)))
        out->model = text_of(config, "agents", agent, "model");
    if (!out->model.len) out->model = text_of(config, "llm", name, "model");
    if (out->model.len || has_request_model) return MAKI_OK;
    return maki_fail(err, MAKI_NOTFOUND,
                     "no model is configured; name one, or set llm.%s.model in maki.yaml",
                     out->name);
}

static void read_other_settings(const maki_config *config, maki_str agent, maki_provider *out)
{
    maki_str name = maki_str_of(out->name), ca = maki_config_text(config, "serve.ca_file");
    out->protocol = protocol_of(config, name);
    out->ca_file = ca.len ? ca.ptr : NULL;
    if (agent.len) out->max_tokens = count_of(config, "agents", agent, "maxTokens");
    if (!out->max_tokens) out->max_tokens = count_of(config, "llm", name, "max_tokens");
    /* context_length is that of the provider's own model, not of the agent's. */
    if (maki_str_equal(out->model, text_of(config, "llm", name, "model")))
        out->window = count_of(config, "llm", name, "context_length");
    out->timeout_ms = (uint32_t)count_of(config, "llm", name, "timeout");
    out->functions =
        maki_str_equal(text_of(config, "llm", name, "tool_style"), MAKI_LIT("functions"));
}

/* A name without an address may be misspelled. */
static maki_status fail_unknown(const maki_config *config, maki_str name, maki_err *err)
{
    maki_suggest nearest = maki_suggest_for(name);
    maki_str other;
    for (size_t i = 0; i < sizeof provider_rows / sizeof provider_rows[0]; i++)
        maki_suggest_candidate(&nearest, maki_str_of(provider_rows[i].name));
    for (size_t at = 0; maki_config_next_name(config, "llm", &at, &other);) {
        if (text_of(config, "llm", other, "base_url").len) maki_suggest_candidate(&nearest, other);
    }
    bool has_suggestion = nearest.found.len > 0;
    return maki_fail(err, MAKI_INVALID, "unknown provider %.*s%s%.*s%s; set llm.%.*s.base_url",
                     (int)name.len, name.ptr, has_suggestion ? " (did you mean " : "",
                     (int)nearest.found.len, has_suggestion ? nearest.found.ptr : "",
                     has_suggestion ? "?)" : "", (int)name.len, name.ptr);
}

maki_status maki_provider_from_config(const maki_config *config, maki_str agent, maki_str name,
                                      maki_str model, maki_provider *out, maki_err *err)
{
    maki_provider provider = { .protocol = MAKI_WIRE_NONE };
    maki_status st = resolve_name(config, agent, name, &provider, err);
    if (st != MAKI_OK) return st;
    maki_str url = text_of(config, "llm", maki_str_of(provider.name), "base_url");
    if (!url.len) return fail_unknown(config, maki_str_of(provider.name), err);
    st = maki_provider_set_url(&provider, url, err);
    if (st == MAKI_OK) st = read_model(config, agent, model.len > 0, &provider, err);
    if (st == MAKI_OK) st = read_key(config, &provider, err);
    if (st != MAKI_OK) return st;
    read_other_settings(config, agent, &provider);
    *out = provider;
    return MAKI_OK;
}

/* ---- addresses ------------------------------------------------------------------------------------------- */

maki_status maki_provider_set_url(maki_provider *p, maki_str url, maki_err *err)
{
    maki_url parts;
    if (!maki_url_parse(url, &parts) || !maki_str_copy(parts.origin, p->origin, sizeof p->origin) ||
        !maki_str_copy(parts.path, p->path, sizeof p->path)) {
        return maki_fail(
            err, MAKI_INVALID,
            "llm.%s.base_url is not a URL of the form http://... or https://..., without "
            "password and query",
            p->name);
    }
    return MAKI_OK;
}

/* Does the path have a version in it: /v1, /v4, /v1beta? */
static bool has_version(maki_str path)
{
    for (size_t i = 0; i + 2 < path.len; i++) {
        if (path.ptr[i] == '/' && path.ptr[i + 1] == 'v' && isdigit((unsigned char)path.ptr[i + 2]))
            return true;
    }
    return false;
}

void maki_provider_path(const maki_provider *p, maki_str version, maki_str path, maki_buf *out)
{
    maki_str base = maki_str_of(p->path), v1 = MAKI_LIT("/v1");
    /* Paths without a version (Ollama's own) are next to /v1, which people copy from OpenAI's clients. */
    if (!version.len && maki_str_ends(base, v1)) base.len -= v1.len;
    maki_buf_add(out, base);
    if (!has_version(base)) maki_buf_add(out, version);
    maki_buf_add(out, path);
}

static void add_percent_encoded(maki_str name, maki_buf *out)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (isalnum(c) || (c && strchr("-._~/", c))) {
            maki_buf_add_byte(out, (char)c);
            continue;
        }
        maki_buf_add_byte(out, '%');
        maki_buf_add_byte(out, hex[c >> 4]);
        maki_buf_add_byte(out, hex[c & 15]);
    }
}

void maki_provider_add_model(maki_str model, maki_buf *out)
{
    maki_str prefix = MAKI_LIT("models/");
    add_percent_encoded(maki_str_starts(model, prefix) ? maki_str_skip(model, prefix.len) : model,
                        out);
}

void maki_provider_target(const maki_provider *p, maki_str model, bool stream, maki_buf *out)
{
    const maki_protocol_spec *spec = maki_protocol_of(p->protocol);
    maki_provider_path(p, maki_str_of(spec->version), maki_str_of(spec->target), out);
    if (!spec->model_in_path) return;
    maki_provider_add_model(model, out);
    maki_buf_add(out, maki_str_of(stream ? spec->target_stream : spec->target_end));
}

/* ---- header fields -------------------------------------------------------------------------------------------- */

static void add_header(maki_buf *out, const char *name, maki_str value)
{
    maki_buf_add(out, maki_str_of(name));
    maki_buf_add(out, value);
    maki_buf_add_byte(out, '\n');
}

static bool is_printable(maki_str line)
{
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.ptr[i];
        if (c < ' ' || c == 0x7F) return false;
    }
    return true;
}

maki_status maki_provider_head(const maki_provider *p, uint64_t body_length, maki_buf *out,
                               maki_err *err)
{
    const maki_protocol_spec *spec = maki_protocol_of(p->protocol);
    char length[24];
    int n = snprintf(length, sizeof length, "%" PRIu64, body_length);
    if (!is_printable(p->key)) {
        return maki_fail(err, MAKI_INVALID,
                         "the key of %s has a newline or control character in it; check the "
                         "variable that it comes from",
                         p->name);
    }
    add_header(out, "Content-Type: ", MAKI_LIT("application/json"));
    /* as the official clients send it, also for streams */
    add_header(out, "Accept: ", MAKI_LIT("application/json"));
    add_header(out, "User-Agent: ", MAKI_LIT("maki/" MAKI_VERSION));
    if (spec->head) add_header(out, spec->head, MAKI_LIT(""));
    if (p->key.len)
        add_header(out, spec->key_header ? spec->key_header : "Authorization: Bearer ", p->key);
    for (size_t i = 0; i < p->header_count; i++) {
        if (is_printable(p->headers[i])) add_header(out, "", p->headers[i]);
    }
    if (body_length) add_header(out, "Content-Length: ", (maki_str){ length, (size_t)n });
    return maki_buf_status(out, err);
}

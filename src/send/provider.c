/* provider.c -- see provider.h. */
#include "send/provider.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"
#include "base/suggest.h"
#include "net/url.h"
#include "wire/protocol.h"

enum { SETTING_PATH = 256 };

/* The names that are known.  Their addresses and the variables with their keys are defaults of the settings
 * (config/settings.c), so that the reference page shows them. */
static const struct provider_row {
    const char *name;
    bool local; /* it runs on the user's machine and wants no key */
} provider_rows[] = {
    { "anthropic", false }, { "openai", false }, { "gemini", false }, { "openrouter", false },
    { "deepseek", false },  { "zai", false },    { "ollama", true },  { "lmstudio", true },
};

static const struct provider_row *row_of(maki_str name)
{
    for (size_t i = 0; i < sizeof provider_rows / sizeof provider_rows[0]; i++) {
        if (maki_str_is(name, maki_str_of(provider_rows[i].name))) return &provider_rows[i];
    }
    return NULL;
}

bool maki_provider_is_local(const maki_provider *p)
{
    const struct provider_row *row = row_of(maki_str_of(p->name));
    return row ? row->local : maki_url_is_loopback(maki_str_of(p->origin));
}

/* ---- from the configuration ---------------------------------------------------------------------------- */

/* "llm.NAME.FIELD" */
static const char *setting(char out[SETTING_PATH], const char *part, maki_str name,
                           const char *field)
{
    snprintf(out, SETTING_PATH, "%s.%.*s.%s", part, (int)(name.len < 160 ? name.len : 160),
             name.ptr, field);
    return out;
}

static maki_str text_of(const maki_config *config, const char *part, maki_str name,
                        const char *field)
{
    char path[SETTING_PATH];
    return maki_config_text(config, setting(path, part, name, field));
}

static uint64_t amount_of(const maki_config *config, const char *part, maki_str name,
                          const char *field)
{
    char path[SETTING_PATH];
    int64_t amount = maki_config_integer(config, setting(path, part, name, field));
    return amount > 0 ? (uint64_t)amount : 0;
}

/* The agent's provider, or everybody's. */
static maki_str usual(const maki_config *config, maki_str agent)
{
    maki_str name = MAKI_LIT("");
    if (agent.len) name = text_of(config, "agents", agent, "provider");
    return name.len ? name : maki_config_text(config, "llm.provider");
}

static maki_status choose(const maki_config *config, maki_str agent, maki_str name,
                          maki_provider *out, maki_err *err)
{
    if (!name.len) name = usual(config, agent);
    if (!name.len) {
        return maki_fail(err, MAKI_NOTFOUND,
                         "no provider is chosen; set llm.provider to anthropic, openai, gemini, "
                         "ollama, lmstudio ... in maki.yaml");
    }
    if (name.len >= sizeof out->name) {
        return maki_fail(err, MAKI_TOOBIG, "the provider's name has %zu bytes, at most %zu",
                         name.len, sizeof out->name - 1);
    }
    memcpy(out->name, name.ptr, name.len);
    return MAKI_OK;
}

/* What `protocol` says, else the one that is called like a known provider, else OpenAI's chat, which most speak. */
static maki_protocol protocol_of(const maki_config *config, maki_str name)
{
    maki_protocol said = maki_protocol_named(text_of(config, "llm", name, "protocol"));
    maki_protocol own = row_of(name) ? maki_protocol_named(name) : MAKI_WIRE_NONE;
    if (maki_protocol_of(said)->writing) return said;
    return own != MAKI_WIRE_NONE ? own : MAKI_WIRE_CHAT;
}

static maki_status read_key(const maki_config *config, maki_provider *out, maki_err *err)
{
    char path[SETTING_PATH];
    maki_str name = maki_str_of(out->name);
    const struct provider_row *row = row_of(name);
    maki_config_value said;
    setting(path, "llm", name, "api_key");
    if (maki_config_find_value(config, path,
                               &said)) { /* or its variable is missing: that is told */
        maki_status st = maki_config_secret(config, path, &out->key, err);
        if (st != MAKI_OK) return st;
    }
    if (out->key.len || !row || row->local) return MAKI_OK;
    char variable[sizeof out->name];
    size_t n = 0;
    for (; n < name.len; n++)
        variable[n] = (char)toupper((unsigned char)name.ptr[n]);
    return maki_fail(err, MAKI_DENIED, "%s wants a key; set the variable %.*s_API_KEY, or %s",
                     out->name, (int)n, variable, path);
}

/* The agent's model is one of its own provider: another one would not know it. */
static maki_status read_model(const maki_config *config, maki_str agent, bool named,
                              maki_provider *out, maki_err *err)
{
    maki_str name = maki_str_of(out->name);
    if (agent.len && maki_str_is(name, usual(config, agent)))
        out->model = text_of(config, "agents", agent, "model");
    if (!out->model.len) out->model = text_of(config, "llm", name, "model");
    if (out->model.len || named) return MAKI_OK;
    return maki_fail(err, MAKI_NOTFOUND,
                     "no model is chosen; name one, or set llm.%s.model in maki.yaml", out->name);
}

static void read_rest(const maki_config *config, maki_str agent, maki_provider *out)
{
    maki_str name = maki_str_of(out->name), ca = maki_config_text(config, "serve.ca_file");
    out->protocol = protocol_of(config, name);
    out->ca_file = ca.len ? ca.ptr : NULL;
    if (agent.len) out->max_tokens = amount_of(config, "agents", agent, "maxTokens");
    if (!out->max_tokens) out->max_tokens = amount_of(config, "llm", name, "max_tokens");
    /* context_length describes the provider's own model, not one that the agent asks for instead. */
    if (maki_str_is(out->model, text_of(config, "llm", name, "model")))
        out->window = amount_of(config, "llm", name, "context_length");
    out->timeout_ms = (uint32_t)amount_of(config, "llm", name, "timeout");
    out->functions = maki_str_is(text_of(config, "llm", name, "tool_style"), MAKI_LIT("functions"));
}

/* A name that has no address may be a slip. */
static maki_status tell_unknown(const maki_config *config, maki_str name, maki_err *err)
{
    maki_suggest nearest = maki_suggest_for(name);
    maki_str other;
    for (size_t i = 0; i < sizeof provider_rows / sizeof provider_rows[0]; i++)
        maki_suggest_candidate(&nearest, maki_str_of(provider_rows[i].name));
    for (size_t at = 0; maki_config_next_name(config, "llm", &at, &other);) {
        if (text_of(config, "llm", other, "base_url").len) maki_suggest_candidate(&nearest, other);
    }
    bool near = nearest.found.len > 0;
    return maki_fail(err, MAKI_INVALID, "unknown provider %.*s%s%.*s%s; set llm.%.*s.base_url",
                     (int)name.len, name.ptr, near ? " (did you mean " : "", (int)nearest.found.len,
                     near ? nearest.found.ptr : "", near ? "?)" : "", (int)name.len, name.ptr);
}

maki_status maki_provider_from_config(const maki_config *config, maki_str agent, maki_str name,
                                      maki_str model, maki_provider *out, maki_err *err)
{
    maki_provider made = { .protocol = MAKI_WIRE_NONE };
    maki_status st = choose(config, agent, name, &made, err);
    if (st != MAKI_OK) return st;
    maki_str url = text_of(config, "llm", maki_str_of(made.name), "base_url");
    if (!url.len) return tell_unknown(config, maki_str_of(made.name), err);
    st = maki_provider_set_url(&made, url, err);
    if (st == MAKI_OK) st = read_model(config, agent, model.len > 0, &made, err);
    if (st == MAKI_OK) st = read_key(config, &made, err);
    if (st != MAKI_OK) return st;
    read_rest(config, agent, &made);
    *out = made;
    return MAKI_OK;
}

/* ---- addresses ------------------------------------------------------------------------------------------- */

maki_status maki_provider_set_url(maki_provider *p, maki_str url, maki_err *err)
{
    maki_url parts;
    if (!maki_url_split(url, &parts) || !maki_str_copy(parts.origin, p->origin, sizeof p->origin) ||
        !maki_str_copy(parts.path, p->path, sizeof p->path)) {
        return maki_fail(err, MAKI_INVALID,
                         "llm.%s.base_url is not a URL: write http://... or https://..., without "
                         "a password or a query",
                         p->name);
    }
    return MAKI_OK;
}

/* Has a path a version in it: /v1, /v4, /v1beta? */
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
    /* Paths without a version (Ollama's own) stand beside /v1, which people copy from OpenAI's clients. */
    if (!version.len && maki_str_ends(base, v1)) base.len -= v1.len;
    maki_buf_add(out, base);
    if (!has_version(base)) maki_buf_add(out, version);
    maki_buf_add(out, path);
}

static void add_escaped(maki_str name, maki_buf *out)
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
    add_escaped(maki_str_starts(model, prefix) ? maki_str_from(model, prefix.len) : model, out);
}

void maki_provider_target(const maki_provider *p, maki_str model, bool stream, maki_buf *out)
{
    const maki_protocol_spec *spec = maki_protocol_of(p->protocol);
    maki_provider_path(p, maki_str_of(spec->version), maki_str_of(spec->target), out);
    if (!spec->model_in_path) return;
    maki_provider_add_model(model, out);
    maki_buf_add(out, maki_str_of(stream ? spec->target_stream : spec->target_end));
}

/* ---- the head -------------------------------------------------------------------------------------------- */

static void add_line(maki_buf *out, const char *name, maki_str value)
{
    maki_buf_add(out, maki_str_of(name));
    maki_buf_add(out, value);
    maki_buf_add_byte(out, '\n');
}

static bool may_stand(maki_str line)
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
    if (!may_stand(p->key)) {
        return maki_fail(err, MAKI_INVALID,
                         "the key of %s has a line's end or a control character in it; check the "
                         "variable that it comes from",
                         p->name);
    }
    add_line(out, "Content-Type: ", MAKI_LIT("application/json"));
    /* as their own clients say it, of streams too */
    add_line(out, "Accept: ", MAKI_LIT("application/json"));
    add_line(out, "User-Agent: ", MAKI_LIT("maki/" MAKI_VERSION));
    if (spec->head) add_line(out, spec->head, MAKI_LIT(""));
    if (p->key.len)
        add_line(out, spec->key_header ? spec->key_header : "Authorization: Bearer ", p->key);
    for (size_t i = 0; i < p->header_count; i++) {
        if (may_stand(p->headers[i])) add_line(out, "", p->headers[i]);
    }
    if (body_length) add_line(out, "Content-Length: ", (maki_str){ length, (size_t)n });
    return maki_buf_status(out, err);
}

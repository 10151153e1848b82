/* provider_test.c -- llm.* and agents.* of a configuration as a provider; addresses and heads of requests. */
#include "send/provider.h"

#include <stdio.h>

#include "base/str_util.h"
#include "config_kit.h"
#include "tap.h"

/* What a configuration gives, on one line: "name protocol origin path model". */
/* clang-format off */
static const struct config_row { const char *yaml, *agent, *name; maki_status status; const char *want; } configs[] = {
    { "llm: {provider: openai, openai: {model: gpt-5, api_key: k}}", "", "",
      MAKI_OK, "openai openai https://api.openai.com  gpt-5" },
    { "llm: {provider: openai, openai: {model: gpt-5, api_key: k, protocol: responses}}", "", "",
      MAKI_OK, "openai responses https://api.openai.com  gpt-5" },
    { "llm: {provider: anthropic, anthropic: {model: claude-sonnet-4-5, api_key: k}}", "", "",
      MAKI_OK, "anthropic anthropic https://api.anthropic.com  claude-sonnet-4-5" },
    { "llm: {gemini: {model: gemini-2.5-pro, api_key: k}}", "", "gemini",
      MAKI_OK, "gemini gemini https://generativelanguage.googleapis.com  gemini-2.5-pro" },
    { "llm: {ollama: {model: qwen3}}", "", "ollama", MAKI_OK, "ollama ollama http://127.0.0.1:11434  qwen3" },
    { "llm: {lmstudio: {model: m, base_url: http://localhost:1234/v1}}", "", "lmstudio",
      MAKI_OK, "lmstudio openai http://localhost:1234 /v1 m" },
    { "llm: {openrouter: {model: m, api_key: k}}", "", "openrouter", MAKI_OK, "openrouter openai https://openrouter.ai /api/v1 m" },
    { "llm: {deepseek: {model: m, api_key: k}}", "", "deepseek", MAKI_OK, "deepseek openai https://api.deepseek.com  m" },
    { "llm: {zai: {model: glm-4.6, api_key: k}}", "", "zai", MAKI_OK, "zai openai https://api.z.ai /api/paas/v4 glm-4.6" },
    { "llm: {mine: {model: m, base_url: http://h:8000/}}", "", "mine", MAKI_OK, "mine openai http://h:8000  m" },
    { "llm: {mine: {model: m, base_url: http://h/x, protocol: anthropic}}", "", "mine", MAKI_OK, "mine anthropic http://h /x m" },
    { "llm: {provider: openai, ollama: {model: a}, openai: {model: b, api_key: k}}\nagents: {人: {provider: ollama, model: 海苔}}", "人", "",
      MAKI_OK, "ollama ollama http://127.0.0.1:11434  海苔" }, /* agents.*.provider, agents.*.model */
    { "llm: {provider: ollama, ollama: {model: a}}\nagents: {x: {maxTurns: 1}}", "x", "", MAKI_OK, "ollama ollama http://127.0.0.1:11434  a" },
    /* the agent's model is one of the agent's provider: another one does not know it */
    { "llm: {provider: openai, ollama: {model: a}, openai: {model: b, api_key: k}}\nagents: {人: {provider: ollama, model: 海苔}}", "人", "openai",
      MAKI_OK, "openai openai https://api.openai.com  b" },
    { "llm: {provider: ollama, ollama: {model: a}}\nagents: {人: {model: 海苔}}", "人", "ollama", MAKI_OK, "ollama ollama http://127.0.0.1:11434  海苔" },
    { "", "", "", MAKI_NOTFOUND, "set llm.provider" },
    { "llm: {provider: openai, openai: {api_key: k}}", "", "", MAKI_NOTFOUND, "set llm.openai.model" },
    { "llm: {provider: openai, openai: {model: m}}", "", "", MAKI_DENIED, "OPENAI_API_KEY" },
    { "llm: {provider: zai, zai: {model: m}}", "", "", MAKI_DENIED, "ZAI_API_KEY" },
    { "llm: {provider: openai, openai: {model: m, api_key: \"${NOT_THERE}\"}}", "", "", MAKI_NOTFOUND, "NOT_THERE" },
    { "llm: {mine: {model: m}}", "", "mine", MAKI_INVALID, "unknown provider mine; set llm.mine.base_url" },
    { "", "", "antropic", MAKI_INVALID, "unknown provider antropic (did you mean anthropic?)" },
    { "llm: {厨房の海苔: {model: m, base_url: http://h}}", "", "厨房の海台", MAKI_INVALID, "(did you mean 厨房の海苔?)" },
    { "llm: {mine: {model: m}}", "", "0123456789012345678901234567890123456789012345678901234567890123", MAKI_TOOBIG, "" },
};

/* A model that the caller names is enough; the configuration's own stays what it is. */
static const struct named_row { const char *model; struct config_row row; } named[] = {
    { "gpt-5", { "llm: {provider: openai, openai: {api_key: k}}", "", "", MAKI_OK, "openai openai https://api.openai.com  " } },
    { "gpt-5", { "llm: {provider: openai, openai: {api_key: k, model: b}}", "", "", MAKI_OK, "openai openai https://api.openai.com  b" } },
    { "gpt-5", { "llm: {provider: openai}", "", "", MAKI_DENIED, "OPENAI_API_KEY" } },
    { "qwen3", { "", "", "ollama", MAKI_OK, "ollama ollama http://127.0.0.1:11434  " } },
    { "qwen3", { "", "", "", MAKI_NOTFOUND, "set llm.provider" } },
};

static const struct target_row { const char *base; maki_protocol protocol; bool stream; const char *model, *want; } targets[] = {
    { "https://api.openai.com",         MAKI_WIRE_CHAT,      true,  "m",  "/v1/chat/completions" },
    { "https://api.openai.com/v1",      MAKI_WIRE_CHAT,      true,  "m",  "/v1/chat/completions" },
    { "https://api.openai.com/v1/",     MAKI_WIRE_RESPONSES, true,  "m",  "/v1/responses" },
    { "https://openrouter.ai/api/v1",   MAKI_WIRE_CHAT,      false, "m",  "/api/v1/chat/completions" },
    { "https://api.z.ai/api/paas/v4",   MAKI_WIRE_CHAT,      false, "m",  "/api/paas/v4/chat/completions" },
    { "https://g/v1beta/openai/",       MAKI_WIRE_CHAT,      false, "m",  "/v1beta/openai/chat/completions" },
    { "https://api.anthropic.com/",     MAKI_WIRE_ANTHROPIC, true,  "m",  "/v1/messages" },
    { "https://api.z.ai/api/anthropic", MAKI_WIRE_ANTHROPIC, true,  "m",  "/api/anthropic/v1/messages" },
    { "http://127.0.0.1:11434",         MAKI_WIRE_OLLAMA,    true,  "m",  "/api/chat" },
    { "http://127.0.0.1:11434/v1",      MAKI_WIRE_OLLAMA,    true,  "m",  "/api/chat" },
    { "http://h/ollama/",               MAKI_WIRE_OLLAMA,    true,  "m",  "/ollama/api/chat" },
    { "https://g",                      MAKI_WIRE_GEMINI,    true,  "gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse" },
    { "https://g/v1beta/",              MAKI_WIRE_GEMINI,    false, "models/gemini", "/v1beta/models/gemini:generateContent" },
    { "https://g",                      MAKI_WIRE_GEMINI,    false, "a?b c#海", "/v1beta/models/a%3Fb%20c%23%E6%B5%B7:generateContent" },
};

static const char *const bad_urls[] = { "", "ftp://h", "http://", "http:///v1", "http://user:password@h", "https://h/?key=1", "h" };

static const struct head_row { maki_protocol protocol; const char *key; const char *want; } heads[] = {
    { MAKI_WIRE_CHAT, "k",
      "Content-Type: application/json\nAccept: application/json\nUser-Agent: maki/" MAKI_VERSION "\nAuthorization: Bearer k\nx: y\nContent-Length: 7\n" },
    { MAKI_WIRE_ANTHROPIC, "k",
      "Content-Type: application/json\nAccept: application/json\nUser-Agent: maki/" MAKI_VERSION "\nanthropic-version: 2023-06-01\nx-api-key: k\nx: y\nContent-Length: 7\n" },
    { MAKI_WIRE_GEMINI, "k",
      "Content-Type: application/json\nAccept: application/json\nUser-Agent: maki/" MAKI_VERSION "\nx-goog-api-key: k\nx: y\nContent-Length: 7\n" },
    { MAKI_WIRE_OLLAMA, "",
      "Content-Type: application/json\nAccept: application/json\nUser-Agent: maki/" MAKI_VERSION "\nx: y\nContent-Length: 7\n" },
};
/* clang-format on */

static void run_config(config_kit *kit, const struct config_row *row, const char *model)
{
    maki_provider p = { .name = "" };
    maki_err err = { .msg = "" };
    char line[512];
    tap_row("%s%s%s", row->yaml[0] ? row->yaml : "nothing is configured", model[0] ? " and " : "",
            model);
    if (!CHECK_STATUS(config_text(kit, row->yaml), MAKI_OK, &kit->err)) return;
    maki_status st = maki_provider_from_config(
        kit->config, maki_str_of(row->agent), maki_str_of(row->name), maki_str_of(model), &p, &err);
    CHECK_STATUS(st, row->status, &err);
    snprintf(line, sizeof line, "%s %s %s %s %.*s", p.name, maki_protocol_name(p.protocol),
             p.origin, p.path, (int)p.model.len, p.model.ptr ? p.model.ptr : "");
    if (st == MAKI_OK)
        CHECK_CSTR(line, row->want);
    else if (!CHECK(maki_str_contains(maki_str_of(err.msg), maki_str_of(row->want))))
        printf("# %s\n", err.msg);
}

static void run_configs(config_kit *kit)
{
    for (size_t i = 0; i < COUNT(configs); i++)
        run_config(kit, &configs[i], "");
    for (size_t i = 0; i < COUNT(named); i++)
        run_config(kit, &named[i].row, named[i].model);
}

static void run_rest(config_kit *kit)
{
    maki_provider p;
    maki_err err;
    const char *yaml =
        "serve: {ca_file: /ca.pem}\n"
        "llm: {provider: openai, openai: {model: m, api_key: k, context_length: 64000,\n"
        "      base_url: \"http://127.0.0.1:9/v1\", protocol: responses,\n"
        "      tool_style: functions, max_tokens: 500, timeout: 90s}}\n"
        "agents: {a: {maxTokens: 77}, b: {model: other}}";
    if (!CHECK_STATUS(config_text(kit, yaml), MAKI_OK, &kit->err)) return;
    tap_row("llm.*.context_length");
    CHECK_STATUS(
        maki_provider_from_config(kit->config, MAKI_LIT(""), MAKI_LIT(""), MAKI_LIT(""), &p, &err),
        MAKI_OK, &err);
    CHECK_EQ(p.window, 64000);
    tap_row("llm.*.tool_style");
    CHECK(p.functions);
    tap_row("llm.*.max_tokens");
    CHECK_EQ(p.max_tokens, 500);
    tap_row("llm.*.timeout");
    CHECK_EQ(p.timeout_ms, 90000);
    tap_row("llm.*.api_key");
    CHECK_STR(p.key, "k");
    tap_row("llm.*.base_url");
    CHECK_CSTR(p.origin, "http://127.0.0.1:9");
    tap_row("llm.*.protocol");
    CHECK_EQ(p.protocol, MAKI_WIRE_RESPONSES);
    tap_row("serve.ca_file counts here too");
    CHECK_CSTR(p.ca_file, "/ca.pem");
    tap_row("agents.*.maxTokens wins over llm.*.max_tokens");
    CHECK_STATUS(
        maki_provider_from_config(kit->config, MAKI_LIT("a"), MAKI_LIT(""), MAKI_LIT(""), &p, &err),
        MAKI_OK, &err);
    CHECK_EQ(p.max_tokens, 77);
    tap_row("context_length is of the provider's own model");
    CHECK_STATUS(
        maki_provider_from_config(kit->config, MAKI_LIT("b"), MAKI_LIT(""), MAKI_LIT(""), &p, &err),
        MAKI_OK, &err);
    CHECK_STR(p.model, "other");
    CHECK_EQ(p.window, 0);
    tap_row("without them: the defaults");
    CHECK_STATUS(config_text(kit, "llm: {ollama: {model: m}}"), MAKI_OK, &kit->err);
    CHECK_STATUS(maki_provider_from_config(kit->config, MAKI_LIT(""), MAKI_LIT("ollama"),
                                           MAKI_LIT(""), &p, &err),
                 MAKI_OK, &err);
    CHECK_EQ(p.timeout_ms, 600000);
    CHECK_EQ(p.window + p.max_tokens, 0);
    CHECK(!p.functions && !p.ca_file && !p.key.len);
}

static void run_targets(const maki_env *env)
{
    for (size_t i = 0; i < COUNT(targets); i++) {
        const struct target_row *row = &targets[i];
        maki_provider p = { .protocol = row->protocol };
        maki_buf out = maki_buf_new(env->alloc, 1000);
        maki_err err;
        tap_row("%s, %s", row->base, row->want);
        CHECK_STATUS(maki_provider_set_url(&p, maki_str_of(row->base), &err), MAKI_OK, &err);
        maki_provider_target(&p, maki_str_of(row->model), row->stream, &out);
        CHECK_TEXT(maki_buf_str(&out), maki_str_of(row->want));
        maki_buf_free(&out);
    }
    for (size_t i = 0; i < COUNT(bad_urls); i++) {
        maki_provider p = { .name = "x" };
        maki_err err;
        tap_row("no address: %s", bad_urls[i]);
        CHECK_STATUS(maki_provider_set_url(&p, maki_str_of(bad_urls[i]), &err), MAKI_INVALID, &err);
        CHECK(!maki_str_contains(maki_str_of(err.msg), MAKI_LIT("user:password")));
    }
}

static void run_heads(const maki_env *env)
{
    const maki_str extra[] = { MAKI_LIT("x: y"), MAKI_LIT("evil: 1\r\nX: 2") };
    for (size_t i = 0; i < COUNT(heads); i++) {
        const struct head_row *row = &heads[i];
        maki_provider p = { .protocol = row->protocol,
                            .key = maki_str_of(row->key),
                            .headers = extra,
                            .header_count = COUNT(extra) };
        maki_buf out = maki_buf_new(env->alloc, 1000);
        maki_err err;
        tap_row("the head of a request to %s", maki_protocol_name(row->protocol));
        CHECK_STATUS(maki_provider_head(&p, 7, &out, &err), MAKI_OK, &err);
        CHECK_TEXT(maki_buf_str(&out), maki_str_of(row->want));
        maki_buf_free(&out);
    }
}

int main(void)
{
    maki_env env = maki_env_system();
    config_kit kit;
    config_kit_open(&kit);
    run_configs(&kit);
    run_rest(&kit);
    config_kit_close(&kit);
    run_targets(&env);
    run_heads(&env);
    return tap_end();
}

/* settings_test.c -- every setting about summaries acts: on what is read of it, and on the summary. */
#include "summary/summary_settings.h"

#include "../config/config_kit.h"
#include "fake_model.h"
#include "talk.h"

#include "manage/choose_summarizer.h"

typedef enum what {
    PROVIDER,
    MODEL,
    PROMPT,
    MAX_TOKENS,
    TIMEOUT,
    RATIO,
    LANGUAGE,
    BACKGROUND,
    PERCENT
} what;

/* A setting as a text that can be compared. */
static void shown(const maki_summary_settings *s, what which, char *out, size_t capacity)
{
    maki_str text = which == PROVIDER ? s->provider : which == MODEL ? s->model : s->prompt;
    switch (which) {
    case MAX_TOKENS: snprintf(out, capacity, "%llu", (unsigned long long)s->max_tokens); break;
    case TIMEOUT: snprintf(out, capacity, "%lld", (long long)s->timeout_ms); break;
    case RATIO: snprintf(out, capacity, "%g", s->ratio); break;
    case LANGUAGE: snprintf(out, capacity, "%d", s->has_lang ? (int)s->lang : -1); break;
    case BACKGROUND: snprintf(out, capacity, "%d", s->background); break;
    case PERCENT: snprintf(out, capacity, "%g", s->background_percent); break;
    default: snprintf(out, capacity, "%.*s", (int)text.len, text.ptr); break;
    }
}

static const struct {
    const char *name, *file;
    const char *profile;
    bool task;
    what which;
    const char *want;
} rows[] = {
    { "summary.provider: offline when nothing is set", "", "", false, PROVIDER, "" },
    { "summary.provider: llm.provider", "llm: {provider: ollama}", "", false, PROVIDER, "ollama" },
    { "summary.provider wins", "llm: {provider: openai}\nsummary: {provider: ollama}", "", false,
      PROVIDER, "ollama" },
    { "summary.provider: offline", "llm: {provider: ollama}\nsummary: {provider: offline}", "",
      false, PROVIDER, "" },
    { "summary.provider: offline without a key", "llm: {provider: openai}", "", false, PROVIDER,
      "" },
    { "summary.provider: with its key", "llm: {provider: openai, openai: {api_key: k}}", "", false,
      PROVIDER, "openai" },
    { "summary.provider: one of one's own",
      "llm: {provider: 自家製, 自家製: {base_url: 'http://127.0.0.1:9'}}", "", false, PROVIDER,
      "自家製" },
    { "summary.model: none", "", "gpt-4", false, MODEL, "" },
    { "summary.model", "summary: {model: small}", "", false, MODEL, "small" },
    { "profiles.*.condenseModel", "profiles: {gpt-3.5-turbo: {condenseModel: mini}}",
      "gpt-3.5-turbo", false, MODEL, "mini" },
    { "profiles.*.condenseModel of another", "profiles: {gpt-4: {condenseModel: mini}}",
      "gpt-3.5-turbo", false, MODEL, "" },
    { "summary.model wins over condenseModel",
      "summary: {model: small}\nprofiles: {a: {condenseModel: mini}}", "a", false, MODEL, "small" },
    { "summary.prompt: standard", "", "", false, PROMPT, "standard" },
    { "summary.prompt", "summary: {prompt: brief}", "", false, PROMPT, "brief" },
    { "summary.prompt: one's own", "summary: {prompt: '要約：{messages}'}", "", false, PROMPT,
      "要約：{messages}" },
    { "context_storage.summary_prompt: a built-in one", "summary: {prompt: brief}", "", true,
      PROMPT, "task" },
    { "context_storage.summary_prompt", "context_storage: {summary_prompt: 'T {messages}'}", "",
      true, PROMPT, "T {messages}" },
    { "context_storage.summary_prompt is of tasks", "context_storage: {summary_prompt: 'T'}", "",
      false, PROMPT, "standard" },
    { "summary.max_tokens: 4096", "", "", false, MAX_TOKENS, "4096" },
    { "summary.max_tokens", "summary: {max_tokens: 777}", "", false, MAX_TOKENS, "777" },
    { "summary.timeout: 2m", "", "", false, TIMEOUT, "120000" },
    { "summary.timeout", "summary: {timeout: 5s}", "", false, TIMEOUT, "5000" },
    { "compressionRatio: 0.75", "", "", false, RATIO, "0.75" },
    { "compressionRatio of tasks", "", "", true, RATIO, "0.65" },
    { "profiles.*.compressionRatio", "profiles: {모델: {compressionRatio: 0.5}}", "모델", false,
      RATIO, "0.5" },
    { "language: of the text", "", "", false, LANGUAGE, "-1" },
    { "language: en", "language: en", "", false, LANGUAGE, "0" },
    { "language: ja", "language: ja", "", false, LANGUAGE, "1" },
    { "language: zh", "language: zh", "", false, LANGUAGE, "2" },
    { "language: ko", "language: ko", "", false, LANGUAGE, "3" },
    { "summary.background: true", "", "", false, BACKGROUND, "1" },
    { "summary.background", "summary: {background: false}", "", false, BACKGROUND, "0" },
    { "summary.background_percent: by the threshold", "", "", false, PERCENT, "0" },
    { "summary.background_percent", "summary: {background_percent: 55}", "", false, PERCENT, "55" },
};

static void test_read(config_kit *kit)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char got[200] = "";
        maki_summary_settings s;
        maki_err err = { 0 };
        tap_row("%s", rows[i].name);
        if (!CHECK_STATUS(config_text(kit, rows[i].file), MAKI_OK, &kit->err)) continue;
        CHECK_STATUS(maki_summary_settings_read(kit->config, maki_str_of(rows[i].profile),
                                                rows[i].task, &s, &err),
                     MAKI_OK, &err);
        shown(&s, rows[i].which, got, sizeof got);
        CHECK_CSTR(got, rows[i].want);
    }
    static char name[1000];
    maki_summary_settings s;
    maki_err err = { 0 };
    tap_row("a profile whose name is no name");
    memset(name, 'x', sizeof name - 1);
    CHECK_STATUS(maki_summary_settings_read(kit->config, maki_str_of(name), false, &s, &err),
                 MAKI_INVALID, &err);
}

/* ---- what a summary becomes by them ------------------------------------------------------------------------- */

static const char talk[] = USER("Please fix the login page in src/login.c, it shows error 500.")
    SAYS("I changed src/login.c and now it works; the test passes. ")
        USER("Now the logout page, please, the same way.");

static void test_acts(config_kit *kit)
{
    static const struct {
        const char *name, *file, *system, *model;
        uint64_t max_tokens;
        int64_t timeout;
    } asked[] = {
        { "summary.model, summary.max_tokens and summary.timeout reach the model",
          "llm: {x: {base_url: \"http://localhost\"}}\nsummary: {provider: x, model: tiny, max_tokens: 900, timeout: 7s}",
          "Pending Tasks", "tiny", 900, 7000 },
        { "summary.prompt and language reach the model",
          "llm: {x: {base_url: \"http://localhost\"}}\nsummary: {provider: x, prompt: brief}\nlanguage: zh",
          "下一步", "", 4096, 120000 },
        { "profiles.*.condenseModel reaches the model",
          "llm: {x: {base_url: \"http://localhost\"}}\nsummary: {provider: x}\nprofiles: {p: {condenseModel: mini}}",
          "Pending Tasks", "mini", 4096, 120000 },
    };
    for (size_t i = 0; i < COUNT(asked); i++) {
        fake_model model;
        maki_env env = maki_env_system();
        maki_arena arena = maki_arena_new(env.alloc, 1 << 26);
        maki_summarizer_choice by;
        maki_str lines = maki_str_of(talk);
        maki_summary_request request = talk_request(&lines);
        maki_summary summary;
        maki_err err = { 0 };
        tap_row("%s", asked[i].name);
        fake_model_init(&model, FAKE_ANSWERS);
        CHECK_STATUS(config_text(kit, asked[i].file), MAKI_OK, &kit->err);
        maki_summarizer_options in = {
            .env = &env, .config = kit->config, .model = &model.model, .profile = MAKI_LIT("p")
        };
        CHECK_STATUS(maki_summarizer_choose(&in, &by, &err), MAKI_OK, &err);
        CHECK_STATUS(by.measured.run(&by.measured, &request, &arena, &summary, &err), MAKI_OK,
                     &err);
        CHECK(summary.coverage.measured);
        CHECK(strstr(model.system, asked[i].system) != NULL);
        CHECK_CSTR(model.name, asked[i].model);
        CHECK_EQ(model.max_tokens, asked[i].max_tokens);
        CHECK(model.timeout_ms <= asked[i].timeout && model.timeout_ms > asked[i].timeout - 5000);
        fake_model_free(&model);
        maki_arena_free(&arena);
    }
}

static size_t offline_len(config_kit *kit, const char *file, uint64_t tokens, const char *has)
{
    maki_env env = maki_env_system();
    maki_arena arena = maki_arena_new(env.alloc, 1 << 26);
    maki_summary_settings s;
    maki_str lines = maki_str_of(talk);
    maki_summary_request request = talk_request(&lines);
    maki_summary summary = { .text = { "", 0 } };
    maki_err err = { 0 };
    request.tokens = tokens;
    CHECK_STATUS(config_text(kit, file), MAKI_OK, &kit->err);
    CHECK_STATUS(maki_summary_settings_read(kit->config, MAKI_LIT("p"), false, &s, &err), MAKI_OK,
                 &err);
    maki_offline_options how = maki_summary_offline(&s);
    maki_summarizer by = maki_summarizer_offline_with(&how);
    CHECK_STATUS(by.run(&by, &request, &arena, &summary, &err), MAKI_OK, &err);
    CHECK(maki_str_contains(summary.text, maki_str_of(has)));
    size_t len = summary.text.len;
    maki_arena_free(&arena);
    return len;
}

static void test_offline(config_kit *kit)
{
    tap_row("language: the offline summary's headings");
    offline_len(kit, "", 4000, "## Current Work");
    offline_len(kit, "language: ko", 4000, "## 현재 작업");
    tap_row("profiles.*.compressionRatio and summary.max_tokens: its length");
    size_t full = offline_len(kit, "profiles: {p: {compressionRatio: 0.5}}", 400, "##");
    size_t less = offline_len(kit, "profiles: {p: {compressionRatio: 0.85}}", 400, "##");
    size_t least = offline_len(
        kit, "profiles: {p: {compressionRatio: 0.5}}\nsummary: {max_tokens: 64}", 400, "##");
    CHECK(less < full);
    CHECK(least < full);
}

int main(void)
{
    config_kit kit;
    config_kit_open(&kit);
    test_read(&kit);
    test_acts(&kit);
    test_offline(&kit);
    config_kit_close(&kit);
    return tap_end();
}

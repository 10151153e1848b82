/* run_limits_test.c -- the effect of each setting about windows and thresholds; the caller's values win. */
#include "manage/run_limits.h"

#include <string.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "config_kit.h"
#include "tap.h"

static config_kit kit;
static maki_buf lines; /* of the log */

#define OPUS  "claude-opus-4-5-20251101"
#define NEVER 101

/* A row is named by the setting that it is about. */
/* clang-format off */
static const struct figures_row {
    const char *name, *config, *model;
    double window; const char *from; double threshold, tokens; size_t keep; double max_tokens;
} rows[] = {
    /* name, configuration, model                        window  from             thr.   tokens keep max_tokens */
    { "defaults", "", "",                                200000, "default",       75,    0,     3,   0 },
    { "the table of models, by its longest prefix", "", "gpt-4-turbo-2024-04-09",
                                                         128000, "table",         70,    0,     3,   0 },
    { "a model recommended by its exact id", "", "gpt-3.5-turbo",
                                                         16000,  "table",         50,    0,     3,   0 },
    { "a model by its family", "", "gpt-3.5-turbo-0125", 16000,  "table",         70,    0,     3,   0 },
    { "opus keeps five", "", OPUS,                       200000, "table",         80,    0,     5,   0 },
    { "a model nobody knows", "", "海苔巻き-7b",          200000, "default",       75,    0,     3,   0 },

    { "autoCondenseContext", "autoCondenseContext: false\nautoCondenseContextTokens: 9000\n", "gpt-4o",
                                                         128000, "table",         NEVER, 0,     3,   0 },
    { "autoCondenseContextPercent", "autoCondenseContextPercent: 60\n", "",
                                                         200000, "default",       60,    0,     3,   0 },
    { "autoCondenseContextPercent wins over what suits a model", "autoCondenseContextPercent: 61\n", OPUS,
                                                         200000, "table",         61,    0,     5,   0 },
    { "contextCompressionThreshold", "contextCompressionThreshold: 62\n", "gpt-4o",
                                                         128000, "table",         62,    0,     3,   0 },
    { "rooCode.autoCondenseContextPercent", "rooCode.autoCondenseContextPercent: 63\n", "gpt-4o",
                                                         128000, "table",         63,    0,     3,   0 },
    { "autoCondenseContextTokens", "autoCondenseContextTokens: 90_000\n", "",
                                                         200000, "default",       75,    90000, 3,   0 },
    { "profileThresholds.*", "profileThresholds: {gpt-4o: 55}\n", "gpt-4o",
                                                         128000, "table",         55,    0,     3,   0 },
    { "profileThresholds.* of another model", "profileThresholds: {gpt-4o-mini: 55}\n", "gpt-4o",
                                                         128000, "table",         70,    0,     3,   0 },
    { "profileThresholds.* -1 inherits", "autoCondenseContextPercent: 66\nprofileThresholds: {" OPUS ": -1}\n", OPUS,
                                                         200000, "table",         66,    0,     5,   0 },
    { "profileThresholds.* out of range inherits", "profileThresholds: {" OPUS ": 101}\n", OPUS,
                                                         200000, "table",         75,    0,     5,   0 },
    { "currentProfileId", "currentProfileId: 仕事\nprofileThresholds: {仕事: 42, gpt-4o: 55}\n", "gpt-4o",
                                                         128000, "table",         42,    0,     3,   0 },
    { "messagesRetainCount", "messagesRetainCount: 7\n", OPUS,
                                                         200000, "table",         80,    0,     7,   0 },
    { "profiles.*.keepMessages", "messagesRetainCount: 7\nprofiles: {" OPUS ": {keepMessages: 9}}\n", OPUS,
                                                         200000, "table",         80,    0,     9,   0 },
    { "profiles.*.thresholdTokens", "autoCondenseContextTokens: 5000\nprofiles: {gpt-4o: {thresholdTokens: 6000}}\n", "gpt-4o",
                                                         128000, "table",         70,    6000,  3,   0 },
    { "profiles.*.contextWindow", "profiles: {gpt-4o: {contextWindow: 64000}}\nllm: {openai: {model: gpt-4o, context_length: 100000}}\n", "gpt-4o",
                                                         64000,  "profile",       70,    0,     3,   0 },
    { "contextWindow", "contextWindow: 50000\n", "海苔巻き-7b",
                                                         50000,  "configuration", 75,    0,     3,   0 },
    { "contextWindow does not win over the table", "contextWindow: 50000\n", "gpt-4o",
                                                         128000, "table",         70,    0,     3,   0 },
    { "window.default", "window: {default: 64000}\n", "",
                                                         64000,  "default",       75,    0,     3,   0 },
    { "window.minimum lowered", "window: {minimum: 4000}\nprofiles: {small: {contextWindow: 4096}}\n", "small",
                                                         4096,   "profile",       75,    0,     3,   0 },
    { "llm.*.context_length wins over the table", "llm: {openai: {model: gpt-4o, context_length: 100000}}\n", "gpt-4o",
                                                         100000, "configuration",      70,    0,     3,   0 },
    { "llm.*.context_length of another model", "llm: {provider: ollama, ollama: {model: qwen3, context_length: 40000}}\n", "gpt-4o",
                                                         128000, "table",         70,    0,     3,   0 },
    { "llm.provider and llm.*.model when nobody says the model", "llm: {provider: ollama, ollama: {model: qwen3, context_length: 40000}}\n", "",
                                                         40000,  "configuration",      75,    0,     3,   0 },
    { "llm.*.max_tokens", "llm: {provider: openai, openai: {model: gpt-4o, max_tokens: 3000}}\n", "",
                                                         128000, "table",         70,    0,     3,   3000 },
    { "agents.*.contextWindow", "agents: {default: {contextWindow: 70000}}\n", "",
                                                         70000,  "agent",         75,    0,     3,   0 },
    { "agents.*.contextWindow after contextWindow", "contextWindow: 50000\nagents: {default: {contextWindow: 70000}}\n", "",
                                                         50000,  "configuration", 75,    0,     3,   0 },
    { "agents.*.maxTokens", "llm: {provider: openai, openai: {max_tokens: 3000}}\nagents: {default: {maxTokens: 2000}}\n", "",
                                                         200000, "default",       75,    0,     3,   2000 },
    { "agents.*.model", "agents: {default: {model: " OPUS "}}\n", "",
                                                         200000, "table",         80,    0,     5,   0 },
    { "agents.*.provider", "llm: {provider: openai, a: {context_length: 30001}, openai: {context_length: 30002}}\nagents: {default: {provider: a}}\n", "",
                                                         30001,  "configuration",      75,    0,     3,   0 },
};
/* clang-format on */

static const maki_logger *logger(void)
{
    static maki_clock clock;
    static maki_logger to;
    maki_env env = maki_env_system();
    clock = *env.clock;
    to = (maki_logger){ &clock, maki_buf_sink(&lines), MAKI_DEBUG };
    maki_buf_clear(&lines);
    return &to;
}

static bool logged(const char *text)
{
    return maki_str_contains(maki_buf_str(&lines), maki_str_of(text));
}

static void run_rows(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct figures_row *row = &rows[i];
        maki_run_limits got = { 0 };
        tap_row("%s", row->name);
        CHECK_STATUS(config_text(&kit, row->config), MAKI_OK, &kit.err);
        maki_run_limits_options in = { .config = kit.config, .model = maki_str_of(row->model) };
        CHECK_STATUS(maki_run_limits_of(&in, &got, &kit.err), MAKI_OK, &kit.err);
        CHECK_DOUBLE(got.window, row->window);
        CHECK_CSTR(got.window_from ? got.window_from : "", row->from);
        CHECK_DOUBLE(got.threshold, row->threshold);
        CHECK_DOUBLE(got.threshold_tokens, row->tokens);
        CHECK_EQ(got.keep, row->keep);
        CHECK_DOUBLE(got.max_tokens, row->max_tokens);
    }
}

static void run_without(void)
{
    maki_run_limits with = { 0 }, without = { 0 };
    tap_row("NULL as configuration is an empty one");
    CHECK_STATUS(config_text(&kit, ""), MAKI_OK, &kit.err);
    maki_run_limits_options in = { .config = kit.config, .model = MAKI_LIT("claude-x") };
    CHECK_STATUS(maki_run_limits_of(&in, &with, &kit.err), MAKI_OK, &kit.err);
    in.config = NULL;
    CHECK_STATUS(maki_run_limits_of(&in, &without, &kit.err), MAKI_OK, &kit.err);
    CHECK(memcmp(&with, &without, sizeof with) == 0);
}

static void run_caller(void)
{
    maki_run_limits got = { 0 };
    tap_row("the caller's values win");
    CHECK_STATUS(config_text(&kit, "autoCondenseContext: false\ncontextWindow: 50000\n"
                                   "profileThresholds: {m: 20}\nmessagesRetainCount: 4\n"
                                   "agents: {bot: {maxTokens: 100, contextWindow: 60000}}\n"),
                 MAKI_OK, &kit.err);
    maki_run_limits_options in = { .config = kit.config,
                                   .model = MAKI_LIT("m"),
                                   .agent = MAKI_LIT("bot"),
                                   .window = 90000,
                                   .max_tokens = 700,
                                   .keep = 2,
                                   .has_automatic = true,
                                   .automatic = true,
                                   .tokens = 1234,
                                   .has_profile_threshold = true,
                                   .profile_threshold = 30 };
    CHECK_STATUS(maki_run_limits_of(&in, &got, &kit.err), MAKI_OK, &kit.err);
    CHECK_DOUBLE(got.window, 90000);
    CHECK_CSTR(got.window_from, "caller");
    CHECK_DOUBLE(got.threshold, 30);
    CHECK_DOUBLE(got.threshold_tokens, 1234);
    CHECK_EQ(got.keep, 2);
    CHECK(got.keep_set);
    CHECK_DOUBLE(got.max_tokens, 700);
}

static void run_guard(void)
{
    maki_run_limits got = { 0 };
    maki_run_limits_options in = { .model = MAKI_LIT("小さい"), .window = 15999 };
    tap_row("window.minimum: a smaller window is refused, and the error says what to do");
    CHECK_STATUS(config_text(&kit, "window: {minimum: 20000}\n"), MAKI_OK, &kit.err);
    CHECK_STATUS(maki_run_limits_of(&in, &got, &kit.err), MAKI_REFUSED, NULL);
    CHECK_CSTR(kit.err.code, "WINDOW_TOO_SMALL");
    CHECK(strstr(kit.err.msg, "window.minimum, 16000") != NULL);
    in.config = kit.config;
    in.window = 19999;
    CHECK_STATUS(maki_run_limits_of(&in, &got, &kit.err), MAKI_REFUSED, NULL);

    tap_row("window.warning: a smaller window causes a warning");
    CHECK_STATUS(config_text(&kit, "window: {warning: 50000}\n"), MAKI_OK, &kit.err);
    in = (maki_run_limits_options){ .window = 32000, .logger = logger() };
    CHECK_STATUS(maki_run_limits_of(&in, &got, &kit.err), MAKI_OK, &kit.err);
    CHECK(!got.small && lines.len == 0);
    in.config = kit.config;
    CHECK_STATUS(maki_run_limits_of(&in, &got, &kit.err), MAKI_OK, &kit.err);
    CHECK(got.small && logged("warn window_small context_window=32000 warning=50000"));
}

static void run_invalid(void)
{
    maki_run_limits got = { 0 };
    tap_row("an invalid threshold of a profile is reported, and the general one is effective");
    CHECK_STATUS(config_text(&kit, "profileThresholds: {海苔: 3}\n"), MAKI_OK, &kit.err);
    maki_run_limits_options in = { .config = kit.config,
                                   .model = MAKI_LIT("海苔"),
                                   .logger = logger() };
    CHECK_STATUS(maki_run_limits_of(&in, &got, &kit.err), MAKI_OK, &kit.err);
    CHECK(got.threshold_invalid && got.threshold == 75 && got.profile_threshold == 3);
    CHECK(logged("warn threshold_invalid value=3 profile=海苔 using=75\n"));
}

static void run_sizes(void)
{
    tap_row("the allowed tokens and the target of a run");
    CHECK_DOUBLE(maki_run_limits_allowed(200000, 0), 180000 - 8192);
    CHECK_DOUBLE(maki_run_limits_allowed(200000, 1000), 179000);
    CHECK_DOUBLE(maki_run_limits_allowed(16000, 0), 14400 - 4000);
    CHECK_DOUBLE(maki_run_limits_target(200000, 0), 100000);
    CHECK_DOUBLE(maki_run_limits_target(16000, 0), 7280);

    tap_row("names that cannot be part of a setting's path");
    static char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    maki_run_limits got = { 0 };
    maki_run_limits_options in = { .config = kit.config, .model = maki_str_of(longest) };
    CHECK_STATUS(maki_run_limits_of(&in, &got, &kit.err), MAKI_OK, &kit.err);
    CHECK_EQ(strlen(got.model), MAKI_PROFILE_MAX - 1);
    in.model = MAKI_LIT("a\0b");
    CHECK_STATUS(maki_run_limits_of(&in, &got, &kit.err), MAKI_OK, &kit.err);
    CHECK_CSTR(got.window_from, "default");
}

int main(void)
{
    maki_env env = maki_env_system();
    lines = maki_buf_new(env.alloc, 1 << 20);
    config_kit_open(&kit);
    run_rows();
    run_without();
    run_caller();
    run_guard();
    run_invalid();
    run_sizes();
    config_kit_close(&kit);
    maki_buf_free(&lines);
    return tap_end();
}

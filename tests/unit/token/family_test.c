/* family_test.c -- which family a model has, and learning a factor from replies. */
#include "token/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

static const struct model_row {
    const char *model, *family;
} model_rows[] = {
    { "gpt-5", "openai-o200k" },
    { "gpt-5-codex", "openai-o200k" },
    { "gpt-5.1", "openai-o200k" },
    { "gpt-4o", "openai-o200k" },
    { "GPT-4o-2024-11-20", "openai-o200k" },
    { "gpt-4.1-mini", "openai-o200k" },
    { "chatgpt-4o-latest", "openai-o200k" },
    { "o1", "openai-o200k" },
    { "o3-pro", "openai-o200k" },
    { "o4-mini-high", "openai-o200k" },
    { "openai/gpt-oss-120b", "openai-o200k" },
    { "ft:gpt-4o-mini-2024-07-18:org::id", "openai-o200k" },
    { "azure/gpt-4o", "openai-o200k" },
    { "gpt-4", "openai-cl100k" },
    { "gpt-4-turbo", "openai-cl100k" },
    { "gpt-4-32k", "openai-cl100k" },
    { "gpt-3.5-turbo-0125", "openai-cl100k" },
    { "gpt-35-turbo", "openai-cl100k" },
    { "text-embedding-3-small", "openai-cl100k" },
    { "claude-sonnet-4-5-20250929", "claude" },
    { "claude-3-5-haiku-latest", "claude" },
    { "anthropic/claude-3.7-sonnet", "claude" },
    { "openrouter/anthropic/claude-sonnet-4.5", "claude" },
    { "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude" },
    { "anthropic.claude-3-haiku-20240307-v1:0", "claude" },
    { "claude-3-5-sonnet@20240620", "claude" },
    { "claude-opus-4-7", "claude-4.7" },
    { "anthropic/claude-opus-4.7", "claude-4.7" },
    { "claude-2.1", "claude-2" },
    { "claude-instant-1.2", "claude-2" },
    { "gemini-2.5-pro", "gemini" },
    { "models/gemini-2.5-flash", "gemini" },
    { "google/gemma-3-27b-it", "gemini" },
    { "llama3.1:8b", "llama-3" },
    { "meta-llama/Llama-3.3-70B-Instruct", "llama-3" },
    { "us.meta.llama3-3-70b-instruct-v1:0", "llama-3" },
    { "llama2:13b", "llama-2" },
    { "codellama:7b", "llama-2" },
    { "mistralai/Mixtral-8x7B-v0.1", "llama-2" },
    { "Qwen/Qwen3-30B-A3B", "qwen" },
    { "qwen2.5-coder:32b", "qwen" },
    { "mistral-large-latest", "mistral" },
    { "codestral-2501", "mistral" },
    { "deepseek-ai/DeepSeek-V3.1", "deepseek" },
    { "deepseek-chat", "deepseek" },
    { "command-r-plus", "cohere" },
    { "grok-4", "other" },
    { "moonshotai/kimi-k2", "other" },
    { "zai-org/GLM-4.6", "other" },
    { "o1234", "other" },
    { "gpt-40", "other" },
    { "", "other" },
    { "/", "other" },
    { "猫", "other" },
};

static void test_models(void)
{
    char longest[1000];
    for (size_t i = 0; i < COUNT(model_rows); i++) {
        tap_row("\"%s\" is %s", model_rows[i].model, model_rows[i].family);
        CHECK_CSTR(maki_family_of(maki_str_of(model_rows[i].model))->name, model_rows[i].family);
    }
    tap_row("a very long name");
    memset(longest, '.', sizeof longest);
    memcpy(longest, "gpt-4o-", 7);
    CHECK_CSTR(maki_family_of((maki_str){ longest, sizeof longest })->name, "openai-o200k");

    tap_row("images by model");
    CHECK_EQ(maki_image_rule_of(MAKI_LIT("gpt-4o"))->tile, 170);
    CHECK_EQ(maki_image_rule_of(MAKI_LIT("gpt-4o-mini"))->tile, 5667);
    CHECK_EQ(maki_image_rule_of(MAKI_LIT("gpt-5"))->tile, 140);
    CHECK_EQ(maki_image_rule_of(MAKI_LIT("gpt-4.1-nano"))->kind, MAKI_IMAGE_PATCHES);
    CHECK_EQ(maki_image_rule_of(MAKI_LIT("claude-sonnet-4"))->kind, MAKI_IMAGE_AREA);
    CHECK_EQ(maki_image_rule_of(MAKI_LIT("gemini-2.5-pro"))->kind, MAKI_IMAGE_GEMINI);
    CHECK_EQ(maki_image_rule_of(MAKI_LIT("nobody"))->kind, MAKI_IMAGE_AREA);
}

static void test_table(void)
{
    const maki_family *family;
    tap_row("every family has an encoding, a plausible factor and a name of its own");
    for (size_t i = 0; (family = maki_family_at(i)) != NULL; i++) {
        CHECK(maki_encoding_find(family->encoding) != NULL);
        CHECK(family->factor > 0.5 && family->factor < 2);
        CHECK(family->error >= 0 && family->error < 0.5);
        CHECK(family->error > 0 || family->factor == 1);
        if (maki_family_exact(family)) {
            CHECK_DOUBLE(maki_family_text_scale(family, NULL), 1);
            CHECK_DOUBLE(maki_family_text_error(family, NULL), 0);
        }
        CHECK(maki_family_find(maki_str_of(family->name)) == family);
    }
    CHECK(maki_family_find(MAKI_LIT("nobody")) == NULL);

    tap_row("every pattern belongs to a family, and finds it");
    for (size_t i = 0; (family = maki_family_at(i)) != NULL; i++) {
        maki_str name;
        for (size_t k = 0; maki_family_pattern(family, k, &name); k++) {
            if (name.ptr[name.len - 1] == '*') name.len--;
            CHECK_CSTR(maki_family_of(name)->name, family->name);
        }
    }

    tap_row("an encoding is exact for its models");
    for (size_t i = 0; maki_encoding_at(i); i++) {
        family = maki_family_of_encoding(maki_encoding_at(i));
        CHECK_CSTR(family->encoding, maki_encoding_name(maki_encoding_at(i)));
        CHECK(maki_family_exact(family));
    }
}

/* ---- calibration ---------------------------------------------------------------------------------- */

static bool near(double a, double b, double within)
{
    return fabs(a - b) <= within;
}

static void test_calibration(void)
{
    const maki_family *claude = maki_family_find(MAKI_LIT("claude"));
    maki_calibration state = { 0 };
    tap_random random = { 5 };
    tap_row("nothing learnt: the family's");
    CHECK_DOUBLE(maki_family_scale(claude, &state), claude->factor);
    CHECK_DOUBLE(maki_family_scale(claude, NULL), claude->factor);
    CHECK_DOUBLE(maki_family_error(claude, &state), claude->error);

    tap_row("one long reply is nearly believed");
    CHECK(maki_calibration_add(&state, claude, 50000, 65000));
    CHECK(near(state.factor, 1.3, 0.01));
    CHECK_EQ(state.samples, 1);

    tap_row("many replies around 1.2: the factor is near, and the error is their spread");
    state = (maki_calibration){ 0 };
    for (int i = 0; i < 200; i++) {
        double ratio = 1.2 + ((double)tap_below(&random, 1000) / 1000 - 0.5) * 0.08;
        CHECK(maki_calibration_add(&state, claude, 20000, 20000 * ratio));
    }
    CHECK(near(state.factor, 1.2, 0.02));
    CHECK(state.error > 0.01 && state.error < 0.03);

    tap_row("one that is far off moves it little");
    double before = state.factor;
    CHECK(maki_calibration_add(&state, claude, 20000, 80000));
    CHECK(state.factor - before < 0.02);

    tap_row("a change that stays is followed");
    for (int i = 0; i < 100; i++)
        CHECK(maki_calibration_add(&state, claude, 20000, 20000 * 1.5));
    CHECK(near(state.factor, 1.5, 0.02));

    tap_row("short requests weigh little");
    before = state.factor;
    CHECK(maki_calibration_add(&state, claude, 10, 20));
    CHECK(near(state.factor, before, 0.002));

    tap_row("implausible samples are skipped");
    maki_calibration same = state;
    CHECK(!maki_calibration_add(&state, claude, 0, 100));
    CHECK(!maki_calibration_add(&state, claude, 100, 0));
    CHECK(!maki_calibration_add(&state, claude, -5, -5));
    CHECK(!maki_calibration_add(&state, claude, 100, 100000));
    CHECK(!maki_calibration_add(&state, claude, 100000, 100));
    CHECK(!maki_calibration_add(&state, claude, NAN, 100));
    CHECK(!maki_calibration_add(&state, claude, 100, INFINITY));
    CHECK(memcmp(&same, &state, sizeof state) == 0);
}

static void test_written(void)
{
    static const char *const wrong[] = {
        "null",
        "1",
        "[]",
        "{}",
        "{\"factor\":1,\"error\":0.1}",
        "{\"factor\":\"1\",\"error\":0.1,\"samples\":1}",
        "{\"factor\":100,\"error\":0.1,\"samples\":1}",
        "{\"factor\":1,\"error\":-1,\"samples\":1}",
        "{\"factor\":1,\"error\":0.1,\"samples\":-1}",
        "{\"factor\":1e999,\"error\":0.1,\"samples\":1}",
    };
    fake_env fe;
    maki_jw w;
    maki_calibration state = { 0 }, read = { 0 };
    const maki_family *claude = maki_family_find(MAKI_LIT("claude"));
    fake_env_init(&fe);
    maki_buf buf = maki_buf_new(fe.env.alloc, 1000);
    tap_row("written and read it is the same");
    for (int i = 0; i < 7; i++)
        maki_calibration_add(&state, claude, 1000 + i * 777, 1300 + i * 800);
    maki_jw_init(&w, maki_buf_sink(&buf), NULL);
    maki_calibration_write(&w, &state);
    CHECK_STATUS(maki_jw_end(&w), MAKI_OK, NULL);
    CHECK(maki_calibration_parse(maki_buf_str(&buf), &read));
    CHECK_DOUBLE(read.factor, state.factor);
    CHECK_DOUBLE(read.error, state.error);
    CHECK_EQ(read.samples, state.samples);
    maki_buf_free(&buf);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tap_row("not a calibration: %s", wrong[i]);
        CHECK(!maki_calibration_parse(maki_str_of(wrong[i]), &read));
        CHECK_EQ(read.samples, 7);
    }
}

int main(void)
{
    test_models();
    test_table();
    test_calibration();
    test_written();
    return tap_end();
}

/* window.c -- the context window of a model, and how to condense for it, by tables of model ids.
 *
 * In:     a model's id as any provider writes it ("openai/gpt-4.1", "us.anthropic.claude-...").
 * Out:    the documented window of its provider; 0 for an unknown model. */
#include "manage/window.h"

#include <math.h>
#include <stdint.h>

#include "base/str_util.h"
#include "token/family.h"

/* The longest pattern that matches wins; * matches anything.  A row with several models has the smallest window of them.
 * After each row come the document that says so and its date; "reference" marks what recorded cases demand. */
/* clang-format off */
static const struct window_row {
    const char *patterns;
    uint32_t tokens;
} windows[] = {
    { "claude*", 200000 },                                              /* Anthropic, Models overview, 2026-10 */
    { "claude-2|claude-2.0*|claude-instant*", 100000 },                 /* Anthropic, All models, 2024-06 */
    { "claude-opus-4-6*|claude-opus-4.6*|claude-opus-4-7*|claude-opus-4.7*|claude-opus-4-8*|claude-opus-4.8*|"
      "claude-sonnet-4-6*|claude-sonnet-4.6*|claude-opus-5*|claude-sonnet-5*|claude-haiku-5*|claude-fable*|"
      "claude-mythos*", 1000000 },                                      /* Anthropic, Models overview, 2026-10 */
    { "gpt-3.5-turbo*", 16000 },                                        /* reference; OpenAI, Models: 16,385, 2026-10 */
    { "gpt-4|gpt-4-*", 128000 },                                        /* reference; OpenAI, GPT-4 Turbo, 2024-04 */
    { "gpt-4o*|gpt-4.5*|chatgpt-4o*", 128000 },                         /* OpenAI, GPT-4o, 2025-04 */
    { "gpt-4.1*", 1047576 },                                            /* OpenAI, GPT-4.1, 2025-04 */
    { "gpt-5*", 400000 },                                               /* OpenAI, GPT-5; GPT-5-Codex, 2025-09 */
    { "gpt-5-chat*|gpt-5.1-chat*|gpt-5.2-chat*|gpt-5.3-chat*|gpt-5.3-codex-spark*", 128000 },
                                                                        /* OpenAI, GPT-5 Chat; GPT-5.3-Codex-Spark, 2026-02 */
    { "gpt-5.4*|gpt-5.5*|gpt-5.6*", 1050000 },                          /* OpenAI, GPT-5.4; GPT-5.5; GPT-5.6 Sol, 2026-07 */
    { "gpt-5.4-mini*|gpt-5.4-nano*|gpt-5.5-instant*", 400000 },         /* OpenAI, GPT-5.4 mini; GPT-5.5 Instant, 2026-05 */
    { "gpt-6*", 1050000 },                                              /* OpenAI, GPT-6 Astra; Sol; Luna, 2026-10 */
    { "gpt-oss*", 131072 },                                             /* OpenAI, gpt-oss-120b, 2025-08 */
    { "o1|o1-*|o3|o3-*|o4-mini*|codex-mini*", 200000 },                 /* OpenAI, o1; o3; o4-mini, 2025-06 */
    { "o1-mini*|o1-preview*", 128000 },                                 /* OpenAI, o1-mini, 2024-09 */
    { "gemini-2*|gemini-3*|gemini-flash*|gemini-pro-latest", 1048576 }, /* Google, Gemini API: Models, 2026-09 */
    { "gemini-4*", 1048576 },                                           /* Google, Get started with Gemini 4, 2026-11 */
    { "gemini-1.5-flash*", 1048576 },                                   /* Google, Gemini API: Models, 2024-09 */
    { "gemini-1.5-pro*", 2097152 },                                     /* Google, Gemini API: Models, 2024-09 */
    { "gemini-2.5-flash-image*|gemini-3-pro-image*", 32768 },           /* Google, Gemini 2.5 Flash Image, 2025-10 */
    { "gemma-3*|gemma3*", 131072 },                                     /* Google, Gemma 3 model card, 2025-03 */
    { "deepseek-chat|deepseek-reasoner|deepseek-v3*|deepseek-r1*", 128000 },
                                                                        /* DeepSeek, Models & Pricing, 2025-12 */
    { "deepseek-v4*|deepseek-flash*", 1000000 },                        /* DeepSeek, Models & Pricing, 2026-09 */
    { "grok-2*|grok-3*", 131072 },                                      /* xAI, Models, 2025-08 */
    { "grok-4|grok-4-0709|grok-code*|grok-build*", 256000 },            /* xAI, Models, 2026-07 */
    { "grok-4-fast*|grok-4-1-fast*|grok-4.1-fast*", 2000000 },          /* xAI, Models, 2025-11 */
    { "grok-4.20*|grok-4.3*", 1000000 },                                /* xAI, Models, 2026-07 */
    { "grok-4.5*|grok-4.6*|grok-4.7*", 500000 },                        /* xAI, Grok 4.5; Grok 4.7, 2026-09 */
    { "mistral-large*|mistral-medium*|mistral-small*|devstral*|magistral*|ministral*|pixtral*", 128000 },
                                                                        /* Mistral, Models, 2025-12 */
    { "mistral-large-latest|mistral-large-2512*|mistral-large-3*|mistral-medium-2604*|mistral-medium-3.5*|"
      "mistral-medium-3-5*|mistral-small-latest|mistral-small-2603*|mistral-small-4*|devstral-latest|devstral-2512*|"
      "ministral-*-2512*", 256000 },                                    /* Mistral, Large 3; Medium 3.5; Small 4, 2026-08 */
    { "codestral*", 256000 },                                           /* Mistral, Codestral 25.01, 2025-01 */
    { "codestral-22b*", 32768 },                                        /* Mistral, Codestral 22B model card, 2024-05 */
    { "qwen3-30b*", 32768 },                                            /* reference; Qwen, Qwen3-30B-A3B model card, 2025-04 */
    { "qwen3-30b-a3b-*-2507*", 262144 },                                /* Qwen, Qwen3-30B-A3B-Instruct-2507 model card, 2025-07 */
    { "qwen3-coder*|qwen3-max*", 262144 },                              /* Qwen, Qwen3-Coder model card, 2025-09; Alibaba, Models */
    { "qwen3-coder-plus*|qwen3-coder-flash*|qwen-plus|qwen-plus-latest|qwen-flash*|qwen3.5-plus*|qwen3.6-plus*|"
      "qwen3.7-max*", 1000000 },                                        /* Alibaba, Model Studio: Models, 2026-06 */
    { "kimi-k2*", 262144 },                                             /* Moonshot, Kimi API: Models, 2026-06 */
    { "kimi-k2-0711*", 131072 },                                        /* Moonshot, Kimi K2 model card, 2025-07 */
    { "kimi-k3*", 1048576 },                                            /* Moonshot, Kimi K3, 2026-07 */
    { "glm-4.5*", 131072 },                                             /* Z.ai, GLM-4.5, 2025-08 */
    { "glm-4.6*|glm-4.7*|glm-5|glm-5.1*", 200000 },                     /* Z.ai, GLM-4.6; GLM-5, 2026-02 */
    { "glm-5.2*|glm-5.3*", 1048576 },                                   /* Z.ai, GLM-5.2, 2026-06 */
    { "command-r*", 128000 },                                           /* Cohere, Command R, 2024-08 */
    { "command-a*", 256000 },                                           /* Cohere, Command A, 2025-03 */
    { "command-a-plus*", 128000 },                                      /* Cohere, Command A+ model cards (w4a4), 2026-05 */
    { "llama-3.1*|llama-3.2*|llama-3.3*|llama3.1*|llama3.2*|llama3.3*|meta-llama-3.1*", 131072 },
                                                                        /* Meta, Llama 3.1; 3.3 model cards, 2024-12 */
    { "llama-4*|llama4*", 128000 },                                     /* Meta, Llama API: Models, 2025-05 */
};
/* clang-format on */

double maki_window_of_model(maki_str model_id)
{
    maki_str name = maki_model_own_name(model_id), pattern;
    size_t longest = 0;
    double tokens = 0;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        for (const char *list = windows[i].patterns; maki_words_next(&list, &pattern);) {
            if (pattern.len <= longest || !maki_str_glob(pattern, name, true)) continue;
            longest = pattern.len;
            tokens = windows[i].tokens;
        }
    }
    return tokens;
}

double maki_window_resolve(double model, double config, double agent_default)
{
    const double candidates[] = { model, config, agent_default };
    for (size_t i = 0; i < 3; i++) {
        if (isfinite(candidates[i]) && floor(candidates[i]) > 0) return floor(candidates[i]);
    }
    return MAKI_WINDOW_DEFAULT;
}

maki_strategy maki_strategy_of(maki_str model_id)
{
    /* expensive models condense late and summarize themselves; cheap ones condense early */
    if (maki_str_contains(model_id, MAKI_LIT("opus")))
        return (maki_strategy){ 80, model_id, 0.7, 5 };
    if (maki_str_contains(model_id, MAKI_LIT("haiku")))
        return (maki_strategy){ 60, model_id, 0.8, 3 };
    if (maki_str_contains(model_id, MAKI_LIT("sonnet"))) {
        return (maki_strategy){ 75, MAKI_LIT("claude-3-5-haiku-20241022"), 0.75, 3 };
    }
    if (maki_str_contains(model_id, MAKI_LIT("gpt"))) {
        return (maki_strategy){ 70, MAKI_LIT("gpt-4-turbo"), 0.75, 3 };
    }
    return (maki_strategy){ 75, model_id, 0.75, 3 };
}

/* window.c -- the context window of a model, and how to condense for it, by tables of model ids.
 *
 * In:     a model's id as any provider writes it ("openai/gpt-4.1", "us.anthropic.claude-...").
 * Out:    the documented window of its provider; 0 for an unknown model. */
#include "manage/window.h"

#include <math.h>
#include <stdint.h>

#include "base/str_util.h"
#include "token/family.h"

/* The longest pattern that matches wins; * at its end matches anything.  A row with several models has the smallest window
 * of them.  Source and date of each row follow it; "reference" is the strategy table that recorded cases depend on. */
/* clang-format off */
static const struct window_row {
    const char *patterns;
    uint32_t tokens;
} windows[] = {
    { "claude*", 200000 },                                              /* platform.claude.com/docs/en/about-claude/models, 2026-10 */
    { "claude-2|claude-2.0*|claude-instant*", 100000 },                 /* docs.anthropic.com/en/docs/about-claude/models, 2024-06 */
    { "claude-opus-4-6*|claude-opus-4.6*|claude-opus-4-7*|claude-opus-4.7*|claude-opus-4-8*|claude-opus-4.8*|"
      "claude-sonnet-4-6*|claude-sonnet-4.6*|claude-opus-5*|claude-sonnet-5*|claude-haiku-5*|claude-fable*|"
      "claude-mythos*", 1000000 },                                      /* platform.claude.com/docs/en/about-claude/models, 2026-10 */
    { "gpt-3.5-turbo*", 16000 },                                        /* reference, 2024 */
    { "gpt-4|gpt-4-*|gpt-4o*|gpt-4.5*|chatgpt-4o*", 128000 },           /* developers.openai.com/api/docs/models, 2025-04; gpt-4: reference */
    { "gpt-4.1*", 1047576 },                                            /* developers.openai.com/api/docs/models/gpt-4.1, 2025-04 */
    { "gpt-5*", 400000 },                                               /* developers.openai.com/api/docs/models/gpt-5, 2025-08 */
    { "gpt-5-chat*|gpt-5.1-chat*|gpt-5.2-chat*|gpt-5.3-chat*|gpt-5.3-codex-spark*", 128000 },
                                                                        /* developers.openai.com/api/docs/models, 2026-02 */
    { "gpt-5.4*|gpt-5.5*|gpt-5.6*", 1050000 },                          /* developers.openai.com/api/docs/models/gpt-5.6-sol, 2026-07 */
    { "gpt-5.4-mini*|gpt-5.4-nano*", 400000 },                          /* developers.openai.com/api/docs/models/gpt-5.4-mini, 2026-03 */
    { "gpt-oss*", 131072 },                                             /* developers.openai.com/api/docs/models/gpt-oss-120b, 2025-08 */
    { "o1|o1-*|o3|o3-*|o4-mini*|codex-mini*", 200000 },                 /* developers.openai.com/api/docs/models/o3, 2025-06 */
    { "o1-mini*|o1-preview*", 128000 },                                 /* developers.openai.com/api/docs/models/o1-mini, 2024-09 */
    { "gemini-2*|gemini-3*|gemini-flash*|gemini-pro-latest", 1048576 }, /* ai.google.dev/gemini-api/docs/models, 2026-07 */
    { "gemini-1.5-flash*", 1048576 },                                   /* ai.google.dev/gemini-api/docs/models, 2024-09 */
    { "gemini-1.5-pro*", 2097152 },                                     /* ai.google.dev/gemini-api/docs/models, 2024-09 */
    { "gemini-2.5-flash-image*|gemini-3-pro-image*", 32768 },           /* ai.google.dev/gemini-api/docs/models, 2025-11 */
    { "gemma-3*", 131072 },                                             /* ai.google.dev/gemma/docs/core, 2025-03 */
    { "deepseek-chat|deepseek-reasoner|deepseek-v3*|deepseek-r1*", 128000 },
                                                                        /* api-docs.deepseek.com/quick_start/pricing, 2025-12 */
    { "deepseek-v4*", 1000000 },                                        /* api-docs.deepseek.com/quick_start/pricing, 2026-06 */
    { "grok-2*|grok-3*", 131072 },                                      /* docs.x.ai/docs/models, 2025-08 */
    { "grok-4|grok-4-0709|grok-code*|grok-build*", 256000 },            /* docs.x.ai/docs/models, 2026-07 */
    { "grok-4-fast*|grok-4-1-fast*|grok-4.1-fast*", 2000000 },          /* docs.x.ai/docs/models, 2025-11 */
    { "grok-4.20*|grok-4.3*", 1000000 },                                /* docs.x.ai/developers/models, 2026-07 */
    { "grok-4.5*", 500000 },                                            /* docs.x.ai/developers/grok-4-5, 2026-07 */
    { "mistral-large*|mistral-medium*|mistral-small*|codestral*|devstral*|magistral*|ministral*|pixtral*", 128000 },
                                                                        /* docs.mistral.ai/getting-started/models, 2025-12 */
    { "qwen3-30b*", 32768 },                                            /* reference; huggingface.co/Qwen/Qwen3-30B-A3B, 2025-04 */
    { "qwen3-coder*|qwen3-max*", 262144 },                              /* huggingface.co/Qwen/Qwen3-Coder-480B-A35B-Instruct, 2025-09 */
    { "kimi-k2*", 262144 },                                             /* platform.moonshot.ai/docs, 2026-06 */
    { "kimi-k2-0711*", 131072 },                                        /* platform.moonshot.ai/docs, 2025-07 */
    { "glm-4.5*", 131072 },                                             /* docs.z.ai/guides/llm/glm-4.5, 2025-08 */
    { "glm-4.6*|glm-4.7*|glm-5|glm-5.1*", 200000 },                     /* docs.z.ai/guides/llm/glm-4.6, 2026-02 */
    { "glm-5.2*|glm-5.3*", 1048576 },                                   /* docs.z.ai/guides/llm/glm-5.2, 2026-06 */
    { "command-r*", 128000 },                                           /* docs.cohere.com/docs/models, 2024-08 */
    { "command-a*", 256000 },                                           /* docs.cohere.com/docs/command-a, 2025-03 */
    { "command-a-plus*", 128000 },                                      /* huggingface.co/CohereLabs/command-a-plus-05-2026, 2026-05 */
    { "llama-3.1*|llama-3.2*|llama-3.3*|llama3.1*|llama3.2*|llama3.3*|meta-llama-3.1*", 131072 },
                                                                        /* llama.com/docs/model-cards-and-prompt-formats, 2024-12 */
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
    if (maki_str_has(model_id, MAKI_LIT("opus"))) return (maki_strategy){ 80, model_id, 0.7, 5 };
    if (maki_str_has(model_id, MAKI_LIT("haiku"))) return (maki_strategy){ 60, model_id, 0.8, 3 };
    if (maki_str_has(model_id, MAKI_LIT("sonnet"))) {
        return (maki_strategy){ 75, MAKI_LIT("claude-3-5-haiku-20241022"), 0.75, 3 };
    }
    if (maki_str_has(model_id, MAKI_LIT("gpt"))) {
        return (maki_strategy){ 70, MAKI_LIT("gpt-4-turbo"), 0.75, 3 };
    }
    return (maki_strategy){ 75, model_id, 0.75, 3 };
}

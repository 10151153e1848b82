/* window.c -- the windows of known models, and the strategy for a family of models by a word in its id. */
#include "manage/window.h"

#include <math.h>

#include "base/str_util.h"

double maki_window_of_model(maki_str model_id)
{
    static const struct {
        const char *prefix;
        double tokens;
    } models[] = {
        { "claude-opus-4-5-20251101", 200000 },
        { "claude-3-7-sonnet-20250219", 200000 },
        { "claude-3-5-haiku-20241022", 200000 },
        { "gpt-4-turbo", 128000 },
        { "gpt-4o", 128000 },
        { "gpt-4", 128000 },
        { "gpt-3.5-turbo", 16000 },
        { "qwen3-30b", 32768 },
    };
    double tokens = 0;
    size_t longest = 0;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        maki_str prefix = maki_str_of(models[i].prefix);
        if (prefix.len <= longest || !maki_str_starts(model_id, prefix)) continue;
        longest = prefix.len;
        tokens = models[i].tokens;
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
    /* expensive and good: use much of the window, and let it summarise itself; cheap: condense early */
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

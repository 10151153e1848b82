/* request_fields.c -- values derived from the fields of a request, for every protocol: the level of thinking, how
 * earlier reasoning is sent (by the prefix of the provider's name, else of the model's), the choice of tools. */
#include "wire/request_fields.h"

#include "base/err.h"
#include "base/str_util.h"

static const char *const level_names[] = { "", "off", "minimal", "low", "medium", "high" };

maki_status maki_thinking_parse(maki_str name, maki_thinking *out, maki_err *err)
{
    size_t level = maki_str_index(name, "off|minimal|low|medium|high");
    if (level != SIZE_MAX) {
        *out = (maki_thinking)(MAKI_THINKING_OFF + level);
        return MAKI_OK;
    }
    return maki_fail(err, MAKI_INVALID,
                     "unknown level of thinking '%.*s': use off, minimal, low, medium or high",
                     (int)(name.len < 40 ? name.len : 40), name.ptr);
}

maki_str maki_thinking_level(const maki_request *r)
{
    return maki_str_of(level_names[r->thinking]);
}

maki_str maki_thinking_level_low(const maki_request *r)
{
    return r->thinking == MAKI_THINKING_MINIMAL ? MAKI_LIT("low") : maki_thinking_level(r);
}

bool maki_request_thinks(const maki_request *r)
{
    return r->thinking >= MAKI_THINKING_MINIMAL;
}

static bool has_any_prefix(maki_str text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (maki_str_starts(text, maki_str_of(names[i]))) return true;
    }
    return false;
}

maki_reasoning maki_request_reasoning(const maki_request *r)
{
    static const char *const content[] = { "deepseek", "zai", "z.ai", "zhipu", "glm" };
    static const char *const refused[] = { "openai", "azure", "gpt-", "chatgpt", "o1", "o3", "o4" };
    maki_str provider = r->provider.len ? r->provider : r->model;
    if (has_any_prefix(provider, content, 5)) return MAKI_REASONING_CONTENT;
    return has_any_prefix(provider, refused, 7) ? MAKI_REASONING_REFUSED : MAKI_REASONING_UNCHANGED;
}

bool maki_tool_choice_is(const maki_request *r, const char *word)
{
    return maki_str_equal(r->tool_choice, maki_str_of(word));
}

bool maki_tool_choice_is_name(const maki_request *r)
{
    return !maki_tool_choice_is(r, "auto") && !maki_tool_choice_is(r, "none") &&
           !maki_tool_choice_is(r, "required");
}

bool maki_request_requires_tool(const maki_request *r)
{
    return r->tools.len && r->tool_choice.len && !maki_tool_choice_is(r, "auto") &&
           !maki_tool_choice_is(r, "none");
}

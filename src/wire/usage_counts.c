/* usage_counts.c -- the places where providers say how many tokens a reply cost.
 *
 * They disagree on what includes what: Anthropic's input is without what came from the cache, Gemini's
 * output without thoughts.  Here input and output are everything. */
#include "wire/reply.h"

static uint64_t inside(maki_str usage, maki_str object, maki_str name)
{
    return maki_get_count(maki_get(usage, object), name);
}

static maki_wire_usage of_anthropic(maki_str u)
{
    maki_wire_usage out = { .cache_read = maki_get_count(u, MAKI_LIT("cache_read_input_tokens")),
                            .cache_write =
                                maki_get_count(u, MAKI_LIT("cache_creation_input_tokens")),
                            .output = maki_get_count(u, MAKI_LIT("output_tokens")) };
    out.input = maki_get_count(u, MAKI_LIT("input_tokens")) + out.cache_read + out.cache_write;
    return out;
}

static maki_wire_usage of_chat(maki_str u)
{
    maki_wire_usage out = {
        .input = maki_get_count(u, MAKI_LIT("prompt_tokens")),
        .output = maki_get_count(u, MAKI_LIT("completion_tokens")),
        .cache_read = inside(u, MAKI_LIT("prompt_tokens_details"), MAKI_LIT("cached_tokens")),
        .reasoning = inside(u, MAKI_LIT("completion_tokens_details"), MAKI_LIT("reasoning_tokens"))
    };
    if (out.cache_read == 0) /* DeepSeek's name for it */
        out.cache_read = maki_get_count(u, MAKI_LIT("prompt_cache_hit_tokens"));
    return out;
}

static maki_wire_usage of_responses(maki_str u)
{
    return (maki_wire_usage){
        .input = maki_get_count(u, MAKI_LIT("input_tokens")),
        .output = maki_get_count(u, MAKI_LIT("output_tokens")),
        .cache_read = inside(u, MAKI_LIT("input_tokens_details"), MAKI_LIT("cached_tokens")),
        .reasoning = inside(u, MAKI_LIT("output_tokens_details"), MAKI_LIT("reasoning_tokens"))
    };
}

static maki_wire_usage of_ollama(maki_str u)
{
    return (maki_wire_usage){ .input = maki_get_count(u, MAKI_LIT("prompt_eval_count")),
                              .output = maki_get_count(u, MAKI_LIT("eval_count")) };
}

static maki_wire_usage of_gemini(maki_str u)
{
    maki_wire_usage out = { .input = maki_get_count(u, MAKI_LIT("promptTokenCount")) +
                                     maki_get_count(u, MAKI_LIT("toolUsePromptTokenCount")),
                            .cache_read = maki_get_count(u, MAKI_LIT("cachedContentTokenCount")),
                            .reasoning = maki_get_count(u, MAKI_LIT("thoughtsTokenCount")) };
    out.output = maki_get_count(u, MAKI_LIT("candidatesTokenCount")) + out.reasoning;
    return out;
}

maki_wire_usage maki_usage_counts(maki_protocol protocol, maki_str usage)
{
    maki_wire_usage out = { 0 };
    if (!maki_is_object(usage)) return out;
    switch (protocol) {
    case MAKI_WIRE_ANTHROPIC: out = of_anthropic(usage); break;
    case MAKI_WIRE_CHAT: out = of_chat(usage); break;
    case MAKI_WIRE_RESPONSES: out = of_responses(usage); break;
    case MAKI_WIRE_OLLAMA:
    case MAKI_WIRE_GENERATE: out = of_ollama(usage); break;
    case MAKI_WIRE_GEMINI: out = of_gemini(usage); break;
    case MAKI_WIRE_NONE: break;
    }
    out.known = out.input || out.output;
    return out;
}

/* error_hint.c -- extract the context window and the retry delay from a provider's error: fields of its JSON first, then
 * known phrases of its message.
 *
 * Phrases are matched case-insensitively.  A number of more than 12 digits is ignored. */
#include "send/error_hint.h"

#include "base/json_access.h"
#include "base/str_util.h"
#include "send/backoff.h"
#include "wire/json_row.h"

enum { DURATION_MAX = 64 };

/* ---- context window -------------------------------------------------------------------------------------- */

/* The number follows `phrase`, or the first `separator` after it. */
static const struct window_row {
    const char *phrase, *separator;
} window_rows[] = {
    { "maximum context length is", "" }, /* OpenAI, DeepSeek, OpenRouter, vLLM */
    { "maximum model length of", "" },   /* vLLM */
    { "maximum prompt length is", "" },  /* xAI */
    { "prompt is too long:", ">" },      /* Anthropic: 210000 tokens > 200000 maximum */
    { "exceed context limit:", ">" },    /* Anthropic: 190000 + 20000 > 200000, decrease ... */
    { "number of tokens allowed", "" },  /* Gemini: (1048576) */
    { "available context size", "" },    /* llama.cpp, Ollama: (4096 tokens) */
    { "context length of only", "" },    /* LM Studio */
    { "too large for model with", "" },  /* Mistral */
    { "exceeds the limit of", "" },      /* Copilot */
};

/* Parse 8192 or 8,192 after spaces and a bracket; 0: there is no number, or it is too long. */
static uint64_t parse_number(maki_str text)
{
    enum { DIGITS_MAX = 12 };
    uint64_t value = 0;
    size_t at = 0, digits = 0;
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '('))
        at++;
    for (; at < text.len; at++) {
        char c = text.ptr[at];
        if (c >= '0' && c <= '9') {
            value = value * 10 + (uint64_t)(c - '0');
            if (++digits > DIGITS_MAX) return 0;
        } else if (c != ',' || digits == 0 || at + 1 == text.len || text.ptr[at + 1] < '0' ||
                   text.ptr[at + 1] > '9') {
            break;
        }
    }
    return value;
}

static maki_str text_after(maki_str text, const char *phrase)
{
    maki_str needle = maki_str_of(phrase);
    size_t at = needle.len ? maki_str_find_nocase(text, needle) : 0;
    return at < text.len ? maki_str_skip(text, at + needle.len) : (maki_str){ "", 0 };
}

uint64_t maki_error_hint_window(maki_str error, maki_str message)
{
    uint64_t window = maki_member_count(error, MAKI_LIT("n_ctx"));
    for (size_t i = 0; !window && i < sizeof window_rows / sizeof window_rows[0]; i++) {
        maki_str rest = text_after(message, window_rows[i].phrase);
        if (rest.len) window = parse_number(text_after(rest, window_rows[i].separator));
    }
    return window;
}

/* ---- retry delay ------------------------------------------------------------------------------------------------ */

/* Gemini: {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"} among the details. */
static int64_t delay_in_details(maki_str details)
{
    maki_json_iter iter = maki_array_items(details);
    maki_json_item item;
    char text[DURATION_MAX];
    while (maki_json_next(&iter, &item)) {
        maki_str delay =
            maki_is_object(item.value) ? maki_json_string(item.value, "retryDelay") : MAKI_LIT("");
        if (!delay.len) continue;
        return maki_backoff_parse_duration(
            (maki_str){ text, maki_json_copy_text(delay, text, sizeof text) });
    }
    return -1;
}

/* OpenRouter: {"metadata": {"headers": {"X-RateLimit-Reset": "1741305600000"}}}. */
static int64_t delay_in_metadata(maki_str metadata, int64_t now_ms)
{
    char text[DURATION_MAX];
    maki_str headers =
        maki_is_object(metadata) ? maki_member(metadata, MAKI_LIT("headers")) : MAKI_LIT("");
    maki_str reset =
        maki_is_object(headers) ? maki_json_string(headers, "X-RateLimit-Reset") : MAKI_LIT("");
    if (!reset.len) return -1;
    size_t n = maki_json_copy_text(reset, text, sizeof text);
    return maki_backoff_parse_reset((maki_str){ text, n }, now_ms);
}

static int64_t delay_in_message(maki_str message)
{
    static const char *const phrases[] = { "try again in ", "retry in ", "retry after " };
    int64_t ms = -1;
    for (size_t i = 0; ms < 0 && i < sizeof phrases / sizeof phrases[0]; i++)
        ms = maki_backoff_parse_duration(text_after(message, phrases[i]));
    return ms;
}

int64_t maki_error_hint_retry_delay(maki_str error, maki_str message, int64_t now_ms)
{
    int64_t ms = delay_in_details(maki_member(error, MAKI_LIT("details")));
    if (ms < 0) ms = delay_in_metadata(maki_member(error, MAKI_LIT("metadata")), now_ms);
    return ms >= 0 ? ms : delay_in_message(message);
}

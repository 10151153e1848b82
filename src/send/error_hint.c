/* error_hint.c -- see error_hint.h. */
#include "send/error_hint.h"

#include "base/json_access.h"
#include "base/str_util.h"
#include "send/backoff.h"
#include "wire/json_row.h"

enum { SPAN_MAX = 64 };

/* ---- the window ------------------------------------------------------------------------------------------ */

/* The number stands behind `mark`; with `then`, behind that, which comes later in the words. */
static const struct window_row {
    const char *mark, *then;
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

/* 8192 or 8,192 at the beginning, behind spaces and a bracket; 0: there is none, or one that nobody means. */
static uint64_t number_at(maki_str text)
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

static maki_str behind(maki_str text, const char *mark)
{
    maki_str m = maki_str_of(mark);
    size_t at = m.len ? maki_str_find_nocase(text, m) : 0;
    return at < text.len ? maki_str_from(text, at + m.len) : (maki_str){ "", 0 };
}

uint64_t maki_error_hint_window(maki_str error, maki_str words)
{
    uint64_t window = maki_is_object(error) ? maki_member_count(error, MAKI_LIT("n_ctx")) : 0;
    for (size_t i = 0; !window && i < sizeof window_rows / sizeof window_rows[0]; i++) {
        maki_str rest = behind(words, window_rows[i].mark);
        if (rest.len) window = number_at(behind(rest, window_rows[i].then));
    }
    return window;
}

/* ---- the pause ------------------------------------------------------------------------------------------- */

/* Gemini: {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"} among the details. */
static int64_t wait_in_details(maki_str details)
{
    maki_json_iter iter = maki_json_items(details);
    maki_json_item item;
    char text[SPAN_MAX];
    while (maki_is_array(details) && maki_json_next(&iter, &item)) {
        maki_str delay = maki_is_object(item.value)
                             ? maki_member_string(item.value, MAKI_LIT("retryDelay"))
                             : MAKI_LIT("");
        if (!delay.len) continue;
        return maki_backoff_span((maki_str){ text, maki_json_copy_text(delay, text, sizeof text) });
    }
    return -1;
}

/* OpenRouter: {"metadata": {"headers": {"X-RateLimit-Reset": "1741305600000"}}}. */
static int64_t wait_in_metadata(maki_str metadata, int64_t now_ms)
{
    char text[SPAN_MAX];
    maki_str headers =
        maki_is_object(metadata) ? maki_member(metadata, MAKI_LIT("headers")) : MAKI_LIT("");
    maki_str reset = maki_is_object(headers)
                         ? maki_member_string(headers, MAKI_LIT("X-RateLimit-Reset"))
                         : MAKI_LIT("");
    if (!reset.len) return -1;
    size_t n = maki_json_copy_text(reset, text, sizeof text);
    return maki_backoff_reset((maki_str){ text, n }, now_ms);
}

static int64_t wait_in_words(maki_str words)
{
    static const char *const marks[] = { "try again in ", "retry in ", "retry after " };
    int64_t ms = -1;
    for (size_t i = 0; ms < 0 && i < sizeof marks / sizeof marks[0]; i++)
        ms = maki_backoff_span(behind(words, marks[i]));
    return ms;
}

int64_t maki_error_hint_wait(maki_str error, maki_str words, int64_t now_ms)
{
    int64_t ms = -1;
    if (maki_is_object(error)) {
        ms = wait_in_details(maki_member(error, MAKI_LIT("details")));
        if (ms < 0) ms = wait_in_metadata(maki_member(error, MAKI_LIT("metadata")), now_ms);
    }
    return ms >= 0 ? ms : wait_in_words(words);
}

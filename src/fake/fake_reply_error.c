/* fake_reply_error.c -- format errors with the status, type and message of each provider, by which clients decide
 * whether to retry. */
#include <stdio.h>

#include "base/str_util.h"
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

typedef struct error_row {
    int status;
    const char *kind; /* the provider's type of error */
    const char *code; /* OpenAI only */
    const char *message;
} error_row;

static const error_row openai_rows[] = {
    [FAKE_RATE_LIMIT] = { 429, "requests", "rate_limit_exceeded",
                          "Rate limit reached for fake on requests per min (RPM): Limit 3, Used 3, "
                          "Requested 1. Please try again in 1s." },
    [FAKE_SERVER_ERROR] = { 500, "server_error", "server_error",
                            "The server had an error while processing your request. Sorry about "
                            "that!" },
    [FAKE_OVERFLOW] = { 400, "invalid_request_error", "context_length_exceeded",
                        "This model's maximum context length is 128000 tokens. However, your "
                        "messages resulted in 150000 tokens. Please reduce the length of the "
                        "messages." },
    [FAKE_BUSY] = { 503, "server_error", "server_error",
                    "The engine is currently overloaded, please try again later" },
    [FAKE_KEY] = { 401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided." },
    [FAKE_FORBIDDEN] = { 403, "invalid_request_error", "unsupported_country_region_territory",
                         "Country, region, or territory not supported" },
    [FAKE_NO_MODEL] = { 404, "invalid_request_error", "model_not_found",
                        "The model `fake` does not exist or you do not have access to it." },
    [FAKE_QUOTA] = { 429, "insufficient_quota", "insufficient_quota",
                     "You exceeded your current quota, please check your plan and billing "
                     "details." },
    [FAKE_BAD_REQUEST] = { 400, "invalid_request_error", "invalid_request", "" },
};
static const error_row anthropic_rows[] = {
    [FAKE_RATE_LIMIT] = { 429, "rate_limit_error", "",
                          "This request would exceed your rate limit of 3 requests per minute." },
    [FAKE_SERVER_ERROR] = { 500, "api_error", "", "Internal server error" },
    [FAKE_OVERFLOW] = { 400, "invalid_request_error", "",
                        "prompt is too long: 210000 tokens > 200000 maximum" },
    [FAKE_BUSY] = { 529, "overloaded_error", "", "Overloaded" },
    [FAKE_KEY] = { 401, "authentication_error", "", "invalid x-api-key" },
    [FAKE_FORBIDDEN] = { 403, "permission_error", "",
                         "Your API key does not have permission to use the specified "
                         "resource." },
    [FAKE_NO_MODEL] = { 404, "not_found_error", "", "model: fake" },
    [FAKE_QUOTA] = { 402, "billing_error", "",
                     "Your credit balance is too low to access the API." },
    [FAKE_BAD_REQUEST] = { 400, "invalid_request_error", "", "" },
};
static const error_row ollama_rows[] = {
    [FAKE_RATE_LIMIT] = { 429, "", "", "too many requests" },
    [FAKE_SERVER_ERROR] = { 500, "", "", "llama runner process has terminated" },
    [FAKE_OVERFLOW] = { 400, "", "", "the input length exceeds the context length" },
    [FAKE_BUSY] = { 503, "", "", "server busy, please try again" },
    [FAKE_KEY] = { 401, "", "", "unauthorized" },
    [FAKE_FORBIDDEN] = { 403, "", "", "forbidden" },
    [FAKE_NO_MODEL] = { 404, "", "", "model 'fake' not found" },
    [FAKE_QUOTA] = { 402, "", "", "this model requires a subscription" },
    [FAKE_BAD_REQUEST] = { 400, "", "", "" },
};
static const error_row gemini_rows[] = {
    [FAKE_RATE_LIMIT] = { 429, "RESOURCE_EXHAUSTED", "",
                          "You exceeded your current quota. Please retry in 1s." },
    [FAKE_SERVER_ERROR] = { 500, "INTERNAL", "", "An internal error has occurred." },
    [FAKE_OVERFLOW] = { 400, "INVALID_ARGUMENT", "",
                        "The input token count (1200000) exceeds the maximum number of "
                        "tokens allowed (1048576)." },
    [FAKE_BUSY] = { 503, "UNAVAILABLE", "", "The model is overloaded. Please try again later." },
    [FAKE_KEY] = { 401, "UNAUTHENTICATED", "", "API key not valid." },
    [FAKE_FORBIDDEN] = { 403, "PERMISSION_DENIED", "", "Permission denied on resource project." },
    [FAKE_NO_MODEL] = { 404, "NOT_FOUND", "", "models/fake is not found for API version v1beta." },
    [FAKE_QUOTA] = { 402, "RESOURCE_EXHAUSTED", "", "Your prepayment is used up." },
    [FAKE_BAD_REQUEST] = { 400, "INVALID_ARGUMENT", "", "" },
};

/* The provider of a path. */
typedef enum provider { OPENAI, ANTHROPIC, OLLAMA, GEMINI } provider;

static provider provider_of(maki_str path)
{
    if (maki_str_contains(path, MAKI_LIT("/messages"))) return ANTHROPIC;
    if (maki_str_contains(path, MAKI_LIT("/api/"))) return OLLAMA;
    return maki_str_contains(path, MAKI_LIT("/v1beta/")) ? GEMINI : OPENAI;
}

int fake_reply_error(maki_buf *out, maki_str path, fake_action error, const char *message,
                     maki_str delay)
{
    static const struct {
        const error_row *rows;
        const char *format;
    } all[] = {
        [OPENAI] = { openai_rows, "{'error':{'message':%t,'type':%t,'param':null,'code':%t}}\n" },
        [ANTHROPIC] = { anthropic_rows, "{'type':'error','error':{'message':%t,'type':%t},"
                                        "'request_id':'req_fake'}\n" },
        [OLLAMA] = { ollama_rows, "{'error':%t}\n" },
        [GEMINI] = { gemini_rows, "{'error':{'message':%t,'status':%t,'code':" },
    };
    provider name = provider_of(path);
    const error_row *row = &all[name].rows[error];
    maki_str text = maki_str_of(message[0] ? message : row->message);
    fake_write(out, all[name].format, text, maki_str_of(row->kind), maki_str_of(row->code));
    if (name != GEMINI) return row->status;
    fake_write(out, "%n", (int64_t)row->status);
    if (delay.len)
        fake_write(out,
                   ",'details':[{'@type':'type.googleapis.com/google.rpc.Help','links':[]},"
                   "{'@type':'type.googleapis.com/google.rpc.RetryInfo','retryDelay':%t}]",
                   delay);
    fake_write(out, "}}\n");
    return row->status;
}

void fake_overflow_message(maki_str path, uint64_t tokens, uint64_t window, char *out,
                           size_t capacity)
{
    static const char *const shapes[] = {
        [OPENAI] = "This model's maximum context length is %2$llu tokens. However, your messages "
                   "resulted in %1$llu tokens. Please reduce the length of the messages.",
        [ANTHROPIC] = "prompt is too long: %llu tokens > %llu maximum",
        [OLLAMA] = "request (%llu tokens) exceeds the available context size (%llu tokens), try "
                   "increasing it",
        [GEMINI] = "The input token count (%llu) exceeds the maximum number of tokens allowed "
                   "(%llu).",
    };
    snprintf(out, capacity, shapes[provider_of(path)], (unsigned long long)tokens,
             (unsigned long long)window);
}

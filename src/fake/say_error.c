/* say_error.c -- errors, each in its provider's words: clients decide by them whether to try again. */
#include "base/str.h"
#include "fake/say.h"
#include "fake/write.h"

typedef struct error_row {
    int status;
    const char *kind; /* what the provider calls it */
    const char *code; /* OpenAI only */
    const char *words;
} error_row;

static const error_row openai_rows[] = {
    [FAKE_ERROR_LIMIT] = { 429, "requests", "rate_limit_exceeded",
                           "Rate limit reached for fake on requests per min (RPM): Limit 3, Used 3, "
                           "Requested 1. Please try again in 1s." },
    [FAKE_ERROR_BROKEN] = { 500, "server_error", "server_error",
                            "The server had an error while processing your request. Sorry about "
                            "that!" },
    [FAKE_ERROR_OVERFLOW] = { 400, "invalid_request_error", "context_length_exceeded",
                              "This model's maximum context length is 128000 tokens. However, your "
                              "messages resulted in 150000 tokens. Please reduce the length of the "
                              "messages." },
    [FAKE_ERROR_BAD] = { 400, "invalid_request_error", "invalid_request", "" },
};
static const error_row anthropic_rows[] = {
    [FAKE_ERROR_LIMIT] = { 429, "rate_limit_error", "",
                           "This request would exceed your rate limit of 3 requests per minute." },
    [FAKE_ERROR_BROKEN] = { 500, "api_error", "", "Internal server error" },
    [FAKE_ERROR_OVERFLOW] = { 400, "invalid_request_error", "",
                              "prompt is too long: 210000 tokens > 200000 maximum" },
    [FAKE_ERROR_BAD] = { 400, "invalid_request_error", "", "" },
};
static const error_row ollama_rows[] = {
    [FAKE_ERROR_LIMIT] = { 429, "", "", "too many requests" },
    [FAKE_ERROR_BROKEN] = { 500, "", "", "llama runner process has terminated" },
    [FAKE_ERROR_OVERFLOW] = { 400, "", "", "the input length exceeds the context length" },
    [FAKE_ERROR_BAD] = { 400, "", "", "" },
};
static const error_row gemini_rows[] = {
    [FAKE_ERROR_LIMIT] = { 429, "RESOURCE_EXHAUSTED", "",
                           "You exceeded your current quota. Please retry in 1s." },
    [FAKE_ERROR_BROKEN] = { 500, "INTERNAL", "", "An internal error has occurred." },
    [FAKE_ERROR_OVERFLOW] = { 400, "INVALID_ARGUMENT", "",
                              "The input token count (1200000) exceeds the maximum number of "
                              "tokens allowed (1048576)." },
    [FAKE_ERROR_BAD] = { 400, "INVALID_ARGUMENT", "", "" },
};

int fake_say_error(maki_buf *out, maki_str path, fake_error error, const char *words)
{
    const error_row *row = &openai_rows[error];
    const char *shape = "{'error':{'message':%t,'type':%t,'param':null,'code':%t}}\n";
    if (maki_str_has(path, MAKI_LIT("/messages"))) {
        row = &anthropic_rows[error];
        shape = "{'type':'error','error':{'message':%t,'type':%t},'request_id':'req_fake'}\n";
    } else if (maki_str_has(path, MAKI_LIT("/api/"))) {
        row = &ollama_rows[error];
        shape = "{'error':%t}\n";
    } else if (maki_str_has(path, MAKI_LIT("/v1beta/"))) {
        row = &gemini_rows[error];
        shape = "{'error':{'message':%t,'status':%t,'code':";
    }
    maki_str said = maki_str_of(error == FAKE_ERROR_BAD ? words : row->words);
    fake_write(out, shape, said, maki_str_of(row->kind), maki_str_of(row->code));
    if (row == &gemini_rows[error]) fake_write(out, "%n}}\n", (int64_t)row->status);
    return row->status;
}

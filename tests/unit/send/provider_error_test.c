/* provider_error_test.c -- errors as providers word them, and what they mean. */
#include "send/provider_error.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "base/text.h"
#include "fake_env.h"
#include "tap.h"

/* JSON is written with ' for ". */
/* clang-format off */
static const struct error_row { int status; const char *error; maki_provider_error_kind kind; bool passes; } errors[] = {
    { 400, "{'error':{'message':'This model\\u0027s maximum context length is 128000 tokens.','code':'context_length_exceeded'}}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 400, "{'error':{'message':'maximum context length is 5 tokens'}}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 400, "{'type':'error','error':{'type':'invalid_request_error','message':'prompt is too long: 210000 tokens > 200000 maximum'}}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 413, "{'type':'error','error':{'type':'request_too_large','message':'Request exceeds the maximum size'}}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 413, "", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 400, "{'error':{'code':400,'status':'INVALID_ARGUMENT','message':'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'}}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 400, "{'error':{'code':'1261','message':'Prompt exceeds max length'}}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 400, "{'error':'the input length exceeds the context length'}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 500, "{'error':'the input length exceeds the context length'}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 400, "{'error':{'code':400,'message':'request (9000 tokens) exceeds the available context size (4096 tokens)','type':'exceed_context_size_error'}}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 200, "{'error':{'message':'trying to keep the first 9000 tokens when context the overflows'}}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 400, "{'error':{'message':'messages: at least one message is required','type':'invalid_request_error'}}", MAKI_PROVIDER_ERROR_REQUEST, false },
    { 422, "", MAKI_PROVIDER_ERROR_REQUEST, false },
    { 400, "", MAKI_PROVIDER_ERROR_REQUEST, false },
    { 401, "{'error':{'message':'Incorrect API key provided: sk-abc','type':'invalid_request_error','code':'invalid_api_key'}}", MAKI_PROVIDER_ERROR_AUTH, false },
    { 401, "", MAKI_PROVIDER_ERROR_AUTH, false },
    { 403, "{'type':'error','error':{'type':'permission_error','message':'no'}}", MAKI_PROVIDER_ERROR_DENIED, false },
    { 404, "{'type':'error','error':{'type':'not_found_error','message':'model: x'}}", MAKI_PROVIDER_ERROR_NOT_FOUND, false },
    { 404, "", MAKI_PROVIDER_ERROR_NOT_FOUND, false },
    { 302, "", MAKI_PROVIDER_ERROR_NOT_FOUND, false },
    { 402, "{'error':{'message':'Insufficient Balance'}}", MAKI_PROVIDER_ERROR_QUOTA, false },
    { 429, "{'error':{'message':'You exceeded your current quota','type':'insufficient_quota','code':'insufficient_quota'}}", MAKI_PROVIDER_ERROR_QUOTA, false },
    { 429, "{'error':{'message':'Rate limit reached','type':'requests','code':'rate_limit_exceeded'}}", MAKI_PROVIDER_ERROR_RATE_LIMIT, true },
    { 429, "", MAKI_PROVIDER_ERROR_RATE_LIMIT, true },
    { 408, "", MAKI_PROVIDER_ERROR_SERVER, true },
    { 409, "", MAKI_PROVIDER_ERROR_SERVER, true },
    { 500, "{'error':{'message':'x'}}", MAKI_PROVIDER_ERROR_SERVER, true },
    { 502, "{'status':502,'message':'<html>Bad Gateway'}", MAKI_PROVIDER_ERROR_SERVER, true },
    { 503, "", MAKI_PROVIDER_ERROR_SERVER, true },
    { 529, "{'type':'error','error':{'type':'overloaded_error','message':'Overloaded'}}", MAKI_PROVIDER_ERROR_SERVER, true },
    /* in a stream: the status was 200 */
    { 200, "{'type':'error','error':{'type':'overloaded_error','message':'Overloaded'}}", MAKI_PROVIDER_ERROR_SERVER, true },
    { 200, "{'type':'error','error':{'type':'rate_limit_error','message':'x'}}", MAKI_PROVIDER_ERROR_RATE_LIMIT, true },
    { 200, "{'type':'error','error':{'type':'invalid_request_error','message':'prompt is too long: 3 tokens > 2 maximum'}}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 200, "{'error':{'code':502,'message':'Provider returned error'}}", MAKI_PROVIDER_ERROR_SERVER, true },
    { 200, "{'error':{'code':401,'message':'x'}}", MAKI_PROVIDER_ERROR_AUTH, false },
    { 200, "{'type':'error','code':'server_error','message':'x'}", MAKI_PROVIDER_ERROR_SERVER, true },
    { 200, "{'code':'context_length_exceeded','message':'x'}", MAKI_PROVIDER_ERROR_OVERFLOW, false },
    { 200, "{'error':'model runner has unexpectedly stopped'}", MAKI_PROVIDER_ERROR_SERVER, true },
    { 200, "[{'error':{'code':503,'status':'UNAVAILABLE','message':'x'}}]", MAKI_PROVIDER_ERROR_SERVER, true },
    { 200, "'words'", MAKI_PROVIDER_ERROR_SERVER, true },
    { 200, "", MAKI_PROVIDER_ERROR_NONE, false },
};
/* clang-format on */

/* Windows and waiting times in them. */
/* clang-format off */
static const struct hint_row { int status; const char *error; uint64_t window; int64_t wait; } hints[] = {
    { 400, "{'error':{'message':'This model\\u0027s maximum context length is 8192 tokens. However, you requested 9000 tokens','code':'context_length_exceeded'}}", 8192, -1 },
    { 400, "{'error':{'message':'This endpoint\\u0027s maximum context length is 131,072 tokens. However, you requested about 140,000'}}", 131072, -1 },
    { 400, "{'type':'error','error':{'type':'invalid_request_error','message':'prompt is too long: 210000 tokens > 200000 maximum'}}", 200000, -1 },
    { 400, "{'type':'error','error':{'type':'invalid_request_error','message':'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length'}}", 200000, -1 },
    { 400, "{'error':{'status':'INVALID_ARGUMENT','message':'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'}}", 1048576, -1 },
    { 400, "{'error':{'message':'request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it'}}", 4096, -1 },
    { 400, "{'error':{'message':'the request exceeds the available context size. try increasing it','n_ctx':4096}}", 4096, -1 },
    { 400, "{'error':{'message':'the request exceeds the available context size. try increasing it'}}", 0, -1 },
    { 400, "{'error':'the input length exceeds the context length'}", 0, -1 },
    { 200, "{'error':{'message':'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.'}}", 4096, -1 },
    { 400, "{'error':{'message':'maximum context length is tokens'}}", 0, -1 },
    { 400, "{'error':{'message':'maximum context length is 99999999999999999999 tokens'}}", 0, -1 },
    { 400, "{'error':{'message':'maximum context length is -5 tokens'}}", 0, -1 },
    { 413, "", 0, -1 },
    { 429, "{'error':{'code':429,'status':'RESOURCE_EXHAUSTED','message':'x','details':[{'@type':'type.googleapis.com/google.rpc.Help'},7,{'@type':'type.googleapis.com/google.rpc.RetryInfo','retryDelay':'7s'}]}}", 0, 7000 },
    { 429, "[{'error':{'code':429,'details':[{'retryDelay':'41.5s'}]}}]", 0, 41500 },
    { 429, "{'error':{'code':429,'details':[{'retryDelay':7}]}}", 0, -1 },
    { 429, "{'error':{'code':429,'details':'soon'}}", 0, -1 },
    { 429, "{'error':{'code':429,'metadata':{'headers':{'X-RateLimit-Reset':'1700000005000'}}}}", 0, 5000 },
    { 429, "{'error':{'code':429,'metadata':'x'}}", 0, -1 },
    { 429, "{'error':{'message':'Rate limit reached. Please try again in 6m0s. Visit ...'}}", 0, 360000 },
    { 200, "{'response':{'error':{'code':'rate_limit_exceeded','message':'Please try again in 350ms.'}}}", 0, 350 },
    { 429, "{'error':{'message':'Please retry after 6 seconds.'}}", 0, 6000 },
    { 429, "{'error':{'message':'try again in a while'}}", 0, -1 },
};
/* clang-format on */

static void run_hints(fake_env *fe)
{
    maki_provider p = { .name = "openai", .protocol = MAKI_WIRE_CHAT };
    for (size_t i = 0; i < COUNT(hints); i++) {
        const struct hint_row *row = &hints[i];
        maki_provider_error t;
        char json[400];
        snprintf(json, sizeof json, "%s", row->error);
        for (char *at = json; *at; at++)
            *at = *at == '\'' ? '"' : *at;
        tap_row("%d %s: hints", row->status, row->error);
        t = maki_provider_error_read(&p, row->status, maki_str_of(json),
                                     fe->env.clock->now_ms(fe->env.clock));
        CHECK_EQ(t.window, row->window);
        CHECK_EQ(t.retry_delay_ms, row->wait);
    }
}

static void run_errors(fake_env *fe)
{
    maki_provider p = { .name = "openai", .protocol = MAKI_WIRE_CHAT };
    for (size_t i = 0; i < COUNT(errors); i++) {
        const struct error_row *row = &errors[i];
        maki_provider_error t;
        maki_err err;
        char json[400];
        snprintf(json, sizeof json, "%s", row->error);
        for (char *at = json; *at; at++)
            *at = *at == '\'' ? '"' : *at;
        tap_row("%d %s", row->status, row->error);
        t = maki_provider_error_read(&p, row->status, maki_str_of(json),
                                     fe->env.clock->now_ms(fe->env.clock));
        CHECK_EQ(t.kind, row->kind);
        CHECK_EQ(maki_provider_error_is_transient(&t), row->passes);
        CHECK_EQ(fake_alloc_live(fe), 0);
        maki_status st = maki_provider_error_fail(&t, &p, MAKI_LIT("gpt-5"), &err);
        CHECK_EQ(st == MAKI_OK, t.kind == MAKI_PROVIDER_ERROR_NONE);
    }
}

static void run_keys(fake_env *fe)
{
    maki_provider p = { .name = "openai", .key = MAKI_LIT("abcdef") };
    maki_str error =
        MAKI_LIT("{\"error\":{\"message\":\"key abcdef, and again abcdef: \\u0061bcdef!\"}}");
    maki_provider_error t;
    maki_err err;
    tap_row("a key that is quoted is masked");
    t = maki_provider_error_read(&p, 500, error, fe->env.clock->now_ms(fe->env.clock));
    CHECK_CSTR(t.message, "key ***, and again ***: ***!");

    tap_row("a key of stars, which what stands in its place is made of");
    p.key = MAKI_LIT("***");
    error = MAKI_LIT("{\"error\":{\"message\":\"key *** and ****\"}}");
    t = maki_provider_error_read(&p, 400, error, fe->env.clock->now_ms(fe->env.clock));
    CHECK_CSTR(t.message, "key *** and ****");
    p.key = MAKI_LIT("abcdef");
    tap_row("words that refuse a key are not repeated at all");
    error = MAKI_LIT("{\"error\":{\"message\":\"Incorrect key: sk-12**********89\"}}");
    t = maki_provider_error_read(&p, 401, error, fe->env.clock->now_ms(fe->env.clock));
    CHECK_STATUS(maki_provider_error_fail(&t, &p, MAKI_LIT("m"), &err), MAKI_DENIED, &err);
    CHECK(!strstr(err.msg, "sk-12") && strstr(err.msg, "llm.openai.api_key"));

    tap_row("long words in Japanese are cut between characters");
    char json[2000] = "{\"error\":{\"message\":\"";
    for (int i = 0; i < 300; i++)
        strcat(json, "海");
    strcat(json, "\"}}");
    t = maki_provider_error_read(&p, 400, maki_str_of(json), fe->env.clock->now_ms(fe->env.clock));
    CHECK_EQ(strlen(t.message), 399);
    CHECK_STATUS(maki_provider_error_fail(&t, &p, MAKI_LIT("m"), &err), MAKI_INVALID, &err);
    CHECK(strstr(err.msg, "海海 ...)") != NULL && maki_utf8_valid(maki_str_of(err.msg), NULL));

    tap_row("long words in English between words, so that no figure loses its end");
    error = MAKI_LIT("{\"error\":{\"message\":\"This model's maximum context length is 128000 "
                     "tokens. However, your messages resulted in 150000 tokens.\"}}");
    t = maki_provider_error_read(&p, 400, error, fe->env.clock->now_ms(fe->env.clock));
    CHECK_STATUS(maki_provider_error_fail(&t, &p, MAKI_LIT("m"), &err), MAKI_REFUSED, &err);
    CHECK(strstr(err.msg, "your messages resulted in ...)") != NULL);
}

int main(void)
{
    fake_env fe;
    fake_env_init(&fe);
    run_errors(&fe);
    run_hints(&fe);
    run_keys(&fe);
    return tap_end();
}

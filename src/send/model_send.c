/* model_send.c -- the functions of a maki_model: find a provider, ask it for a window, send it one prompt.
 *
 * In:    the name of agent, provider and model; a prompt that is read in chunks, so that it may be larger than memory.
 * Out:   the text deltas of the reply, to the caller's sink; the usage, also of a request that failed.
 * The timeout is for all attempts together. */
#include "send/model_send.h"

#include <stdio.h>

#include "assemble/request.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "base/text.h"

enum { CHUNK = 16 << 10 };

/* ---- the request ------------------------------------------------------------------------------------------- */

/* Write the prompt into an open JSON string.  An incomplete character at the end of a chunk is moved to the next
 * one. */
static maki_status write_prompt(maki_jw *w, const maki_model_text *prompt, maki_err *err)
{
    char chunk[CHUNK];
    size_t incomplete = 0, got = 0;
    maki_status st = MAKI_OK;
    for (uint64_t at = 0; st == MAKI_OK && at < prompt->size; at += got) {
        st =
            prompt->read(prompt->ctx, at, chunk + incomplete, sizeof chunk - incomplete, &got, err);
        if (st != MAKI_OK || got == 0) break;
        maki_str text = { chunk, incomplete + got };
        incomplete = maki_utf8_incomplete(text);
        text.len -= incomplete;
        maki_jw_escape(w, text);
        memmove(chunk, text.ptr + text.len, incomplete);
    }
    return st;
}

/* Write the user message as a row. */
static maki_status write_row(maki_spool *out, const maki_model_text *prompt, maki_err *err)
{
    maki_jw w;
    maki_jw_init(&w, maki_spool_sink(out), err);
    maki_jw_print(&w, "{'role':'user','content':");
    maki_jw_begin_value(&w);
    maki_jw_bytes(&w, MAKI_LIT("\""));
    maki_status st = write_prompt(&w, prompt, err);
    maki_jw_bytes(&w, MAKI_LIT("\""));
    maki_jw_end_object(&w);
    maki_status written = maki_jw_end(&w);
    return st == MAKI_OK ? written : st;
}

static maki_status write_request(const maki_env *env, const maki_provider *provider,
                                 const maki_model_request *request, maki_str model,
                                 maki_spool *body, maki_err *err)
{
    maki_str row;
    maki_spool message = maki_spool_new(env, MAKI_SPOOL_MEMORY);
    maki_request completion = { .protocol = provider->protocol,
                                .provider = maki_str_of(provider->name),
                                .model = model,
                                .max_tokens = request->max_tokens,
                                .window = request->window,
                                .stream = true,
                                .system = &request->system,
                                .system_count = request->system.len ? 1 : 0 };
    maki_status st = write_row(&message, &request->prompt, err);
    if (st == MAKI_OK) st = maki_spool_text(&message, &row, err);
    completion.extra_messages = (maki_render_extra){ &row, 1 };
    if (st == MAKI_OK) st = maki_request_write_rows(env, &completion, maki_spool_sink(body), err);
    maki_spool_free(&message);
    return st;
}

/* ---- the reply --------------------------------------------------------------------------------------------- */

typedef struct completion {
    const maki_provider_models *models;
    const maki_model_request *request;
    maki_sink reply;
    int64_t deadline;
    bool timed_out;
} completion;

static maki_status on_delta(void *ctx, const maki_delta *delta, maki_err *err)
{
    const completion *c = ctx;
    if (delta->kind != MAKI_DELTA_TEXT) return MAKI_OK;
    return c->reply.write(c->reply.ctx, delta->text, err);
}

/* Cancelled by the caller, or after the timeout for all attempts together: the sender's is for each. */
static bool should_stop(void *ctx)
{
    completion *c = ctx;
    const maki_clock *clock = c->models->env->clock;
    c->timed_out = clock->now_ms(clock) >= c->deadline;
    return c->timed_out ||
           (c->request->cancelled && c->request->cancelled(c->request->cancelled_ctx));
}

/* ---- the functions of the model ---------------------------------------------------------------------------------- */

static maki_status find_provider(const maki_provider_models *models, const maki_model_name *name,
                                 maki_provider *out, maki_err *err)
{
    return maki_provider_from_config(models->config, name->agent, name->provider, name->model, out,
                                     err);
}

/* `provider` must live as long as the sender. */
static maki_status open_sender(const maki_provider_models *models, const maki_model_name *name,
                               maki_provider *provider, maki_sender **out, maki_err *err)
{
    maki_send_options options = { .env = models->env,
                                  .provider = provider,
                                  .log = models->logger,
                                  .sleep = models->sleep,
                                  .sleep_ctx = models->sleep_ctx };
    maki_status st = find_provider(models, name, provider, err);
    return st == MAKI_OK ? maki_sender_open(&options, out, err) : st;
}

/* The configured window is that of the configured model. */
static maki_status find(const maki_model *self, const maki_model_name *name, maki_model_found *out,
                        maki_err *err)
{
    maki_provider provider;
    maki_status st = find_provider(self->ctx, name, &provider, err);
    if (st != MAKI_OK) return st;
    maki_str configured = provider.model, model = name->model.len ? name->model : configured;
    *out = (maki_model_found){ .window = configured.len == 0 || maki_str_equal(model, configured)
                                             ? provider.window
                                             : 0 };
    snprintf(out->model, sizeof out->model, "%.*s", MAKI_PRINTED(model));
    return MAKI_OK;
}

static maki_status window(const maki_model *self, const maki_model_name *name,
                          bool (*cancelled)(void *ctx), void *cancelled_ctx, uint64_t *tokens,
                          maki_err *err)
{
    maki_provider provider;
    maki_sender *sender = NULL;
    maki_status st = open_sender(self->ctx, name, &provider, &sender, err);
    if (st == MAKI_OK)
        st = maki_sender_window(sender, name->model, cancelled, cancelled_ctx, tokens, err);
    maki_sender_close(sender);
    return st;
}

static maki_status complete(const maki_model *self, const maki_model_request *request,
                            maki_sink reply, maki_model_usage *usage, maki_err *err)
{
    const maki_provider_models *models = self->ctx;
    const maki_clock *clock = models->env->clock;
    completion c = { .models = models,
                     .request = request,
                     .reply = reply,
                     .deadline = clock->now_ms(clock) + request->timeout_ms };
    maki_provider provider;
    maki_sender *sender = NULL;
    maki_spool body = maki_spool_new(models->env, MAKI_SPOOL_MEMORY);
    maki_send_callbacks calls = { .ctx = &c, .on_delta = on_delta };
    maki_send_result result = { .stop = MAKI_STOP_NONE };
    maki_status st = open_sender(models, &request->name, &provider, &sender, err);
    maki_str model = request->name.model;
    if (st == MAKI_OK && model.len == 0) model = provider.model;
    if (st == MAKI_OK) st = write_request(models->env, &provider, request, model, &body, err);
    maki_send_request send_request = { .model = model,
                                       .stream = true,
                                       .body = maki_send_spool(&body),
                                       .retries = MAKI_SEND_RETRIES,
                                       .cancelled = should_stop,
                                       .cancelled_ctx = &c };
    if (st == MAKI_OK) st = maki_send(sender, &send_request, &calls, &result, err);
    if (st == MAKI_CANCELLED && c.timed_out)
        st = maki_fail(err, MAKI_TIMEOUT, "%.40s took longer than %lld ms", provider.name,
                       (long long)request->timeout_ms);
    *usage = (maki_model_usage){ .input_tokens = result.usage.input,
                                 .output_tokens = result.usage.output,
                                 .cost = result.has_cost ? result.cost : 0,
                                 .truncated = result.stop == MAKI_STOP_LENGTH };
    maki_sender_close(sender);
    maki_spool_free(&body);
    return st;
}

maki_model maki_model_of_providers(maki_provider_models *models)
{
    return (maki_model){ find, window, complete, models };
}

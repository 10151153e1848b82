/* model_send.c -- see model_send.h. */
#include "send/model_send.h"

#include <stdio.h>

#include "assemble/request.h"
#include "base/err.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "base/text.h"

enum { PIECE = 16 << 10 };

/* ---- the request ------------------------------------------------------------------------------------------- */

/* The prompt as the text of a JSON string.  A character that is cut waits for its end. */
static maki_status write_prompt(maki_jw *w, const maki_model_text *prompt, maki_err *err)
{
    char piece[PIECE];
    size_t waiting = 0, got = 0;
    maki_status st = MAKI_OK;
    for (uint64_t at = 0; st == MAKI_OK && at < prompt->size; at += got) {
        st = prompt->read(prompt->ctx, at, piece + waiting, sizeof piece - waiting, &got, err);
        if (st != MAKI_OK || got == 0) break;
        maki_str text = { piece, waiting + got };
        waiting = maki_utf8_incomplete(text);
        text.len -= waiting;
        maki_jw_escaped(w, text);
        memmove(piece, text.ptr + text.len, waiting);
    }
    return st;
}

/* The one message, as a row. */
static maki_status write_row(maki_spool *out, const maki_model_text *prompt, maki_err *err)
{
    maki_jw w;
    maki_jw_init(&w, maki_spool_sink(out), err);
    maki_jw_object(&w);
    maki_jw_key(&w, MAKI_LIT("role"));
    maki_jw_string(&w, MAKI_LIT("user"));
    maki_jw_key(&w, MAKI_LIT("content"));
    maki_jw_begin_value(&w);
    maki_jw_bytes(&w, MAKI_LIT("\""));
    maki_status st = write_prompt(&w, prompt, err);
    maki_jw_bytes(&w, MAKI_LIT("\""));
    maki_jw_end_object(&w);
    maki_status written = maki_jw_end(&w);
    return st == MAKI_OK ? written : st;
}

static maki_status write_request(const maki_env *env, const maki_provider *provider,
                                 const maki_model_request *asked, maki_str model, maki_spool *body,
                                 maki_err *err)
{
    maki_str row;
    maki_spool message = maki_spool_new(env, MAKI_SPOOL_MEMORY);
    maki_request request = { .protocol = provider->protocol,
                             .provider = maki_str_of(provider->name),
                             .model = model,
                             .max_tokens = asked->max_tokens,
                             .window = asked->window,
                             .stream = true,
                             .system = &asked->system,
                             .system_count = asked->system.len ? 1 : 0 };
    maki_status st = write_row(&message, &asked->prompt, err);
    if (st == MAKI_OK) st = maki_spool_text(&message, &row, err);
    request.before = (maki_render_extra){ &row, 1 };
    if (st == MAKI_OK) st = maki_request_write_rows(env, &request, maki_spool_sink(body), err);
    maki_spool_free(&message);
    return st;
}

/* ---- the reply --------------------------------------------------------------------------------------------- */

typedef struct completing {
    const maki_model_send *how;
    const maki_model_request *asked;
    maki_sink reply;
    int64_t deadline;
    bool late;
} completing;

static maki_status on_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    const completing *c = ctx;
    if (piece->kind != MAKI_DELTA_TEXT) return MAKI_OK;
    return c->reply.write(c->reply.ctx, piece->text, err);
}

/* Also the limit for all tries together: the sender's is for each. */
static bool is_over(void *ctx)
{
    completing *c = ctx;
    const maki_clock *clock = c->how->env->clock;
    c->late = clock->now_ms(clock) >= c->deadline;
    return c->late || (c->asked->cancelled && c->asked->cancelled(c->asked->cancelled_ctx));
}

/* ---- asking ------------------------------------------------------------------------------------------------ */

static maki_status find_provider(const maki_model_send *how, const maki_model_name *name,
                                 maki_provider *out, maki_err *err)
{
    return maki_provider_from_config(how->config, name->agent, name->provider, name->model, out,
                                     err);
}

/* `provider` must live as long as the sender. */
static maki_status open_sender(const maki_model_send *how, const maki_model_name *name,
                               maki_provider *provider, maki_sender **out, maki_err *err)
{
    maki_send_options options = { .env = how->env,
                                  .provider = provider,
                                  .log = how->logger,
                                  .sleep = how->sleep,
                                  .sleep_ctx = how->sleep_ctx };
    maki_status st = find_provider(how, name, provider, err);
    return st == MAKI_OK ? maki_sender_open(&options, out, err) : st;
}

/* What the configuration says of a window is about its own model. */
static maki_status find(const maki_model *self, const maki_model_name *name, maki_model_found *out,
                        maki_err *err)
{
    maki_provider provider;
    maki_status st = find_provider(self->ctx, name, &provider, err);
    if (st != MAKI_OK) return st;
    maki_str own = provider.model, model = name->model.len ? name->model : own;
    *out = (maki_model_found){ .window =
                                   own.len == 0 || maki_str_is(model, own) ? provider.window : 0 };
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

static maki_status complete(const maki_model *self, const maki_model_request *asked,
                            maki_sink reply, maki_model_usage *usage, maki_err *err)
{
    const maki_model_send *how = self->ctx;
    const maki_clock *clock = how->env->clock;
    completing c = { .how = how,
                     .asked = asked,
                     .reply = reply,
                     .deadline = clock->now_ms(clock) + asked->timeout_ms };
    maki_provider provider;
    maki_sender *sender = NULL;
    maki_spool body = maki_spool_new(how->env, MAKI_SPOOL_MEMORY);
    maki_send_callbacks calls = { .ctx = &c, .on_delta = on_delta };
    maki_send_result result = { .stop = MAKI_STOP_NONE };
    maki_status st = open_sender(how, &asked->name, &provider, &sender, err);
    maki_str model = asked->name.model;
    if (st == MAKI_OK && model.len == 0) model = provider.model;
    if (st == MAKI_OK) st = write_request(how->env, &provider, asked, model, &body, err);
    maki_send_request request = { .model = model,
                                  .stream = true,
                                  .body = maki_send_spool(&body),
                                  .retries = MAKI_SEND_RETRIES,
                                  .cancelled = is_over,
                                  .cancelled_ctx = &c };
    if (st == MAKI_OK) st = maki_send(sender, &request, &calls, &result, err);
    if (st == MAKI_CANCELLED && c.late)
        st = maki_fail(err, MAKI_TIMEOUT, "%.40s took longer than %lld ms", provider.name,
                       (long long)asked->timeout_ms);
    *usage = (maki_model_usage){ .input_tokens = result.usage.input,
                                 .output_tokens = result.usage.output,
                                 .cost = result.has_cost ? result.cost : 0,
                                 .cut = result.stop == MAKI_STOP_LENGTH };
    maki_sender_close(sender);
    maki_spool_free(&body);
    return st;
}

maki_model maki_model_sending(maki_model_send *how)
{
    return (maki_model){ find, window, complete, how };
}

/* model_window.c -- how large a model's window is, asked of who runs it; see send.h.
 *
 * How to ask stands in the protocol's descriptor; LM Studio, which speaks OpenAI's, has a list of its own with the
 * length a model was loaded with, else the most it can. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "send/sender.h"
#include "wire/protocol.h"

enum {
    ANSWER_MAX = 4 << 20,
    ASK_MS = 15000 /* a window is worth no longer wait */
};

/* ---- what they answer ------------------------------------------------------------------------------------ */

static uint64_t read_lmstudio(maki_str answer, maki_str model)
{
    maki_json_iter iter = maki_array_items(maki_member(answer, MAKI_LIT("data")));
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        if (!maki_is_text(maki_member_string(item.value, MAKI_LIT("id")), model)) continue;
        uint64_t loaded = maki_member_count(item.value, MAKI_LIT("loaded_context_length"));
        return loaded ? loaded : maki_member_count(item.value, MAKI_LIT("max_context_length"));
    }
    return 0;
}

static const maki_window_query lmstudio = { "GET", "", "/api/v0/models", false, read_lmstudio };

/* ---- asking ---------------------------------------------------------------------------------------------- */

/* A question, how its answer is read, and the answer. */
typedef struct question {
    const maki_window_query *query;
    maki_buf target, body;
    bool (*cancelled)(void *ctx);
    void *cancelled_ctx;
    int status; /* of the answer */
    maki_buf answer;
} question;

static maki_status make_question(const maki_provider *p, maki_str model, question *q, maki_err *err)
{
    const maki_window_query *query = q->query;
    maki_jw w;
    maki_provider_path(p, maki_str_of(query->version), maki_str_of(query->path), &q->target);
    if (query->model_in_path) maki_provider_add_model(model, &q->target);
    maki_buf_add_byte(&q->target, '\0');
    if (strcmp(query->method, "POST") != 0) return MAKI_OK;
    maki_jw_init(&w, maki_buf_sink(&q->body), err);
    maki_jw_print(&w, "{'model':%s}", model);
    return maki_jw_end(&w);
}

static maki_status on_head(void *ctx, int status, const maki_http_head *fields, maki_err *err)
{
    (void)fields, (void)err;
    ((question *)ctx)->status = status;
    return MAKI_OK;
}

static maki_status on_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    question *q = ctx;
    maki_buf_add(&q->answer, bytes);
    return maki_buf_status(&q->answer, err);
}

static maki_status put(maki_sender *s, question *q, maki_err *err)
{
    maki_buf head = maki_buf_new(s->options.env->alloc, MAKI_HEAD_MAX);
    maki_blocking_client_end end;
    maki_str body = maki_buf_str(&q->body);
    maki_status st = maki_provider_head(&s->provider, body.len, &head, err);
    if (st == MAKI_OK) st = maki_buf_status(&q->target, err);
    if (st == MAKI_OK) st = maki_buf_status(&q->body, err);
    maki_blocking_client_ask request = { .method = q->query->method,
                                         .origin = s->provider.origin,
                                         .target = q->target.ptr,
                                         .lines = maki_buf_str(&head),
                                         .body = maki_send_text(&body),
                                         .total_ms = ASK_MS,
                                         .cancelled = q->cancelled,
                                         .cancelled_ctx = q->cancelled_ctx,
                                         .on_head = on_head,
                                         .on_bytes = on_bytes,
                                         .ctx = q };
    if (st == MAKI_OK) st = maki_blocking_client_run(s->link, &request, &end, err);
    maki_head_wipe(&head);
    return st;
}

/* *told: there was an answer, so it need not be asked again. */
static maki_status ask(maki_sender *s, maki_str model, question *q, uint64_t *tokens, bool *told,
                       maki_err *err)
{
    maki_str json;
    maki_status st = put(s, q, err);
    *told = st == MAKI_OK && q->status == 200 &&
            maki_json_check(maki_buf_str(&q->answer), &json, NULL) == MAKI_OK &&
            maki_is_object(json);
    *tokens = *told ? q->query->read(json, model) : 0;
    bool ours = st == MAKI_NOMEM || st == MAKI_INVALID || st == MAKI_CANCELLED;
    return ours ? st : MAKI_OK;
}

/* ---- keeping --------------------------------------------------------------------------------------------- */

static struct maki_cached_window *kept(maki_sender *s, maki_str model)
{
    for (size_t i = 0; i < s->window_count && i < MAKI_CACHED_WINDOWS; i++) {
        if (maki_str_is(maki_str_of(s->windows[i].model), model)) return &s->windows[i];
    }
    return NULL;
}

static void keep(maki_sender *s, maki_str model, uint64_t tokens)
{
    struct maki_cached_window *place = &s->windows[s->window_count % MAKI_CACHED_WINDOWS];
    if (!maki_str_copy(model, place->model, sizeof place->model)) return;
    place->tokens = tokens;
    s->window_count++;
}

maki_status maki_sender_window(maki_sender *s, maki_str model, bool (*cancelled)(void *ctx),
                               void *cancelled_ctx, uint64_t *tokens, maki_err *err)
{
    const maki_alloc *alloc = s->options.env->alloc;
    bool lm = maki_str_is(maki_str_of(s->provider.name), MAKI_LIT("lmstudio"));
    question q = { .query = lm ? &lmstudio : &maki_protocol_of(s->provider.protocol)->window,
                   .target = maki_buf_new(alloc, MAKI_TARGET_MAX),
                   .body = maki_buf_new(alloc, MAKI_TARGET_MAX),
                   .answer = maki_buf_new(alloc, ANSWER_MAX),
                   .cancelled = cancelled,
                   .cancelled_ctx = cancelled_ctx };
    bool told = false;
    if (!model.len) model = s->provider.model;
    const struct maki_cached_window *known = kept(s, model);
    maki_str configured = s->provider.model;
    bool own = s->provider.window && (!configured.len || maki_str_is(model, configured));
    *tokens = own ? s->provider.window : known ? known->tokens : 0;
    if (own || known || !q.query->method) return MAKI_OK;
    maki_status st = make_question(&s->provider, model, &q, err);
    if (st == MAKI_OK) st = ask(s, model, &q, tokens, &told, err);
    if (told) keep(s, model, *tokens);
    maki_buf_free(&q.target);
    maki_buf_free(&q.body);
    maki_buf_free(&q.answer);
    return st;
}

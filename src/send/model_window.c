/* model_window.c -- the context window of a model, requested from its provider (maki_sender_window).
 *
 * The request and the reader of its answer are in the protocol's descriptor.  LM Studio speaks OpenAI's protocol and has an
 * endpoint of its own: the length that a model was loaded with, else its maximum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "send/sender.h"
#include "wire/protocol.h"

enum { ANSWER_MAX = 4 << 20, TIMEOUT_MS = 15000 };

/* ---- LM Studio ------------------------------------------------------------------------------------ */

static uint64_t read_lmstudio(maki_str answer, maki_str model)
{
    maki_json_iter iter = maki_array_items(maki_member(answer, MAKI_LIT("data")));
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        if (!maki_is_text(maki_json_string(item.value, "id"), model)) continue;
        uint64_t loaded = maki_member_count(item.value, MAKI_LIT("loaded_context_length"));
        return loaded ? loaded : maki_member_count(item.value, MAKI_LIT("max_context_length"));
    }
    return 0;
}

static const maki_window_query lmstudio = { "GET", "", "/api/v0/models", false, read_lmstudio };

/* ---- the request ----------------------------------------------------------------------------------------- */

typedef struct window_request {
    const maki_window_query *query;
    bool (*cancelled)(void *ctx);
    void *cancelled_ctx;
    int status; /* of the answer */
    maki_buf body, answer;
} window_request;

static maki_status on_head(void *ctx, int status, const maki_http_head *fields, maki_err *err)
{
    (void)fields, (void)err;
    ((window_request *)ctx)->status = status;
    return MAKI_OK;
}

static maki_status on_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    window_request *q = ctx;
    maki_buf_add(&q->answer, bytes);
    return maki_buf_status(&q->answer, err);
}

static maki_status send_query(maki_sender *s, maki_str model, window_request *q, maki_err *err)
{
    const maki_window_query *query = q->query;
    maki_buf target = maki_buf_new(s->options.env->alloc, MAKI_TARGET_MAX);
    maki_blocking_client_result result;
    maki_status st = MAKI_OK;
    maki_jw w;
    maki_provider_path(&s->provider, maki_str_of(query->version), maki_str_of(query->path),
                       &target);
    if (query->model_in_path) maki_provider_add_model(model, &target);
    if (strcmp(query->method, "POST") == 0) {
        maki_jw_init(&w, maki_buf_sink(&q->body), err);
        maki_jw_print(&w, "{'model':%s}", model);
        st = maki_jw_end(&w);
    }
    maki_str body = maki_buf_str(&q->body);
    maki_blocking_client_request request = { .method = query->method,
                                             .body = maki_send_text(&body),
                                             .total_ms = TIMEOUT_MS,
                                             .cancelled = q->cancelled,
                                             .cancelled_ctx = q->cancelled_ctx,
                                             .on_head = on_head,
                                             .on_bytes = on_bytes,
                                             .ctx = q };
    if (st == MAKI_OK) return maki_sender_run(s, &target, &request, &result, err);
    maki_buf_free(&target);
    return st;
}

/* *known: there was an answer, to be cached. */
static maki_status request_window(maki_sender *s, maki_str model, window_request *q,
                                  uint64_t *tokens, bool *known, maki_err *err)
{
    maki_str json;
    maki_status st = send_query(s, model, q, err);
    *known = st == MAKI_OK && q->status == 200 &&
             maki_json_check(maki_buf_str(&q->answer), &json, NULL) == MAKI_OK &&
             maki_is_object(json);
    *tokens = *known ? q->query->read(json, model) : 0;
    bool local = st == MAKI_NOMEM || st == MAKI_INVALID || st == MAKI_CANCELLED;
    return local ? st : MAKI_OK;
}

/* ---- the cache --------------------------------------------------------------------------------------------- */

static struct maki_cached_window *lookup(maki_sender *s, maki_str model)
{
    for (size_t i = 0; i < s->window_count && i < MAKI_CACHED_WINDOWS; i++) {
        if (maki_str_equal(maki_str_of(s->windows[i].model), model)) return &s->windows[i];
    }
    return NULL;
}

static void insert(maki_sender *s, maki_str model, uint64_t tokens)
{
    struct maki_cached_window *entry = &s->windows[s->window_count % MAKI_CACHED_WINDOWS];
    if (!maki_str_copy(model, entry->model, sizeof entry->model)) return;
    entry->tokens = tokens;
    s->window_count++;
}

maki_status maki_sender_window(maki_sender *s, maki_str model, bool (*cancelled)(void *ctx),
                               void *cancelled_ctx, uint64_t *tokens, maki_err *err)
{
    const maki_alloc *alloc = s->options.env->alloc;
    bool is_lmstudio = maki_str_equal(maki_str_of(s->provider.name), MAKI_LIT("lmstudio"));
    window_request q = { .query = is_lmstudio ? &lmstudio
                                              : &maki_protocol_of(s->provider.protocol)->window,
                         .body = maki_buf_new(alloc, MAKI_TARGET_MAX),
                         .answer = maki_buf_new(alloc, ANSWER_MAX),
                         .cancelled = cancelled,
                         .cancelled_ctx = cancelled_ctx };
    bool known = false;
    if (!model.len) model = s->provider.model;
    const struct maki_cached_window *cached = lookup(s, model);
    maki_str configured = s->provider.model;
    bool is_configured =
        s->provider.window && (!configured.len || maki_str_equal(model, configured));
    *tokens = is_configured ? s->provider.window : cached ? cached->tokens : 0;
    if (is_configured || cached || !q.query->method) return MAKI_OK;
    maki_status st = request_window(s, model, &q, tokens, &known, err);
    if (known) insert(s, model, *tokens);
    maki_buf_free(&q.body);
    maki_buf_free(&q.answer);
    return st;
}

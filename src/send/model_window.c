/* model_window.c -- how large a model's window is, asked of who runs it; see send.h.
 *
 *     Ollama      POST /api/show          num_ctx where the model's file sets it, else the model's own length
 *     LM Studio   GET /api/v0/models      the length it was loaded with, else the most it can
 *     Gemini      GET /v1beta/models/M    inputTokenLimit */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/made.h"
#include "base/str.h"
#include "send/sender.h"
#include "wire/row.h"

enum {
    ANSWER_MOST = 4 << 20,
    ASK_MS = 15000,          /* a window is worth no longer wait */
    WINDOW_MOST = 1000000000 /* tokens; what says more means something else */
};

/* ---- what they answer ------------------------------------------------------------------------------------ */

/* "num_ctx 8192" in the lines of a model's parameters; 0: it is not there. */
static uint64_t num_ctx_in(maki_str parameters)
{
    char text[4096];
    if (!maki_is_string(parameters)) return 0;
    text[maki_json_copy_text(parameters, text, sizeof text - 1)] = '\0';
    const char *at = strstr(text, "num_ctx");
    long long tokens = at ? strtoll(at + strlen("num_ctx"), NULL, 10) : 0;
    return tokens > 0 && tokens < WINDOW_MOST ? (uint64_t)tokens : 0;
}

static uint64_t read_ollama(maki_str answer, maki_str model)
{
    maki_str info = maki_get(answer, MAKI_LIT("model_info")), end = MAKI_LIT(".context_length");
    uint64_t tokens = num_ctx_in(maki_get(answer, MAKI_LIT("parameters")));
    maki_json_iter iter = maki_json_items(info);
    maki_json_item field;
    (void)model;
    while (!tokens && maki_is_object(info) && maki_json_next(&iter, &field)) {
        size_t n = field.key.len;
        if (n > end.len && maki_str_is(maki_str_from(field.key, n - end.len), end))
            tokens = maki_count_of(field.value);
    }
    return tokens;
}

static uint64_t read_lmstudio(maki_str answer, maki_str model)
{
    maki_str list = maki_get(answer, MAKI_LIT("data"));
    maki_json_iter iter = maki_json_items(list);
    maki_json_item item;
    while (maki_is_array(list) && maki_json_next(&iter, &item)) {
        if (!maki_is_text(maki_get_string(item.value, MAKI_LIT("id")), model)) continue;
        uint64_t loaded = maki_get_count(item.value, MAKI_LIT("loaded_context_length"));
        return loaded ? loaded : maki_get_count(item.value, MAKI_LIT("max_context_length"));
    }
    return 0;
}

static uint64_t read_gemini(maki_str answer, maki_str model)
{
    (void)model;
    return maki_get_count(answer, MAKI_LIT("inputTokenLimit"));
}

/* ---- asking ---------------------------------------------------------------------------------------------- */

/* A question: its target and body, and how its answer is read. */
typedef struct question {
    const char *method;
    maki_buf target, body;
    uint64_t (*read)(maki_str answer, maki_str model);
    bool (*cancelled)(void *ctx);
    void *cancelled_ctx;
} question;

static maki_status ask_ollama(const maki_provider *p, maki_str model, question *q, maki_err *err)
{
    maki_jw w;
    q->method = "POST";
    q->read = read_ollama;
    maki_provider_path(p, MAKI_LIT(""), MAKI_LIT("/api/show"), &q->target);
    maki_jw_init(&w, maki_buf_sink(&q->body), err);
    maki_jw_object(&w);
    maki_jw_key(&w, MAKI_LIT("model"));
    maki_jw_string(&w, model);
    maki_jw_end_object(&w);
    return maki_jw_end(&w);
}

static void ask_gemini(const maki_provider *p, maki_str model, question *q)
{
    maki_str prefix = MAKI_LIT("models/");
    if (maki_str_starts(model, prefix)) model = maki_str_from(model, prefix.len);
    q->method = "GET";
    q->read = read_gemini;
    maki_provider_path(p, MAKI_LIT("/v1beta"), MAKI_LIT("/models/"), &q->target);
    maki_provider_escape(model, &q->target);
}

/* q->read stays NULL when this provider does not tell. */
static maki_status make_question(const maki_provider *p, maki_str model, question *q, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (p->protocol == MAKI_WIRE_OLLAMA) {
        st = ask_ollama(p, model, q, err);
    } else if (p->protocol == MAKI_WIRE_GEMINI) {
        ask_gemini(p, model, q);
    } else if (maki_provider_is_lmstudio(p)) {
        q->method = "GET";
        q->read = read_lmstudio;
        maki_provider_path(p, MAKI_LIT(""), MAKI_LIT("/api/v0/models"), &q->target);
    }
    maki_buf_add_byte(&q->target, '\0');
    return st;
}

typedef struct answer {
    int status;
    maki_buf text;
} answer;

static maki_status on_head(void *ctx, int status, const maki_http_head *fields, maki_err *err)
{
    answer *a = ctx;
    (void)fields, (void)err;
    a->status = status;
    return MAKI_OK;
}

static maki_status on_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    answer *a = ctx;
    maki_buf_add(&a->text, bytes);
    return maki_buf_status(&a->text, err);
}

static maki_status put(maki_sender *s, question *q, answer *a, maki_err *err)
{
    maki_buf head = maki_buf_new(s->options.env->alloc, MAKI_HEAD_MAX);
    maki_link_end end;
    maki_str body = maki_buf_str(&q->body);
    maki_status st = maki_provider_head(&s->provider, body.len, &head, err);
    if (st == MAKI_OK) st = maki_buf_status(&q->target, err);
    if (st == MAKI_OK) st = maki_buf_status(&q->body, err);
    maki_link_ask request = { .method = q->method,
                              .origin = s->provider.origin,
                              .target = q->target.ptr,
                              .lines = maki_buf_str(&head),
                              .body = maki_send_text(&body),
                              .total_ms = ASK_MS,
                              .cancelled = q->cancelled,
                              .cancelled_ctx = q->cancelled_ctx,
                              .on_head = on_head,
                              .on_bytes = on_bytes,
                              .ctx = a };
    if (st == MAKI_OK) st = maki_link_run(s->link, &request, &end, err);
    maki_head_wipe(&head);
    return st;
}

/* *told: there was an answer, so it need not be asked again. */
static maki_status ask(maki_sender *s, maki_str model, question *q, uint64_t *tokens, bool *told,
                       maki_err *err)
{
    answer a = { .text = maki_buf_new(s->options.env->alloc, ANSWER_MOST) };
    maki_str json;
    maki_status st = put(s, q, &a, err);
    *told = st == MAKI_OK && a.status == 200 &&
            maki_json_check(maki_buf_str(&a.text), &json, NULL) == MAKI_OK && maki_is_object(json);
    *tokens = *told ? q->read(json, model) : 0;
    maki_buf_free(&a.text);
    bool ours = st == MAKI_NOMEM || st == MAKI_INVALID || st == MAKI_CANCELLED;
    return ours ? st : MAKI_OK;
}

/* ---- keeping --------------------------------------------------------------------------------------------- */

static struct maki_kept_window *kept(maki_sender *s, maki_str model)
{
    for (size_t i = 0; i < s->window_count && i < MAKI_WINDOWS_KEPT; i++) {
        if (maki_str_is(maki_str_of(s->windows[i].model), model)) return &s->windows[i];
    }
    return NULL;
}

static void keep(maki_sender *s, maki_str model, uint64_t tokens)
{
    struct maki_kept_window *place = &s->windows[s->window_count % MAKI_WINDOWS_KEPT];
    if (model.len >= sizeof place->model) return;
    snprintf(place->model, sizeof place->model, "%.*s", (int)model.len, model.ptr);
    place->tokens = tokens;
    s->window_count++;
}

maki_status maki_sender_window(maki_sender *s, maki_str model, bool (*cancelled)(void *ctx),
                               void *cancelled_ctx, uint64_t *tokens, maki_err *err)
{
    const maki_alloc *alloc = s->options.env->alloc;
    question q = { .target = maki_buf_new(alloc, MAKI_TARGET_MAX),
                   .body = maki_buf_new(alloc, MAKI_TARGET_MAX),
                   .cancelled = cancelled,
                   .cancelled_ctx = cancelled_ctx };
    bool told = false;
    if (!model.len) model = s->provider.model;
    const struct maki_kept_window *known = kept(s, model);
    maki_str configured = s->provider.model;
    bool own = s->provider.window && (!configured.len || maki_str_is(model, configured));
    *tokens = own ? s->provider.window : known ? known->tokens : 0;
    if (own || known) return MAKI_OK;
    maki_status st = make_question(&s->provider, model, &q, err);
    if (st == MAKI_OK && q.read) st = ask(s, model, &q, tokens, &told, err);
    if (told) keep(s, model, *tokens);
    maki_buf_free(&q.target);
    maki_buf_free(&q.body);
    return st;
}

/* turn.c -- a turn, step by step: take_steps() calls the functions of the files turn_*.c in order.
 *
 * In:     a request (a message, or none to continue), the configuration and the caller's callbacks.
 * Out:    the reply, durable in the session, and a result, filled in as far as the turn came.
 *
 * The loop: ask (reduce the session, write the request, send it, record the reply), run the calls of the reply, ask
 * again.  A request that is too long for the provider is reduced further and sent again. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str_util.h"
#include "engine/turn_internal.h"

enum {
    ARENA_MAX = 64 << 20, /* bytes of settings, texts and events of a turn */
    OVERFLOWS_MAX = 3,    /* requests that may follow one that was too long */
    ROUNDS_DEFAULT = 50
};

/* ---- life cycle ------------------------------------------------------------------------------------------------------- */

maki_status maki_turns_open(const maki_turns_options *options, maki_turns **out, maki_err *err)
{
    maki_turns *t = maki_new(options->env->alloc, maki_turns);
    if (!t) return maki_fail_nomem(err);
    t->options = *options;
    snprintf(t->home, sizeof t->home, "%s", options->home);
    t->sends = (maki_provider_models){ .env = options->env,
                                       .config = options->config,
                                       .logger = options->logger,
                                       .sleep = options->sleep,
                                       .sleep_ctx = options->sleep_ctx };
    t->model = maki_model_of_providers(&t->sends);
    *out = t;
    return MAKI_OK;
}

const maki_model *maki_turns_model(const maki_turns *t)
{
    return &t->model;
}

void maki_turns_close(maki_turns *t)
{
    if (!t) return;
    atomic_store(&t->preparing.stop, true);
    (void)maki_turns_wait(t);
    maki_sender_close(t->sender);
    maki_tokenizer_close(t->tokenizer);
    maki_delete(t->options.env->alloc, t);
}

bool maki_turn_cancelled(void *work)
{
    const maki_turn_callbacks *callbacks = ((const maki_turn_state *)work)->callbacks;
    return callbacks->cancelled && callbacks->cancelled(callbacks->ctx);
}

/* ---- one request -------------------------------------------------------------------------------------------------- */

static maki_status on_row(void *ctx, maki_str row, bool whole, maki_err *err)
{
    maki_turn_state *w = ctx;
    (void)whole; /* known from the status of the request */
    maki_status st = maki_spool_add(&w->reply, row, err);
    return st == MAKI_OK ? maki_spool_add(&w->reply, (maki_str){ "", 1 }, err) : st;
}

static maki_status on_delta(void *ctx, const maki_delta *delta, maki_err *err)
{
    const maki_turn_callbacks *callbacks = ((const maki_turn_state *)ctx)->callbacks;
    return callbacks->on_delta(callbacks->ctx, delta, err);
}

static maki_status on_retry(void *ctx, unsigned nth, uint32_t backoff_ms, const maki_err *why,
                            maki_err *err)
{
    const maki_turn_callbacks *callbacks = ((const maki_turn_state *)ctx)->callbacks;
    return callbacks->on_retry(callbacks->ctx, nth, backoff_ms, why, err);
}

/* The maximum tokens of the answer; at most a quarter of a window that an error reported. */
static uint64_t answer_tokens(const maki_turn_state *w)
{
    double max = w->limits.max_tokens, share = w->limits.window / 4;
    bool reported = w->limits.window < w->window;
    return (uint64_t)(reported && max > share ? share : max);
}

static maki_status write_request(maki_turn_state *w, maki_err *err)
{
    const maki_turn_request *q = w->request;
    const maki_provider *provider = &w->turns->provider;
    const maki_view *view;
    maki_request request = { .protocol = provider->protocol,
                             .provider = maki_str_of(provider->name),
                             .model = w->model,
                             .max_tokens = answer_tokens(w),
                             .window = (uint64_t)w->limits.window,
                             .stream = !q->no_stream,
                             .system = w->system,
                             .system_count = w->system_count,
                             .tools = q->tools,
                             .functions = provider->functions,
                             .thinking = w->thinking,
                             .async = true };
    maki_spool_clear(&w->body);
    maki_status st = maki_conv_view(w->conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st != MAKI_OK) return st;
    return maki_request_write(w->conv, view, &request, maki_spool_sink(&w->body), err);
}

/* Send the request, and record what was received, also when it failed. */
static maki_status send(maki_turn_state *w, maki_err *err)
{
    maki_err why = { .msg = "" };
    maki_send_request request = { .model = w->model,
                                  .stream = !w->request->no_stream,
                                  .body = maki_send_spool(&w->body),
                                  .retries = MAKI_SEND_RETRIES,
                                  .cancelled = maki_turn_cancelled,
                                  .cancelled_ctx = w,
                                  .counted = w->counted,
                                  .calibration = &w->calibration };
    maki_send_callbacks callbacks = { .ctx = w,
                                      .on_delta = w->callbacks->on_delta ? on_delta : NULL,
                                      .on_row = on_row,
                                      .on_retry = w->callbacks->on_retry ? on_retry : NULL };
    maki_spool_clear(&w->reply);
    w->result->requests++;
    maki_status st = maki_send(w->turns->sender, &request, &calls, &w->result->sent, &why);
    maki_status recorded = maki_turn_record(w, st, &why, err);
    if (st == MAKI_OK) return recorded;
    if (err) *err = why; /* the error of the request has precedence */
    return st;
}

static bool is_overflow(maki_status st, const maki_err *err)
{
    return st == MAKI_REFUSED && strcmp(err->code, MAKI_SEND_OVERFLOW) == 0;
}

/* Reduce the session, write the request, send it; after a context overflow retry with a smaller window. */
static maki_status ask(maki_turn_state *w, maki_err *err)
{
    for (;;) {
        maki_status st = maki_turn_manage(w, err);
        if (st == MAKI_OK) st = write_request(w, err);
        if (st != MAKI_OK) return st;
        st = send(w, err);
        if (st == MAKI_OK) maki_turn_test_window(w);
        if (!is_overflow(st, err)) return st;
        maki_turn_learn_window(w);
        if (w->result->overflows++ == OVERFLOWS_MAX) return st;
        double max = w->reduced_window > 0 ? w->reduced_window : w->limits.window;
        w->reduced_window = w->result->tokens < max ? w->result->tokens : max;
    }
}

/* ---- the turn ------------------------------------------------------------------------------------------------------- */

/* Ask; run the tools that the reply calls; ask again with their results. */
static maki_status ask_and_run_tools(maki_turn_state *w, maki_err *err)
{
    unsigned max = w->request->rounds ? w->request->rounds : ROUNDS_DEFAULT;
    for (unsigned round = 0;; round++) {
        maki_status st = ask(w, err);
        bool calls = w->result->stop == MAKI_STOP_CALLS;
        if (st != MAKI_OK || !calls || !w->callbacks->on_call || round == max) return st;
        st = maki_turn_run_calls(w, err);
        if (st != MAKI_OK) return st;
        w->reduced_window = 0;
    }
}

static maki_status take_steps(maki_turn_state *w, maki_err *err)
{
    maki_status st = maki_turn_find_session(w, err);           /* the session, created if missing */
    if (st == MAKI_OK) st = maki_turn_select_provider(w, err); /* the provider */
    if (st == MAKI_OK) st = maki_turn_open_session(w, err);    /* the settings of the session */
    if (st == MAKI_OK) st = maki_turn_build_prompt(w, err);    /* bootstrap files, system prompt */
    if (st == MAKI_OK)
        st = maki_turn_append_message(w, err); /* the message is durable from here on */
    if (st == MAKI_OK) st = maki_turn_limit_session(w, err); /* turn limits */
    if (st == MAKI_OK) st = maki_turn_find_limits(w, err);   /* window, policy, summarizer */
    if (st == MAKI_OK) st = maki_turn_record_system(w, err); /* if it has changed */
    if (st == MAKI_OK) st = ask_and_run_tools(w, err); /* reduce, request, reply, tools; recorded */
    if (st == MAKI_OK) maki_turn_prepare_summary(w);   /* the next summary */
    return st;
}

maki_status maki_turn(maki_turns *turns, const maki_turn_request *request,
                      const maki_turn_callbacks *callbacks, maki_turn_result *result, maki_err *err)
{
    static const maki_turn_callbacks none = { 0 };
    const maki_env *env = turns->options.env;
    maki_err own = { .msg = "" };
    maki_turn_state w = { .turns = turns,
                          .options = &turns->options,
                          .request = request,
                          .callbacks = callbacks ? callbacks : &none,
                          .result = result,
                          .arena = maki_arena_new(env->alloc, ARENA_MAX),
                          .factor = 1,
                          .body = maki_spool_new(env, MAKI_SPOOL_MEMORY),
                          .reply = maki_spool_new(env, MAKI_SPOOL_MEMORY) };
    *result = (maki_turn_result){ 0 };
    maki_status st = take_steps(&w, err ? err : &own);
    maki_turn_report_context(&w);
    maki_conv_close(w.conv);
    maki_spool_free(&w.body);
    maki_spool_free(&w.reply);
    maki_arena_free(&w.arena);
    return st;
}

/* turn.c -- a turn, step by step; see turn.h.
 *
 * The steps are those of docs/architecture.md: the files turn_*.c have what each of them does. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "engine/turn_internal.h"

enum {
    SMALL = 64 << 20,  /* memory for the small things of a turn */
    OVERFLOWS_MAX = 3, /* requests that may follow one that was too long */
    ROUNDS_USUAL = 50
};

/* ---- life ------------------------------------------------------------------------------------------------------- */

maki_status maki_turns_open(const maki_turns_options *options, maki_turns **out, maki_err *err)
{
    const maki_alloc *alloc = options->env->alloc;
    maki_turns *t = alloc->resize(alloc, NULL, 0, sizeof *t);
    if (!t) return maki_fail_nomem(err);
    memset(t, 0, sizeof *t);
    t->options = *options;
    snprintf(t->home, sizeof t->home, "%s", options->home);
    t->sends = (maki_model_send){ .env = options->env,
                                  .config = options->config,
                                  .logger = options->logger,
                                  .sleep = options->sleep,
                                  .sleep_ctx = options->sleep_ctx };
    t->model = maki_model_sending(&t->sends);
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
    const maki_alloc *alloc = t->options.env->alloc;
    atomic_store(&t->preparing.stop, true);
    (void)maki_turns_wait(t);
    maki_sender_close(t->sender);
    maki_tokenizer_close(t->tokenizer);
    alloc->resize(alloc, t, sizeof *t, 0);
}

bool maki_turn_cancelled(void *work)
{
    const maki_turn_callbacks *calls = ((const maki_turn_work *)work)->calls;
    return calls->cancelled && calls->cancelled(calls->ctx);
}

/* ---- one request -------------------------------------------------------------------------------------------------- */

static maki_status keep_row(void *ctx, maki_str row, bool whole, maki_err *err)
{
    maki_turn_work *w = ctx;
    (void)whole; /* the status of the request says it */
    maki_status st = maki_spool_add(&w->reply, row, err);
    return st == MAKI_OK ? maki_spool_add(&w->reply, (maki_str){ "", 1 }, err) : st;
}

static maki_status pass_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    const maki_turn_callbacks *calls = ((const maki_turn_work *)ctx)->calls;
    return calls->on_delta(calls->ctx, piece, err);
}

static maki_status pass_retry(void *ctx, unsigned nth, uint32_t pause_ms, const maki_err *why,
                              maki_err *err)
{
    const maki_turn_callbacks *calls = ((const maki_turn_work *)ctx)->calls;
    return calls->on_retry(calls->ctx, nth, pause_ms, why, err);
}

/* Of a window that an error told, the answer gets no more than what is reserved for it. */
static uint64_t answer_tokens(const maki_turn_work *w)
{
    double most = w->figures.max_tokens, share = w->figures.window / 4;
    bool told = w->figures.window < w->window;
    return (uint64_t)(told && most > share ? share : most);
}

static maki_status write_request(maki_turn_work *w, maki_err *err)
{
    const maki_turn_request *q = w->request;
    const maki_provider *provider = &w->turns->provider;
    const maki_view *view;
    maki_request request = { .protocol = provider->protocol,
                             .provider = maki_str_of(provider->name),
                             .model = w->model,
                             .max_tokens = answer_tokens(w),
                             .window = (uint64_t)w->figures.window,
                             .stream = !q->whole,
                             .system = w->system,
                             .system_count = w->system_count,
                             .tools = q->tools,
                             .functions = provider->functions,
                             .thinking = w->thinking,
                             .async = true };
    maki_spool_clear(&w->body);
    maki_status st = maki_conv_view(w->conv, MAKI_NOW, MAKI_NOW, &view, err);
    if (st != MAKI_OK) return st;
    return maki_request_write(w->conv, view, &request, maki_spool_sink(&w->body), err);
}

/* Ask, and record what came: also of a request that failed. */
static maki_status send(maki_turn_work *w, maki_err *err)
{
    maki_err why = { .msg = "" };
    maki_send_request request = { .model = w->model,
                                  .stream = !w->request->whole,
                                  .body = maki_send_spool(&w->body),
                                  .retries = MAKI_SEND_RETRIES,
                                  .cancelled = maki_turn_cancelled,
                                  .cancelled_ctx = w,
                                  .counted = w->counted,
                                  .calibration = &w->calibration };
    maki_send_callbacks calls = { .ctx = w,
                                  .on_delta = w->calls->on_delta ? pass_delta : NULL,
                                  .on_row = keep_row,
                                  .on_retry = w->calls->on_retry ? pass_retry : NULL };
    maki_spool_clear(&w->reply);
    w->result->requests++;
    maki_status st = maki_send(w->turns->sender, &request, &calls, &w->result->sent, &why);
    maki_status kept = maki_turn_record(w, st, &why, err);
    if (st == MAKI_OK) return kept;
    if (err) *err = why; /* why there is no answer is what a person needs to know */
    return st;
}

static bool is_overflow(maki_status st, const maki_err *err)
{
    return st == MAKI_REFUSED && strcmp(err->code, MAKI_SEND_OVERFLOW) == 0;
}

/* Make room, write, send; what the provider finds too long is sent again with less in it. */
static maki_status ask(maki_turn_work *w, maki_err *err)
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
        double most = w->shrunk > 0 ? w->shrunk : w->figures.window;
        w->shrunk = w->result->tokens < most ? w->result->tokens : most;
    }
}

/* ---- the turn ------------------------------------------------------------------------------------------------------- */

/* Ask; run the tools that the reply calls; ask again with their results. */
static maki_status answer(maki_turn_work *w, maki_err *err)
{
    unsigned most = w->request->rounds ? w->request->rounds : ROUNDS_USUAL;
    for (unsigned round = 0;; round++) {
        maki_status st = ask(w, err);
        bool calls = w->result->stop == MAKI_STOP_CALLS;
        if (st != MAKI_OK || !calls || !w->calls->on_call || round == most) return st;
        st = maki_turn_run_calls(w, err);
        if (st != MAKI_OK) return st;
        w->shrunk = 0;
    }
}

static maki_status take_steps(maki_turn_work *w, maki_err *err)
{
    maki_status st = maki_turn_resolve(w, err);        /* the session, made if it is new */
    if (st == MAKI_OK) st = maki_turn_choose(w, err);  /* who is asked */
    if (st == MAKI_OK) st = maki_turn_open(w, err);    /* what holds for the session */
    if (st == MAKI_OK) st = maki_turn_prompt(w, err);  /* bootstrap files, system prompt */
    if (st == MAKI_OK) st = maki_turn_receive(w, err); /* the message is durable from here on */
    if (st == MAKI_OK) st = maki_turn_limit_session(w, err); /* turn limits */
    if (st == MAKI_OK) st = maki_turn_measure(w, err);       /* window, policy, summariser */
    if (st == MAKI_OK) st = maki_turn_note_system(w, err);   /* if it is another than before */
    if (st == MAKI_OK) st = answer(w, err);  /* room, request, reply, tools; recorded */
    if (st == MAKI_OK) maki_turn_prepare(w); /* the next summary */
    return st;
}

maki_status maki_turn(maki_turns *turns, const maki_turn_request *request,
                      const maki_turn_callbacks *calls, maki_turn_result *result, maki_err *err)
{
    static const maki_turn_callbacks none = { 0 };
    const maki_env *env = turns->options.env;
    maki_err own = { .msg = "" };
    maki_turn_work w = { .turns = turns,
                         .options = &turns->options,
                         .request = request,
                         .calls = calls ? calls : &none,
                         .result = result,
                         .arena = maki_arena_new(env->alloc, SMALL),
                         .factor = 1,
                         .body = maki_spool_new(env, MAKI_SPOOL_MEMORY),
                         .reply = maki_spool_new(env, MAKI_SPOOL_MEMORY) };
    *result = (maki_turn_result){ 0 };
    maki_status st = take_steps(&w, err ? err : &own);
    maki_turn_tell_context(&w);
    maki_conv_close(w.conv);
    maki_spool_free(&w.body);
    maki_spool_free(&w.reply);
    maki_arena_free(&w.arena);
    return st;
}

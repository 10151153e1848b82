/* send.c -- tries, pauses between them, and what is learnt of the reply; see send.h. */
#include "send/send.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/str_util.h"
#include "send/attempt.h"
#include "send/backoff.h"
#include "send/sender.h"

enum {
    CONNECT_MS = 10000,
    IDLE_MS = 600000,
    KEPT = 4, /* connections */
    SLICE_MS = 100
};

/* ---- bodies ---------------------------------------------------------------------------------------------- */

static maki_status read_spool(void *ctx, uint64_t at, char *out, size_t capacity, size_t *got,
                              maki_err *err)
{
    return maki_spool_read(ctx, at, out, capacity, got, err);
}

maki_blocking_client_body maki_send_spool(maki_spool *spool)
{
    return (maki_blocking_client_body){ read_spool, spool, spool->size };
}

static maki_status read_text(void *ctx, uint64_t at, char *out, size_t capacity, size_t *got,
                             maki_err *err)
{
    const maki_str *text = ctx;
    (void)err;
    *got = at < text->len ? text->len - (size_t)at : 0;
    if (*got > capacity) *got = capacity;
    memcpy(out, text->ptr + at, *got);
    return MAKI_OK;
}

maki_blocking_client_body maki_send_text(const maki_str *text)
{
    union {
        const maki_str *in;
        void *out;
    } ctx = { text }; /* only read */
    return (maki_blocking_client_body){ read_text, ctx.out, text->len };
}

/* ---- a sender's life ------------------------------------------------------------------------------------- */

static void sleep_ms(void *ctx, uint32_t ms)
{
    struct timespec pause = { ms / 1000, (long)(ms % 1000) * 1000000 };
    (void)ctx;
    nanosleep(&pause, NULL);
}

void maki_head_wipe(maki_buf *head)
{
    if (head->ptr) explicit_bzero(head->ptr, head->capacity);
    maki_buf_free(head);
}

maki_status maki_sender_open(const maki_send_options *options, maki_sender **out, maki_err *err)
{
    const maki_alloc *alloc = options->env->alloc;
    maki_sender *s = alloc->resize(alloc, NULL, 0, sizeof *s);
    if (!s) return maki_fail_nomem(err);
    *s = (maki_sender){ .options = *options, .provider = *options->provider };
    s->options.provider = NULL; /* the copy counts */
    if (!s->options.reply_bytes) s->options.reply_bytes = MAKI_WIRE_ROW_MAX;
    if (!s->options.sleep) s->options.sleep = sleep_ms;
    maki_client_limits limits = { .connect_ms =
                                      options->connect_ms ? options->connect_ms : CONNECT_MS,
                                  .idle_ms =
                                      s->provider.timeout_ms ? s->provider.timeout_ms : IDLE_MS,
                                  .idle_max = KEPT,
                                  .ca_file = s->provider.ca_file };
    maki_status st = maki_blocking_client_open(options->env, &limits, &s->link, err);
    if (st != MAKI_OK) {
        alloc->resize(alloc, s, sizeof *s, 0);
        return st;
    }
    *out = s;
    return MAKI_OK;
}

void maki_sender_close(maki_sender *s)
{
    if (!s) return;
    const maki_alloc *alloc = s->options.env->alloc;
    maki_blocking_client_close(s->link);
    alloc->resize(alloc, s, sizeof *s, 0);
}

/* ---- pauses ---------------------------------------------------------------------------------------------- */

/* A provider that urges is believed, but what is too long stays so. */
static bool may_pass(const maki_attempt *t)
{
    bool urged =
        t->urged && t->trouble.http_status && t->trouble.kind != MAKI_PROVIDER_ERROR_OVERFLOW;
    return urged || maki_provider_error_is_transient(&t->trouble);
}

/* May it be tried again, and after how long? */
static bool another(maki_attempt *t, unsigned nth, uint32_t *pause, maki_err *err)
{
    const maki_random *random = t->sender->options.env->random;
    if (t->reached || t->final || !may_pass(t) || nth >= t->request->retries) return false;
    if (t->asked_ms > MAKI_BACKOFF_RETRY_AFTER_MAX) {
        snprintf(t->trouble.words, sizeof t->trouble.words, "it asks to wait for %lld s",
                 (long long)(t->asked_ms / 1000));
        maki_provider_error_fail(&t->trouble, &t->sender->provider, t->model, err);
        return false;
    }
    *pause = (uint32_t)t->asked_ms;
    return t->asked_ms > 0 || maki_backoff_random(random, nth, pause, err) == MAKI_OK;
}

static maki_status wait_for(const maki_attempt *t, uint32_t ms, maki_err *err)
{
    const maki_send_options *o = &t->sender->options;
    const maki_send_request *q = t->request;
    for (;;) {
        if (q->cancelled && q->cancelled(q->cancelled_ctx))
            return maki_fail(err, MAKI_CANCELLED, "it was cancelled");
        if (ms == 0) return MAKI_OK;
        uint32_t slice = ms < SLICE_MS ? ms : SLICE_MS;
        o->sleep(o->sleep_ctx, slice);
        ms -= slice;
    }
}

static maki_status pause_for(const maki_attempt *t, unsigned nth, uint32_t ms, const maki_err *why,
                             maki_err *err)
{
    const maki_kv values[] = { MAKI_KV_S("provider", maki_str_of(t->sender->provider.name)),
                               MAKI_KV_S("model", t->model),
                               MAKI_KV_I("status", t->result->http_status),
                               MAKI_KV_I("retry", nth),
                               MAKI_KV_I("pause_ms", ms),
                               MAKI_KV_S("why", maki_str_of(why->msg)) };
    maki_log_event(t->sender->options.log, MAKI_WARN, "send_retry", values,
                   sizeof values / sizeof values[0]);
    maki_status st = MAKI_OK;
    if (t->calls->on_retry) st = t->calls->on_retry(t->calls->ctx, nth, ms, why, err);
    return st == MAKI_OK ? wait_for(t, ms, err) : st;
}

/* ---- the end --------------------------------------------------------------------------------------------- */

static void learn(const maki_attempt *t)
{
    const maki_send_request *q = t->request;
    maki_send_result *r = t->result;
    if (!q->calibration || q->counted <= 0 || !r->usage.input) return;
    r->calibrated = maki_calibration_add(q->calibration, maki_family_of(t->model), q->counted,
                                         (double)r->usage.input);
}

static void log_end(const maki_attempt *t, maki_status st, const maki_err *err)
{
    const maki_send_result *r = t->result;
    const maki_kv values[] = { MAKI_KV_S("provider", maki_str_of(t->sender->provider.name)),
                               MAKI_KV_S("model", t->model),
                               MAKI_KV_I("status", r->http_status),
                               MAKI_KV_S("stop", maki_str_of(r->stop_word)),
                               MAKI_KV_I("input", r->usage.input),
                               MAKI_KV_I("output", r->usage.output),
                               MAKI_KV_I("bytes", r->bytes),
                               MAKI_KV_I("retried", r->retried),
                               MAKI_KV_I("ms", r->total_ms),
                               MAKI_KV_S("request_id", maki_str_of(r->request_id)),
                               MAKI_KV_S("error", maki_str_of(st == MAKI_OK ? "" : err->msg)) };
    size_t count = sizeof values / sizeof values[0];
    if (st == MAKI_OK) count--;
    maki_log_event(t->sender->options.log, st == MAKI_OK ? MAKI_INFO : MAKI_WARN, "send", values,
                   count);
}

/* The last try: its rows, and what it taught. */
static maki_status settle(maki_attempt *t, maki_status st, maki_err *err)
{
    const maki_clock *clock = t->sender->options.env->clock;
    maki_err others; /* what is wrong with part of a reply does not hide why it is a part */
    maki_status given = maki_attempt_rows(t, st == MAKI_OK, st == MAKI_OK ? err : &others);
    if (st == MAKI_OK) {
        learn(t);
        st = given;
    }
    t->result->total_ms = clock->now_ms(clock) - t->began;
    log_end(t, st, err);
    maki_attempt_close(t);
    return st;
}

maki_status maki_send(maki_sender *s, const maki_send_request *request,
                      const maki_send_callbacks *calls, maki_send_result *result, maki_err *err)
{
    static const maki_send_callbacks none = { 0 };
    const maki_clock *clock = s->options.env->clock;
    maki_err own = { .msg = "" };
    maki_str model = request->model.len ? request->model : s->provider.model;
    maki_attempt t = { .sender = s,
                       .request = request,
                       .calls = calls ? calls : &none,
                       .result = result,
                       .model = model,
                       .began = clock->now_ms(clock) };
    if (!err) err = &own;
    *result = (maki_send_result){ .first_ms = -1 };
    for (unsigned nth = 0;; nth++) {
        maki_attempt now = t;
        uint32_t pause = 0;
        maki_status st = maki_attempt_run(&now, err);
        if (st == MAKI_OK || !another(&now, nth, &pause, err)) return settle(&now, st, err);
        maki_err why = *err;
        maki_attempt_close(&now);
        st = pause_for(&now, nth + 1, pause, &why, err);
        if (st != MAKI_OK) return settle(&now, st, err);
        result->retried++;
    }
}

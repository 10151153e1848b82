/* send.c -- a sender, the loop over its attempts, and the log line and calibration at the end.
 *
 * In:    a request whose body can be read again.
 * Out:   the result of the last attempt; its rows are delivered once, also those of an incomplete reply.
 * Each attempt starts from the same state: only result->retried survives it. */
#include "send/send.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str_util.h"
#include "send/attempt.h"
#include "send/backoff.h"
#include "send/sender.h"

enum {
    CONNECT_MS = 10000,
    IDLE_MS = 600000,
    CONNECTIONS_MAX = 4, /* idle, for reuse */
    SLICE_MS = 100       /* of a wait, between checks for cancellation */
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

/* ---- life cycle ------------------------------------------------------------------------------------- */

static void sleep_ms(void *ctx, uint32_t ms)
{
    struct timespec time = { ms / 1000, (long)(ms % 1000) * 1000000 };
    (void)ctx;
    nanosleep(&time, NULL);
}

maki_status maki_sender_run(maki_sender *s, maki_buf *target, maki_blocking_client_request *request,
                            maki_blocking_client_result *result, maki_err *err)
{
    maki_buf head = maki_buf_new(s->options.env->alloc, MAKI_HEAD_MAX);
    maki_status st = maki_provider_head(&s->provider, request->body.length, &head, err);
    maki_buf_add_byte(target, '\0');
    if (st == MAKI_OK) st = maki_buf_status(target, err);
    request->origin = s->provider.origin;
    request->target = target->ptr;
    request->lines = maki_buf_str(&head);
    if (st == MAKI_OK) st = maki_blocking_client_run(s->client, request, result, err);
    if (head.ptr) explicit_bzero(head.ptr, head.capacity); /* it has the key */
    maki_buf_free(&head);
    maki_buf_free(target);
    return st;
}

maki_status maki_sender_open(const maki_send_options *options, maki_sender **out, maki_err *err)
{
    const maki_alloc *alloc = options->env->alloc;
    maki_sender *s = maki_new(alloc, maki_sender);
    if (!s) return maki_fail_nomem(err);
    s->options = *options;
    s->provider = *options->provider;
    s->options.provider = NULL; /* use the copy */
    if (!s->options.reply_bytes) s->options.reply_bytes = MAKI_WIRE_ROW_MAX;
    if (!s->options.sleep) s->options.sleep = sleep_ms;
    maki_client_limits limits = { .connect_ms = CONNECT_MS,
                                  .idle_ms =
                                      s->provider.timeout_ms ? s->provider.timeout_ms : IDLE_MS,
                                  .idle_max = CONNECTIONS_MAX,
                                  .ca_file = s->provider.ca_file };
    maki_status st = maki_blocking_client_open(options->env, &limits, &s->client, err);
    if (st != MAKI_OK) {
        maki_delete(alloc, s);
        return st;
    }
    *out = s;
    return MAKI_OK;
}

void maki_sender_close(maki_sender *s)
{
    if (!s) return;
    maki_blocking_client_close(s->client);
    maki_delete(s->options.env->alloc, s);
}

/* ---- retries ---------------------------------------------------------------------------------------------- */

/* x-should-retry wins, except for a request that is too long: a retry cannot succeed. */
static bool is_transient(const maki_attempt *t)
{
    bool requested =
        t->should_retry && t->error.http_status && t->error.kind != MAKI_PROVIDER_ERROR_OVERFLOW;
    return requested || maki_provider_error_is_transient(&t->error);
}

/* Should the request be retried?  *backoff_ms: the delay before that. */
static bool should_retry(maki_attempt *t, unsigned nth, uint32_t *backoff_ms, maki_err *err)
{
    const maki_random *random = t->sender->options.env->random;
    if (t->delivered || t->should_not_retry || !is_transient(t) || nth >= t->request->retries)
        return false;
    if (t->retry_after_ms > MAKI_BACKOFF_RETRY_AFTER_MAX) {
        snprintf(t->error.message, sizeof t->error.message, "it asks for a retry after %lld s",
                 (long long)(t->retry_after_ms / 1000));
        maki_provider_error_fail(&t->error, &t->sender->provider, t->model, err);
        return false;
    }
    *backoff_ms = (uint32_t)t->retry_after_ms;
    return t->retry_after_ms > 0 || maki_backoff_random(random, nth, backoff_ms, err) == MAKI_OK;
}

static maki_status wait_ms(const maki_attempt *t, uint32_t ms, maki_err *err)
{
    const maki_send_options *o = &t->sender->options;
    const maki_send_request *q = t->request;
    for (;;) {
        if (q->cancelled && q->cancelled(q->cancelled_ctx))
            return maki_fail(err, MAKI_CANCELLED, "cancelled");
        if (ms == 0) return MAKI_OK;
        uint32_t slice = ms < SLICE_MS ? ms : SLICE_MS;
        o->sleep(o->sleep_ctx, slice);
        ms -= slice;
    }
}

static maki_status back_off(const maki_attempt *t, unsigned nth, uint32_t ms, const maki_err *why,
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
    if (t->callbacks->on_retry) st = t->callbacks->on_retry(t->callbacks->ctx, nth, ms, why, err);
    return st == MAKI_OK ? wait_ms(t, ms, err) : st;
}

/* ---- the result --------------------------------------------------------------------------------------------- */

static void calibrate(const maki_attempt *t)
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
                               MAKI_KV_S("stop", maki_str_of(r->stop_reason)),
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

/* Finish the last attempt: rows, calibration, log line. */
static maki_status finish(maki_attempt *t, maki_status st, maki_err *err)
{
    const maki_clock *clock = t->sender->options.env->clock;
    maki_err ignored; /* the error of the attempt has priority */
    maki_status delivered = maki_attempt_rows(t, st == MAKI_OK, st == MAKI_OK ? err : &ignored);
    if (st == MAKI_OK) {
        calibrate(t);
        st = delivered;
    }
    t->result->total_ms = clock->now_ms(clock) - t->started;
    log_end(t, st, err);
    maki_attempt_close(t);
    return st;
}

maki_status maki_send(maki_sender *s, const maki_send_request *request,
                      const maki_send_callbacks *callbacks, maki_send_result *result, maki_err *err)
{
    static const maki_send_callbacks none = { 0 };
    const maki_clock *clock = s->options.env->clock;
    maki_err local_err = { .msg = "" };
    maki_str model = request->model.len ? request->model : s->provider.model;
    maki_attempt initial = { .sender = s,
                             .request = request,
                             .callbacks = callbacks ? callbacks : &none,
                             .result = result,
                             .model = model,
                             .started = clock->now_ms(clock) };
    if (!err) err = &local_err;
    *result = (maki_send_result){ .first_ms = -1 };
    for (unsigned nth = 0;; nth++) {
        maki_attempt attempt = initial;
        uint32_t backoff_ms = 0;
        maki_status st = maki_attempt_run(&attempt, err);
        if (st == MAKI_OK || !should_retry(&attempt, nth, &backoff_ms, err))
            return finish(&attempt, st, err);
        maki_err why = *err;
        maki_attempt_close(&attempt);
        st = back_off(&attempt, nth + 1, backoff_ms, &why, err);
        if (st != MAKI_OK) return finish(&attempt, st, err);
        result->retried++;
    }
}

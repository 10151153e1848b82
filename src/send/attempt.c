/* attempt.c -- one HTTP exchange with a provider.
 *
 * In:    the request of the caller, the provider of the sender.
 * Out:   calls of on_delta while the reply comes; t->parsed, the rows of the reply, also of an incomplete one; t->error and
 *        its message (send/provider_error.h) when there is no complete reply.
 * A failure of the caller's callback does not stop the parser: what was received has to become a row. */
#include "send/attempt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "send/backoff.h"
#include "wire/json_row.h"

/* ---- deltas ---------------------------------------------------------------------------------------------- */

static maki_status on_delta(void *ctx, const maki_delta *delta, maki_err *err)
{
    maki_attempt *t = ctx;
    const maki_clock *clock = t->sender->options.env->clock;
    if (!t->delivered) t->result->first_ms = clock->now_ms(clock) - t->started;
    t->delivered = true;
    return t->callbacks->on_delta(t->callbacks->ctx, delta, err);
}

static maki_status on_wire_delta(void *ctx, const maki_wire_delta *delta, maki_err *err)
{
    maki_attempt *t = ctx;
    (void)err;
    if (delta->kind == MAKI_DELTA_CALL) t->result->calls++;
    if (t->callback_status == MAKI_OK)
        t->callback_status = maki_delta_decoder_add(&t->decoder, delta, &t->callback_err);
    return MAKI_OK;
}

static maki_status status_of_callback(const maki_attempt *t, maki_err *err)
{
    if (t->callback_status != MAKI_OK && err) *err = t->callback_err;
    return t->callback_status;
}

/* ---- the reply ------------------------------------------------------------------------------------------- */

/* A header may have any bytes, and is copied to events and logs, which are UTF-8. */
static void copy_ascii(char *out, size_t capacity, maki_str text)
{
    size_t n = text.len < capacity ? text.len : capacity - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = text.ptr[i] >= ' ' && text.ptr[i] <= '~' ? text.ptr[i] : '?';
    out[n] = '\0';
}

/* x-ratelimit-reset is in every reply of some servers: it matters only when the limit was reached.  OpenAI's -requests and
 * -tokens are not read: they say when the bucket is full again, long after the next request would be accepted. */
static int64_t retry_after_of(const maki_http_head *fields, int status, int64_t now_ms)
{
    int64_t ms = maki_backoff_parse_retry_after(maki_http_value(fields, "retry-after"),
                                                maki_http_value(fields, "retry-after-ms"), now_ms);
    if (ms >= 0 || status != 429) return ms;
    return maki_backoff_parse_reset(maki_http_value(fields, "x-ratelimit-reset"), now_ms);
}

static maki_status on_head(void *ctx, int status, const maki_http_head *fields, maki_err *err)
{
    maki_attempt *t = ctx;
    const maki_env *env = t->sender->options.env;
    maki_str request_id = maki_http_value(fields, "request-id"),
             type = maki_http_value(fields, "content-type");
    if (!request_id.len) request_id = maki_http_value(fields, "x-request-id");
    copy_ascii(t->result->request_id, sizeof t->result->request_id, request_id);
    t->result->http_status = status;
    t->retry_after_ms = retry_after_of(fields, status, env->clock->now_ms(env->clock));
    t->should_not_retry =
        maki_str_equal(maki_http_value(fields, "x-should-retry"), MAKI_LIT("false"));
    t->should_retry = maki_str_equal(maki_http_value(fields, "x-should-retry"), MAKI_LIT("true"));
    maki_status st =
        maki_wire_reply_open(env, t->sender->provider.protocol, status, type, &t->reply, err);
    if (st == MAKI_OK) maki_wire_reply_on_delta(t->reply, on_wire_delta, t);
    return st;
}

static maki_status on_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    maki_attempt *t = ctx;
    uint64_t max = t->sender->options.reply_bytes;
    t->result->bytes += bytes.len;
    if (t->result->bytes > max) {
        t->discard = true;
        return maki_fail(err, MAKI_TOOBIG,
                         "the reply of %.40s is larger than %llu MB; it was cancelled",
                         t->sender->provider.name, (unsigned long long)(max >> 20));
    }
    maki_status st = maki_wire_reply_add(t->reply, bytes, err);
    t->discard = st != MAKI_OK;
    return st == MAKI_OK ? status_of_callback(t, err) : st;
}

/* ---- the result ------------------------------------------------------------------------------------- */

static void copy_json(char *out, size_t capacity, maki_str string)
{
    if (maki_is_string(string)) out[maki_json_copy_text(string, out, capacity - 1)] = '\0';
}

static const struct stop_row {
    maki_stop stop;
    const char *reasons;
} stop_rows[] = {
    { MAKI_STOP_END, "end_turn stop_sequence stop STOP completed" },
    { MAKI_STOP_CALLS, "tool_use tool_calls function_call" },
    { MAKI_STOP_LENGTH, "max_tokens length max_output_tokens MAX_TOKENS" },
    { MAKI_STOP_LENGTH, "model_context_window_exceeded" },
    { MAKI_STOP_REFUSED,
      "refusal content_filter SAFETY RECITATION PROHIBITED_CONTENT BLOCKLIST SPII" },
};

/* Some protocols report the same stop reason with and without calls. */
static maki_stop stop_of(maki_str reason, unsigned calls)
{
    if (!reason.len) return MAKI_STOP_NONE;
    for (size_t i = 0; i < sizeof stop_rows / sizeof stop_rows[0]; i++) {
        if (!maki_key_in(reason, stop_rows[i].reasons)) continue;
        bool end = stop_rows[i].stop == MAKI_STOP_END;
        return end && calls ? MAKI_STOP_CALLS : stop_rows[i].stop;
    }
    return MAKI_STOP_OTHER;
}

static void copy_result(maki_attempt *t)
{
    maki_send_result *r = t->result;
    const maki_wire_result *parsed = &t->parsed;
    maki_str cost = maki_is_object(parsed->usage_json)
                        ? maki_member(parsed->usage_json, MAKI_LIT("cost"))
                        : (maki_str){ "", 0 };
    copy_json(r->id, sizeof r->id, parsed->id);
    copy_json(r->model, sizeof r->model, parsed->model);
    copy_json(r->stop_reason, sizeof r->stop_reason, parsed->stop);
    r->stop = stop_of(maki_str_of(r->stop_reason), r->calls);
    r->usage = parsed->usage;
    r->invalid = parsed->invalid;
    bool number = cost.len && maki_json_kind_of(cost) == MAKI_JSON_NUMBER;
    double value = number ? maki_json_double(cost) : -1;
    r->has_cost = value >= 0 && isfinite(value);
    r->cost = r->has_cost ? value : 0;
}

static maki_status read_reply(maki_attempt *t, maki_err *err)
{
    if (!t->reply) return MAKI_OK;
    maki_status st = maki_wire_reply_end(t->reply, &t->parsed, err);
    if (st == MAKI_OK && t->callback_status == MAKI_OK)
        t->callback_status = maki_delta_decoder_end(&t->decoder, &t->callback_err);
    t->discard = st != MAKI_OK;
    if (st == MAKI_OK) copy_result(t);
    return st;
}

/* Set t->error.  A reply with the end marker of its protocol is complete, even if the connection was not closed
 * properly. */
static void classify(maki_attempt *t, maki_status exchange_status,
                     const maki_blocking_client_result *exchange)
{
    const maki_clock *clock = t->sender->options.env->clock;
    const maki_wire_result *parsed = &t->parsed;
    int status = t->reply ? t->result->http_status : 0;
    maki_provider_error_kind kind = MAKI_PROVIDER_ERROR_NONE;
    if (status >= 300 || parsed->error.len) {
        t->error = maki_provider_error_read(&t->sender->provider, status, parsed->error,
                                            clock->now_ms(clock));
        if (t->retry_after_ms < 0) t->retry_after_ms = t->error.retry_delay_ms;
        t->result->window = t->error.window;
        return;
    }
    if (!exchange->connected)
        kind = MAKI_PROVIDER_ERROR_UNREACHABLE;
    else if (!parsed->complete && exchange_status == MAKI_TIMEOUT)
        kind = MAKI_PROVIDER_ERROR_TIMEOUT;
    else if (!parsed->row_count && parsed->invalid)
        kind = MAKI_PROVIDER_ERROR_PROTOCOL;
    else if (!parsed->complete)
        kind = MAKI_PROVIDER_ERROR_INCOMPLETE;
    t->error = maki_provider_error_of(kind, exchange->message);
}

/* ---- running --------------------------------------------------------------------------------------------- */

static maki_status post(maki_attempt *t, maki_blocking_client_result *exchange, maki_err *err)
{
    maki_sender *s = t->sender;
    const maki_send_request *q = t->request;
    maki_buf target = maki_buf_new(s->options.env->alloc, MAKI_TARGET_MAX);
    maki_provider_target(&s->provider, t->model, q->stream, &target);
    maki_blocking_client_request request = { .method = "POST",
                                             .body = q->body,
                                             .total_ms = s->options.total_ms,
                                             .cancelled = q->cancelled,
                                             .cancelled_ctx = q->cancelled_ctx,
                                             .on_head = on_head,
                                             .on_bytes = on_bytes,
                                             .ctx = t };
    return maki_sender_run(s, &target, &request, exchange, err);
}

maki_status maki_attempt_run(maki_attempt *t, maki_err *err)
{
    maki_blocking_client_result exchange = { .message = "" };
    maki_err reply_err;
    t->retry_after_ms = -1;
    *t->result = (maki_send_result){ .first_ms = -1, .retried = t->result->retried };
    t->decoder = maki_delta_decoder_new(t->callbacks->on_delta ? on_delta : NULL, t);
    maki_status exchange_status = post(t, &exchange, err);
    if (t->discard) return exchange_status;
    maki_status st = read_reply(t, &reply_err);
    bool remote = exchange_status == MAKI_OK || exchange_status == MAKI_UPSTREAM ||
                  exchange_status == MAKI_TIMEOUT;
    if (remote && st == MAKI_OK) st = status_of_callback(t, &reply_err);
    if (!remote) return exchange_status;
    if (st == MAKI_OK) classify(t, exchange_status, &exchange);
    t->result->failed = st == MAKI_OK && t->error.kind != MAKI_PROVIDER_ERROR_NONE;
    memcpy(t->result->message, t->error.message, sizeof t->result->message);
    if (st == MAKI_OK)
        st = maki_provider_error_fail(&t->error, &t->sender->provider, t->model, &reply_err);
    if (st != MAKI_OK && err) *err = reply_err;
    return st;
}

maki_status maki_attempt_rows(maki_attempt *t, bool complete, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (t->discard || !t->callbacks->on_row) return MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < t->parsed.row_count; i++)
        st = t->callbacks->on_row(t->callbacks->ctx, t->parsed.rows[i], complete, err);
    return st;
}

void maki_attempt_close(maki_attempt *t)
{
    maki_wire_reply_close(t->reply);
    t->reply = NULL;
    t->parsed = (maki_wire_result){ 0 };
}

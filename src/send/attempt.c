/* attempt.c -- see attempt.h. */
#include "send/attempt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "send/backoff.h"
#include "wire/json_row.h"

/* ---- pieces ---------------------------------------------------------------------------------------------- */

static maki_status on_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    maki_attempt *t = ctx;
    const maki_clock *clock = t->sender->options.env->clock;
    if (!t->reached) t->result->first_ms = clock->now_ms(clock) - t->began;
    t->reached = true;
    return t->calls->on_delta(t->calls->ctx, piece, err);
}

/* What the caller answers is kept, and the reader goes on: what came so far has to become a row. */
static maki_status on_wire_piece(void *ctx, const maki_wire_delta *piece, maki_err *err)
{
    maki_attempt *t = ctx;
    (void)err;
    if (piece->kind == MAKI_DELTA_CALL) t->result->calls++;
    if (t->stopped == MAKI_OK)
        t->stopped = maki_delta_decoder_piece(&t->hear, piece, &t->stopped_err);
    return MAKI_OK;
}

static maki_status answer_of_caller(const maki_attempt *t, maki_err *err)
{
    if (t->stopped != MAKI_OK && err) *err = t->stopped_err;
    return t->stopped;
}

/* ---- the reply ------------------------------------------------------------------------------------------- */

/* A field may have any bytes, and goes on into events and logs, which are UTF-8. */
static void copy_plain(char *out, size_t capacity, maki_str text)
{
    size_t n = text.len < capacity ? text.len : capacity - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = text.ptr[i] >= ' ' && text.ptr[i] <= '~' ? text.ptr[i] : '?';
    out[n] = '\0';
}

/* x-ratelimit-reset is in every reply of some servers: it says something only where the limit was reached.  OpenAI's
 * -requests and -tokens are not read: they tell when a bucket is full again, long after the next request may go. */
static int64_t asked_in(const maki_http_head *fields, int status, int64_t now_ms)
{
    int64_t ms = maki_backoff_retry_after(maki_http_value(fields, "retry-after"),
                                          maki_http_value(fields, "retry-after-ms"), now_ms);
    if (ms >= 0 || status != 429) return ms;
    return maki_backoff_reset(maki_http_value(fields, "x-ratelimit-reset"), now_ms);
}

static maki_status on_head(void *ctx, int status, const maki_http_head *fields, maki_err *err)
{
    maki_attempt *t = ctx;
    const maki_env *env = t->sender->options.env;
    maki_str request_id = maki_http_value(fields, "request-id"),
             type = maki_http_value(fields, "content-type");
    if (!request_id.len) request_id = maki_http_value(fields, "x-request-id");
    copy_plain(t->result->request_id, sizeof t->result->request_id, request_id);
    t->result->http_status = status;
    t->asked_ms = asked_in(fields, status, env->clock->now_ms(env->clock));
    t->final = maki_str_is(maki_http_value(fields, "x-should-retry"), MAKI_LIT("false"));
    t->urged = maki_str_is(maki_http_value(fields, "x-should-retry"), MAKI_LIT("true"));
    maki_status st =
        maki_wire_reply_open(env, t->sender->provider.protocol, status, type, &t->reply, err);
    if (st == MAKI_OK) maki_wire_reply_on_delta(t->reply, on_wire_piece, t);
    return st;
}

static maki_status on_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    maki_attempt *t = ctx;
    uint64_t most = t->sender->options.reply_bytes;
    t->result->bytes += bytes.len;
    if (t->result->bytes > most) {
        t->lost = true;
        return maki_fail(err, MAKI_TOOBIG, "%.40s answers with more than %llu MB; it was stopped",
                         t->sender->provider.name, (unsigned long long)(most >> 20));
    }
    maki_status st = maki_wire_reply_add(t->reply, bytes, err);
    t->lost = st != MAKI_OK;
    return st == MAKI_OK ? answer_of_caller(t, err) : st;
}

/* ---- what came of it ------------------------------------------------------------------------------------- */

static void copy_json(char *out, size_t capacity, maki_str string)
{
    if (maki_is_string(string)) out[maki_json_copy_text(string, out, capacity - 1)] = '\0';
}

static const struct stop_row {
    maki_stop stop;
    const char *words;
} stop_rows[] = {
    { MAKI_STOP_END, "end_turn stop_sequence stop STOP completed" },
    { MAKI_STOP_CALLS, "tool_use tool_calls function_call" },
    { MAKI_STOP_LENGTH, "max_tokens length max_output_tokens MAX_TOKENS" },
    { MAKI_STOP_LENGTH, "model_context_window_exceeded" },
    { MAKI_STOP_REFUSED,
      "refusal content_filter SAFETY RECITATION PROHIBITED_CONTENT BLOCKLIST SPII" },
};

/* Some protocols have no word of their own for calls. */
static maki_stop stop_of(maki_str word, unsigned calls)
{
    if (!word.len) return MAKI_STOP_NONE;
    for (size_t i = 0; i < sizeof stop_rows / sizeof stop_rows[0]; i++) {
        if (!maki_key_in(word, stop_rows[i].words)) continue;
        bool end = stop_rows[i].stop == MAKI_STOP_END;
        return end && calls ? MAKI_STOP_CALLS : stop_rows[i].stop;
    }
    return MAKI_STOP_OTHER;
}

static void note(maki_attempt *t)
{
    maki_send_result *r = t->result;
    const maki_wire_result *said = &t->said;
    maki_str cost = maki_is_object(said->usage_json)
                        ? maki_member(said->usage_json, MAKI_LIT("cost"))
                        : (maki_str){ "", 0 };
    copy_json(r->id, sizeof r->id, said->id);
    copy_json(r->model, sizeof r->model, said->model);
    copy_json(r->stop_word, sizeof r->stop_word, said->stop);
    r->stop = stop_of(maki_str_of(r->stop_word), r->calls);
    r->usage = said->usage;
    r->garbage = said->invalid;
    bool number = cost.len && maki_json_kind_of(cost) == MAKI_JSON_NUMBER;
    double value = number ? maki_json_double(cost) : -1;
    r->has_cost = value >= 0 && isfinite(value);
    r->cost = r->has_cost ? value : 0;
}

static maki_status read_reply(maki_attempt *t, maki_err *err)
{
    if (!t->reply) return MAKI_OK;
    maki_status st = maki_wire_reply_end(t->reply, &t->said, err);
    if (st == MAKI_OK && t->stopped == MAKI_OK)
        t->stopped = maki_delta_decoder_end(&t->hear, &t->stopped_err);
    t->lost = st != MAKI_OK;
    if (st == MAKI_OK) note(t);
    return st;
}

/* A reply that has its protocol's own end is whole, even if the connection was not closed as it should be. */
static void find_trouble(maki_attempt *t, maki_status ran, const maki_blocking_client_end *end)
{
    const maki_clock *clock = t->sender->options.env->clock;
    const maki_wire_result *said = &t->said;
    int status = t->reply ? t->result->http_status : 0;
    maki_provider_error_kind kind = MAKI_PROVIDER_ERROR_NONE;
    if (status >= 300 || said->error.len) {
        t->trouble = maki_provider_error_read(&t->sender->provider, status, said->error,
                                              clock->now_ms(clock));
        if (t->asked_ms < 0) t->asked_ms = t->trouble.wait_ms;
        t->result->window = t->trouble.window;
        return;
    }
    if (!end->connected)
        kind = MAKI_PROVIDER_ERROR_UNREACHABLE;
    else if (!said->complete && ran == MAKI_TIMEOUT)
        kind = MAKI_PROVIDER_ERROR_TIMEOUT;
    else if (!said->row_count && said->invalid)
        kind = MAKI_PROVIDER_ERROR_GARBAGE;
    else if (!said->complete)
        kind = MAKI_PROVIDER_ERROR_CUT;
    t->trouble = maki_provider_error_of(kind, end->words);
}

/* ---- running --------------------------------------------------------------------------------------------- */

static maki_status ask(maki_attempt *t, maki_blocking_client_end *end, maki_err *err)
{
    const maki_sender *s = t->sender;
    const maki_send_request *q = t->request;
    maki_buf target = maki_buf_new(s->options.env->alloc, MAKI_TARGET_MAX);
    maki_buf head = maki_buf_new(s->options.env->alloc, MAKI_HEAD_MAX);
    maki_provider_target(&s->provider, t->model, q->stream, &target);
    maki_buf_add_byte(&target, '\0');
    maki_status st = maki_provider_head(&s->provider, q->body.length, &head, err);
    if (st == MAKI_OK) st = maki_buf_status(&target, err);
    maki_blocking_client_ask request = { .method = "POST",
                                         .origin = s->provider.origin,
                                         .target = target.ptr,
                                         .lines = maki_buf_str(&head),
                                         .body = q->body,
                                         .total_ms = s->options.total_ms,
                                         .cancelled = q->cancelled,
                                         .cancelled_ctx = q->cancelled_ctx,
                                         .on_head = on_head,
                                         .on_bytes = on_bytes,
                                         .ctx = t };
    bool asked = st == MAKI_OK;
    if (asked) st = maki_blocking_client_run(s->link, &request, end, err);
    t->lost = t->lost || !asked;
    maki_head_wipe(&head);
    maki_buf_free(&target);
    return st;
}

maki_status maki_attempt_run(maki_attempt *t, maki_err *err)
{
    maki_blocking_client_end end = { .words = "" };
    maki_err found;
    t->asked_ms = -1;
    *t->result = (maki_send_result){ .first_ms = -1, .retried = t->result->retried };
    t->hear = maki_delta_decoder_new(t->calls->on_delta ? on_delta : NULL, t);
    maki_status ran = ask(t, &end, err);
    if (t->lost) return ran;
    maki_status st = read_reply(t, &found);
    bool theirs = ran == MAKI_OK || ran == MAKI_UPSTREAM || ran == MAKI_TIMEOUT;
    if (theirs && st == MAKI_OK) st = answer_of_caller(t, &found);
    if (!theirs) return ran;
    if (st == MAKI_OK) find_trouble(t, ran, &end);
    if (st == MAKI_OK)
        st = maki_provider_error_fail(&t->trouble, &t->sender->provider, t->model, &found);
    if (st != MAKI_OK && err) *err = found;
    return st;
}

maki_status maki_attempt_rows(maki_attempt *t, bool whole, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (t->lost || !t->calls->on_row) return MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < t->said.row_count; i++)
        st = t->calls->on_row(t->calls->ctx, t->said.rows[i], whole, err);
    return st;
}

void maki_attempt_close(maki_attempt *t)
{
    maki_wire_reply_close(t->reply);
    t->reply = NULL;
    t->said = (maki_wire_result){ 0 };
}

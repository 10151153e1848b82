/* blocking_client.c -- drive net/client until one call has ended.
 *
 * client->call is the only state: not NULL while the call runs.  It ends by on_done (the reply is over or failed) or by
 * stop (a callback failed, cancelled, total_ms is over); the first of them sets the status. */
#include "send/blocking_client.h"

#include <assert.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/platform.h"
#include "base/str_util.h"

enum {
    TICK_MS = 50,  /* how often `cancelled` is called */
    LINES_MAX = 64 /* of the head of a request */
};

struct maki_blocking_client {
    const maki_env *env;
    struct event_base *base;
    maki_client *http;
    struct event *tick;
    /* of the current call */
    const maki_blocking_client_request *request;
    maki_blocking_client_result *result;
    maki_client_call *call; /* NULL: the call is over */
    int64_t deadline;       /* by the monotonic clock, in ms; 0: none */
    maki_status status;
    maki_err err;
};

/* ---- the end of a call ----------------------------------------------------------------------------------- */

/* Cancel the call with this status; the caller has set c->err, if there is a reason to report. */
static void stop(maki_blocking_client *c, maki_status status)
{
    maki_client_call *call = c->call;
    if (!call) return;
    c->call = NULL;
    c->status = status;
    maki_client_call_cancel(call);
}

static void on_done(void *ctx, maki_status status, const char *message)
{
    maki_blocking_client *c = ctx;
    c->call = NULL;
    c->status = status;
    if (status != MAKI_OK) snprintf(c->result->message, sizeof c->result->message, "%s", message);
}

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
    maki_blocking_client *c = ctx;
    const maki_blocking_client_request *request = c->request;
    (void)fd, (void)what;
    if (request->cancelled && request->cancelled(request->cancelled_ctx)) {
        stop(c, maki_fail(&c->err, MAKI_CANCELLED, "cancelled"));
    } else if (c->deadline && maki_monotonic_ms() > c->deadline) {
        snprintf(c->result->message, sizeof c->result->message, "no end after %u s",
                 (unsigned)(request->total_ms / 1000));
        stop(c, MAKI_TIMEOUT);
    }
}

/* ---- callbacks of net/client ------------------------------------------------------------------------------- */

static size_t on_read_body(void *ctx, uint64_t offset, char *out, size_t capacity, bool *end)
{
    maki_blocking_client *c = ctx;
    const maki_blocking_client_body *body = &c->request->body;
    size_t read_count = 0;
    c->result->connected = true;
    if (offset >= body->length) {
        *end = true;
        return 0;
    }
    if (capacity > body->length - offset) capacity = (size_t)(body->length - offset);
    maki_status st = body->read(body->ctx, offset, out, capacity, &read_count, &c->err);
    if (st == MAKI_OK && read_count == 0)
        st = maki_fail(&c->err, MAKI_IO, "the body of the request ends too early");
    if (st != MAKI_OK) {
        stop(c, st);
        return MAKI_CLIENT_CALL_ABORT;
    }
    *end = offset + read_count == body->length;
    return read_count;
}

static void on_head(void *ctx, int status, maki_str reason, const maki_http_head *fields)
{
    maki_blocking_client *c = ctx;
    (void)reason;
    c->result->connected = true;
    if (!c->call) return;
    maki_status st = c->request->on_head(c->request->ctx, status, fields, &c->err);
    if (st != MAKI_OK) stop(c, st);
}

static void on_bytes(void *ctx, maki_str bytes)
{
    maki_blocking_client *c = ctx;
    if (!c->call) return;
    maki_status st = c->request->on_bytes(c->request->ctx, bytes, &c->err);
    if (st != MAKI_OK) stop(c, st);
}

/* ---- running --------------------------------------------------------------------------------------------- */

static size_t split_lines(maki_str text, maki_str lines[LINES_MAX])
{
    size_t count = 0;
    while (text.len && count < LINES_MAX) {
        maki_str line = maki_str_cut(&text, '\n');
        if (line.len) lines[count++] = line;
    }
    return count;
}

static maki_status start(maki_blocking_client *c, maki_err *err)
{
    const maki_blocking_client_request *request = c->request;
    maki_str lines[LINES_MAX];
    size_t count = split_lines(request->lines, lines);
    maki_client_callbacks callbacks = { c, on_read_body, on_head, on_bytes, on_done };
    maki_client_call_request target = { .origin = request->origin,
                                        .target = request->target,
                                        .kind = request->body.length ? MAKI_CLIENT_CALL_LENGTH
                                                                     : MAKI_CLIENT_CALL_NO_BODY,
                                        .length = request->body.length };
    maki_status st = maki_client_prepare(c->http, maki_str_of(request->method), lines, count,
                                         &callbacks, &c->call, err);
    if (st == MAKI_OK) st = maki_client_call_start(c->call, &target, err);
    if (st != MAKI_OK) stop(c, st);
    return st;
}

maki_status maki_blocking_client_run(maki_blocking_client *c,
                                     const maki_blocking_client_request *request,
                                     maki_blocking_client_result *result, maki_err *err)
{
    struct timeval tick = { .tv_usec = TICK_MS * 1000 };
    *result = (maki_blocking_client_result){ .message = "" };
    assert(!c->call); /* one call at a time */
    c->request = request;
    c->result = result;
    c->err = (maki_err){ .msg = "" };
    c->deadline = request->total_ms ? maki_monotonic_ms() + request->total_ms : 0;
    if (request->cancelled && request->cancelled(request->cancelled_ctx))
        return maki_fail(err, MAKI_CANCELLED, "cancelled");
    maki_status st = start(c, err);
    if (st != MAKI_OK) return st;
    if (event_add(c->tick, &tick) != 0) {
        stop(c, MAKI_NOMEM);
        return maki_fail_nomem(err);
    }
    while (c->call)
        event_base_loop(c->base, EVLOOP_ONCE);
    event_del(c->tick);
    if (c->status != MAKI_OK && err) {
        *err = c->err;
        if (!c->err.msg[0]) maki_fail(err, c->status, "%s", result->message);
    }
    return c->status;
}

/* ---- life cycle ------------------------------------------------------------------------------------------------ */

maki_status maki_blocking_client_open(const maki_env *env, const maki_client_limits *limits,
                                      maki_blocking_client **out, maki_err *err)
{
    maki_blocking_client *c = maki_new(env->alloc, maki_blocking_client);
    if (!c) return maki_fail_nomem(err);
    c->env = env;
    c->base = event_base_new();
    if (c->base) c->tick = event_new(c->base, -1, EV_PERSIST, on_tick, c);
    maki_status st = c->tick ? MAKI_OK : maki_fail_nomem(err);
    if (st == MAKI_OK) st = maki_client_open(env, c->base, limits, &c->http, err);
    if (st != MAKI_OK) {
        maki_blocking_client_close(c);
        return st;
    }
    *out = c;
    return MAKI_OK;
}

void maki_blocking_client_close(maki_blocking_client *c)
{
    if (!c) return;
    maki_client_close(c->http);
    if (c->tick) event_free(c->tick);
    if (c->base) event_base_free(c->base);
    maki_delete(c->env->alloc, c);
}

/* blocking_client.c -- see blocking_client.h. */
#include "send/blocking_client.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/platform.h"
#include "base/str_util.h"

enum {
    TICK_MS = 50,  /* how often it is asked whether to go on */
    LINES_MAX = 64 /* of a request's head */
};

struct maki_blocking_client {
    const maki_env *env;
    struct event_base *base;
    maki_client *client;
    struct event *tick;
    /* the call at hand */
    const maki_blocking_client_ask *ask;
    maki_blocking_client_end *end;
    maki_client_call *call; /* NULL: it is over */
    int64_t until;          /* in ms; 0: no limit */
    maki_status status;
    maki_err err;
};

/* ---- the end of a call ----------------------------------------------------------------------------------- */

/* End it from our side; link->err may have the words. */
static void stop(maki_blocking_client *link, maki_status status)
{
    maki_client_call *call = link->call;
    if (!call) return;
    link->call = NULL;
    link->status = status;
    maki_client_call_cancel(call);
}

static void on_done(void *ctx, maki_status status, const char *words)
{
    maki_blocking_client *link = ctx;
    link->call = NULL;
    link->status = status;
    if (status != MAKI_OK) snprintf(link->end->words, sizeof link->end->words, "%s", words);
}

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
    maki_blocking_client *link = ctx;
    const maki_blocking_client_ask *ask = link->ask;
    (void)fd, (void)what;
    if (ask->cancelled && ask->cancelled(ask->cancelled_ctx)) {
        stop(link, maki_fail(&link->err, MAKI_CANCELLED, "it was cancelled"));
    } else if (link->until && maki_monotonic_ms() > link->until) {
        snprintf(link->end->words, sizeof link->end->words, "no end after %u s",
                 (unsigned)(ask->total_ms / 1000));
        stop(link, MAKI_TIMEOUT);
    }
}

/* ---- what the client calls ------------------------------------------------------------------------------- */

static size_t on_read_body(void *ctx, uint64_t at, char *out, size_t capacity, bool *end)
{
    maki_blocking_client *link = ctx;
    const maki_blocking_client_body *body = &link->ask->body;
    size_t got = 0;
    link->end->connected = true;
    if (at >= body->length) {
        *end = true;
        return 0;
    }
    if (capacity > body->length - at) capacity = (size_t)(body->length - at);
    maki_status st = body->read(body->ctx, at, out, capacity, &got, &link->err);
    if (st == MAKI_OK && got == 0)
        st = maki_fail(&link->err, MAKI_IO, "the request is shorter than it was");
    if (st != MAKI_OK) {
        stop(link, st);
        return MAKI_CLIENT_CALL_ABORT;
    }
    *end = at + got == body->length;
    return got;
}

static void on_head(void *ctx, int status, maki_str reason, const maki_http_head *fields)
{
    maki_blocking_client *link = ctx;
    (void)reason;
    link->end->connected = true;
    if (!link->call) return;
    maki_status st = link->ask->on_head(link->ask->ctx, status, fields, &link->err);
    if (st != MAKI_OK) stop(link, st);
}

static void on_bytes(void *ctx, maki_str bytes)
{
    maki_blocking_client *link = ctx;
    if (!link->call) return;
    maki_status st = link->ask->on_bytes(link->ask->ctx, bytes, &link->err);
    if (st != MAKI_OK) stop(link, st);
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

static maki_status start(maki_blocking_client *link, maki_err *err)
{
    const maki_blocking_client_ask *ask = link->ask;
    maki_str lines[LINES_MAX];
    size_t count = split_lines(ask->lines, lines);
    maki_client_callbacks calls = { link, on_read_body, on_head, on_bytes, on_done };
    maki_client_call_request where = { .origin = ask->origin,
                                       .target = ask->target,
                                       .kind = ask->body.length ? MAKI_CLIENT_CALL_LENGTH
                                                                : MAKI_CLIENT_CALL_NO_BODY,
                                       .length = ask->body.length };
    maki_status st = maki_client_prepare(link->client, maki_str_of(ask->method), lines, count,
                                         &calls, &link->call, err);
    if (st == MAKI_OK) st = maki_client_call_start(link->call, &where, err);
    if (st != MAKI_OK) stop(link, st);
    return st;
}

maki_status maki_blocking_client_run(maki_blocking_client *link,
                                     const maki_blocking_client_ask *ask,
                                     maki_blocking_client_end *end, maki_err *err)
{
    struct timeval tick = { .tv_usec = TICK_MS * 1000 };
    *end = (maki_blocking_client_end){ .words = "" };
    link->ask = ask;
    link->end = end;
    link->call = NULL;
    link->err = (maki_err){ .msg = "" };
    link->until = ask->total_ms ? maki_monotonic_ms() + ask->total_ms : 0;
    if (ask->cancelled && ask->cancelled(ask->cancelled_ctx))
        return maki_fail(err, MAKI_CANCELLED, "it was cancelled");
    maki_status st = start(link, err);
    if (st != MAKI_OK) return st;
    if (event_add(link->tick, &tick) != 0) {
        stop(link, MAKI_NOMEM);
        return maki_fail_nomem(err);
    }
    while (link->call)
        event_base_loop(link->base, EVLOOP_ONCE);
    event_del(link->tick);
    if (link->status != MAKI_OK && err) {
        *err = link->err;
        if (!link->err.msg[0]) maki_fail(err, link->status, "%s", end->words);
    }
    return link->status;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

maki_status maki_blocking_client_open(const maki_env *env, const maki_client_limits *limits,
                                      maki_blocking_client **out, maki_err *err)
{
    maki_blocking_client *link = env->alloc->resize(env->alloc, NULL, 0, sizeof *link);
    if (!link) return maki_fail_nomem(err);
    *link = (maki_blocking_client){ .env = env, .base = event_base_new() };
    if (link->base) link->tick = event_new(link->base, -1, EV_PERSIST, on_tick, link);
    maki_status st = link->tick ? MAKI_OK : maki_fail_nomem(err);
    if (st == MAKI_OK) st = maki_client_open(env, link->base, limits, &link->client, err);
    if (st != MAKI_OK) {
        maki_blocking_client_close(link);
        return st;
    }
    *out = link;
    return MAKI_OK;
}

void maki_blocking_client_close(maki_blocking_client *link)
{
    if (!link) return;
    maki_client_close(link->client);
    if (link->tick) event_free(link->tick);
    if (link->base) event_base_free(link->base);
    link->env->alloc->resize(link->env->alloc, link, sizeof *link, 0);
}

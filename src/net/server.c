/* server.c -- see server.h: listening, the limits on time and number, the end. */
#include "net/server_internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/platform.h"

enum {
    SWEEP_MS = 250,      /* how late a limit on time may be noticed */
    RETRY_MS = 200,      /* after accept failed */
    REFUSED_MAX = 128,   /* connections over the limit that are told so; more are just closed */
    STOP_LINGER_MS = 250 /* instead of linger_ms, while stopping */
};

/* ---- connections come ----------------------------------------------------------------------------- */

static void add_conn(maki_server *s, maki_conn *conn)
{
    conn->next = s->first;
    if (s->first) s->first->before = conn;
    s->first = conn;
    s->count++;
}

static void tell_empty(maki_server *s)
{
    if (s->stopping && !s->closing && s->count == 0 && s->calls.on_empty)
        s->calls.on_empty(s->calls.ctx);
}

void server_remove(maki_conn *conn)
{
    maki_server *s = conn->server;
    if (conn->before) conn->before->next = conn->next;
    if (conn->next) conn->next->before = conn->before;
    if (s->first == conn) s->first = conn->next;
    if (s->cursor == conn) s->cursor = conn->next;
    s->count--;
    tell_empty(s);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from,
                      int from_len, void *ctx)
{
    maki_server *s = ctx;
    (void)listener, (void)from, (void)from_len;
    maki_conn *conn = s->count < s->limits.connections + REFUSED_MAX ? conn_new(s, fd) : NULL;
    if (!conn) {
        evutil_closesocket(fd);
        return;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    add_conn(s, conn);
    if (s->count > s->limits.connections)
        conn_refuse(conn, 503, "too many connections; try again, or raise the limit");
}

static void listen_all(maki_server *s, bool on)
{
    for (size_t i = 0; i < s->listener_count; i++)
        if (on)
            evconnlistener_enable(s->listeners[i]);
        else
            evconnlistener_disable(s->listeners[i]);
}

/* Out of descriptors or memory: the loop would spin on a connection it cannot take. */
static void on_accept_error(struct evconnlistener *listener, void *ctx)
{
    maki_server *s = ctx;
    struct timeval soon = { .tv_usec = RETRY_MS * 1000 };
    char words[120];
    (void)listener;
    snprintf(words, sizeof words, "taking a connection: %s", strerror(errno));
    listen_all(s, false);
    evtimer_add(s->resume, &soon);
    if (s->calls.on_trouble) s->calls.on_trouble(s->calls.ctx, words);
}

static void on_resume(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    listen_all(ctx, true);
}

/* ---- connections that are too slow ---------------------------------------------------------------- */

/* Every connection is looked at: 10,000 take some 50 us, and a request then costs no timer at all. */
static void on_sweep(evutil_socket_t fd, short what, void *ctx)
{
    maki_server *s = ctx;
    int64_t now = maki_monotonic_ms();
    (void)fd, (void)what;
    s->cursor = s->first;
    while (s->cursor) {
        maki_conn *conn = s->cursor;
        s->cursor = conn->next;
        if (conn->deadline && now >= conn->deadline) conn_timeout(conn);
    }
}

/* ---- open and close ------------------------------------------------------------------------------- */

maki_status maki_server_open(const maki_env *env, struct event_base *base,
                             const maki_server_limits *limits, const maki_server_callbacks *calls,
                             maki_server **out, maki_err *err)
{
    maki_server *s = maki_new(env->alloc, maki_server);
    if (!s) return maki_fail_nomem(err);
    *s = (maki_server){ .env = env, .base = base, .calls = *calls };
    s->limits = limits ? *limits : (maki_server_limits)MAKI_SERVER_LIMITS_INIT;
    s->sweep = event_new(base, -1, EV_PERSIST, on_sweep, s);
    s->resume = evtimer_new(base, on_resume, s);
    struct timeval often = { .tv_usec = SWEEP_MS * 1000 };
    if (!s->sweep || !s->resume || event_add(s->sweep, &often) != 0) {
        maki_server_close(s);
        return maki_fail_nomem(err);
    }
    *out = s;
    return MAKI_OK;
}

/* The address we got, as ADDRESS:PORT. */
static void name_address(evutil_socket_t fd, char *bound, size_t capacity)
{
    struct sockaddr_storage got;
    socklen_t len = sizeof got;
    char host[INET6_ADDRSTRLEN], port[8];
    if (!bound || getsockname(fd, (struct sockaddr *)&got, &len) != 0 ||
        getnameinfo((struct sockaddr *)&got, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    snprintf(bound, capacity, got.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* ADDRESS:PORT; libevent's own reader takes no port 0. */
static bool parse_address(const char *text, struct sockaddr_storage *to, int *len)
{
    const char *colon = strrchr(text, ':');
    char host[64], *end;
    if (!colon || (size_t)(colon - text) >= sizeof host || colon[1] < '0' || colon[1] > '9')
        return false;
    long port = strtol(colon + 1, &end, 10);
    snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    *len = sizeof *to;
    if (*end || port > 65535 || evutil_parse_sockaddr_port(host, (struct sockaddr *)to, len) != 0)
        return false;
    in_port_t net = htons((uint16_t)port);
    if (to->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)to)->sin6_port = net;
    else
        ((struct sockaddr_in *)to)->sin_port = net;
    return true;
}

maki_status maki_server_listen(maki_server *s, const char *address, char *bound, size_t capacity,
                               maki_err *err)
{
    struct sockaddr_storage to;
    int len;
    if (!parse_address(address, &to, &len)) {
        return maki_fail(err, MAKI_INVALID,
                         "%.60s is not ADDRESS:PORT; for example 127.0.0.1:4747 or [::1]:4747",
                         address);
    }
    if (s->listener_count == SERVER_LISTENERS)
        return maki_fail(err, MAKI_INVALID, "at most %d addresses to listen at", SERVER_LISTENERS);
    unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
    struct evconnlistener *l = evconnlistener_new_bind(
        s->base, on_accept, s, flags, s->limits.backlog, (struct sockaddr *)&to, len);
    if (!l && errno == EADDRINUSE) {
        return maki_fail(err, MAKI_IO, "%.60s is taken by another program; choose another port",
                         address);
    }
    if (!l) return maki_fail_errno(err, "listening");
    evconnlistener_set_error_cb(l, on_accept_error);
    s->listeners[s->listener_count++] = l;
    name_address(evconnlistener_get_fd(l), bound, capacity);
    return MAKI_OK;
}

static void stop_listening(maki_server *s)
{
    if (s->resume) evtimer_del(s->resume);
    for (size_t i = 0; i < s->listener_count; i++)
        evconnlistener_free(s->listeners[i]);
    s->listener_count = 0;
}

void maki_server_stop(maki_server *s)
{
    if (s->stopping) return;
    stop_listening(s);
    if (s->limits.linger_ms > STOP_LINGER_MS) s->limits.linger_ms = STOP_LINGER_MS;
    s->cursor = s->first;
    while (s->cursor) {
        maki_conn *conn = s->cursor;
        s->cursor = conn->next;
        if (conn_idle(conn)) conn_free(conn);
        /* else its answer, or its request, is on the way: closed after that */
    }
    s->stopping = true; /* now: so that on_empty comes once, at the end */
    tell_empty(s);
}

void maki_server_close(maki_server *s)
{
    if (!s) return;
    s->closing = true;
    stop_listening(s);
    while (s->first) {
        maki_conn *conn = s->first;
        conn_gone(conn, MAKI_CANCELLED);
        conn_free(conn);
    }
    if (s->sweep) event_free(s->sweep);
    if (s->resume) event_free(s->resume);
    maki_delete(s->env->alloc, s);
}

size_t maki_server_connections(const maki_server *s)
{
    return s->count;
}

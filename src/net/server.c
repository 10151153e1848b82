/* server.c -- listening sockets, the list of connections, timeouts, shutdown.
 *
 * All connections are in one list.  Instead of one timer per connection, a periodic sweep compares their deadlines.  A
 * connection may be removed while the list is iterated: `cursor` is the next one, and server_remove advances it. */
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
    SWEEP_MS = 250, /* granularity of timeouts */
    RETRY_MS = 200, /* retry delay after accept failed */
    REFUSED_MAX =
        128, /* connections over the limit that get a 503; others are closed without a response */
    STOP_LINGER_MS = 250 /* instead of linger_ms, while stopping */
};

/* ---- new connections ------------------------------------------------------------------------------ */

static void add_conn(maki_server *s, maki_conn *conn)
{
    conn->next = s->first;
    if (s->first) s->first->previous = conn;
    s->first = conn;
    s->count++;
}

static void notify_if_empty(maki_server *s)
{
    if (s->stopping && !s->closing && s->count == 0 && s->callbacks.on_empty)
        s->callbacks.on_empty(s->callbacks.ctx);
}

void server_remove(maki_conn *conn)
{
    maki_server *s = conn->server;
    if (conn->previous) conn->previous->next = conn->next;
    if (conn->next) conn->next->previous = conn->previous;
    if (s->first == conn) s->first = conn->next;
    if (s->cursor == conn) s->cursor = conn->next;
    s->count--;
    notify_if_empty(s);
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

static void enable_listeners(maki_server *s, bool on)
{
    for (size_t i = 0; i < s->listener_count; i++)
        if (on)
            evconnlistener_enable(s->listeners[i]);
        else
            evconnlistener_disable(s->listeners[i]);
}

/* Out of descriptors or memory: stop listening for a while, or the loop would spin. */
static void on_accept_error(struct evconnlistener *listener, void *ctx)
{
    maki_server *s = ctx;
    struct timeval delay = { .tv_usec = RETRY_MS * 1000 };
    char message[120];
    (void)listener;
    snprintf(message, sizeof message, "cannot accept a connection: %s", strerror(errno));
    enable_listeners(s, false);
    evtimer_add(s->resume, &delay);
    if (s->callbacks.on_accept_error) s->callbacks.on_accept_error(s->callbacks.ctx, message);
}

static void on_resume(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    enable_listeners(ctx, true);
}

/* ---- timeouts ------------------------------------------------------------------------------------- */

/* Check every connection: 10,000 take about 50 us, and a request needs no timer. */
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
                             const maki_server_limits *limits,
                             const maki_server_callbacks *callbacks, maki_server **out,
                             maki_err *err)
{
    maki_server *s = maki_new(env->alloc, maki_server);
    if (!s) return maki_fail_nomem(err);
    *s = (maki_server){ .env = env, .base = base, .callbacks = *callbacks };
    s->limits = limits ? *limits : (maki_server_limits)MAKI_SERVER_LIMITS_INIT;
    s->sweep = event_new(base, -1, EV_PERSIST, on_sweep, s);
    s->resume = evtimer_new(base, on_resume, s);
    struct timeval interval = { .tv_usec = SWEEP_MS * 1000 };
    if (!s->sweep || !s->resume || event_add(s->sweep, &interval) != 0) {
        maki_server_close(s);
        return maki_fail_nomem(err);
    }
    *out = s;
    return MAKI_OK;
}

/* Format the address of a listening socket as ADDRESS:PORT. */
static void print_bound_address(evutil_socket_t fd, char *bound, size_t capacity)
{
    struct sockaddr_storage local;
    socklen_t len = sizeof local;
    char host[INET6_ADDRSTRLEN], port[8];
    if (!bound || getsockname(fd, (struct sockaddr *)&local, &len) != 0 ||
        getnameinfo((struct sockaddr *)&local, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    snprintf(bound, capacity, local.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* Parse ADDRESS:PORT, port 0 included, which libevent's parser refuses. */
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
    in_port_t network_port = htons((uint16_t)port);
    if (to->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)to)->sin6_port = network_port;
    else
        ((struct sockaddr_in *)to)->sin_port = network_port;
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
        return maki_fail(err, MAKI_INVALID, "cannot listen at more than %d addresses",
                         SERVER_LISTENERS);
    unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
    struct evconnlistener *l = evconnlistener_new_bind(
        s->base, on_accept, s, flags, s->limits.backlog, (struct sockaddr *)&to, len);
    if (!l && errno == EADDRINUSE) {
        return maki_fail(err, MAKI_IO, "%.60s is in use by another program; choose another port",
                         address);
    }
    if (!l) return maki_fail_errno(err, "cannot listen");
    evconnlistener_set_error_cb(l, on_accept_error);
    s->listeners[s->listener_count++] = l;
    print_bound_address(evconnlistener_get_fd(l), bound, capacity);
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
        /* else it is closed after its current request */
    }
    s->stopping = true; /* set last, so that on_empty is called once */
    notify_if_empty(s);
}

void maki_server_close(maki_server *s)
{
    if (!s) return;
    s->closing = true;
    stop_listening(s);
    while (s->first) {
        maki_conn *conn = s->first;
        conn_aborted(conn, MAKI_CANCELLED);
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

/* daemon.c -- create the components and connect them on one event loop, dispatch requests, stop in order.
 *
 * In:    request heads from the server; items that other threads put into the loop's queue; signals.
 * Out:   each request goes to the API's threads, to an upstream (forwarding.h), or is refused.
 * Always: a stop waits until every connection is closed and every exchange recorded, or `stop_ms` is over. */
#include "daemon/daemon.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <maki/op.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/platform.h"
#include "base/str_util.h"
#include "daemon/api.h"
#include "daemon/broadcast.h"
#include "daemon/demo.h"
#include "daemon/event_fifo_reader.h"
#include "daemon/forwarding.h"
#include "daemon/last_failure.h"
#include "daemon/metrics.h"
#include "daemon/pid_file.h"
#include "daemon/recorder.h"
#include "daemon/recording_state.h"
#include "daemon/request_handler.h"
#include "daemon/routes.h"
#include "daemon/session_watch.h"
#include "store/session.h"

enum {
    TRIM_SECONDS = 2,     /* interval of returning free memory to the system */
    RESERVED_FILES = 512, /* descriptors for conversations, the journal, large bodies */
    UPSTREAM_MIN = 64,
    EVENTS = 4
};

struct maki_daemon {
    const maki_env *env;
    const maki_daemon_options *options;
    const maki_logger *logger;
    struct event_base *base;
    struct event *stop_timer, *events[EVENTS]; /* `events`: all but the timer, always registered */
    size_t event_count;
    uint64_t trimmed_requests; /* requests and connections when memory was last returned */
    size_t trimmed_clients;
    bool trim_again;
    maki_queue queue; /* items from other threads, run by the loop */
    bool queue_open;
    maki_server *server;
    maki_client *client;
    maki_recorder *recorder;
    maki_broadcast *broadcast;
    maki_session_watch *watch;
    maki_event_fifo_reader *fifo; /* NULL: events of other processes are not received */
    maki_api *api;
    maki_metrics metrics;
    maki_recording_state recording;
    maki_last_failure failure;
    int pid_file; /* locked; -1: none */
    int64_t started_ms;
    maki_queue_item
        opened; /* queued by the recorder when it has opened the conversations after a full disk */
    maki_forwarding forwarding;
    char home[512];
    char address[96];
    maki_demo *demo;
    bool stopping, server_empty;
};

/* ---- descriptors ---------------------------------------------------------------------------------- */

/* The maximum of connections: descriptors less those reserved for files. */
static size_t connections_max(const maki_daemon *d)
{
    size_t max = d->options->descriptors ? d->options->descriptors : SIZE_MAX / 2;
    return max - (max / 4 < RESERVED_FILES ? max / 4 : RESERVED_FILES);
}

/* Upstreams get the descriptors that clients do not use: a request beyond that waits, instead of failing for lack of
 * a descriptor, and files can always be opened. */
static void limit_upstream_connections(maki_daemon *d)
{
    size_t max = connections_max(d), clients = maki_server_connections(d->server);
    bool available = clients + UPSTREAM_MIN < max;
    maki_client_limit(d->client, available ? max - clients : UPSTREAM_MIN);
}

/* ---- requests ------------------------------------------------------------------------------------- */

static void refuse(maki_daemon *d, maki_conn *conn, const maki_guard_answer *answer)
{
    MAKI_COUNT(&d->metrics, refused_total, 1);
    maki_kv values[] = { MAKI_KV_S("why", maki_str_of(answer->type)) };
    /* DEBUG: a client can cause any number of them */
    maki_log_event(d->logger, MAKI_DEBUG, "refused", values, 1);
    maki_conn_fail(conn, answer->status, answer->type, answer->message);
}

/* The upstream that the client named, by path or field.  False: it named an unknown one. */
static bool named_upstream(maki_daemon *d, const maki_http_head *head, const maki_route_path *path,
                           const maki_upstream **out)
{
    maki_str field = maki_http_value(head, "x-maki-upstream");
    maki_str name = path->upstream.len ? path->upstream : field;
    *out = name.len ? maki_upstream_find(&d->options->upstreams, name) : NULL;
    return name.len == 0 || *out;
}

static void dispatch(maki_daemon *d, maki_conn *conn, const maki_http_head *head,
                     const maki_route_path *path)
{
    const maki_upstream *upstream;
    if (!named_upstream(d, head, path, &upstream)) {
        maki_conn_fail(conn, 404, "no_such_upstream",
                       "no upstream of that name; add it with --upstream NAME=URL");
        return;
    }
    bool named = upstream != NULL;
    bool anthropic = maki_http_field_find(head, MAKI_LIT("anthropic-version")) != NULL;
    maki_route route = maki_route_find(head->method, path->path, named, anthropic);
    if (route.kind == MAKI_ROUTE_NONE) {
        maki_conn_fail(conn, 404, "not_found", maki_route_hint(head->method, path->path));
        return;
    }
    if (maki_http_field_find(head, MAKI_LIT("upgrade"))) {
        /* Codex tries a WebSocket first, and falls back to HTTP at once on this status. */
        maki_conn_fail(conn, 426, "upgrade_not_supported",
                       "WebSocket is not supported: send the request over HTTP");
        return;
    }
    if (route.kind == MAKI_ROUTE_LOCAL) {
        MAKI_COUNT(&d->metrics, local_requests_total, 1);
        maki_api_begin(d->api, conn, head, path);
        return;
    }
    if (!named) upstream = maki_upstream_find(&d->options->upstreams, maki_str_of(route.upstream));
    maki_forwarding_begin(&d->forwarding, conn, head, path, &route, upstream, named);
}

static void on_head(void *ctx, maki_conn *conn, const maki_http_head *head)
{
    maki_daemon *d = ctx;
    maki_route_path path;
    MAKI_COUNT(&d->metrics, requests_total, 1);
    MAKI_COUNT_SET(&d->metrics, open_connections, maki_server_connections(d->server));
    limit_upstream_connections(d);
    bool split = maki_route_split(head->target, &path);
    maki_guard_answer guard = maki_guard_check(&d->options->guard, head, path.token);
    if (guard.status) {
        refuse(d, conn, &guard);
    } else if (!split) {
        maki_conn_fail(conn, 404, "not_found", "the request target is not a path");
    } else {
        dispatch(d, conn, head, &path);
    }
}

static void on_body(void *ctx, maki_conn *conn, maki_str bytes)
{
    maki_request_handler *handler = maki_conn_data(conn);
    (void)ctx;
    if (handler && handler->callbacks->on_body) handler->callbacks->on_body(handler, conn, bytes);
}

static void on_body_end(void *ctx, maki_conn *conn)
{
    maki_request_handler *handler = maki_conn_data(conn);
    (void)ctx;
    if (handler && handler->callbacks->on_body_end) handler->callbacks->on_body_end(handler, conn);
}

static void on_drained(void *ctx, maki_conn *conn)
{
    maki_request_handler *handler = maki_conn_data(conn);
    (void)ctx;
    if (handler && handler->callbacks->on_drained) handler->callbacks->on_drained(handler, conn);
}

static void on_aborted(void *ctx, maki_conn *conn, maki_status why)
{
    maki_request_handler *handler = maki_conn_data(conn);
    (void)ctx;
    if (handler && handler->callbacks->on_aborted)
        handler->callbacks->on_aborted(handler, conn, why);
}

static void on_accept_failure(void *ctx, const char *reason)
{
    maki_daemon *d = ctx;
    maki_kv values[] = { MAKI_KV_S("why", maki_str_of(reason)) };
    if (MAKI_COUNT(&d->metrics, accept_failures_total, 1) % 100 == 0) {
        maki_log_event(d->logger, MAKI_ERROR, "accept_failed", values, 1);
    }
}

/* ---- the queue of the loop ------------------------------------------------------------------------ */

static void run_queue(maki_daemon *d)
{
    maki_queue_item *item = maki_queue_take_all(&d->queue);
    while (item) {
        maki_queue_item *next = item->next; /* running it may free it */
        item->run(item);
        item = next;
    }
}

static void on_queue(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    run_queue(ctx);
}

/* Freed bodies leave holes between long-lived blocks; the allocator returns such pages only when it is asked to. */
static void on_trim(evutil_socket_t fd, short what, void *ctx)
{
    maki_daemon *d = ctx;
    uint64_t requests = atomic_load_explicit(&d->metrics.requests_total, memory_order_relaxed);
    size_t clients = maki_server_connections(d->server);
    (void)fd, (void)what;
    bool changed = requests != d->trimmed_requests || clients != d->trimmed_clients;
    if (!changed && !d->trim_again) return;
    d->trim_again = changed; /* once more when idle: other threads may free memory later */
    d->trimmed_requests = requests;
    d->trimmed_clients = clients;
    maki_trim_heap();
}

/* ---- stop ----------------------------------------------------------------------------------------- */

/* Leave the event loop when stopping, with no open connection and no exchange still being recorded. */
static void stop_if_idle(maki_daemon *d)
{
    if (d->stopping && d->server_empty && d->forwarding.open == 0) event_base_loopbreak(d->base);
}

static void on_empty_server(void *ctx)
{
    maki_daemon *d = ctx;
    d->server_empty = true;
    stop_if_idle(d);
}

static void on_empty_forwarding(void *ctx)
{
    stop_if_idle(ctx);
}

static void on_stop_timer(evutil_socket_t fd, short what, void *ctx)
{
    maki_daemon *d = ctx;
    (void)fd, (void)what;
    maki_kv values[] = { MAKI_KV_I("open", d->forwarding.open) };
    maki_log_event(d->logger, MAKI_WARN, "stop_cut", values, 1);
    event_base_loopbreak(d->base);
}

static void on_signal(evutil_socket_t fd, short what, void *ctx)
{
    maki_daemon *d = ctx;
    (void)fd, (void)what;
    if (d->stopping) { /* the second signal: stop without waiting */
        event_base_loopbreak(d->base);
        return;
    }
    d->stopping = true;
    maki_kv values[] = { MAKI_KV_I("open", d->forwarding.open) };
    maki_log_event(d->logger, MAKI_INFO, "stopping", values, 1);
    struct timeval limit = { .tv_sec = (time_t)(d->options->stop_ms / 1000),
                             .tv_usec = (suseconds_t)(d->options->stop_ms % 1000 * 1000) };
    evtimer_add(d->stop_timer, &limit);
    maki_broadcast_end(d->broadcast);
    maki_server_stop(d->server);
}

/* ---- open ----------------------------------------------------------------------------------------- */

/* Set `home`, the directory of the conversations: the option, or the default. */
static maki_status set_home(maki_daemon *d, maki_err *err)
{
    if (d->options->home)
        snprintf(d->home, sizeof d->home, "%s", d->options->home);
    else if (!maki_home(d->home, sizeof d->home))
        return maki_fail(err, MAKI_INVALID, "no home directory; set --home DIR");
    if (strlen(d->home) + MAKI_ID_MAX >= sizeof d->home)
        return maki_fail(err, MAKI_INVALID, "the path of the home directory is too long");
    return MAKI_OK;
}

static bool add_event(maki_daemon *d, evutil_socket_t fd, short what, event_callback_fn callback,
                      const struct timeval *interval)
{
    struct event *event = event_new(d->base, fd, (short)(what | EV_PERSIST), callback, d);
    if (event) d->events[d->event_count++] = event;
    return event && event_add(event, interval) == 0;
}

static maki_status open_events(maki_daemon *d, maki_err *err)
{
    d->base = event_base_new();
    if (!d->base) return maki_fail(err, MAKI_IO, "cannot create an event loop");
    maki_status st = maki_queue_open(&d->queue, true, err);
    if (st != MAKI_OK) return st;
    d->queue_open = true;
    d->stop_timer = evtimer_new(d->base, on_stop_timer, d);
    struct timeval interval = { .tv_sec = TRIM_SECONDS };
    bool ok = d->stop_timer && add_event(d, d->queue.fd, EV_READ, on_queue, NULL) &&
              add_event(d, SIGTERM, EV_SIGNAL, on_signal, NULL) &&
              add_event(d, SIGINT, EV_SIGNAL, on_signal, NULL) &&
              add_event(d, -1, 0, on_trim, &interval);
    return ok ? MAKI_OK : maki_fail_nomem(err);
}

static maki_status open_server(maki_daemon *d, maki_err *err)
{
    maki_server_callbacks calls = { .ctx = d,
                                    .on_head = on_head,
                                    .on_body = on_body,
                                    .on_body_end = on_body_end,
                                    .on_drained = on_drained,
                                    .on_aborted = on_aborted,
                                    .on_accept_error = on_accept_failure,
                                    .on_empty = on_empty_server };
    char bound[80];
    maki_server_limits limits = d->options->server;
    size_t max = connections_max(d) - UPSTREAM_MIN;
    if (limits.connections > max) limits.connections = max;
    maki_status st = maki_server_open(d->env, d->base, &limits, &calls, &d->server, err);
    for (size_t i = 0; i < d->options->listen_count && st == MAKI_OK; i++) {
        st = maki_server_listen(d->server, d->options->listen[i], bound, sizeof bound, err);
        if (i == 0) snprintf(d->address, sizeof d->address, "http://%s", bound);
    }
    return st;
}

static void on_full_disk(void *ctx, const maki_err *err)
{
    maki_daemon *d = ctx;
    maki_recording_state_update(&d->recording, err);
}

static void on_recorder_opened(maki_queue_item *item)
{
    static const maki_err ok = { .status = MAKI_OK };
    maki_recording_state_update(&MAKI_CONTAINER_OF(item, maki_daemon, opened)->recording, &ok);
}

static maki_status open_threads(maki_daemon *d, maki_err *err)
{
    maki_proxy_options proxy = { .home = d->home, .logger = d->logger };
    maki_recorder_options recorder = { .proxy = &proxy,
                                       .base = d->base,
                                       .loop = &d->queue,
                                       .on_full = on_full_disk,
                                       .on_full_ctx = d,
                                       .opened = &d->opened };
    maki_api_routes_options routes = { .home = d->home,
                                       .config = d->options->config,
                                       .logger = d->logger,
                                       .metrics = &d->metrics,
                                       .recording = &d->recording,
                                       .failure = &d->failure,
                                       .started_ms = d->started_ms,
                                       .address = d->address };
    maki_api_options api = { .routes = &routes, .loop = &d->queue };
    maki_status st =
        maki_broadcast_open(d->env, d->base, &d->queue, &d->metrics, &d->broadcast, err);
    if (st == MAKI_OK)
        st = maki_session_watch_open(d->env, d->base, d->home, d->broadcast, &d->watch, err);
    if (st == MAKI_OK)
        d->fifo = maki_event_fifo_reader_open(d->env, d->base, d->home, d->broadcast);
    proxy.on_event = maki_broadcast_send;
    proxy.on_event_ctx = d->broadcast;
    d->opened = (maki_queue_item){ .run = on_recorder_opened };
    d->recording = (maki_recording_state){ .env = d->env,
                                           .logger = d->logger,
                                           .metrics = &d->metrics,
                                           .failure = &d->failure,
                                           .directory = d->home,
                                           .on_event = maki_broadcast_send,
                                           .on_event_ctx = d->broadcast };
    maki_recording_state_init(&d->recording);
    recorder.body_max = d->options->server.body_bytes;
    api.broadcast = d->broadcast;
    routes.on_event = maki_broadcast_send;
    routes.on_event_ctx = d->broadcast;
    if (st == MAKI_OK)
        st = maki_demo_open(d->env, d->home, d->address, d->options->guard.token, &d->demo, err);
    routes.demo = d->demo;
    if (st == MAKI_OK) st = maki_recorder_open(d->env, &recorder, &d->recorder, err);
    if (st == MAKI_OK) st = maki_api_open(d->env, &api, &d->api, err);
    return st;
}

maki_status maki_daemon_open(const maki_env *env, const maki_daemon_options *options,
                             const maki_logger *logger, maki_daemon **out, maki_err *err)
{
    maki_daemon *d = maki_new(env->alloc, maki_daemon);
    if (!d) return maki_fail_nomem(err);
    memset(d, 0, sizeof *d);
    d->env = env;
    d->options = options;
    d->logger = logger;
    d->pid_file = -1;
    d->started_ms = env->clock->now_ms(env->clock);
    maki_last_failure_init(&d->failure, env->clock);
    maki_status st = set_home(d, err);
    if (st == MAKI_OK) st = maki_pid_file_open(env, d->home, &d->pid_file, err);
    if (st == MAKI_OK) st = open_events(d, err);
    if (st == MAKI_OK) st = open_server(d, err); /* before the threads: they need the address */
    if (st == MAKI_OK) maki_pid_file_write(env, d->pid_file, d->address);
    if (st == MAKI_OK) st = maki_client_open(env, d->base, &options->client, &d->client, err);
    if (st == MAKI_OK) st = open_threads(d, err);
    if (st != MAKI_OK) {
        maki_daemon_close(d);
        return st;
    }
    d->forwarding = (maki_forwarding){ .env = env,
                                       .client = d->client,
                                       .recorder = d->recorder,
                                       .api = d->api,
                                       .upstreams = &options->upstreams,
                                       .metrics = &d->metrics,
                                       .recording = &d->recording,
                                       .failure = &d->failure,
                                       .logger = logger,
                                       .on_empty = on_empty_forwarding,
                                       .ctx = d };
    *out = d;
    return MAKI_OK;
}

const char *maki_daemon_address(const maki_daemon *d)
{
    return d->address;
}

void maki_daemon_run(maki_daemon *d)
{
    event_base_dispatch(d->base);
}

/* Stop the producers of work, then its consumers; run in between what they still queued for the loop, so that everything
 * is freed by the thread that allocated it. */
void maki_daemon_close(maki_daemon *d)
{
    if (!d) return;
    maki_server_close(d->server);
    if (d->api) maki_api_stop(d->api);
    maki_recorder_close(d->recorder);
    if (d->queue_open) run_queue(d);
    maki_client_close(d->client);
    maki_api_close(d->api);
    maki_event_fifo_reader_close(d->fifo);
    maki_session_watch_close(d->watch);
    maki_demo_close(d->demo);
    maki_broadcast_close(d->broadcast);
    if (d->queue_open) maki_queue_close(&d->queue);
    while (d->event_count)
        event_free(d->events[--d->event_count]);
    if (d->stop_timer) event_free(d->stop_timer);
    if (d->base) event_base_free(d->base);
    maki_pid_file_close(d->env, d->home, d->pid_file);
    maki_delete(d->env->alloc, d);
}

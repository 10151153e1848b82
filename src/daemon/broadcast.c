/* broadcast.c -- send JSON events, from any thread, to all connections that listen; through a queue to the loop.
 *
 * The loop alone owns the list; other threads read its length, so that no event is copied when nobody listens. */
#include "daemon/broadcast.h"

#include <event2/event.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

typedef struct listener {
    maki_request_handler handler;
    maki_broadcast *broadcast;
    maki_conn *conn;
    struct listener *next, *prev;
} listener;

struct maki_broadcast {
    const maki_env *env;
    maki_queue *loop;
    maki_metrics *metrics;
    struct event *ping;
    listener *first;
    atomic_size_t listeners; /* the length of the list */
    void (*on_listened)(void *ctx, bool listened);
    void *ctx;
};

/* An event in the loop's queue. */
typedef struct event_item {
    maki_queue_item item;
    maki_broadcast *broadcast;
    size_t len;
    char text[];
} event_item;

static void remove_listener(listener *l)
{
    maki_broadcast *b = l->broadcast;
    if (l->prev) l->prev->next = l->next;
    if (l->next) l->next->prev = l->prev;
    if (b->first == l) b->first = l->next;
    atomic_fetch_sub(&b->listeners, 1);
    MAKI_COUNT_DOWN(b->metrics, event_listeners);
    maki_delete(b->env->alloc, l);
    if (!b->first && b->on_listened) b->on_listened(b->ctx, false);
}

static void on_aborted(maki_request_handler *handler, maki_conn *conn, maki_status reason)
{
    (void)conn, (void)reason;
    remove_listener((listener *)handler);
}

static const maki_request_handler_callbacks callbacks = { .on_aborted = on_aborted };

/* Drops a listener with too many pending bytes. */
static void send_all(maki_broadcast *b, maki_str text)
{
    for (listener *l = b->first, *next; l; l = next) {
        next = l->next;
        if (maki_conn_unsent_bytes(l->conn) + text.len > MAKI_BROADCAST_PENDING_MAX) {
            maki_conn_drop(l->conn);
            remove_listener(l);
        } else {
            maki_conn_send(l->conn, text);
        }
    }
}

static void on_ping(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    send_all(ctx, MAKI_LIT(": ping\n\n"));
}

static void on_queued_event(maki_queue_item *item)
{
    event_item *event = MAKI_CONTAINER_OF(item, event_item, item);
    const maki_alloc *alloc = event->broadcast->env->alloc;
    send_all(event->broadcast, (maki_str){ event->text, event->len });
    alloc->resize(alloc, event, sizeof *event + event->len, 0);
}

void maki_broadcast_send(void *ctx, maki_str json)
{
    maki_broadcast *b = ctx;
    const maki_alloc *alloc = b->env->alloc;
    size_t len = json.len + 8; /* "data: " and an empty line */
    if (atomic_load(&b->listeners) == 0) return;
    event_item *event = alloc->resize(alloc, NULL, 0, sizeof *event + len);
    if (!event) return; /* an event may be lost */
    event->item = (maki_queue_item){ .run = on_queued_event };
    event->broadcast = b;
    event->len = len;
    memcpy(event->text, "data: ", 6);
    memcpy(event->text + 6, json.ptr, json.len);
    memcpy(event->text + 6 + json.len, "\n\n", 2);
    maki_queue_push(b->loop, &event->item);
}

void maki_broadcast_watch(maki_broadcast *b, void (*fn)(void *ctx, bool listened), void *ctx)
{
    b->on_listened = fn;
    b->ctx = ctx;
}

bool maki_broadcast_add(maki_broadcast *b, maki_conn *conn, maki_str fields)
{
    const maki_alloc *alloc = b->env->alloc;
    listener *l = maki_new(alloc, listener);
    if (!l) return false;
    *l = (listener){ .handler = { &callbacks }, .broadcast = b, .conn = conn, .next = b->first };
    if (b->first)
        b->first->prev = l;
    else if (b->on_listened)
        b->on_listened(b->ctx, true);
    b->first = l;
    atomic_fetch_add(&b->listeners, 1);
    MAKI_COUNT(b->metrics, event_listeners, 1);
    maki_conn_set_data(conn, &l->handler);
    maki_conn_begin_response(conn, &(maki_response){ .status = 200,
                                                     .reason = MAKI_LIT("OK"),
                                                     .fields = fields,
                                                     .framing = MAKI_FRAME_CHUNKED });
    maki_conn_send(conn, MAKI_LIT(": listening\n\n"));
    return true;
}

void maki_broadcast_end(maki_broadcast *b)
{
    while (b->first) {
        maki_conn_end_response(b->first->conn);
        remove_listener(b->first);
    }
}

maki_status maki_broadcast_open(const maki_env *env, struct event_base *base, maki_queue *loop,
                                maki_metrics *metrics, maki_broadcast **out, maki_err *err)
{
    struct timeval interval = { .tv_sec = MAKI_BROADCAST_PING_S };
    maki_broadcast *b = maki_new(env->alloc, maki_broadcast);
    if (!b) return maki_fail_nomem(err);
    *b = (maki_broadcast){ .env = env, .loop = loop, .metrics = metrics };
    b->ping = event_new(base, -1, EV_PERSIST, on_ping, b);
    if (!b->ping || event_add(b->ping, &interval) != 0) {
        maki_broadcast_close(b);
        return maki_fail_nomem(err);
    }
    *out = b;
    return MAKI_OK;
}

void maki_broadcast_close(maki_broadcast *b)
{
    if (!b) return;
    if (b->ping) event_free(b->ping);
    maki_delete(b->env->alloc, b);
}

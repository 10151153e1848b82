/* broadcast.c -- see broadcast.h. */
#include "daemon/broadcast.h"

#include <event2/event.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

typedef struct listener {
    maki_request_handler guest;
    maki_broadcast *all;
    maki_conn *conn;
    struct listener *next, *before;
} listener;

struct maki_broadcast {
    const maki_env *env;
    maki_queue *loop;
    maki_metrics *metrics;
    struct event *ping;
    listener *first;
    atomic_size_t listeners; /* so that nothing is copied when nobody listens */
};

/* News on its way from the thread that tells to the loop. */
typedef struct news {
    maki_queue_item item;
    maki_broadcast *all;
    size_t len;
    char text[];
} news;

static void forget(listener *l)
{
    maki_broadcast *all = l->all;
    if (l->before) l->before->next = l->next;
    if (l->next) l->next->before = l->before;
    if (all->first == l) all->first = l->next;
    atomic_fetch_sub(&all->listeners, 1);
    MAKI_COUNT_DOWN(all->metrics, event_listeners);
    maki_delete(all->env->alloc, l);
}

static void on_gone(maki_request_handler *guest, maki_conn *conn, maki_status why)
{
    (void)conn, (void)why;
    forget((listener *)guest);
}

static const maki_request_handler_callbacks listener_calls = { .on_gone = on_gone };

/* To everybody who keeps up. */
static void send_all(maki_broadcast *all, maki_str text)
{
    for (listener *l = all->first, *next; l; l = next) {
        next = l->next;
        if (maki_conn_waiting(l->conn) + text.len > MAKI_BROADCAST_PENDING_MAX) {
            maki_conn_drop(l->conn);
            forget(l);
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

static void run_news(maki_queue_item *item)
{
    news *n = MAKI_CONTAINER_OF(item, news, item);
    const maki_alloc *alloc = n->all->env->alloc;
    send_all(n->all, (maki_str){ n->text, n->len });
    alloc->resize(alloc, n, sizeof *n + n->len, 0);
}

void maki_broadcast_send(void *ctx, maki_str json)
{
    maki_broadcast *all = ctx;
    const maki_alloc *alloc = all->env->alloc;
    size_t len = json.len + 8; /* "data: " and an empty line */
    if (atomic_load(&all->listeners) == 0) return;
    news *n = alloc->resize(alloc, NULL, 0, sizeof *n + len);
    if (!n) return; /* news may be missed */
    n->item = (maki_queue_item){ .run = run_news };
    n->all = all;
    n->len = len;
    memcpy(n->text, "data: ", 6);
    memcpy(n->text + 6, json.ptr, json.len);
    memcpy(n->text + 6 + json.len, "\n\n", 2);
    maki_queue_push(all->loop, &n->item);
}

bool maki_broadcast_add(maki_broadcast *all, maki_conn *conn, maki_str fields)
{
    const maki_alloc *alloc = all->env->alloc;
    listener *l = maki_new(alloc, listener);
    if (!l) return false;
    *l = (listener){ .guest = { &listener_calls }, .all = all, .conn = conn, .next = all->first };
    if (all->first) all->first->before = l;
    all->first = l;
    atomic_fetch_add(&all->listeners, 1);
    MAKI_COUNT(all->metrics, event_listeners, 1);
    maki_conn_set_data(conn, &l->guest);
    maki_conn_start(conn, &(maki_reply){ .status = 200,
                                         .reason = MAKI_LIT("OK"),
                                         .fields = fields,
                                         .framing = MAKI_FRAME_CHUNKED });
    maki_conn_send(conn, MAKI_LIT(": listening\n\n"));
    return true;
}

void maki_broadcast_end(maki_broadcast *all)
{
    while (all->first) {
        maki_conn_end(all->first->conn);
        forget(all->first);
    }
}

maki_status maki_broadcast_open(const maki_env *env, struct event_base *base, maki_queue *loop,
                                maki_metrics *metrics, maki_broadcast **out, maki_err *err)
{
    struct timeval often = { .tv_sec = MAKI_BROADCAST_PING_S };
    maki_broadcast *all = maki_new(env->alloc, maki_broadcast);
    if (!all) return maki_fail_nomem(err);
    *all = (maki_broadcast){ .env = env, .loop = loop, .metrics = metrics };
    all->ping = event_new(base, -1, EV_PERSIST, on_ping, all);
    if (!all->ping || event_add(all->ping, &often) != 0) {
        maki_broadcast_close(all);
        return maki_fail_nomem(err);
    }
    *out = all;
    return MAKI_OK;
}

void maki_broadcast_close(maki_broadcast *all)
{
    if (!all) return;
    if (all->ping) event_free(all->ping);
    maki_delete(all->env->alloc, all);
}

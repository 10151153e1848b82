/* broadcast.h -- events for the clients that listen at /maki/events (server-sent events).
 *
 * Any thread emits; the loop sends.  A listener that reads too slowly is disconnected: it may reconnect and read what it
 * missed from the conversations. */
#ifndef MAKI_DAEMON_BROADCAST_H
#define MAKI_DAEMON_BROADCAST_H

#include "base/queue.h"
#include "daemon/metrics.h"
#include "daemon/request_handler.h"

struct event_base;

typedef struct maki_broadcast maki_broadcast;

enum {
    MAKI_BROADCAST_PENDING_MAX = 256 << 10, /* maximum of bytes pending for one listener */
    MAKI_BROADCAST_PING_S = 15              /* a comment, so that dead connections are noticed */
};

maki_status maki_broadcast_open(const maki_env *env, struct event_base *base, maki_queue *loop,
                                maki_metrics *metrics, maki_broadcast **out, maki_err *err)
    MAKI_MUST_CHECK;
/* After maki_broadcast_end.  Accepts NULL. */
void maki_broadcast_close(maki_broadcast *broadcast);
/* End the streams of all listeners, so that a stop does not wait for them. */
void maki_broadcast_end(maki_broadcast *broadcast);

/* Call `fn` on the loop when the first listener arrives, before its response starts (true), and when the last one has
 * left (false).  Before the first maki_broadcast_add. */
void maki_broadcast_watch(maki_broadcast *broadcast, void (*fn)(void *ctx, bool listened),
                          void *ctx);

/* Make this connection a listener and start its response, with the header lines `fields`.  False: out of memory, nothing
 * was sent. */
bool maki_broadcast_add(maki_broadcast *broadcast, maki_conn *conn, maki_str fields);
/* Send one JSON object to all listeners: it is copied; from any thread.  `ctx` is the broadcast. */
void maki_broadcast_send(void *ctx, maki_str json);

#endif

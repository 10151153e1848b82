/* broadcast.h -- events for the clients that listen at /maki/events (server-sent events).
 *
 * Any thread emits; the loop sends.  A listener that does not keep up is dropped: it may reconnect and read what it
 * missed from the conversations themselves. */
#ifndef MAKI_DAEMON_BROADCAST_H
#define MAKI_DAEMON_BROADCAST_H

#include "base/queue.h"
#include "daemon/metrics.h"
#include "daemon/request_handler.h"

struct event_base;

typedef struct maki_broadcast maki_broadcast;

enum {
    MAKI_BROADCAST_PENDING_MAX = 256 << 10, /* bytes that may wait for one listener */
    MAKI_BROADCAST_PING_S = 15              /* a comment, so that dead connections are noticed */
};

maki_status maki_broadcast_open(const maki_env *env, struct event_base *base, maki_queue *loop,
                                maki_metrics *metrics, maki_broadcast **out, maki_err *err)
    MAKI_MUST_CHECK;
/* Listeners were closed before.  Accepts NULL. */
void maki_broadcast_close(maki_broadcast *broadcast);
/* End all listeners' streams: a stop does not wait for listeners. */
void maki_broadcast_end(maki_broadcast *broadcast);

/* From now on this connection gets events: its answer begins here.  False: out of memory, nothing was done. */
bool maki_broadcast_add(maki_broadcast *broadcast, maki_conn *conn, maki_str fields);
/* One JSON object, copied; from any thread.  `ctx` is the broadcast. */
void maki_broadcast_send(void *ctx, maki_str json);

#endif

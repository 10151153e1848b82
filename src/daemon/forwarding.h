/* forwarding.h -- requests that are forwarded: client, upstream and recorder, connected.
 *
 *     client --head, body--> spool --> upstream          sent as it comes, read from the spool when curl asks
 *                              `-----> recorder          when it is complete
 *     client <--response, at once-- upstream
 *                                    `--> recorder --> disk --> and then the last byte of the response to the client
 *
 * Nothing is changed: bodies are the same bytes, heads the same lines in the same order (FORMATS, section 7, lists the
 * fields that are dropped or set).  Backpressure instead of growing buffers: reading from
 * the client pauses while too much of its body is pending for upstream, and reading from upstream while too much is
 * pending for the client or the recorder.  Everything here is
 * called on the loop's thread. */
#ifndef MAKI_DAEMON_FORWARDING_H
#define MAKI_DAEMON_FORWARDING_H

#include "base/logger.h"
#include "daemon/api.h"
#include "daemon/metrics.h"
#include "daemon/recorder.h"
#include "daemon/recording_state.h"
#include "daemon/request_handler.h"
#include "daemon/routes.h"
#include "daemon/upstream.h"
#include "net/client.h"

/* What all transfers share. */
typedef struct maki_forwarding {
    const maki_env *env;
    maki_client *client;
    maki_recorder *recorder;
    maki_api *api;
    const maki_upstreams *upstreams;
    maki_metrics *metrics;
    maki_recording_state *recording;
    maki_last_failure *failure;
    const maki_logger *logger;
    size_t open;                 /* transfers, including those that only wait to be recorded */
    void (*on_empty)(void *ctx); /* open is 0 again */
    void *ctx;
} maki_forwarding;

/* Forward this request, whose head was just received.  `named`: the client named this upstream, by path or field; if
 * not, the model in the body may select another. */
void maki_forwarding_begin(maki_forwarding *shared, maki_conn *conn, const maki_http_head *head,
                           const maki_route_path *path, const maki_route *route,
                           const maki_upstream *upstream, bool named);

#endif

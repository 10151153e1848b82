/* api_routes.h -- routes that the daemon answers itself: /maki/..., token counts, the page at /.
 *
 * Called by a worker of the API, never by the loop: it may open conversations and block.  A maki_api_routes belongs to
 * one worker, which answers one request at a time.  The answer is written to a spool; the loop sends it from there, as fast as the client reads. */
#ifndef MAKI_DAEMON_API_ROUTES_H
#define MAKI_DAEMON_API_ROUTES_H

#include <stdbool.h>

#include <maki/config.h>

#include "base/logger.h"
#include "base/spool.h"
#include "daemon/metrics.h"
#include "daemon/recording_state.h"

typedef struct maki_api_routes maki_api_routes;

typedef struct maki_api_routes_options {
    const char *home;
    const maki_config *config; /* or NULL: the defaults */
    const maki_logger *logger; /* for the operations; or NULL */
    maki_metrics *metrics;
    maki_recording_state *recording;
    maki_last_failure *failure;
    int64_t started_ms;
    void (*on_event)(void *ctx, maki_str json); /* for /maki/events, from any thread */
    void *on_event_ctx;
    struct maki_demo *demo;
    const char *address; /* "http://127.0.0.1:7777": for the page */
} maki_api_routes_options;

maki_status maki_api_routes_open(const maki_env *env, const maki_api_routes_options *options,
                                 maki_api_routes **out, maki_err *err) MAKI_MUST_CHECK;
void maki_api_routes_close(maki_api_routes *routes); /* accepts NULL */

typedef struct maki_api_routes_request {
    maki_str method, path, query; /* as sent; path without /t/{token} */
    maki_str type;                /* Content-Type */
    maki_str accept, accept_encoding, if_none_match;
    maki_str body;
} maki_api_routes_request;

typedef struct maki_api_routes_response {
    int status;
    const char *type;   /* Content-Type */
    const char *fields; /* further header lines, each ended by CRLF; "" for none */
    bool events;        /* instead of a body: from now on the client gets server-sent events */
    maki_spool *body;   /* written by the handler */
} maki_api_routes_response;

/* Always sets a response, an error in the worst case. */
void maki_api_routes_answer(maki_api_routes *routes, const maki_api_routes_request *request,
                            maki_api_routes_response *response);

#endif

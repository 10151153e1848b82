/* api.h -- requests that the daemon answers itself, on worker threads (api_routes.h lists them).
 *
 * The loop collects a request, a worker writes the answer to a spool, the loop sends that as fast as the client reads.
 * A long operation blocks one worker, not the short ones that come after it. */
#ifndef MAKI_DAEMON_API_H
#define MAKI_DAEMON_API_H

#include "base/queue.h"
#include "daemon/api_routes.h"
#include "daemon/broadcast.h"
#include "daemon/request_handler.h"
#include "daemon/routes.h"

typedef struct maki_api maki_api;

typedef struct maki_api_options {
    const maki_api_routes_options *routes;
    maki_queue *loop;
    maki_broadcast *broadcast;
} maki_api_options;

maki_status maki_api_open(const maki_env *env, const maki_api_options *options, maki_api **out,
                          maki_err *err) MAKI_MUST_CHECK;
/* Joins the workers; answers that the loop has not sent yet stay in its queue. */
void maki_api_stop(maki_api *api);
/* After maki_api_stop, and after the loop has emptied its queue.  Accepts NULL. */
void maki_api_close(maki_api *api);

/* Answer this request, whose head was just received; its body is yet to come. */
void maki_api_begin(maki_api *api, maki_conn *conn, const maki_http_head *head,
                    const maki_route_path *path);
/* Answer a complete request: `body` is moved and left empty. */
void maki_api_answer(maki_api *api, maki_conn *conn, maki_str method, maki_str path, maki_str type,
                     maki_spool *body);

#endif

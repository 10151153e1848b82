/* request_handler.h -- the callbacks of a connection: the first member of each struct that handles a request. */
#ifndef MAKI_DAEMON_REQUEST_HANDLER_H
#define MAKI_DAEMON_REQUEST_HANDLER_H

#include "net/server.h"

typedef struct maki_request_handler maki_request_handler;

/* Called by the server on the loop's thread (net/server.h); NULL: ignored. */
typedef struct maki_request_handler_callbacks {
    void (*on_body)(maki_request_handler *handler, maki_conn *conn, maki_str bytes);
    void (*on_body_end)(maki_request_handler *handler, maki_conn *conn);
    void (*on_drained)(maki_request_handler *handler, maki_conn *conn);
    void (*on_aborted)(maki_request_handler *handler, maki_conn *conn, maki_status reason);
} maki_request_handler_callbacks;

struct maki_request_handler {
    const maki_request_handler_callbacks *callbacks;
};

#endif

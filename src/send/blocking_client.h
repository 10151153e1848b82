/* blocking_client.h -- one HTTP request at a time, sent and received synchronously: net/client on an event loop of its own.
 *
 * net/client is the daemon's: it reuses connections, has the timeouts, and can cancel.  This adds a loop
 * that runs until the reply has ended and calls `cancelled` 20 times a second.  curl's easy interface alone could not be
 * cancelled while it resolves a name or waits for a byte.
 *
 * A client belongs to one thread at a time. */
#ifndef MAKI_SEND_BLOCKING_CLIENT_H
#define MAKI_SEND_BLOCKING_CLIENT_H

#include "net/client.h"

typedef struct maki_blocking_client maki_blocking_client;

/* Random access to the request's body: a retry reads it again. */
typedef struct maki_blocking_client_body {
    maki_status (*read)(void *ctx, uint64_t at, char *out, size_t capacity, size_t *got,
                        maki_err *err);
    void *ctx;
    uint64_t length; /* 0: no body */
} maki_blocking_client_body;

typedef struct maki_blocking_client_request {
    const char *method;
    const char *origin, *target;
    maki_str lines; /* the fields of the head, "Name: value\n" each */
    maki_blocking_client_body body;
    uint32_t total_ms;            /* for the whole exchange; 0: no limit */
    bool (*cancelled)(void *ctx); /* may be NULL */
    void *cancelled_ctx;
    /* Called with the reply, and ctx as first argument.  Not MAKI_OK ends the exchange with that status. */
    maki_status (*on_head)(void *ctx, int status, const maki_http_head *fields, maki_err *err);
    maki_status (*on_bytes)(void *ctx, maki_str bytes, maki_err *err);
    void *ctx;
} maki_blocking_client_request;

/* Set by every call, also by one that failed. */
typedef struct maki_blocking_client_result {
    bool connected;    /* the request, or part of it, was sent */
    char message[128]; /* why it failed, in curl's words; "": none */
} maki_blocking_client_result;

maki_status maki_blocking_client_open(const maki_env *env, const maki_client_limits *limits,
                                      maki_blocking_client **out, maki_err *err) MAKI_MUST_CHECK;
void maki_blocking_client_close(maki_blocking_client *client); /* accepts NULL */

/* Send the request and wait for the end of the reply.  MAKI_OK: the reply is complete, whatever its HTTP status.
 * MAKI_UPSTREAM: it is not, result->message says why; MAKI_TIMEOUT; MAKI_CANCELLED; or the status of a callback, or of
 * reading the body. */
maki_status maki_blocking_client_run(maki_blocking_client *client,
                                     const maki_blocking_client_request *request,
                                     maki_blocking_client_result *result, maki_err *err);

#endif

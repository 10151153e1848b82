/* client.h -- an HTTP client: requests to other servers, with libcurl on an event loop.
 *
 * One thread owns a client, its loop and all its calls; callbacks are called in that thread.  Connections are kept
 * alive and reused; so are curl's handles.  HTTP/1.1 only; no redirect is followed, nothing is decoded, no header is
 * added but Host (and Transfer-Encoding for a body without a length).
 *
 *     maki_client_prepare, maki_client_call_start -> on_read_body ... -> on_head -> on_bytes ... -> on_done
 *
 * on_done is the last callback: the call is freed when it returns.  maki_client_call_cancel ends a call without on_done. */
#ifndef MAKI_NET_CLIENT_H
#define MAKI_NET_CLIENT_H

#include "net/http_head.h"

#include <maki/env.h>

struct event_base;

typedef struct maki_client maki_client;
typedef struct maki_client_call maki_client_call; /* one request and its response */

typedef struct maki_client_limits {
    uint32_t connect_ms; /* to connect, including TLS */
    uint32_t idle_ms;    /* without a byte in either direction; a paused call does not count */
    size_t idle_max;     /* idle connections kept open */
    const char *ca_file; /* certificates to trust instead of the system's; NULL: the system's */
} maki_client_limits;
/* clang-format off */
#define MAKI_CLIENT_LIMITS_INIT { .connect_ms = 10000, .idle_ms = 600000, .idle_max = 256 }
/* clang-format on */

maki_status maki_client_open(const maki_env *env, struct event_base *base,
                             const maki_client_limits *limits, maki_client **out, maki_err *err)
    MAKI_MUST_CHECK;
/* Calls in progress end without on_done.  Not from a callback.  Accepts NULL. */
void maki_client_close(maki_client *client);

/* Set the maximum of open connections, idle ones included; calls over it are queued. */
void maki_client_limit(maki_client *client, size_t connections);

typedef enum maki_client_call_body {
    MAKI_CLIENT_CALL_NO_BODY,
    MAKI_CLIENT_CALL_WHOLE, /* all of it in `body`, valid until on_head or on_done */
    MAKI_CLIENT_CALL_LENGTH, /* `length` bytes from on_read_body; Content-Length is one of the lines */
    MAKI_CLIENT_CALL_CHUNKED /* unknown length, from on_read_body */
} maki_client_call_body;

#define MAKI_CLIENT_CALL_ABORT SIZE_MAX

typedef struct maki_client_callbacks {
    void *ctx; /* the first argument of each */
    /* Copy bytes of the body from `offset` on, up to `capacity`; returns how many.  0: none yet, until
     * maki_client_call_body_ready.  *end: the body is complete.  MAKI_CLIENT_CALL_ABORT: the call fails.  The same
     * bytes may be read again: when a reused connection is dead, the request is sent again. */
    size_t (*on_read_body)(void *ctx, uint64_t offset, char *out, size_t capacity, bool *end);
    /* The response's head.  Of `fields`, only the fields are set; the original line extends from a name to the end
     * of its value.  Valid during the call. */
    void (*on_head)(void *ctx, int status, maki_str reason, const maki_http_head *fields);
    void (*on_bytes)(void *ctx, maki_str bytes);
    /* MAKI_OK: the response is complete.  MAKI_UPSTREAM, MAKI_TIMEOUT, MAKI_NOMEM, MAKI_TOOBIG: `message` is the
     * reason. */
    void (*on_done)(void *ctx, maki_status status, const char *message);
} maki_client_callbacks;

/* Create a call, not sent yet: method and header lines ("Name: value" each, sent in this order and spelling) are
 * copied.  On MAKI_OK *out is valid until on_done or maki_client_call_cancel. */
maki_status maki_client_prepare(maki_client *client, maki_str method, const maki_str *lines,
                                size_t line_count, const maki_client_callbacks *callbacks,
                                maki_client_call **out, maki_err *err) MAKI_MUST_CHECK;

typedef struct maki_client_call_request {
    const char *origin; /* "https://api.example.com", "http://127.0.0.1:11434" */
    const char *target; /* "/v1/messages?beta=true", sent unchanged */
    maki_client_call_body kind;
    maki_str body;   /* with MAKI_CLIENT_CALL_WHOLE */
    uint64_t length; /* with MAKI_CLIENT_CALL_LENGTH */
} maki_client_call_request;
/* Send the request.  No callback is called before this returns; on failure the call is unchanged. */
maki_status maki_client_call_start(maki_client_call *call, const maki_client_call_request *request,
                                   maki_err *err);
/* More bytes for on_read_body are available, or its end is known. */
void maki_client_call_body_ready(maki_client_call *call);
/* Pause and resume reading the response; on_bytes may be called once more after a pause. */
void maki_client_call_pause(maki_client_call *call);
void maki_client_call_resume(maki_client_call *call);
/* End the call without on_done; its connection is closed unless the response is complete.  May be called from the call's
 * callbacks.  Accepts NULL. */
void maki_client_call_cancel(maki_client_call *call);

#endif

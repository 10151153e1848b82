/* client.h -- requests to other servers, through libcurl on an event loop.
 *
 * One thread owns a client, its loop and all its calls; callbacks come in that thread.  Connections are kept
 * and used again; so is what curl needs for a call.  HTTP/1.1 only; no redirect is followed, nothing is
 * decoded, no field is added but Host (and what frames a body that has no length).
 *
 *     maki_client_prepare, maki_client_call_start -> on_need ... -> on_head -> on_bytes ... -> on_done
 *
 * on_done is the last of it: the call is gone when it returns.  maki_client_call_cancel ends a call without on_done. */
#ifndef MAKI_NET_CLIENT_H
#define MAKI_NET_CLIENT_H

#include "net/http_head.h"

#include <maki/env.h>

struct event_base;

typedef struct maki_client maki_client;
typedef struct maki_client_call maki_client_call; /* one request and its reply */

typedef struct maki_client_limits {
    uint32_t connect_ms; /* to reach the other side, TLS included */
    uint32_t idle_ms;    /* without a byte in either direction; a paused call does not count */
    size_t idle_most;    /* connections that are kept for later */
    const char *ca_file; /* certificates to trust instead of the system's; NULL: the system's */
} maki_client_limits;
/* clang-format off */
#define MAKI_CLIENT_LIMITS_INIT { .connect_ms = 10000, .idle_ms = 600000, .idle_most = 256 }
/* clang-format on */

maki_status maki_client_open(const maki_env *env, struct event_base *base,
                             const maki_client_limits *limits, maki_client **out, maki_err *err)
    MAKI_MUST_CHECK;
/* Calls that are open end without on_done.  Not from a callback.  Accepts NULL. */
void maki_client_close(maki_client *client);

/* At most so many connections at a time, kept ones included; calls beyond that wait for their turn. */
void maki_client_limit(maki_client *client, size_t connections);

typedef enum maki_client_call_body {
    MAKI_CLIENT_CALL_NO_BODY,
    MAKI_CLIENT_CALL_WHOLE, /* it is all here: `body`, valid until on_head or on_done */
    MAKI_CLIENT_CALL_LENGTH, /* `length` bytes, asked for by on_need; Content-Length is one of the lines */
    MAKI_CLIENT_CALL_CHUNKED /* as many as come */
} maki_client_call_body;

#define MAKI_CLIENT_CALL_LOST SIZE_MAX

typedef struct maki_client_callbacks {
    void *ctx; /* the first argument of each */
    /* Bytes of the body from `at` on, up to `room`: how many.  0: none at present; maki_client_call_more tells when
     * there are.  *end: these were the last.  MAKI_CLIENT_CALL_LOST: there will be none, the call fails.  May be asked
     * again for bytes it gave, when the connection turned out to be dead. */
    size_t (*on_need)(void *ctx, uint64_t at, char *out, size_t capacity, bool *end);
    /* The reply's head.  Of `fields`, only the fields are set; a line as it came reaches from a name to the end
     * of its value.  Valid during the call. */
    void (*on_head)(void *ctx, int status, maki_str reason, const maki_http_head *fields);
    void (*on_bytes)(void *ctx, maki_str bytes);
    /* MAKI_OK: the reply came whole.  MAKI_UPSTREAM, MAKI_TIMEOUT, MAKI_NOMEM, MAKI_TOOBIG: `words` says why. */
    void (*on_done)(void *ctx, maki_status status, const char *words);
} maki_client_callbacks;

/* A call that is not under way yet: method and lines ("Name: value" each, sent in this order and spelling) are
 * copied.  On MAKI_OK *out is valid until on_done or maki_client_call_cancel. */
maki_status maki_client_prepare(maki_client *client, maki_str method, const maki_str *lines,
                                size_t line_count, const maki_client_callbacks *calls,
                                maki_client_call **out, maki_err *err) MAKI_MUST_CHECK;

typedef struct maki_client_call_where {
    const char *origin; /* "https://api.example.com", "http://127.0.0.1:11434" */
    const char *target; /* "/v1/messages?beta=true", sent as it is */
    maki_client_call_body kind;
    maki_str body;   /* with MAKI_CLIENT_CALL_WHOLE */
    uint64_t length; /* with MAKI_CLIENT_CALL_LENGTH */
} maki_client_call_where;
/* Send it.  No callback comes before this returns; when it fails the call is as it was. */
maki_status maki_client_call_start(maki_client_call *call, const maki_client_call_where *where,
                                   maki_err *err);
/* There are bytes for on_need again, or its end is known. */
void maki_client_call_more(maki_client_call *call);
/* Stop and go on reading the reply; a piece that is on its way may still come. */
void maki_client_call_pause(maki_client_call *call);
void maki_client_call_resume(maki_client_call *call);
/* The connection is closed unless the reply had come whole.  Also from the call's callbacks.  Accepts NULL. */
void maki_client_call_cancel(maki_client_call *call);

#endif

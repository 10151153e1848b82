/* proxy.h -- conversations of agents whose requests are forwarded: recognised and recorded.  No sockets.
 *
 * One thread owns a proxy and everything opened with it.  An exchange is one request and its reply:
 *
 *     begin -> request (the whole body) -> reply_head -> reply (bytes, as they come) -> end -> close
 *
 * Recording never delays an exchange: one that cannot be recorded (unknown protocol, invalid JSON, full disk) goes on,
 * and the error is returned. */
#ifndef MAKI_PROXY_PROXY_H
#define MAKI_PROXY_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

typedef struct maki_proxy maki_proxy;
typedef struct maki_exchange maki_exchange;

typedef struct maki_proxy_options {
    const char *home; /* $MAKI_HOME: conversations are sessions of agent "proxy" under it */
    size_t open_max;  /* conversations kept open at a time; 0: the default */
    /* Called for each event, a JSON object: for /maki/events.  May be NULL. */
    void (*on_event)(void *ctx, maki_str json);
    void *on_event_ctx;
    const struct maki_logger *logger; /* borrowed; NULL: nothing is logged */
} maki_proxy_options;

maki_status maki_proxy_open(const maki_env *env, const maki_proxy_options *options,
                            maki_proxy **out, maki_err *err) MAKI_MUST_CHECK;
void maki_proxy_close(maki_proxy *proxy); /* accepts NULL; all exchanges are closed before */
/* Called about once a second: idle conversations are closed. */
void maki_proxy_tick(maki_proxy *proxy);

/* The source and the destination of a request.  Strings are borrowed during the call. */
typedef struct maki_exchange_info {
    maki_protocol protocol;
    maki_str upstream;  /* its name */
    maki_str path;      /* of the request, without the query */
    maki_str session;   /* x-maki-session; len 0: none */
    maki_str client_id; /* the client's own id of the conversation, from a header; len 0: none */
    maki_str
        client; /* its name, without quotes and backslashes: noted in a new conversation; len 0: unknown */
    maki_str model; /* from the path (Gemini); len 0: it is in the body */
    /* Authorization, x-api-key, ?key=: hashed at once, never stored; len 0: none */
    maki_str credential;
} maki_exchange_info;

/* On MAKI_OK the caller owns *out and ends it with maki_exchange_close(). */
maki_status maki_exchange_begin(maki_proxy *proxy, const maki_exchange_info *in,
                                maki_exchange **out, maki_err *err) MAKI_MUST_CHECK;
/* The whole body, decoded (gzip, zstd); borrowed during the call.  Its new messages are written when this
 * returns. */
maki_status maki_exchange_request(maki_exchange *x, maki_str body, maki_err *err);
maki_status maki_exchange_reply_head(maki_exchange *x, int status, maki_str content_type,
                                     maki_err *err);
maki_status maki_exchange_reply(maki_exchange *x, maki_str bytes, maki_err *err);

typedef enum maki_exchange_end_kind {
    MAKI_EXCHANGE_DONE,               /* the reply is complete */
    MAKI_EXCHANGE_TRUNCATED,          /* upstream stopped in the middle, or never answered */
    MAKI_EXCHANGE_CLIENT_DISCONNECTED /* the client went away */
} maki_exchange_end_kind;

/* What must be made durable before the client receives the reply's last byte: the journal (maki_proxy_sync), and
 * these descriptors (fdatasync), which the caller owns and closes afterwards; -1: none. */
typedef struct maki_exchange_sync {
    int fds[3];
    bool journal;
} maki_exchange_sync;

/* Make everything recorded durable, except the files in maki_exchange_sync.fds.  Called by one thread, not
 * necessarily the owner's: one call serves all exchanges that ended before it. */
maki_status maki_proxy_sync(maki_proxy *proxy, maki_err *err);

/* Why upstream gave no reply, or only a part of it, as an error message of the network; called before
 * maki_exchange_end. */
void maki_exchange_set_reason(maki_exchange *x, maki_str reason);

/* Write the reply to the log.  Whatever the status, the exchange has ended and must be closed. */
maki_status maki_exchange_end(maki_exchange *x, maki_exchange_end_kind kind,
                              maki_exchange_sync *sync, maki_err *err);
void maki_exchange_close(maki_exchange *x); /* accepts NULL */

#endif

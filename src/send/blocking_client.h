/* blocking_client.h -- one request and its reply at a time, waited for: net/client on an event loop of our own.
 *
 * The daemon's client is used as it is: its connections, kept between calls, its limits and its way to cancel.
 * What is added here is a loop that runs while somebody waits, and a look 20 times a second whether they
 * still want to.  A second wrapper of curl's easy interface would have to do all of that again, and could not
 * be stopped while it waits for a name or a byte.
 *
 * A link belongs to one thread at a time. */
#ifndef MAKI_SEND_BLOCKING_CLIENT_H
#define MAKI_SEND_BLOCKING_CLIENT_H

#include "net/client.h"

typedef struct maki_blocking_client maki_blocking_client;

/* Bytes that can be read again from anywhere: a request may have to be sent twice. */
typedef struct maki_blocking_client_body {
    maki_status (*read)(void *ctx, uint64_t at, char *out, size_t capacity, size_t *got,
                        maki_err *err);
    void *ctx;
    uint64_t length; /* 0: there is no body */
} maki_blocking_client_body;

typedef struct maki_blocking_client_ask {
    const char *method;
    const char *origin, *target;
    maki_str lines; /* "Name: value\n" each */
    maki_blocking_client_body body;
    uint32_t total_ms;            /* for all of it; 0: no limit */
    bool (*cancelled)(void *ctx); /* may be NULL */
    void *cancelled_ctx;
    /* The reply; ctx is their first argument.  Not MAKI_OK ends the call with that status. */
    maki_status (*on_head)(void *ctx, int status, const maki_http_head *fields, maki_err *err);
    maki_status (*on_bytes)(void *ctx, maki_str bytes, maki_err *err);
    void *ctx;
} maki_blocking_client_ask;

/* How it ended, besides the status. */
typedef struct maki_blocking_client_end {
    bool connected;  /* the request was on its way */
    char words[128]; /* curl's, when it failed; "": none */
} maki_blocking_client_end;

maki_status maki_blocking_client_open(const maki_env *env, const maki_client_limits *limits,
                                      maki_blocking_client **out, maki_err *err) MAKI_MUST_CHECK;
void maki_blocking_client_close(maki_blocking_client *link); /* accepts NULL */

/* Ask and wait.  MAKI_OK: the reply came whole, whatever its status.  MAKI_UPSTREAM: it did not, end->words says why;
 * MAKI_TIMEOUT, MAKI_CANCELLED, what a callback answered, or what reading the body did. */
maki_status maki_blocking_client_run(maki_blocking_client *link,
                                     const maki_blocking_client_ask *ask,
                                     maki_blocking_client_end *end, maki_err *err);

#endif

/* provider_error.h -- classify the errors of providers and of the network, and format a message for the user.
 *
 * Providers report the same errors with different codes and statuses, and within a stream without a status; the rest of
 * send/ knows only these kinds.  No sockets, no clock. */
#ifndef MAKI_SEND_PROVIDER_ERROR_H
#define MAKI_SEND_PROVIDER_ERROR_H

#include "send/provider.h"
#include "send/send.h"

typedef enum maki_provider_error_kind {
    MAKI_PROVIDER_ERROR_NONE,
    MAKI_PROVIDER_ERROR_OVERFLOW,    /* the context is too long: shorten it, then send it again */
    MAKI_PROVIDER_ERROR_AUTH,        /* invalid API key */
    MAKI_PROVIDER_ERROR_DENIED,      /* the key has no permission for this */
    MAKI_PROVIDER_ERROR_NOT_FOUND,   /* no such model, or no API at that address */
    MAKI_PROVIDER_ERROR_QUOTA,       /* no credit left */
    MAKI_PROVIDER_ERROR_REQUEST,     /* invalid request */
    MAKI_PROVIDER_ERROR_RATE_LIMIT,  /* too many requests */
    MAKI_PROVIDER_ERROR_SERVER,      /* server error or overload */
    MAKI_PROVIDER_ERROR_UNREACHABLE, /* no connection */
    MAKI_PROVIDER_ERROR_INCOMPLETE,  /* the connection was closed within the reply */
    MAKI_PROVIDER_ERROR_TIMEOUT,     /* no byte for too long */
    MAKI_PROVIDER_ERROR_PROTOCOL     /* the reply is not valid in the provider's protocol */
} maki_provider_error_kind;

enum { MAKI_PROVIDER_ERROR_MESSAGE_MAX = MAKI_SEND_MESSAGE_MAX };

typedef struct maki_provider_error {
    maki_provider_error_kind kind;
    int http_status;        /* 0: none was received, or below 300 */
    uint64_t window;        /* of an overflow: the window that the body reports; 0: none */
    int64_t retry_delay_ms; /* before a retry, by the body; below 0: not given */
    /* of the provider or the network, truncated, the key masked; "": none */
    char message[MAKI_PROVIDER_ERROR_MESSAGE_MAX];
} maki_provider_error;

/* Classify a reply: its HTTP status, and the JSON value of its body or of the error in its stream (len 0: none). */
maki_provider_error maki_provider_error_read(const maki_provider *provider, int http_status,
                                             maki_str error, int64_t now_ms);
/* An error without a reply; `message` is curl's, or "". */
maki_provider_error maki_provider_error_of(maki_provider_error_kind kind, const char *message);

/* May a retry of the same request succeed? */
bool maki_provider_error_is_transient(const maki_provider_error *error);

/* Set *err and return the status.  OVERFLOW is MAKI_REFUSED with the code CONTEXT_OVERFLOW, RATE_LIMIT with RATE_LIMITED,
 * QUOTA with QUOTA. */
maki_status maki_provider_error_fail(const maki_provider_error *error,
                                     const maki_provider *provider, maki_str model, maki_err *err);

#endif

/* provider_error.h -- what went wrong with a request, whoever says it: what it means, whether another try may help,
 * and what a person can do about it.
 *
 * Providers say the same things in different words, with different statuses, and in the middle of a stream
 * with no status at all; the rest of send/ knows only these kinds.  No sockets, no clock. */
#ifndef MAKI_SEND_PROVIDER_ERROR_H
#define MAKI_SEND_PROVIDER_ERROR_H

#include "send/provider.h"

typedef enum maki_provider_error_kind {
    MAKI_PROVIDER_ERROR_NONE,
    MAKI_PROVIDER_ERROR_OVERFLOW,    /* the context is too long: manage, then try again */
    MAKI_PROVIDER_ERROR_KEY,         /* the key is not taken */
    MAKI_PROVIDER_ERROR_DENIED,      /* it is, but not for this */
    MAKI_PROVIDER_ERROR_UNKNOWN,     /* no such model, or nothing at that address */
    MAKI_PROVIDER_ERROR_QUOTA,       /* nothing is left to pay with */
    MAKI_PROVIDER_ERROR_REQUEST,     /* it does not like the request */
    MAKI_PROVIDER_ERROR_LIMIT,       /* too many requests */
    MAKI_PROVIDER_ERROR_BUSY,        /* overloaded or broken over there */
    MAKI_PROVIDER_ERROR_UNREACHABLE, /* no connection came about */
    MAKI_PROVIDER_ERROR_CUT,         /* the connection ended before the reply did */
    MAKI_PROVIDER_ERROR_TIMEOUT,     /* nothing came for too long */
    MAKI_PROVIDER_ERROR_GARBAGE      /* the reply is none of that protocol */
} maki_provider_error_kind;

enum { MAKI_PROVIDER_ERROR_WORDS = 128 };

typedef struct maki_provider_error {
    maki_provider_error_kind kind;
    int http_status; /* 0: there was none, or it said that all is well */
    uint64_t window; /* of an overflow: the window that it tells; 0: none */
    int64_t wait_ms; /* until another try, as the error's own body says it; below 0: it does not */
    /* of the provider or the network, shortened, the key masked; "": none */
    char words[MAKI_PROVIDER_ERROR_WORDS];
} maki_provider_error;

/* Read an error: the status of the reply, and the JSON value that it or its stream has (len 0: none). */
maki_provider_error maki_provider_error_read(const maki_provider *provider, int http_status,
                                             maki_str error, int64_t now_ms);
/* Trouble that is not the provider's; `words` of curl, or "". */
maki_provider_error maki_provider_error_of(maki_provider_error_kind kind, const char *words);

/* May the same request go well a moment later? */
bool maki_provider_error_is_transient(const maki_provider_error *trouble);

/* Say it.  Overflow is MAKI_REFUSED with the code CONTEXT_OVERFLOW; too many requests RATE_LIMITED, no credit
 * QUOTA.  Answers the status. */
maki_status maki_provider_error_fail(const maki_provider_error *trouble,
                                     const maki_provider *provider, maki_str model, maki_err *err);

#endif

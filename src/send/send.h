/* send.h -- send a request to a provider and stream its reply, with retries.
 *
 *     maki_sender *sender;
 *     maki_send_options options = { .env = &env, .provider = &provider };
 *     st = maki_sender_open(&options, &sender, &err);
 *     ...
 *     maki_send_request request = { .stream = true, .body = maki_send_spool(&spool) };
 *     maki_send_callbacks calls = { .ctx = me, .on_delta = print, .on_row = append };
 *     maki_send_result result;
 *     st = maki_send(sender, &request, &calls, &result, &err);
 *     if (st == MAKI_REFUSED && strcmp(err.code, MAKI_SEND_OVERFLOW) == 0) ... shorten the request, send again
 *     ...
 *     maki_sender_close(sender);
 *
 * A sender holds the connections to one provider, which are reused.  It belongs to one thread at a time; maki_send blocks
 * that thread and calls back in it (send/blocking_client.h).
 *
 * A request is retried, after a backoff (send/backoff.h), when the provider is overloaded (408, 429, 5xx), asks for a retry,
 * or the connection breaks; never after a delta has reached the caller, and never when the request itself is wrong
 * (send/provider_error.h).  Long bodies and replies are buffered in files, so memory grows with neither. */
#ifndef MAKI_SEND_SEND_H
#define MAKI_SEND_SEND_H

#include "base/logger.h"
#include "base/spool.h"
#include "send/blocking_client.h"
#include "send/delta_decoder.h"
#include "send/provider.h"
#include "token/family.h"

typedef struct maki_sender maki_sender;

typedef struct maki_send_options {
    const maki_env *env;           /* borrowed */
    const maki_provider *provider; /* copied; its spans are borrowed */
    uint32_t total_ms;             /* for one attempt; 0: no limit */
    uint64_t reply_bytes;          /* maximum of a reply, else MAKI_TOOBIG; 0: 512 MB */
    const maki_logger *log;        /* borrowed; NULL: nothing is logged */
    /* Wait before a retry, at most 100 ms per call; NULL: nanosleep. */
    void (*sleep)(void *ctx, uint32_t ms);
    void *sleep_ctx;
} maki_send_options;

maki_status maki_sender_open(const maki_send_options *options, maki_sender **out, maki_err *err)
    MAKI_MUST_CHECK;
void maki_sender_close(maki_sender *sender); /* accepts NULL */

/* ---- one request ----------------------------------------------------------------------------------------------- */

/* A body that is a spool, which must not change meanwhile; or a text.  Both are borrowed, the maki_str too. */
maki_blocking_client_body maki_send_spool(maki_spool *spool);
maki_blocking_client_body maki_send_text(const maki_str *text);

enum { MAKI_SEND_RETRIES = 4 }; /* the default of callers for `retries` */

typedef struct maki_send_request {
    maki_str model; /* for the path (Gemini), errors and the log; len 0: the provider's */
    bool stream;    /* as in the body; in Gemini's protocol it is in the path */
    maki_blocking_client_body body; /* JSON in the provider's protocol */
    unsigned retries;               /* after the first attempt; 0: none */
    bool (*cancelled)(void *ctx);   /* called 20 times a second; NULL: never cancelled */
    void *cancelled_ctx;
    double counted;                /* tokens of the request before any scale; 0: unknown */
    maki_calibration *calibration; /* updated from the reply's usage and `counted`; may be NULL */
} maki_send_request;

/* All may be NULL.  Not MAKI_OK ends the request with that status. */
typedef struct maki_send_callbacks {
    void *ctx; /* the first argument of each */
    /* Text, reasoning and calls as they come; of a reply that is not streamed, at its end. */
    maki_status (*on_delta)(void *ctx, const maki_delta *delta, maki_err *err);
    /* A message as a row of the log; usually one for each reply.  Not `complete`: the reply was truncated, cancelled or
     * ended with an error, and the input of a call may be incomplete. */
    maki_status (*on_row)(void *ctx, maki_str row, bool complete, maki_err *err);
    /* Retry `nth` (from 1) follows after this backoff; `why` is the error of the last attempt. */
    maki_status (*on_retry)(void *ctx, unsigned nth, uint32_t backoff_ms, const maki_err *why,
                            maki_err *err);
} maki_send_callbacks;

typedef enum maki_stop {
    MAKI_STOP_NONE,    /* no reason was given, or the reply is incomplete */
    MAKI_STOP_END,     /* the answer is complete */
    MAKI_STOP_CALLS,   /* tools are to be called */
    MAKI_STOP_LENGTH,  /* max_tokens, or the window, was reached */
    MAKI_STOP_REFUSED, /* the model or a content filter refused */
    MAKI_STOP_OTHER
} maki_stop;

enum { MAKI_SEND_MESSAGE_MAX = 400 };

/* Plain data, set as far as known, also when the request failed.  Texts are truncated to their buffers. */
typedef struct maki_send_result {
    int http_status; /* of the last attempt; 0: none was received */
    maki_stop stop;
    char stop_reason[48]; /* the provider's own */
    char id[96];          /* of the reply */
    char request_id[96];  /* the provider's, for its support */
    char model[96];       /* that answered, by the reply */
    maki_wire_usage usage;
    bool has_cost;   /* the reply has it (OpenRouter) */
    double cost;     /* in dollars */
    bool calibrated; /* the calibration was updated */
    bool invalid;    /* part of the reply was invalid; the rest is in the rows */
    uint64_t window; /* of an overflow: the window that the error reports; 0: none */
    bool failed;     /* by the provider or the network; `message` in their words, keys masked */
    char message[MAKI_SEND_MESSAGE_MAX];
    unsigned calls; /* of tools */
    unsigned retried;
    uint64_t bytes;             /* of the reply */
    int64_t first_ms, total_ms; /* until the first delta (-1: none), and of all attempts */
} maki_send_result;

#define MAKI_SEND_OVERFLOW "CONTEXT_OVERFLOW" /* the code of an error with MAKI_REFUSED */

/* MAKI_OK: the reply is complete, and on_row had its rows.  MAKI_REFUSED: CONTEXT_OVERFLOW, RATE_LIMITED or QUOTA.
 * MAKI_DENIED: the key; MAKI_NOTFOUND: the model; MAKI_INVALID: the request; MAKI_UPSTREAM, MAKI_TIMEOUT: the
 * provider or the network; MAKI_TOOBIG: the reply; MAKI_CANCELLED; or the status of a callback. */
maki_status maki_send(maki_sender *sender, const maki_send_request *request,
                      const maki_send_callbacks *callbacks, maki_send_result *result,
                      maki_err *err);

/* ---- windows ---------------------------------------------------------------------------------------------- */

/* The window of a model in tokens: the configured one, else the one that the provider reports (Ollama, LM Studio and
 * Gemini do), requested once and cached.  0: unknown; that the provider cannot be reached is not an error.  `model` len 0:
 * the provider's.  MAKI_CANCELLED when `cancelled`, which may be NULL, returns true. */
maki_status maki_sender_window(maki_sender *sender, maki_str model, bool (*cancelled)(void *ctx),
                               void *cancelled_ctx, uint64_t *tokens, maki_err *err);

#endif

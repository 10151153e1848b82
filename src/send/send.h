/* send.h -- a request to a provider, and its answer as it comes.
 *
 *     maki_sender *sender;
 *     maki_send_options options = { .env = &env, .provider = &provider };
 *     st = maki_sender_open(&options, &sender, &err);
 *     ...
 *     maki_send_request request = { .stream = true, .body = maki_send_spool(&spool) };
 *     maki_send_callbacks calls = { .ctx = me, .on_delta = print, .on_row = append };
 *     maki_send_result result;
 *     st = maki_send(sender, &request, &calls, &result, &err);
 *     if (st == MAKI_REFUSED && strcmp(err.code, MAKI_SEND_OVERFLOW) == 0) ... make room, try again
 *     ...
 *     maki_sender_close(sender);
 *
 * A sender is the connections to one provider, kept between requests.  It belongs to one thread at a time; maki_send
 * blocks that thread and calls back in it.  Sockets: net/client on a loop of its own (send/blocking_client.h).
 *
 * Requests are sent again, after a pause (send/backoff.h), when the provider is busy (408, 429, 5xx), asks for
 * it, or the connection breaks; never after a piece has reached the caller, never when the request itself is
 * the trouble (send/provider_error.h).  Long bodies and replies wait in files, so memory does not grow with either. */
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
    const maki_provider *provider; /* copied; what its spans point to is borrowed */
    uint32_t connect_ms;           /* to reach it; 0: 10 s */
    uint32_t total_ms;             /* for one try, whatever comes; 0: no limit */
    uint64_t reply_bytes;          /* of a reply: more is MAKI_TOOBIG; 0: 512 MB */
    const maki_logger *log;        /* borrowed; NULL: nothing is logged */
    /* How to wait before another try, in pieces of at most 100 ms; NULL: by sleeping. */
    void (*sleep)(void *ctx, uint32_t ms);
    void *sleep_ctx;
} maki_send_options;

maki_status maki_sender_open(const maki_send_options *options, maki_sender **out, maki_err *err)
    MAKI_MUST_CHECK;
void maki_sender_close(maki_sender *sender); /* accepts NULL */

/* ---- asking ----------------------------------------------------------------------------------------------- */

maki_blocking_client_body maki_send_spool(
    maki_spool *spool); /* borrowed, and not added to meanwhile */
maki_blocking_client_body maki_send_text(const maki_str *text); /* borrowed, the maki_str too */

enum { MAKI_SEND_RETRIES = 4 }; /* a good number of them */

typedef struct maki_send_request {
    maki_str model; /* for Gemini's path, errors and the log; len 0: the provider's */
    bool stream;    /* as the body says it; in Gemini's protocol the path does */
    maki_blocking_client_body body; /* JSON in the provider's protocol */
    unsigned retries;               /* after the first try; 0: none */
    bool (*cancelled)(void *ctx);   /* asked 20 times a second; NULL: never */
    void *cancelled_ctx;
    /* the request's tokens as they were counted, before any factor; 0: they were not */
    double counted;
    maki_calibration *calibration; /* learns from the reply's usage, with `counted`; may be NULL */
} maki_send_request;

/* All may be NULL.  Not MAKI_OK ends the request with that status. */
typedef struct maki_send_callbacks {
    void *ctx; /* the first argument of each */
    /* Text, reasoning and calls, as soon as they come; of a reply that is no stream at its end. */
    maki_status (*on_delta)(void *ctx, const maki_delta *piece, maki_err *err);
    /* A message for the log, in its shape; usually one a reply.  Not `whole`: the reply was cut, cancelled or
     * ended with an error, and this is what came of it; a call in it may lack the end of its input. */
    maki_status (*on_row)(void *ctx, maki_str row, bool whole, maki_err *err);
    /* Another try, the `nth` after the first, follows after this pause; `why` is what the last one ended with. */
    maki_status (*on_retry)(void *ctx, unsigned nth, uint32_t pause_ms, const maki_err *why,
                            maki_err *err);
} maki_send_callbacks;

typedef enum maki_stop {
    MAKI_STOP_NONE,    /* it did not say, or did not end */
    MAKI_STOP_END,     /* it said what it had to say */
    MAKI_STOP_CALLS,   /* it wants tools to be called */
    MAKI_STOP_LENGTH,  /* it was not allowed more tokens */
    MAKI_STOP_REFUSED, /* it, or a filter, does not want to answer */
    MAKI_STOP_OTHER
} maki_stop;

/* Plain data, filled as far as it came, also when the request failed.  Texts are cut to their room. */
typedef struct maki_send_result {
    int http_status; /* of the last try; 0: none came */
    maki_stop stop;
    char stop_word[48];  /* the provider's own */
    char id[96];         /* of the reply */
    char request_id[96]; /* by which the provider finds it; what its support asks for */
    char model[96];      /* that answered, as the provider calls it */
    maki_wire_usage usage;
    bool has_cost;   /* the provider says what it cost (OpenRouter does) */
    double cost;     /* in its currency */
    bool calibrated; /* the calibration learnt from it */
    bool garbage;    /* something in the reply could not be read; what could is in the rows */
    uint64_t window; /* of an overflow: the window as the error tells it; 0: it does not */
    unsigned calls;  /* of tools */
    unsigned retried;
    uint64_t bytes;             /* of the reply */
    int64_t first_ms, total_ms; /* until the first piece (-1: none came), and of all tries */
} maki_send_result;

#define MAKI_SEND_OVERFLOW "CONTEXT_OVERFLOW" /* the code of the error, under MAKI_REFUSED */

/* MAKI_OK: the reply is whole, its rows were handed over.  MAKI_REFUSED: CONTEXT_OVERFLOW, RATE_LIMITED or QUOTA.
 * MAKI_DENIED: the key; MAKI_NOTFOUND: the model; MAKI_INVALID: the request; MAKI_UPSTREAM, MAKI_TIMEOUT: the
 * provider or the way to it; MAKI_TOOBIG: the reply; MAKI_CANCELLED; or what a callback answered. */
maki_status maki_send(maki_sender *sender, const maki_send_request *request,
                      const maki_send_callbacks *calls, maki_send_result *result, maki_err *err);

/* ---- windows ---------------------------------------------------------------------------------------------- */

/* The window of a model in tokens: what the configuration says of it, else what the provider tells (Ollama, LM
 * Studio and Gemini do), asked once and kept.  0: nobody says; a provider that cannot be asked just now is no
 * failure.  `model` len 0: the provider's.  MAKI_CANCELLED when `cancelled`, which may be NULL, says so. */
maki_status maki_sender_window(maki_sender *sender, maki_str model, bool (*cancelled)(void *ctx),
                               void *cancelled_ctx, uint64_t *tokens, maki_err *err);

#endif

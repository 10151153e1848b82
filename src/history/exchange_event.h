/* exchange_event.h -- the events about one exchange with a provider: `manifest` {"of":"exchange"}, `usage` and
 * `provider_error` (docs/internals/events.md).  Turns and the proxy write them here, so both write the same fields. */
#ifndef MAKI_HISTORY_EXCHANGE_EVENT_H
#define MAKI_HISTORY_EXCHANGE_EVENT_H

#include "base/json_print.h"
#include "base/limits.h"
#include "log/log.h"
#include "token/family.h"
#include "wire/wire.h"

/* Fields that are empty, 0 or NULL are not written, except for the counts that every exchange has. */
typedef struct maki_exchange_event {
    maki_protocol protocol;
    const char *upstream, *path, *model;
    const char *body; /* a hash of it */
    uint64_t bytes;
    /* Callbacks that write further fields, each at its place; `ctx` is passed to both. */
    void (*write_spans)(maki_jw *w, const void *ctx);
    void (*write_bootstrap)(maki_jw *w, const void *ctx);
    const void *ctx;
    uint64_t system_tokens, tool_tokens, message_tokens;
    int status;
    const char *end;
    maki_str stop;                /* JSON, or */
    const char *stop_reason_text; /* a text */
    const char *request_id;
    maki_str error;         /* JSON, or */
    const char *error_code; /* a text */
    uint64_t window;
    int64_t first_ms, ms;
} maki_exchange_event;

/* All fields, into the open object. */
void maki_exchange_event_write(maki_jw *w, const maki_exchange_event *event);

typedef struct maki_usage_event {
    const char *model;
    const maki_wire_usage *usage;
    const double *cost;                  /* NULL: unknown */
    const maki_calibration *calibration; /* after this reply; NULL: unchanged */
    uint64_t counted;        /* with calibration: the request's tokens before any factor */
    uint64_t window;         /* that was assumed for the model; 0: unknown */
    const char *window_from; /* its source (manage/run_limits.h); NULL: unknown */
} maki_usage_event;

void maki_usage_event_write(maki_jw *w, const maki_usage_event *event);

/* The event `provider_error`: why an exchange has no complete reply. */
typedef struct maki_provider_error_event {
    const char *upstream, *model; /* the model of the request */
    int status;                   /* of HTTP; 0: no reply */
    const char *code;             /* as in errors of Maki: RATE_LIMITED ...; NULL: unknown */
    const char *request_id;
    const char *message; /* of the provider or the network, keys masked */
} maki_provider_error_event;

void maki_provider_error_event_write(maki_jw *w, const maki_provider_error_event *event);

/* ---- reading the newest state ------------------------------------------------------------------------------------ */

/* The state of exchanges with a model, from the newest events. */
typedef struct maki_exchange_state {
    char model[MAKI_MODEL_MAX];   /* the model; "": none was given, and there is no usage event */
    maki_calibration calibration; /* from its newest reply */
    double window;                /* that its provider reported; 0: none */
    double reported_window; /* that an error named, until a larger request was accepted; 0: none */
    double system, tools;   /* tokens of the newest request's, as the index counts */
    bool has_sha;
    char sha[65]; /* of the newest system prompt */
} maki_exchange_state;

/* `model` len 0: that of the newest usage.  `upstream`: only its errors are read for a window; "": any upstream's. */
maki_status maki_exchange_state_read(maki_log *log, maki_str model, const char *upstream,
                                     maki_exchange_state *out, maki_err *err);

#endif

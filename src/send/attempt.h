/* attempt.h -- one attempt: send the request once, parse the reply as it arrives, classify the error.
 *
 *     maki_attempt_run -> (deltas) -> maki_attempt_rows -> maki_attempt_close */
#ifndef MAKI_SEND_ATTEMPT_H
#define MAKI_SEND_ATTEMPT_H

#include "send/provider_error.h"
#include "send/sender.h"

typedef struct maki_attempt {
    maki_sender *sender;
    const maki_send_request *request;
    const maki_send_callbacks *callbacks;
    maki_send_result *result;
    maki_str model;
    int64_t started; /* the first attempt, by the clock */

    maki_wire_reply *reply; /* NULL: no head was received */
    bool discard;           /* the reply cannot be parsed to its end: no rows */
    maki_wire_result parsed;
    maki_delta_decoder decoder;
    bool delivered; /* a delta reached the caller: no retry */
    maki_status callback_status;
    maki_err callback_err;

    int64_t retry_after_ms; /* by the headers or the error; below 0: not given */
    bool should_not_retry;  /* x-should-retry: false */
    bool should_retry;      /* x-should-retry: true */
    maki_provider_error error;
} maki_attempt;

/* Send the request and read the reply.  MAKI_OK: it is complete.  Else t->error has the error of the provider or the
 * network, unless the cause is local: memory, a limit, the caller. */
maki_status maki_attempt_run(maki_attempt *t, maki_err *err);
/* Call on_row for each row of the reply. */
maki_status maki_attempt_rows(maki_attempt *t, bool complete, maki_err *err);
void maki_attempt_close(maki_attempt *t);

#endif

/* attempt.h -- one try: a request goes out, its reply is put together while it comes.
 *
 *     maki_attempt_run -> (pieces) -> maki_attempt_rows -> maki_attempt_close */
#ifndef MAKI_SEND_ATTEMPT_H
#define MAKI_SEND_ATTEMPT_H

#include "send/provider_error.h"
#include "send/sender.h"

typedef struct maki_attempt {
    maki_sender *sender;
    const maki_send_request *request;
    const maki_send_callbacks *calls;
    maki_send_result *result;
    maki_str model;
    int64_t began; /* the first try, by the clock */

    maki_wire_reply *reply; /* NULL: no head came */
    bool lost;              /* the reply could not be kept: it can only be closed */
    maki_wire_result said;
    maki_delta_decoder hear;
    bool reached;        /* a piece reached the caller */
    maki_status stopped; /* by the caller's own callback */
    maki_err stopped_err;

    int64_t asked_ms; /* the pause that the provider asks for; below 0: none */
    bool final;       /* it says that another try is in vain */
    bool urged;       /* it says that another try may go well */
    maki_provider_error trouble;
} maki_attempt;

/* Send it and read the reply.  MAKI_OK: it is whole.  Else t->trouble says what it was, unless it was something of
 * our own: memory, a limit, the caller. */
maki_status maki_attempt_run(maki_attempt *t, maki_err *err);
/* Hand over the rows that there are. */
maki_status maki_attempt_rows(maki_attempt *t, bool whole, maki_err *err);
void maki_attempt_close(maki_attempt *t);

#endif

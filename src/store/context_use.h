/* context_use.h -- how much of its model's window a conversation uses: the one place that computes it, so that
 * commands, operations, runs, log lines and the chat report the same number.
 *
 * The model: the caller's, that of the newest usage event, that of the newest reply, else the configured one.  Its
 * tokens are those of the index times the scale of its family, calibrated by the usage that its replies reported.
 * In addition to the messages a request has the system prompt and the tools, as last sent, and the start of a reply. */
#ifndef MAKI_STORE_CONTEXT_USE_H
#define MAKI_STORE_CONTEXT_USE_H

#include "history/conv.h"
#include "manage/policy.h"
#include "manage/run_limits.h"
#include "store/session.h"

typedef struct maki_context_use {
    maki_session session;
    maki_run_limits limits; /* of the model: window, threshold ... */
    maki_err refused;       /* the error with which a run would refuse that window; MAKI_OK: none */
    double scale;           /* tokens of the model per token of the index */
    bool exact;
    double system, tools, reply; /* tokens of the index, in addition to the messages */
} maki_context_use;

/* `options`: what the caller sets; its model and agent may be empty. */
maki_status maki_context_use_of(maki_conv *conv, const maki_run_limits_options *options,
                                maki_context_use *out, maki_err *err);
/* The same for a session that was already read. */
maki_status maki_context_use_of_session(maki_conv *conv, const maki_session *session,
                                        const maki_run_limits_options *options,
                                        maki_context_use *out, maki_err *err);
static inline double maki_context_other(const maki_context_use *use)
{
    return use->system + use->tools + use->reply;
}
/* Total tokens of the model, for a view with this many tokens of the index. */
double maki_context_tokens(const maki_context_use *use, double view);

#endif

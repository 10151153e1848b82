/* context.h -- how much of its model's window a conversation uses, for operations (store/context_use.h). */
#ifndef MAKI_OPS_CONTEXT_H
#define MAKI_OPS_CONTEXT_H

#include "ops/operation.h"
#include "store/context_use.h"

/* By the fields `model` and `window` of the call, both optional. */
maki_status maki_context_use_read(const maki_op_call *call, maki_conv *conv, maki_context_use *out,
                                  maki_err *err);
/* "contextUsage" ("75%"), "tokens" and "window": for this many tokens of the model. */
void maki_write_context_use(maki_jw *out, const maki_context_use *use, double tokens);
/* The effect of a step: "restored", "shortened" and "expanded" where they are not 0, and "effect", a description. */
void maki_write_view_change(maki_jw *out, const maki_view_change *effect);
/* The messages of `view` that `other` does not have, as an array of ranges. */
void maki_put_only_in(maki_jw *out, const char *name, const maki_view *view,
                      const maki_view *other);
/* Does the view show the synthetic message of event `ev`? */
bool maki_view_has_synthetic(const maki_view *view, uint64_t ev);
/* "threshold", in percent, and "thresholdTokens": the limits of a run; one that never applies is omitted. */
void maki_write_threshold(maki_jw *out, const maki_run_limits *limits, const maki_policy *policy);

#endif

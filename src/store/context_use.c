/* context_use.c -- compute the context use of a conversation from the session's files, the events of its newest
 * requests and the configuration.
 *
 * In:    a conversation and the caller's options.
 * Out:   the limits of its model, the scale from the index to the model, and the tokens of system prompt and tools.
 *        find_window decides whether a window that a provider or an error reported replaces the configured one; without
 *        a model the scale is 1. */
#include "store/context_use.h"

#include <stdio.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "history/exchange_event.h"
#include "store/resolve.h"

/* ---- the window ------------------------------------------------------------------------------------ */

/* The window that the provider reported is used when none is configured; that of an error, when it is smaller. */
static void find_window(const maki_run_limits_options *options, const maki_exchange_state *recalled,
                        maki_context_use *out)
{
    maki_run_limits_options in = *options;
    maki_status st = maki_run_limits_of(&in, &out->limits, &out->refused);
    bool use_reported = recalled->window > 0 && !out->limits.window_set;
    double window = use_reported ? recalled->window : out->limits.window;
    bool smaller = recalled->reported_window > 0 && recalled->reported_window < window;
    if (use_reported || smaller) {
        in.window = smaller ? recalled->reported_window : window;
        st = maki_run_limits_of(&in, &out->limits, &out->refused);
        out->limits.window_from = "provider";
    }
    if (st == MAKI_OK) out->refused = (maki_err){ .status = MAKI_OK };
}

/* ---- context use ------------------------------------------------------------------------------------- */

static maki_str first_nonempty(maki_str a, const char *b, const char *c)
{
    return a.len ? a : maki_str_of(b[0] ? b : c);
}

maki_status maki_context_use_of(maki_conv *conv, const maki_run_limits_options *options,
                                maki_context_use *out, maki_err *err)
{
    maki_session session;
    maki_log *log = maki_conv_log(conv);
    maki_status st = maki_session_get(maki_log_env(log), maki_log_path(log), &session, err);
    return st == MAKI_OK ? maki_context_use_of_session(conv, &session, options, out, err) : st;
}

maki_status maki_context_use_of_session(maki_conv *conv, const maki_session *session,
                                        const maki_run_limits_options *options,
                                        maki_context_use *out, maki_err *err)
{
    maki_exchange_state recalled;
    maki_run_limits_options in = *options;
    maki_str max_tokens;
    *out = (maki_context_use){ .session = *session, .scale = 1, .exact = true };
    maki_status st =
        maki_exchange_state_read(maki_conv_log(conv), options->model, "", &recalled, err);
    if (st != MAKI_OK) return st;
    in.model = first_nonempty(options->model, recalled.model, out->session.model);
    if (in.agent.len == 0) in.agent = maki_str_of(out->session.agent);
    if (!(in.max_tokens > 0) && out->session.overrides[0] &&
        maki_json_get(maki_str_of(out->session.overrides), MAKI_LIT("maxTokens"), &max_tokens))
        in.max_tokens = (double)maki_json_double(max_tokens);
    in.session_percent = maki_session_threshold(&out->session);
    find_window(&in, &recalled, out);
    out->system = recalled.system;
    out->tools = recalled.tools;
    if (out->limits.model[0] == '\0') return MAKI_OK; /* unknown model: tokens of the index */
    const maki_family *family = maki_family_of(maki_str_of(out->limits.model));
    out->scale = maki_family_scale(family, &recalled.calibration);
    out->exact = maki_family_error(family, &recalled.calibration) == 0;
    out->reply = family->per_reply;
    return MAKI_OK;
}

double maki_context_tokens(const maki_context_use *use, double view)
{
    return maki_scaled_tokens(view + maki_context_other(use), use->scale);
}

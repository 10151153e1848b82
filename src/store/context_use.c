/* context_use.c -- see context_use.h. */
#include "store/context_use.h"

#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "history/exchange_event.h"
#include "store/resolve.h"

/* ---- the window ------------------------------------------------------------------------------------ */

/* What a provider said counts where nobody else has; what an error told, where it is less. */
static void find_window(const maki_run_limits_in *said, const maki_exchange_state *recalled,
                        maki_context_use *out)
{
    maki_run_limits_in in = *said;
    maki_status st = maki_run_limits_of(&in, &out->figures, &out->refused);
    bool asked = recalled->window > 0 && !maki_run_limits_known(&out->figures);
    double window = asked ? recalled->window : out->figures.window;
    bool told = recalled->told > 0 && recalled->told < window;
    if (asked || told) {
        in.window = told ? recalled->told : window;
        st = maki_run_limits_of(&in, &out->figures, &out->refused);
        out->figures.window_from = "provider";
    }
    if (st == MAKI_OK) out->refused = (maki_err){ .status = MAKI_OK };
}

/* ---- all of it ------------------------------------------------------------------------------------- */

static maki_str first_of(maki_str a, const char *b, const char *c)
{
    return a.len ? a : maki_str_of(b[0] ? b : c);
}

maki_status maki_context_use_of(maki_conv *conv, const maki_run_limits_in *said,
                                maki_context_use *out, maki_err *err)
{
    maki_log *log = maki_conv_log(conv);
    maki_exchange_state recalled;
    maki_run_limits_in in = *said;
    maki_str most;
    *out = (maki_context_use){ .scale = 1, .exact = true };
    maki_status st = maki_session_get(maki_log_env(log), maki_log_path(log), &out->session, err);
    if (st == MAKI_OK) st = maki_exchange_state_read(log, said->model, "", &recalled, err);
    if (st != MAKI_OK) return st;
    in.model = first_of(said->model, recalled.model, out->session.model);
    if (in.agent.len == 0) in.agent = maki_str_of(out->session.agent);
    if (!(in.max_tokens > 0) && out->session.overrides[0] &&
        maki_json_get(maki_str_of(out->session.overrides), MAKI_LIT("maxTokens"), &most))
        in.max_tokens = (double)maki_json_double(most);
    find_window(&in, &recalled, out);
    out->system = recalled.system;
    out->tools = recalled.tools;
    if (out->figures.model[0] == '\0') return MAKI_OK; /* nobody knows: as the index counts */
    const maki_family *family = maki_family_of(maki_str_of(out->figures.model));
    out->scale = maki_family_scale(family, &recalled.calibration);
    out->exact = maki_family_error(family, &recalled.calibration) == 0;
    out->reply = family->per_reply;
    return MAKI_OK;
}

double maki_context_tokens(const maki_context_use *use, double view)
{
    return maki_scaled_tokens(view + maki_context_other(use), use->scale);
}

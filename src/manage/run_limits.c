/* run_limits.c -- look up each limit in the sources of run_limits.h, in that order.
 *
 * In:    the caller's options and the configuration; names (agent, provider, model, profile) get their defaults first.
 * Out:   the limits.  A window below window.minimum is refused, one below window.warning and an invalid threshold of a
 *        profile are logged. */
#include "manage/run_limits.h"

#include <math.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str_util.h"
#include "base/text.h"
#include "manage/thresholds.h"
#include "manage/window.h"

enum { PATH_MAX = 512 };

/* ---- reading the configuration ---------------------------------------------------------------------------- */

/* "agents", NAME, "maxTokens" as a path; false: the name is empty, or no setting can have it. */
static bool path_of(char path[PATH_MAX], const char *prefix, maki_str name, const char *suffix)
{
    if (name.len == 0 || name.len > MAKI_PROFILE_MAX || memchr(name.ptr, '\0', name.len))
        return false;
    int n = snprintf(path, PATH_MAX, "%s.%.*s%s%s", prefix, (int)name.len, name.ptr,
                     suffix[0] ? "." : "", suffix);
    return n > 0 && n < PATH_MAX;
}

static double number_at(const maki_config *config, const char *path, double fallback)
{
    return config && maki_config_is_set(config, path) ? maki_config_number(config, path) : fallback;
}

/* Of a name; 0 when it is not set. */
static double number_of(const maki_config *config, const char *prefix, maki_str name,
                        const char *suffix)
{
    char path[PATH_MAX];
    return path_of(path, prefix, name, suffix) ? number_at(config, path, 0) : 0;
}

static maki_str string_of(const maki_config *config, const char *prefix, maki_str name,
                          const char *suffix)
{
    char path[PATH_MAX];
    if (!config || !path_of(path, prefix, name, suffix)) return MAKI_LIT("");
    return maki_config_text(config, path);
}

static maki_str string_at(const maki_config *config, const char *path)
{
    return config ? maki_config_text(config, path) : MAKI_LIT("");
}

/* Configured, not by default. */
static bool is_configured(const maki_config *config, const char *path)
{
    maki_config_value value;
    return config && maki_config_find_value(config, path, &value) &&
           value.source != MAKI_CONFIG_DEFAULT;
}

static maki_str first_of(maki_str a, maki_str b, maki_str c)
{
    return a.len ? a : b.len ? b : c;
}

/* ---- names ---------------------------------------------------------------------------------------- */

typedef struct names {
    const maki_config *config;
    maki_str agent, provider, model, profile;
} names;

static names names_of(const maki_run_limits_options *in)
{
    names n = { .config = in->config };
    n.agent = in->agent.len ? in->agent : MAKI_LIT("default");
    n.provider = first_of(in->provider, string_of(in->config, "agents", n.agent, "provider"),
                          string_at(in->config, "llm.provider"));
    n.model = first_of(in->model, string_of(in->config, "agents", n.agent, "model"),
                       string_of(in->config, "llm", n.provider, "model"));
    n.profile = first_of(in->profile, string_at(in->config, "currentProfileId"), n.model);
    return n;
}

/* profiles.ID.KEY of the profile in use, else of the model; 0: of neither. */
static double profile_number(const names *n, const char *key)
{
    double value = number_of(n->config, "profiles", n->profile, key);
    return value > 0 ? value : number_of(n->config, "profiles", n->model, key);
}

/* ---- the window ----------------------------------------------------------------------------------------------- */

/* The context_length of the model: of the provider in use, else of any provider with that model. */
static double provider_window(const names *n)
{
    maki_str name, own = string_of(n->config, "llm", n->provider, "model");
    if (n->provider.len && (own.len == 0 || maki_str_equal(own, n->model))) {
        double tokens = number_of(n->config, "llm", n->provider, "context_length");
        if (tokens > 0) return tokens;
    }
    for (size_t at = 0; n->config && maki_config_next_name(n->config, "llm", &at, &name);) {
        maki_str model = string_of(n->config, "llm", name, "model");
        if (model.len == 0 || !maki_str_equal(model, n->model)) continue;
        double tokens = number_of(n->config, "llm", name, "context_length");
        if (tokens > 0) return tokens;
    }
    return 0;
}

static void find_window(const names *n, double from_caller, maki_run_limits *out)
{
    const struct {
        double tokens;
        const char *from;
    } candidates[] = {
        { from_caller, "caller" },
        { profile_number(n, "contextWindow"), "profile" },
        { provider_window(n), "configuration" },
        { maki_window_of_model(n->model), "table" },
        { number_at(n->config, "contextWindow", 0), "configuration" },
        { number_of(n->config, "agents", n->agent, "contextWindow"), "agent" },
        { number_at(n->config, "window.default", MAKI_WINDOW_DEFAULT), "default" },
    };
    size_t i = 0;
    while (candidates[i].tokens < 1) /* the last is always set */
        i++;
    out->window = candidates[i].tokens;
    out->window_from = candidates[i].from;
    out->window_set = i < 3;
}

static maki_status guard_window(const maki_run_limits_options *in, maki_run_limits *out,
                                maki_err *err)
{
    double minimum = number_at(in->config, "window.minimum", MAKI_WINDOW_REFUSE);
    double warn = number_at(in->config, "window.warning", MAKI_WINDOW_WARN);
    maki_kv values[] = { MAKI_KV_I("context_window", out->window), MAKI_KV_I("warning", warn),
                         MAKI_KV_S("model", maki_str_of(out->model)) };
    if (out->window < minimum) {
        return maki_refuse(err, "WINDOW_TOO_SMALL",
                           "a window of %.0f tokens (%s) is under window.minimum, %.0f; set that "
                           "lower to use it all the same",
                           out->window, out->window_from, minimum);
    }
    out->small = out->window < warn;
    out->warning = warn;
    if (out->small) maki_log_event(in->logger, MAKI_WARN, "window_small", values, 3);
    return MAKI_OK;
}

/* ---- the threshold ------------------------------------------------------------------------------------------- */

/* The threshold that the reference recommends for exactly this model id; 0: none. */
static double recommended(maki_str model)
{
    static const struct model_row {
        const char *id;
        double percent;
    } models[] = {
        { "claude-opus-4-5-20251101", 80 },
        { "claude-3-7-sonnet-20250219", 75 },
        { "claude-3-5-haiku-20241022", 60 },
        { "gpt-4-turbo", 70 },
        { "gpt-3.5-turbo", 50 },
    };
    const struct model_row *row = MAKI_TABLE_FIND(models, model);
    return row ? row->percent : 0;
}

/* The profile's own threshold; false: none. */
static bool own_threshold(const maki_run_limits_options *in, const names *n, double *percent)
{
    char path[PATH_MAX];
    *percent = in->profile_threshold;
    if (in->has_profile_threshold) return true;
    const maki_str ids[] = { n->profile, n->model };
    for (size_t i = 0; n->config && i < 2; i++) {
        if (!path_of(path, "profileThresholds", ids[i], "") || !maki_config_is_set(n->config, path))
            continue;
        *percent = maki_config_number(n->config, path);
        return true;
    }
    return false;
}

static double general_threshold(const maki_run_limits_options *in)
{
    return in->percent > 0
               ? in->percent
               : number_at(in->config, "autoCondenseContextPercent", MAKI_THRESHOLD_DEFAULT);
}

/* Is the session's own threshold effective?  What the caller sets for this run wins. */
static bool by_session(const maki_run_limits_options *in)
{
    return in->session_percent > 0 && !(in->percent > 0) && !in->has_profile_threshold;
}

static double percent_of(const maki_run_limits_options *in, const names *n, maki_run_limits *out)
{
    if (by_session(in)) return in->session_percent;
    double own = 0, general = general_threshold(in);
    if (own_threshold(in, n, &own)) {
        maki_kv values[] = { MAKI_KV_N("value", own), MAKI_KV_S("profile", n->profile),
                             MAKI_KV_N("using", general) };
        if (own == MAKI_THRESHOLD_INHERIT) return general;
        if (own >= MAKI_THRESHOLD_MIN && own <= MAKI_THRESHOLD_MAX) return own;
        out->threshold_invalid = true;
        out->profile_threshold = own;
        maki_log_event(in->logger, MAKI_WARN, "threshold_invalid", values, 3);
        return general;
    }
    if (in->percent > 0 || is_configured(in->config, "autoCondenseContextPercent") ||
        n->model.len == 0)
        return general;
    return recommended(n->model) > 0 ? recommended(n->model) : maki_strategy_of(n->model).threshold;
}

static void find_threshold(const maki_run_limits_options *in, const names *n, maki_run_limits *out)
{
    bool automatic = in->config ? maki_config_flag(in->config, "autoCondenseContext") : true;
    if (in->has_automatic) automatic = in->automatic;
    out->automatic = automatic;
    out->threshold = percent_of(in, n, out);
    out->threshold_tokens = in->tokens;
    bool configured = !(in->tokens > 0) && !by_session(in);
    if (configured) out->threshold_tokens = profile_number(n, "thresholdTokens");
    if (configured && !(out->threshold_tokens > 0))
        out->threshold_tokens = number_at(in->config, "autoCondenseContextTokens", 0);
    if (automatic) return;
    out->threshold = MAKI_THRESHOLD_NEVER;
    out->threshold_tokens = 0;
}

/* ---- the rest ---------------------------------------------------------------------------------------------- */

static void find_keep(const maki_run_limits_options *in, const names *n, maki_run_limits *out)
{
    double profile = profile_number(n, "keepMessages");
    out->keep_set = true;
    if (in->keep) {
        out->keep = in->keep;
    } else if (profile > 0) {
        out->keep = (size_t)profile;
    } else if (is_configured(in->config, "messagesRetainCount")) {
        out->keep = (size_t)maki_config_integer(in->config, "messagesRetainCount");
    } else {
        out->keep = (size_t)maki_strategy_of(n->model).keep_messages;
        out->keep_set = false;
    }
}

static double max_tokens_of(const maki_run_limits_options *in, const names *n)
{
    double agent_tokens = number_of(n->config, "agents", n->agent, "maxTokens");
    if (in->max_tokens > 0) return in->max_tokens;
    return agent_tokens > 0 ? agent_tokens : number_of(n->config, "llm", n->provider, "max_tokens");
}

static void copy_name(maki_str name, char out[MAKI_PROFILE_MAX])
{
    (void)maki_str_copy(maki_utf8_truncate(name, MAKI_PROFILE_MAX - 1), out, MAKI_PROFILE_MAX);
}

maki_status maki_run_limits_of(const maki_run_limits_options *in, maki_run_limits *out,
                               maki_err *err)
{
    names n = names_of(in);
    *out = (maki_run_limits){ .max_tokens = max_tokens_of(in, &n) };
    copy_name(n.model, out->model);
    copy_name(n.agent, out->agent);
    copy_name(n.provider, out->provider);
    copy_name(n.profile, out->profile);
    find_window(&n, in->window, out);
    find_threshold(in, &n, out);
    find_keep(in, &n, out);
    return guard_window(in, out, err);
}

double maki_run_limits_reserved(double window, double max_tokens)
{
    double wanted = max_tokens > 0 ? max_tokens : MAKI_RESERVED_OUTPUT;
    return wanted < window / 4 ? wanted : window / 4;
}

double maki_run_limits_allowed(double window, double max_tokens)
{
    return 0.9 * window - maki_run_limits_reserved(window, max_tokens);
}

double maki_run_limits_target(double window, double max_tokens)
{
    double limit = 7 * maki_run_limits_allowed(window, max_tokens) / 10;
    return floor(limit < window / 2 ? limit : window / 2);
}

/* run_limits.c -- see run_limits.h. */
#include "manage/run_limits.h"

#include <math.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"
#include "base/text.h"
#include "manage/thresholds.h"
#include "manage/window.h"

enum { PATH_MAX = 512 };

/* ---- asking the configuration ---------------------------------------------------------------------------- */

/* "agents", NAME, "maxTokens" as a path; false when there is no name, or none that a setting can have. */
static bool path_of(char path[PATH_MAX], const char *before, maki_str name, const char *after)
{
    if (name.len == 0 || name.len > MAKI_PROFILE_MAX || memchr(name.ptr, '\0', name.len))
        return false;
    int n = snprintf(path, PATH_MAX, "%s.%.*s%s%s", before, (int)name.len, name.ptr,
                     after[0] ? "." : "", after);
    return n > 0 && n < PATH_MAX;
}

static double number(const maki_config *config, const char *path, double otherwise)
{
    return config && maki_config_is_set(config, path) ? maki_config_number(config, path)
                                                      : otherwise;
}

/* Of a name; 0 when it is not set. */
static double number_of(const maki_config *config, const char *before, maki_str name,
                        const char *after)
{
    char path[PATH_MAX];
    return path_of(path, before, name, after) ? number(config, path, 0) : 0;
}

static maki_str text_of(const maki_config *config, const char *before, maki_str name,
                        const char *after)
{
    char path[PATH_MAX];
    if (!config || !path_of(path, before, name, after)) return MAKI_LIT("");
    return maki_config_text(config, path);
}

static maki_str text(const maki_config *config, const char *path)
{
    return config ? maki_config_text(config, path) : MAKI_LIT("");
}

/* By a person, not by default. */
static bool was_set(const maki_config *config, const char *path)
{
    maki_config_value value;
    return config && maki_config_find_value(config, path, &value) &&
           value.source != MAKI_CONFIG_DEFAULT;
}

static maki_str first_of(maki_str a, maki_str b, maki_str c)
{
    return a.len ? a : b.len ? b : c;
}

/* ---- who it is about ---------------------------------------------------------------------------------------- */

typedef struct who {
    const maki_config *config;
    maki_str agent, provider, model, profile;
} who;

static who who_of(const maki_run_limits_in *in)
{
    who w = { .config = in->config };
    w.agent = in->agent.len ? in->agent : MAKI_LIT("default");
    w.provider = first_of(in->provider, text_of(in->config, "agents", w.agent, "provider"),
                          text(in->config, "llm.provider"));
    w.model = first_of(in->model, text_of(in->config, "agents", w.agent, "model"),
                       text_of(in->config, "llm", w.provider, "model"));
    w.profile = first_of(in->profile, text(in->config, "currentProfileId"), w.model);
    return w;
}

/* profiles.ID.KEY of the profile in use, else of the model; 0: of neither. */
static double profile_number(const who *w, const char *key)
{
    double n = number_of(w->config, "profiles", w->profile, key);
    return n > 0 ? n : number_of(w->config, "profiles", w->model, key);
}

/* ---- the window ----------------------------------------------------------------------------------------------- */

/* What `llm` says about the model: of the provider in use, else of one that has that model. */
static double provider_window(const who *w)
{
    maki_str name, own = text_of(w->config, "llm", w->provider, "model");
    if (w->provider.len && (own.len == 0 || maki_str_is(own, w->model))) {
        double n = number_of(w->config, "llm", w->provider, "context_length");
        if (n > 0) return n;
    }
    for (size_t at = 0; w->config && maki_config_next_name(w->config, "llm", &at, &name);) {
        maki_str model = text_of(w->config, "llm", name, "model");
        if (model.len == 0 || !maki_str_is(model, w->model)) continue;
        double n = number_of(w->config, "llm", name, "context_length");
        if (n > 0) return n;
    }
    return 0;
}

static void find_window(const who *w, double callers, maki_run_limits *out)
{
    const struct {
        double tokens;
        const char *from;
    } wishes[] = {
        { callers, "caller" },
        { profile_number(w, "contextWindow"), "profile" },
        { provider_window(w), "provider" },
        { maki_window_of_model(w->model), "model" },
        { number(w->config, "contextWindow", 0), "configuration" },
        { number_of(w->config, "agents", w->agent, "contextWindow"), "agent" },
        { number(w->config, "window.default", MAKI_WINDOW_DEFAULT), "default" },
    };
    size_t i = 0;
    while (wishes[i].tokens < 1) /* the last is always there */
        i++;
    out->window = wishes[i].tokens;
    out->window_from = wishes[i].from;
}

static maki_status guard_window(const maki_run_limits_in *in, maki_run_limits *out, maki_err *err)
{
    double least = number(in->config, "window.minimum", MAKI_WINDOW_REFUSE);
    double warn = number(in->config, "window.warning", MAKI_WINDOW_WARN);
    maki_kv values[] = { MAKI_KV_I("context_window", out->window), MAKI_KV_I("warning", warn),
                         MAKI_KV_S("model", maki_str_of(out->model)) };
    if (out->window < least) {
        return maki_refuse(err, "WINDOW_TOO_SMALL",
                           "a window of %.0f tokens (%s) is under window.minimum, %.0f; set that "
                           "lower to use it all the same",
                           out->window, out->window_from, least);
    }
    out->small = out->window < warn;
    if (out->small) maki_log_event(in->logger, MAKI_WARN, "window_small", values, 3);
    return MAKI_OK;
}

/* ---- the threshold ------------------------------------------------------------------------------------------- */

/* What the reference recommends for a model of exactly this id; 0: nothing. */
static double recommended(maki_str model)
{
    static const struct {
        const char *id;
        double percent;
    } models[] = {
        { "claude-opus-4-5-20251101", 80 },
        { "claude-3-7-sonnet-20250219", 75 },
        { "claude-3-5-haiku-20241022", 60 },
        { "gpt-4-turbo", 70 },
        { "gpt-3.5-turbo", 50 },
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (maki_str_is(model, maki_str_of(models[i].id))) return models[i].percent;
    }
    return 0;
}

/* The profile's own threshold; false: it has none. */
static bool own_threshold(const maki_run_limits_in *in, const who *w, double *percent)
{
    char path[PATH_MAX];
    *percent = in->profile_threshold;
    if (in->has_profile_threshold) return true;
    const maki_str names[] = { w->profile, w->model };
    for (size_t i = 0; w->config && i < 2; i++) {
        if (!path_of(path, "profileThresholds", names[i], "") ||
            !maki_config_is_set(w->config, path))
            continue;
        *percent = maki_config_number(w->config, path);
        return true;
    }
    return false;
}

static double general_threshold(const maki_run_limits_in *in)
{
    return in->percent > 0
               ? in->percent
               : number(in->config, "autoCondenseContextPercent", MAKI_THRESHOLD_DEFAULT);
}

static double percent_of(const maki_run_limits_in *in, const who *w, maki_run_limits *out)
{
    double own = 0, general = general_threshold(in);
    if (own_threshold(in, w, &own)) {
        maki_kv values[] = { MAKI_KV_N("value", own), MAKI_KV_S("profile", w->profile),
                             MAKI_KV_N("using", general) };
        if (own == MAKI_THRESHOLD_INHERIT) return general;
        if (own >= MAKI_THRESHOLD_MIN && own <= MAKI_THRESHOLD_MAX) return own;
        out->threshold_invalid = true;
        out->profile_threshold = own;
        maki_log_event(in->logger, MAKI_WARN, "threshold_invalid", values, 3);
        return general;
    }
    if (in->percent > 0 || was_set(in->config, "autoCondenseContextPercent") || w->model.len == 0)
        return general;
    return recommended(w->model) > 0 ? recommended(w->model) : maki_strategy_of(w->model).threshold;
}

static void find_threshold(const maki_run_limits_in *in, const who *w, maki_run_limits *out)
{
    bool automatic = in->config ? maki_config_flag(in->config, "autoCondenseContext") : true;
    if (in->has_automatic) automatic = in->automatic;
    out->threshold = percent_of(in, w, out);
    out->threshold_tokens = in->tokens;
    if (!(in->tokens > 0)) out->threshold_tokens = profile_number(w, "thresholdTokens");
    if (!(out->threshold_tokens > 0))
        out->threshold_tokens = number(in->config, "autoCondenseContextTokens", 0);
    if (automatic) return;
    out->threshold = MAKI_THRESHOLD_NEVER;
    out->threshold_tokens = 0;
}

/* ---- the rest ---------------------------------------------------------------------------------------------- */

static void find_keep(const maki_run_limits_in *in, const who *w, maki_run_limits *out)
{
    double profile = profile_number(w, "keepMessages");
    out->keep_set = true;
    if (in->keep) {
        out->keep = in->keep;
    } else if (profile > 0) {
        out->keep = (size_t)profile;
    } else if (was_set(in->config, "messagesRetainCount")) {
        out->keep = (size_t)maki_config_integer(in->config, "messagesRetainCount");
    } else {
        out->keep = (size_t)maki_strategy_of(w->model).keep_messages;
        out->keep_set = false;
    }
}

static double max_tokens_of(const maki_run_limits_in *in, const who *w)
{
    double agents = number_of(w->config, "agents", w->agent, "maxTokens");
    if (in->max_tokens > 0) return in->max_tokens;
    return agents > 0 ? agents : number_of(w->config, "llm", w->provider, "max_tokens");
}

static void copy_name(maki_str name, char out[MAKI_PROFILE_MAX])
{
    maki_str cut = maki_utf8_truncate(name, MAKI_PROFILE_MAX - 1);
    if (cut.len) memcpy(out, cut.ptr, cut.len);
    out[cut.len] = '\0';
}

maki_status maki_run_limits_of(const maki_run_limits_in *in, maki_run_limits *out, maki_err *err)
{
    who w = who_of(in);
    *out = (maki_run_limits){ .max_tokens = max_tokens_of(in, &w) };
    copy_name(w.model, out->model);
    copy_name(w.agent, out->agent);
    copy_name(w.provider, out->provider);
    copy_name(w.profile, out->profile);
    find_window(&w, in->window, out);
    find_threshold(in, &w, out);
    find_keep(in, &w, out);
    return guard_window(in, out, err);
}

bool maki_run_limits_known(const maki_run_limits *figures)
{
    static const char *const known[] = { "caller", "profile", "provider" };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(figures->window_from, known[i]) == 0) return true;
    }
    return false;
}

double maki_run_limits_allowed(double window, double max_tokens)
{
    double wanted = max_tokens > 0 ? max_tokens : MAKI_RESERVED_OUTPUT;
    double reserved = wanted < window / 4 ? wanted : window / 4;
    return 0.9 * window - reserved;
}

double maki_run_limits_target(double window, double max_tokens)
{
    double most = 7 * maki_run_limits_allowed(window, max_tokens) / 10;
    return floor(most < window / 2 ? most : window / 2);
}

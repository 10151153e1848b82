/* policy_config.c -- build a maki_policy from the rows `policies.NAME.N.KEY` of a configuration.
 *
 * In:    an opened configuration: types and ranges of its values are checked already (config/bind.c).
 * Out:   a policy whose strings the configuration or the arena owns.
 * Keys that are not set leave the defaults of the step's kind. */
#include "manage/policy_config.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"

enum { PATH_MAX = 600 }; /* names have at most 200 bytes */

/* A path of the configuration, "policies.mine.0.keep", whose last key is replaced for each lookup. */
typedef struct setting_path {
    const maki_config *config;
    char path[PATH_MAX];
    size_t len; /* of what is before the key */
} setting_path;

static setting_path path_of(const maki_config *config, const char *prefix, maki_str name)
{
    setting_path at = { .config = config };
    snprintf(at.path, sizeof at.path, "%s.%.*s.", prefix, (int)name.len, name.ptr);
    at.len = strlen(at.path);
    return at;
}

static const char *with_key(setting_path *at, const char *key)
{
    snprintf(at->path + at->len, sizeof at->path - at->len, "%s", key);
    return at->path;
}

static bool is_set(setting_path *at, const char *key)
{
    return maki_config_is_set(at->config, with_key(at, key));
}

/* ---- one step ------------------------------------------------------------------------------------------- */

static void read_share(setting_path *at, const char *key, double *out)
{
    if (is_set(at, key)) *out = maki_config_number(at->config, at->path);
}

static void read_count(setting_path *at, const char *key, uint64_t *out)
{
    if (is_set(at, key)) *out = (uint64_t)maki_config_integer(at->config, at->path);
}

static void read_size(setting_path *at, const char *key, size_t *out)
{
    uint64_t value = *out;
    read_count(at, key, &value);
    *out = (size_t)value;
}

static void read_flag(setting_path *at, const char *key, bool *out)
{
    if (is_set(at, key)) *out = maki_config_flag(at->config, at->path);
}

static unsigned when_of(maki_str name)
{
    static const struct {
        const char *name;
        unsigned when;
    } all[] = { { "always", 0 },
                { "needed", MAKI_WHEN_NEEDED },
                { "over_allowed", MAKI_WHEN_OVER },
                { "failed", MAKI_WHEN_FAILED },
                { "failed_over_allowed", MAKI_WHEN_FAILED | MAKI_WHEN_OVER } };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (maki_str_is(name, maki_str_of(all[i].name))) return all[i].when;
    }
    return MAKI_WHEN_NEEDED;
}

static maki_status read_names(setting_path *at, const char *key, maki_arena *arena,
                              const maki_str **out, size_t *count, maki_err *err)
{
    maki_str name, *names = NULL;
    size_t capacity = 0;
    with_key(at, key);
    for (*count = 0; maki_config_entry(at->config, at->path, *count, &name); ++*count) {
        names = maki_arena_grow(arena, names, *count, &capacity, sizeof name);
        if (!names) return maki_arena_status(arena, err);
        names[*count] = name;
    }
    *out = names;
    return MAKI_OK;
}

static maki_status read_placeholder(setting_path *at, maki_step *step, maki_err *err)
{
    if (!is_set(at, "placeholder")) return MAKI_OK;
    maki_str text = maki_config_text(at->config, at->path);
    if (text.len > MAKI_PLACEHOLDER_MAX)
        return maki_fail(err, MAKI_INVALID, "%.120s has %zu bytes; %d at most", at->path, text.len,
                         MAKI_PLACEHOLDER_MAX);
    if (maki_str_trim(text).len) step->placeholder = text; /* a blank one is ignored */
    return MAKI_OK;
}

static maki_status read_step(setting_path *at, maki_arena *arena, maki_step *out, maki_err *err)
{
    maki_step_kind kind;
    if (!maki_step_named(maki_config_text(at->config, with_key(at, "step")), &kind))
        return maki_fail(err, MAKI_INVALID, "%.120s: unknown step", at->path);
    *out = maki_step_of(kind);
    if (is_set(at, "when")) out->when = when_of(maki_config_text(at->config, at->path));
    read_share(at, "from", &out->from);
    read_share(at, "below", &out->below);
    read_share(at, "target", &out->target);
    read_size(at, "keep", &out->keep);
    read_size(at, "min_messages", &out->min_messages);
    read_share(at, "min_saving", &out->min_saving);
    read_share(at, "min_window", &out->min_window);
    read_share(at, "share", &out->share);
    read_flag(at, "must_reach", &out->must_reach);
    read_count(at, "max_chars", &out->max_chars);
    read_count(at, "head_chars", &out->head_chars);
    read_count(at, "tail_chars", &out->tail_chars);
    read_count(at, "min_prunable_chars", &out->min_prunable_chars);
    read_flag(at, "hard_clear", &out->hard_clear);
    maki_status st = read_placeholder(at, out, err);
    if (st == MAKI_OK) st = read_names(at, "allow", arena, &out->allow, &out->allow_count, err);
    if (st == MAKI_OK) st = read_names(at, "deny", arena, &out->deny, &out->deny_count, err);
    if (st == MAKI_OK && out->below > 0 && out->from >= out->below)
        st = maki_fail(err, MAKI_INVALID, "%.120s: from (%g) must be less than below (%g)",
                       with_key(at, "from"), out->from, out->below);
    return st;
}

/* ---- a policy ---------------------------------------------------------------------------------------------- */

/* When every step has a `from`, the lowest of them is that of the policy. */
static double lowest_from(const maki_policy *policy)
{
    double lowest = 0;
    for (size_t i = 0; i < policy->step_count; i++) {
        double from = policy->steps[i].from;
        if (from <= 0) return 0;
        if (lowest == 0 || from < lowest) lowest = from;
    }
    return lowest;
}

static maki_status read_policy(const maki_config *config, maki_str name, maki_arena *arena,
                               maki_policy *out, maki_err *err)
{
    setting_path steps = path_of(config, "policies", name);
    maki_str number;
    maki_status st = MAKI_OK;
    steps.path[steps.len - 1] = '\0'; /* without the last dot */
    const maki_policy *replaced = maki_policy_named(name);
    *out = (maki_policy){ .name = maki_arena_copy(arena, name).ptr,
                          .flags = replaced ? replaced->flags : 0 };
    for (size_t cursor = 0;
         st == MAKI_OK && maki_config_next_name(config, steps.path, &cursor, &number);) {
        setting_path at = path_of(config, steps.path, number);
        if (out->step_count == MAKI_STEPS_MAX)
            return maki_fail(err, MAKI_INVALID, "%.120s has more than %d steps", steps.path,
                             MAKI_STEPS_MAX);
        st = read_step(&at, arena, &out->steps[out->step_count++], err);
    }
    out->from = lowest_from(out);
    return st == MAKI_OK ? maki_arena_status(arena, err) : st;
}

static bool has_policy(const maki_config *config, maki_str name)
{
    maki_str other;
    for (size_t cursor = 0; maki_config_next_name(config, "policies", &cursor, &other);) {
        if (maki_str_is(other, name)) return true;
    }
    return false;
}

/* The preset of tasks, with the amounts of context_storage. */
static void files_policy(const maki_config *config, maki_policy *policy)
{
    maki_step *condense = &policy->steps[0];
    policy->from = maki_config_number(config, "context_storage.compression_threshold");
    condense->keep = (size_t)maki_config_integer(config, "context_storage.keep_recent_messages");
    condense->min_messages =
        (size_t)maki_config_integer(config, "context_storage.min_messages_to_summarize");
}

maki_status maki_policy_configured(const maki_config *config, maki_str name, maki_arena *arena,
                                   maki_policy *out, maki_err *err)
{
    const maki_policy *preset = maki_policy_named(name);
    if (config && has_policy(config, name)) return read_policy(config, name, arena, out, err);
    if (preset) {
        *out = *preset;
        if (config && (preset->flags & MAKI_POLICY_TASKS)) files_policy(config, out);
        return MAKI_OK;
    }
    return maki_fail(
        err, MAKI_NOTFOUND,
        "unknown policy \"%.*s\": it is neither under policies nor maki, roo, clawdbot or files",
        (int)(name.len < 60 ? name.len : 60), name.ptr);
}

/* A share that may be 0: from the first token on, which is not the same as not set. */
static double share_of(setting_path *at, const char *key)
{
    double share = maki_config_number(at->config, with_key(at, key));
    return share > 0 ? share : 1e-9;
}

/* clawdbot, with the agent's own amounts. */
static maki_status pruning_policy(setting_path *agent, maki_arena *arena, maki_policy *out,
                                  maki_err *err)
{
    double soft = share_of(agent, "pruning.softTrimThreshold");
    double hard = share_of(agent, "pruning.hardClearThreshold");
    size_t keep =
        (size_t)maki_config_integer(agent->config, with_key(agent, "pruning.keepLastMessages"));
    maki_status st = maki_policy_configured(agent->config, MAKI_LIT("clawdbot"), arena, out, err);
    if (st != MAKI_OK) return st;
    for (size_t i = 0; i < out->step_count; i++) {
        maki_step *step = &out->steps[i];
        if (step->kind == MAKI_STEP_SOFT_TRIM) {
            step->from = soft;
            step->below = hard;
        } else if (step->kind == MAKI_STEP_HARD_CLEAR) {
            step->from = hard;
        } else {
            continue;
        }
        step->keep = keep;
    }
    out->from = soft < hard ? soft : hard;
    return MAKI_OK;
}

maki_status maki_policy_from_config(const maki_config *config, maki_str agent,
                                    const char *default_name, maki_arena *arena, maki_policy *out,
                                    maki_err *err)
{
    maki_str name = maki_str_of(default_name);
    if (!config) return maki_policy_configured(NULL, name, arena, out, err);
    setting_path at = path_of(config, "agents", agent);
    if (agent.len && is_set(&at, "policy")) {
        name = maki_config_text(config, at.path);
    } else if (maki_config_is_set(config, "policy")) {
        name = maki_config_text(config, "policy");
    } else if (agent.len && maki_config_flag(config, with_key(&at, "pruning.enabled"))) {
        return pruning_policy(&at, arena, out, err);
    }
    return maki_policy_configured(config, name, arena, out, err);
}

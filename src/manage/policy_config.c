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

enum { SETTING_PATH_MAX = 600 }; /* names have at most 200 bytes */

/* A path of the configuration, "policies.mine.0.keep", whose last key is replaced for each lookup. */
typedef struct setting_path {
    const maki_config *config;
    char path[SETTING_PATH_MAX];
    size_t len; /* of the prefix before the key */
} setting_path;

static setting_path path_of(const maki_config *config, const char *prefix, maki_str name)
{
    setting_path at = { .config = config };
    snprintf(at.path, sizeof at.path, "%s.%.*s.", prefix, (int)name.len, name.ptr);
    at.len = strlen(at.path);
    return at;
}

static const char *with_key(setting_path *setting, const char *key)
{
    snprintf(setting->path + setting->len, sizeof setting->path - setting->len, "%s", key);
    return setting->path;
}

static bool is_set(setting_path *setting, const char *key)
{
    return maki_config_is_set(setting->config, with_key(setting, key));
}

/* ---- one step ------------------------------------------------------------------------------------------- */

static void read_number(setting_path *setting, const char *key, double *out)
{
    if (is_set(setting, key)) *out = maki_config_number(setting->config, setting->path);
}

static void read_count(setting_path *setting, const char *key, uint64_t *out)
{
    if (is_set(setting, key)) *out = (uint64_t)maki_config_integer(setting->config, setting->path);
}

static void read_size(setting_path *setting, const char *key, size_t *out)
{
    uint64_t value = *out;
    read_count(setting, key, &value);
    *out = (size_t)value;
}

static void read_flag(setting_path *setting, const char *key, bool *out)
{
    if (is_set(setting, key)) *out = maki_config_flag(setting->config, setting->path);
}

static unsigned when_of(maki_str name)
{
    static const struct when_row {
        const char *name;
        unsigned when;
    } all[] = { { "always", 0 },
                { "needed", MAKI_WHEN_NEEDED },
                { "over_allowed", MAKI_WHEN_OVER },
                { "failed", MAKI_WHEN_FAILED },
                { "failed_over_allowed", MAKI_WHEN_FAILED | MAKI_WHEN_OVER } };
    const struct when_row *row = MAKI_TABLE_FIND(all, name);
    return row ? row->when : MAKI_WHEN_NEEDED;
}

static maki_status read_names(setting_path *setting, const char *key, maki_arena *arena,
                              const maki_str **out, size_t *count, maki_err *err)
{
    maki_str name;
    size_t capacity = 0;
    maki_status st = MAKI_OK;
    with_key(setting, key);
    *out = NULL;
    *count = 0;
    while (st == MAKI_OK && maki_config_entry(setting->config, setting->path, *count, &name))
        st = maki_arena_add(arena, out, count, &capacity, &name, sizeof name, err);
    return st;
}

static maki_status read_placeholder(setting_path *setting, maki_step *step, maki_err *err)
{
    if (!is_set(setting, "placeholder")) return MAKI_OK;
    maki_str text = maki_config_text(setting->config, setting->path);
    if (text.len > MAKI_PLACEHOLDER_MAX)
        return maki_fail(err, MAKI_INVALID, "%.120s has %zu bytes; %d at most", setting->path,
                         text.len, MAKI_PLACEHOLDER_MAX);
    if (maki_str_trim(text).len) step->placeholder = text; /* a blank one is ignored */
    return MAKI_OK;
}

static maki_status read_step(setting_path *setting, maki_arena *arena, maki_step *out,
                             maki_err *err)
{
    maki_step_kind kind;
    if (!maki_step_kind_parse(maki_config_text(setting->config, with_key(setting, "step")), &kind))
        return maki_fail(err, MAKI_INVALID, "%.120s: unknown step", setting->path);
    *out = maki_step_of(kind);
    if (is_set(setting, "when"))
        out->when = when_of(maki_config_text(setting->config, setting->path));
    read_number(setting, "from", &out->from);
    read_number(setting, "below", &out->below);
    read_number(setting, "target", &out->target);
    read_size(setting, "keep", &out->keep);
    read_size(setting, "min_messages", &out->min_messages);
    read_number(setting, "min_saving", &out->min_saving);
    read_number(setting, "min_window", &out->min_window);
    read_number(setting, "share", &out->share);
    read_flag(setting, "must_reach", &out->must_reach);
    read_count(setting, "max_chars", &out->max_chars);
    read_count(setting, "head_chars", &out->head_chars);
    read_count(setting, "tail_chars", &out->tail_chars);
    read_count(setting, "min_prunable_chars", &out->min_prunable_chars);
    read_flag(setting, "hard_clear", &out->hard_clear);
    maki_status st = read_placeholder(setting, out, err);
    if (st == MAKI_OK)
        st = read_names(setting, "allow", arena, &out->allow, &out->allow_count, err);
    if (st == MAKI_OK) st = read_names(setting, "deny", arena, &out->deny, &out->deny_count, err);
    if (st == MAKI_OK && out->below > 0 && out->from >= out->below)
        st = maki_fail(err, MAKI_INVALID, "%.120s: from (%g) must be less than below (%g)",
                       with_key(setting, "from"), out->from, out->below);
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
    maki_str index;
    maki_status st = MAKI_OK;
    steps.path[steps.len - 1] = '\0'; /* without the last dot */
    const maki_policy *replaced = maki_policy_find(name);
    *out = (maki_policy){ .name = maki_arena_copy(arena, name).ptr,
                          .flags = replaced ? replaced->flags : 0 };
    for (size_t cursor = 0;
         st == MAKI_OK && maki_config_next_name(config, steps.path, &cursor, &index);) {
        setting_path at = path_of(config, steps.path, index);
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
        if (maki_str_equal(other, name)) return true;
    }
    return false;
}

/* Apply the settings of context_storage to the preset of tasks. */
static void apply_context_storage(const maki_config *config, maki_policy *policy)
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
    const maki_policy *preset = maki_policy_find(name);
    if (config && has_policy(config, name)) return read_policy(config, name, arena, out, err);
    if (preset) {
        *out = *preset;
        if (config && (preset->flags & MAKI_POLICY_TASKS)) apply_context_storage(config, out);
        return MAKI_OK;
    }
    return maki_fail(
        err, MAKI_NOTFOUND,
        "unknown policy \"%.*s\": it is neither under policies nor maki, roo, clawdbot or files",
        (int)(name.len < 60 ? name.len : 60), name.ptr);
}

/* 0 becomes a tiny share, since 0 in a step means not set. */
static double read_threshold(setting_path *setting, const char *key)
{
    double share = maki_config_number(setting->config, with_key(setting, key));
    return share > 0 ? share : 1e-9;
}

/* clawdbot, with the thresholds of `agents.AGENT.pruning`. */
static maki_status read_pruning_policy(setting_path *agent, maki_arena *arena, maki_policy *out,
                                       maki_err *err)
{
    double soft = read_threshold(agent, "pruning.softTrimThreshold");
    double hard = read_threshold(agent, "pruning.hardClearThreshold");
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
        return read_pruning_policy(&at, arena, out, err);
    }
    return maki_policy_configured(config, name, arena, out, err);
}

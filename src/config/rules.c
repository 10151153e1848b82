/* rules.c -- checks of settings that depend on each other.
 *
 * In:     all values, each valid by itself, and the tree of the file, which has the rejected values too.
 * Out:    problems: mistakes, and warnings for values that are ignored or will be refused. */
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "base/suggest.h"
#include "config/config_internal.h"
#include "config/summarizers.h"

static const maki_value *value_of(const maki_config *config, maki_arena *arena,
                                  const char *directory, maki_str name, const char *key)
{
    maki_str path = maki_arena_print(arena, "%s.%.*s.%s", directory, MAKI_PRINTED(name), key);
    return maki_config_value_at(config, path);
}

/* The node of the file under a key of a mapping, or an index of a list; NULL: none. */
static const maki_yaml_node *node_at(const maki_yaml_node *node, maki_str key)
{
    size_t n = 0;
    char number[24];
    for (const maki_yaml_item *i = node ? node->first : NULL; i; i = i->next, n++) {
        snprintf(number, sizeof number, "%zu", n);
        if (maki_str_equal(node->kind == MAKI_YAML_LIST ? maki_str_of(number) : i->key, key))
            return i->value;
    }
    return NULL;
}

static bool is_setting(const maki_value *value, const char *pattern)
{
    return strcmp(value->row->path, pattern) == 0;
}

/* ---- references to names ------------------------------------------------------------------------- */

/* Add all names in a directory ("policies") as candidates; true: `name` is one of them. */
static bool add_candidates(const maki_config *config, const char *directory, maki_str name,
                           maki_suggest *nearest)
{
    maki_str other;
    for (size_t cursor = 0; maki_config_next_name(config, directory, &cursor, &other);) {
        if (maki_str_equal(other, name)) return true;
        maki_suggest_candidate(nearest, other);
    }
    return false;
}

static void check_reference(const maki_config *config, const maki_yaml_node *top,
                            maki_problems *problems, const maki_value *value, const char *directory,
                            const char *known)
{
    maki_suggest nearest = maki_suggest_for(value->text);
    for (maki_str name; maki_words_next(&known, &name);) {
        if (maki_str_equal(name, value->text)) return;
        maki_suggest_candidate(&nearest, name);
    }
    if (add_candidates(config, directory, value->text, &nearest)) return;
    if (node_at(node_at(top, maki_str_of(directory)), value->text))
        return; /* it exists, but was rejected: reported already */
    maki_str shown = maki_problem_quote(problems->arena, value->text, 40);
    maki_str similar = nearest.found;
    maki_problem_add(problems, value->at, "%.*s: unknown name \"%.*s\" in %s%s%.*s%s",
                     MAKI_PRINTED(value->written), MAKI_PRINTED(shown), directory,
                     similar.len ? "; did you mean " : "", MAKI_PRINTED(similar) ? similar.ptr : "",
                     similar.len ? "?" : "");
}

static void check_references(const maki_config *config, const maki_yaml_node *top,
                             maki_problems *problems)
{
    for (size_t i = 0; i < config->count; i++) {
        const maki_value *value = &config->values[i];
        if (value->row->type == MAKI_CONFIG_POLICY) {
            check_reference(config, top, problems, value, "policies", "maki|roo|clawdbot|files");
        } else if (is_setting(value, "llm.provider") || is_setting(value, "agents.*.provider") ||
                   is_setting(value, "summary.provider")) {
            check_reference(config, top, problems, value, "llm", MAKI_SUMMARIZER_NAMES);
        }
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

/* An invalid threshold of a profile is a warning: the general one is used instead. */
static void check_profile(maki_problems *problems, const maki_value *value)
{
    const maki_config_setting *row = value->row;
    if (!row->inherits || value->number == -1) return;
    if (value->number >= row->min && value->number <= row->max) return;
    maki_problem_warn(problems, value->at,
                      "%.*s is %g, not from %g to %g or -1: the general threshold is used",
                      MAKI_PRINTED(value->written), value->number, row->min, row->max);
}

/* Warn of windows below window.minimum: every run refuses them. */
static void check_windows(const maki_config *config, maki_problems *problems)
{
    const maki_value *min = maki_config_value_at(config, MAKI_LIT("window.minimum"));
    for (size_t i = 0; min && i < config->count; i++) {
        const maki_value *value = &config->values[i];
        bool window =
            is_setting(value, "contextWindow") || is_setting(value, "profiles.*.contextWindow") ||
            is_setting(value, "agents.*.contextWindow") ||
            is_setting(value, "llm.*.context_length") || is_setting(value, "window.default");
        if (!window || value->source == MAKI_CONFIG_DEFAULT || value->number >= min->number)
            continue;
        maki_problem_warn(problems, value->at,
                          "%.*s is %.0f, under window.minimum (%.0f): it is refused until that is "
                          "lowered",
                          MAKI_PRINTED(value->written), value->number, min->number);
    }
}

static void check_pruning(const maki_config *config, maki_problems *problems)
{
    maki_str name;
    for (size_t cursor = 0; maki_config_next_name(config, "agents", &cursor, &name);) {
        const maki_value *soft =
            value_of(config, problems->arena, "agents", name, "pruning.softTrimThreshold");
        const maki_value *hard =
            value_of(config, problems->arena, "agents", name, "pruning.hardClearThreshold");
        double low = soft ? soft->number : 0.3, high = hard ? hard->number : 0.5;
        if (low <= high) continue;
        maki_problem_add(
            problems, soft ? soft->at : hard->at,
            "agents.%.*s.pruning: softTrimThreshold (%g) is above hardClearThreshold (%g)",
            MAKI_PRINTED(name), low, high);
    }
}

/* `small` must not be greater than `large`. */
static void check_order(const maki_config *config, maki_problems *problems, const char *small,
                        const char *large)
{
    const maki_value *low = maki_config_value_at(config, maki_str_of(small));
    const maki_value *high = maki_config_value_at(config, maki_str_of(large));
    if (!low || !high || low->number <= high->number) return;
    maki_problem_add(problems, low->source == MAKI_CONFIG_FILE ? low->at : high->at,
                     "%s (%g) must not be above %s (%g)", small, low->number, large, high->number);
}

static void check_weights(const maki_config *config, maki_problems *problems)
{
    const maki_value *semantic =
        maki_config_value_at(config, MAKI_LIT("memory.search.semanticWeight"));
    const maki_value *keyword =
        maki_config_value_at(config, MAKI_LIT("memory.search.keywordWeight"));
    if (!semantic || !keyword || semantic->number + keyword->number > 0) return;
    maki_problem_add(
        problems, semantic->at,
        "memory.search: semanticWeight and keywordWeight are both 0; nothing would be found");
}

/* ---- required settings ------------------------------------------------------------------------------- */

static void check_steps(const maki_config *config, const maki_yaml_node *top,
                        maki_problems *problems)
{
    for (size_t i = 0; i < config->count; i++) {
        const maki_value *value = &config->values[i];
        if (value->name_count != 2 ||
            !maki_str_starts(maki_str_of(value->row->path), MAKI_LIT("policies."))) {
            continue;
        }
        maki_str path =
            maki_arena_print(problems->arena, "policies.%.*s.%.*s.step",
                             MAKI_PRINTED(value->names[0]), MAKI_PRINTED(value->names[1]));
        const maki_yaml_node *steps = node_at(node_at(top, MAKI_LIT("policies")), value->names[0]);
        bool rejected = node_at(node_at(steps, value->names[1]), MAKI_LIT("step")) != NULL;
        if (rejected || maki_config_value_at(config, path)) continue;
        maki_problem_add(problems, value->at, "%.*s: its list item has no step; add step: NAME",
                         MAKI_PRINTED(value->written));
    }
}

static void check_upstreams(const maki_config *config, const maki_yaml_node *top,
                            maki_problems *problems)
{
    maki_str name;
    for (size_t cursor = 0; maki_config_next_name(config, "upstreams", &cursor, &name);) {
        const maki_value *models = value_of(config, problems->arena, "upstreams", name, "models");
        if (!models || value_of(config, problems->arena, "upstreams", name, "url")) continue;
        if (node_at(node_at(node_at(top, MAKI_LIT("upstreams")), name), MAKI_LIT("url"))) continue;
        maki_problem_add(problems, models->at,
                         "upstreams.%.*s has no url; add url: http://HOST:PORT",
                         MAKI_PRINTED(name));
    }
}

static void check_storage(const maki_config *config, maki_problems *problems)
{
    const maki_value *storage = maki_config_value_at(config, MAKI_LIT("memory.storage"));
    if (!storage || !maki_str_equal(storage->text, MAKI_LIT("lancedb"))) return;
    maki_problem_warn(problems, storage->at,
                      "memory.storage: lancedb is not built in; sqlite-vec is used");
}

/* Warn of settings that have no effect yet. */
static void check_unused(const maki_config *config, maki_problems *problems)
{
    for (size_t i = 0; i < config->count; i++) {
        const maki_value *value = &config->values[i];
        if (value->row->unused && value->source == MAKI_CONFIG_FILE)
            maki_problem_warn(problems, value->at, "%.*s has no effect yet",
                              MAKI_PRINTED(value->written));
    }
}

void maki_config_check_rules(const maki_config *config, const maki_yaml_node *top,
                             maki_problems *problems)
{
    for (size_t i = 0; i < config->count; i++)
        check_profile(problems, &config->values[i]);
    check_unused(config, problems);
    check_references(config, top, problems);
    check_windows(config, problems);
    check_pruning(config, problems);
    check_order(config, problems, "memory.chunk.overlap", "memory.chunk.tokens");
    check_order(config, problems, "summary.background_percent", "autoCondenseContextPercent");
    check_weights(config, problems);
    check_steps(config, top, problems);
    check_upstreams(config, top, problems);
    check_storage(config, problems);
}

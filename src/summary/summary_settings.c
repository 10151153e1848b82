/* summary_settings.c -- reads `summary`, `llm`, `profiles` and `context_storage`; a provider without a key means offline. */
#include "summary/summary_settings.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"
#include "config/summarizers.h"

#define TASK_RATIO 0.65 /* the middle of 30 to 40 % is left */

enum { PATH_MAX = 400 };

const maki_summary_settings maki_summary_defaults = { .provider = { "", 0 },
                                                      .model = { "", 0 },
                                                      .prompt = { "standard", 8 },
                                                      .max_tokens = 4096,
                                                      .timeout_ms = 120000,
                                                      .ratio = 0.75,
                                                      .background = true };

/* "profiles.NAME.field" */
static maki_status path_of(char out[PATH_MAX], const char *outer, maki_str name, const char *field,
                           maki_err *err)
{
    int n =
        snprintf(out, PATH_MAX, "%s.%.*s.%s", outer, (int)(name.len % PATH_MAX), name.ptr, field);
    if (n > 0 && n < PATH_MAX && name.len < PATH_MAX) return MAKI_OK;
    return maki_fail(err, MAKI_INVALID, "a name of %zu bytes is too long for a setting", name.len);
}

/* Does the provider need a key?  One for which neither the file nor the table knows a key is a server on this
 * machine. */
static bool needs_key(const maki_config *config, const char *path)
{
    const char *named, *initial;
    maki_config_named_default(0, &named, &initial);
    for (size_t i = 0; named; maki_config_named_default(++i, &named, &initial)) {
        if (strcmp(named, path) == 0) return true;
    }
    return maki_config_is_set(config, path);
}

/* Without its key the provider of the conversation is not asked; one that summary.provider names is, and the error says
 * that the key is missing. */
static maki_status read_provider(const maki_config *config, maki_str *out, maki_err *err)
{
    char path[PATH_MAX];
    maki_str name = maki_config_text(config, "summary.provider"), key = { "", 0 };
    bool named = name.len > 0;
    if (!named) name = maki_config_text(config, "llm.provider");
    *out = (maki_str){ "", 0 };
    if (name.len == 0 || maki_str_equal(name, MAKI_LIT("offline"))) return MAKI_OK;
    if (maki_str_in(name, MAKI_SUMMARIZER_NAMES)) {
        *out = name;
        return MAKI_OK;
    }
    maki_status st = path_of(path, "llm", name, "api_key", err);
    if (st != MAKI_OK) return st;
    bool has_key = maki_config_secret(config, path, &key, NULL) == MAKI_OK && key.len > 0;
    if (!named && !has_key && needs_key(config, path)) return MAKI_OK;
    *out = name;
    return MAKI_OK;
}

static maki_status read_profile(const maki_config *config, maki_str profile,
                                maki_summary_settings *out, maki_err *err)
{
    char path[PATH_MAX];
    if (profile.len == 0) return MAKI_OK;
    maki_status st = path_of(path, "profiles", profile, "condenseModel", err);
    if (st != MAKI_OK) return st;
    if (out->model.len == 0) out->model = maki_config_text(config, path);
    st = path_of(path, "profiles", profile, "compressionRatio", err);
    if (st == MAKI_OK && maki_config_is_set(config, path))
        out->ratio = maki_config_number(config, path);
    return st;
}

static void read_language(const maki_config *config, maki_summary_settings *out)
{
    size_t lang = maki_str_index(maki_config_text(config, "language"), "en|ja|zh|ko");
    out->has_lang = lang != SIZE_MAX;
    if (out->has_lang) out->lang = (maki_lang)lang;
}

static maki_str read_prompt(const maki_config *config, bool task)
{
    maki_str prompt =
        maki_config_text(config, task ? "context_storage.summary_prompt" : "summary.prompt");
    if (prompt.len) return prompt;
    return task ? MAKI_LIT("task") : maki_summary_defaults.prompt;
}

maki_status maki_summary_settings_read(const maki_config *config, maki_str profile, bool task,
                                       maki_summary_settings *out, maki_err *err)
{
    *out = maki_summary_defaults;
    if (task) out->ratio = TASK_RATIO;
    out->model = maki_config_text(config, "summary.model");
    out->prompt = read_prompt(config, task);
    out->max_tokens = (uint64_t)maki_config_integer(config, "summary.max_tokens");
    out->timeout_ms = maki_config_integer(config, "summary.timeout");
    out->background = maki_config_flag(config, "summary.background");
    out->background_percent = maki_config_number(config, "summary.background_percent");
    read_language(config, out);
    maki_status st = read_provider(config, &out->provider, err);
    return st == MAKI_OK ? read_profile(config, profile, out, err) : st;
}

maki_offline_options maki_summary_offline(const maki_summary_settings *settings)
{
    maki_offline_options offline = MAKI_OFFLINE_INIT;
    offline.ratio = settings->ratio;
    offline.focus = settings->focus;
    offline.max_tokens = settings->max_tokens;
    offline.has_lang = settings->has_lang;
    offline.lang = settings->lang;
    return offline;
}

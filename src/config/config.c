/* config.c -- open a configuration, read its settings, close it.
 *
 * In:     a file of any content, the environment.
 * Out:    values by path: environment over file over default.  A configuration with mistakes is not opened.
 * Always: an open configuration is immutable, so reading needs no lock and allocates nothing. */
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str_util.h"
#include "config/config_internal.h"

/* ---- open and close ------------------------------------------------------------------------------------ */

void maki_config_close(maki_config *config)
{
    if (!config) return;
    maki_arena_free(&config->arena);
    maki_delete(config->env.alloc, config);
}

static maki_status read_file(maki_config *config, const maki_config_options *options,
                             maki_problems *problems, maki_yaml_node **top, maki_err *err)
{
    maki_str bytes = { "", 0 };
    maki_status st = maki_config_load(config, &bytes, err);
    if (st == MAKI_OK) st = maki_yaml_read(bytes, problems, top, err);
    if (st == MAKI_OK && *top) maki_config_bind(config, *top, options->environment, problems);
    return st;
}

static maki_status load(maki_config *config, const maki_config_options *options, maki_err *err)
{
    maki_status st = maki_config_find_file(config, options, err);
    maki_problems problems = { .arena = &config->arena, .file = config->file };
    maki_yaml_node *top = NULL;
    if (st == MAKI_OK && config->file) st = read_file(config, options, &problems, &top, err);
    if (st != MAKI_OK) return st;
    maki_config_bind_environment(config, options->environment, &problems);
    st = maki_config_bind_defaults(config, options->environment, err);
    if (st != MAKI_OK) return st;
    maki_config_check_rules(config, top, &problems);
    for (size_t i = 0; i < config->count; i++)
        config->values[i].shown = maki_value_show(&config->values[i], &config->arena);
    st = maki_arena_status(&config->arena, err);
    return st == MAKI_OK ? maki_problems_report(&problems, options, err) : st;
}

maki_status maki_config_open(const maki_config_options *options, maki_config **out, maki_err *err)
{
    const maki_alloc *alloc = options->env.alloc;
    maki_config *config = maki_new(alloc, maki_config);
    if (!config) return maki_fail_nomem(err);
    config->env = options->env;
    config->arena = maki_arena_new(alloc, MAKI_CONFIG_MEMORY);
    maki_status st = load(config, options, err);
    if (st == MAKI_OK)
        *out = config;
    else
        maki_config_close(config);
    return st;
}

const char *maki_config_file(const maki_config *config)
{
    return config->file;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* The value at a path, or the default of its row in *fallback. */
static const maki_value *find_value(const maki_config *config, const char *path,
                                    maki_value *fallback)
{
    maki_setting_path at;
    const maki_value *value = maki_config_value_at(config, maki_str_of(path));
    if (value) return value;
    const maki_config_setting *row =
        maki_setting_path_parse(maki_str_of(path), &at) ? maki_setting_path_setting(&at) : NULL;
    if (row && row->type == MAKI_CONFIG_ALIAS && at.count == 0)
        return find_value(config, row->choices, fallback);
    if (!row || !row->initial) return NULL;
    /* values of these types are parsed without allocation */
    *fallback = (maki_value){ .path = maki_str_of(path), .row = row };
    (void)maki_value_read(fallback, maki_str_of(row->initial), MAKI_VALUE_PLAIN, NULL);
    return fallback;
}

bool maki_config_is_set(const maki_config *config, const char *path)
{
    maki_value fallback;
    const maki_value *value = find_value(config, path, &fallback);
    return value && !value->missing.len;
}

double maki_config_number(const maki_config *config, const char *path)
{
    maki_value fallback;
    const maki_value *value = find_value(config, path, &fallback);
    return value ? value->number : 0;
}

bool maki_config_flag(const maki_config *config, const char *path)
{
    return maki_config_number(config, path) != 0;
}

int64_t maki_config_integer(const maki_config *config, const char *path)
{
    return (int64_t)maki_config_number(config, path);
}

maki_str maki_config_text(const maki_config *config, const char *path)
{
    maki_value fallback;
    const maki_value *value = find_value(config, path, &fallback);
    return value ? value->text : (maki_str){ "", 0 };
}

bool maki_config_entry(const maki_config *config, const char *path, size_t n, maki_str *out)
{
    const maki_value *value = maki_config_value_at(config, maki_str_of(path));
    if (!value || n >= value->count) return false;
    *out = value->items[n];
    return true;
}

maki_status maki_config_secret(const maki_config *config, const char *path, maki_str *out,
                               maki_err *err)
{
    const maki_value *value = maki_config_value_at(config, maki_str_of(path));
    if (!value) {
        return maki_fail(err, MAKI_NOTFOUND, "%.80s is not set; set it in %.80s", path,
                         config->file ? config->file : "maki.yaml");
    }
    if (value->missing.len) {
        return maki_fail(
            err, MAKI_NOTFOUND, "%.60s (%.60s:%zu): the environment variable %.*s is not set", path,
            config->file, value->at.line, value->missing.len < 60 ? (int)value->missing.len : 60,
            value->missing.ptr);
    }
    *out = value->text;
    return MAKI_OK;
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* The name that `value` has for the * or # after `at` in its path; false: its path does not begin with `at`. */
static bool name_below(const maki_setting_path *at, const maki_value *value, maki_str *name)
{
    maki_str path = maki_str_of(value->row->path);
    if (value->name_count <= at->count || !maki_str_starts(path, at->pattern)) return false;
    const char *after = path.ptr + at->pattern.len;
    if (after[0] != '.' || !strchr("*#", after[1])) return false;
    for (size_t i = 0; i < at->count; i++) {
        if (!maki_str_equal(value->names[i], at->names[i])) return false;
    }
    *name = value->names[at->count];
    return true;
}

bool maki_config_next_name(const maki_config *config, const char *path, size_t *cursor,
                           maki_str *name)
{
    maki_setting_path at;
    if (!maki_setting_path_parse(maki_str_of(path), &at)) return false;
    for (; *cursor < config->count; ++*cursor) {
        maki_str other;
        bool duplicate = false;
        if (!name_below(&at, &config->values[*cursor], name)) continue;
        for (size_t i = 0; i < *cursor && !duplicate; i++) {
            duplicate = name_below(&at, &config->values[i], &other) && maki_str_equal(other, *name);
        }
        if (duplicate) continue;
        ++*cursor;
        return true;
    }
    return false;
}

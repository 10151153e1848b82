/* settings.h -- the table of settings, and paths into it.
 *
 * A setting path is a prefix of a row's path, "agents.*.pruning", with the names that its stars match.  A key with dots may
 * be several segments ("rooCode.profileThresholds") or one name ("gpt-3.5-turbo"): segments are tried first. */
#ifndef MAKI_CONFIG_SETTINGS_H
#define MAKI_CONFIG_SETTINGS_H

#include <stdbool.h>

#include <maki/config.h>

#include "base/arena.h"

enum { MAKI_SETTING_PATH_NAMES = 2 };

typedef struct maki_setting_path {
    maki_str pattern; /* of a row; empty: the root */
    maki_str names[MAKI_SETTING_PATH_NAMES];
    size_t count;
    maki_str editor; /* the prefix rooCode or roo-code; len 0: none */
} maki_setting_path;

/* Append `key` to `at`; false: no setting has such a path. */
bool maki_setting_path_step(const maki_setting_path *at, maki_str key, maki_setting_path *out);
/* Parse a complete path. */
bool maki_setting_path_parse(maki_str path, maki_setting_path *out);

/* The row with this path, or NULL. */
const maki_config_setting *maki_setting_path_setting(const maki_setting_path *at);
/* Can this segment follow: "*", any name; "#", an index of a list; NULL: any segment? */
bool maki_setting_path_has(const maki_setting_path *at, const char *segment);

/* `pattern`, its own or that of a row with the same stars, with the names in place of the stars:
 * "agents.default.maxTurns".  NUL-terminated. */
maki_str maki_setting_path_format(const maki_setting_path *at, maki_str pattern, maki_arena *arena);

/* The n-th key that can follow, without duplicates; false after the last. */
bool maki_setting_path_key(const maki_setting_path *at, size_t n, maki_str *key);

/* All rows by index; NULL after the last. */
const maki_config_setting *maki_setting_at(size_t index);
/* The row with exactly this path. */
const maki_config_setting *maki_setting_find(maki_str path);

#endif

/* settings.h -- places in the table of settings: which rows lie behind a key.
 *
 * A place is the beginning of a row's path, "agents.*.pruning", with the names that its stars stand for.
 * A key with dots in it may be several steps at once ("rooCode.profileThresholds"), or one name
 * ("gpt-3.5-turbo"): the steps are tried first. */
#ifndef MAKI_CONFIG_SETTINGS_H
#define MAKI_CONFIG_SETTINGS_H

#include <stdbool.h>

#include <maki/config.h>

#include "base/arena.h"

enum { MAKI_SETTING_PATH_NAMES = 2 };

typedef struct maki_setting_path {
    maki_str pattern; /* of a row; empty: the top */
    maki_str names[MAKI_SETTING_PATH_NAMES];
    size_t count;
    maki_str editor; /* rooCode or roo-code stood first; len 0: not */
} maki_setting_path;

/* From `at` by `key`; false: there is nothing of that name. */
bool maki_setting_path_step(const maki_setting_path *at, maki_str key, maki_setting_path *out);
/* The place of a whole path. */
bool maki_setting_path_of(maki_str path, maki_setting_path *out);

/* The row that ends here, or NULL. */
const maki_config_setting *maki_setting_path_setting(const maki_setting_path *at);
/* Does this segment lie behind it: "*", any name; "#", the places of a list; NULL: does anything? */
bool maki_setting_path_has(const maki_setting_path *at, const char *segment);

/* `pattern`, the place's own or that of a row with the same stars, with the place's names in it:
 * "agents.default.maxTurns".  A NUL stands behind it. */
maki_str maki_setting_path_path(const maki_setting_path *at, maki_str pattern, maki_arena *arena);

/* The n-th key that may stand here, without repetition; false behind the last. */
bool maki_setting_path_key(const maki_setting_path *at, size_t n, maki_str *key);

/* All rows, one after the other; NULL behind the last. */
const maki_config_setting *maki_setting_at(size_t index);
/* The row with exactly this path. */
const maki_config_setting *maki_setting_named(maki_str path);

#endif

/* config_internal.h -- the parts of a configuration, for the files of this directory only.
 *
 * Opening one: find the file, load it, parse its YAML, bind its values, then those of the environment and the defaults, and
 * check the rules between settings. */
#ifndef MAKI_CONFIG_INTERNAL_H
#define MAKI_CONFIG_INTERNAL_H

#include "config/value.h"
#include "config/yaml.h"

enum { MAKI_CONFIG_MEMORY = 32 << 20 /* limit of the arena */ };

struct maki_config {
    maki_env env;
    maki_arena arena;   /* owns the strings and values */
    const char *file;   /* NULL: no file */
    maki_value *values; /* sorted like the table once it is open */
    size_t count, capacity;
};

/* config_file.c: set config->file; it stays NULL without a file. */
maki_status maki_config_find_file(maki_config *config, const maki_config_options *options,
                                  maki_err *err);
/* Read the file, at most 64 KB more than MAKI_YAML_BYTES. */
maki_status maki_config_load(maki_config *config, maki_str *bytes, maki_err *err);

/* bind.c: add the values of the file, replace them by those of the environment, add the defaults of the rest. */
void maki_config_bind(maki_config *config, const maki_yaml_node *top, char *const *environment,
                      maki_problems *problems);
void maki_config_bind_environment(maki_config *config, char *const *environment,
                                  maki_problems *problems);
maki_status maki_config_bind_defaults(maki_config *config, char *const *environment, maki_err *err);

/* rules.c: check settings that depend on each other.  `top` is the tree of the file, rejected values included; NULL: no
 * file. */
void maki_config_check_rules(const maki_config *config, const maki_yaml_node *top,
                             maki_problems *problems);

/* The effective value at a path of the table; NULL: not set. */
maki_value *maki_config_value_at(const maki_config *config, maki_str path);

#endif

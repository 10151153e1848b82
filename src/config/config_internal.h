/* config_internal.h -- what a configuration is made of, for the files of this folder only. */
#ifndef MAKI_CONFIG_INSIDE_H
#define MAKI_CONFIG_INSIDE_H

#include "config/value.h"
#include "config/yaml.h"

enum { MAKI_CONFIG_MEMORY = 32 << 20 /* of all that is read and kept */ };

struct maki_config {
    maki_env env;
    maki_arena arena;   /* holds this struct's texts and values */
    const char *file;   /* NULL: there is none */
    maki_value *values; /* in the order of the table once it is open */
    size_t count, capacity;
};

/* config_file.c: which file; *out is NULL when there is none.  `environment` may be NULL. */
maki_status maki_config_which(maki_config *config, const maki_config_options *options,
                              maki_err *err);
/* Its bytes, at most one more than MAKI_YAML_BYTES. */
maki_status maki_config_load(maki_config *config, maki_str *bytes, maki_err *err);

/* bind.c: the file's values, those of the environment over them, the defaults under them. */
void maki_config_bind(maki_config *config, const maki_yaml_node *top, char *const *environment,
                      maki_problems *problems);
void maki_config_bind_environment(maki_config *config, char *const *environment,
                                  maki_problems *problems);
maki_status maki_config_bind_defaults(maki_config *config, char *const *environment, maki_err *err);

/* rules.c: what goes together and what does not. */
/* `top` is what the file says, also where it was refused; NULL: there is no file. */
void maki_config_rules(const maki_config *config, const maki_yaml_node *top,
                       maki_problems *problems);

/* The value in force at a path of the table; NULL: none is set. */
maki_value *maki_config_value_at(const maki_config *config, maki_str path);

#endif

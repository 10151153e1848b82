/* expand.h -- expand ${VAR} and ${VAR:-default} in a value by the environment; $${ is a literal ${. */
#ifndef MAKI_CONFIG_EXPAND_H
#define MAKI_CONFIG_EXPAND_H

#include <stdbool.h>

#include "base/arena.h"

/* Look up a variable; false: not set.  `environment`: "NAME=value" each, may be NULL. */
bool maki_variable(char *const *environment, maki_str name, maki_str *value);

typedef struct maki_expanded {
    maki_str text;
    maki_str variable; /* the first one that was expanded; len 0: none */
    maki_str missing;  /* the first one that is not set and has no default; len 0: none */
    const char *error; /* "${ is not closed ...": a syntax error, or NULL */
} maki_expanded;

maki_expanded maki_expand(maki_str text, char *const *environment, maki_arena *arena);

#endif

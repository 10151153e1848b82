/* expand.h -- ${VAR} and ${VAR:-default} in values, from the environment; $${ stands for ${ itself. */
#ifndef MAKI_CONFIG_EXPAND_H
#define MAKI_CONFIG_EXPAND_H

#include <stdbool.h>

#include "base/arena.h"

/* The value of a variable; false: it is not set.  `environment`: "NAME=value" each, may be NULL. */
bool maki_variable(char *const *environment, maki_str name, maki_str *value);

typedef struct maki_expanded {
    maki_str text;
    maki_str variable; /* the first one that was set and used; len 0: none */
    maki_str missing;  /* the first one that is neither set nor has a default; len 0: none */
    const char *wrong; /* "${ is not closed ...": it could not be read; NULL: it could */
} maki_expanded;

maki_expanded maki_expand(maki_str text, char *const *environment, maki_arena *arena);

#endif

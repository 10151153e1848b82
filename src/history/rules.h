/* rules.h -- what the primitives of history/ are told, instead of knowing it.
 *
 * Operations that take `messages` reproduce the reference systems and use maki_rules_seed, whatever
 * its defects; a conversation of ours is held to stricter rules with the same primitives. */
#ifndef MAKI_HISTORY_RULES_H
#define MAKI_HISTORY_RULES_H

#include <stddef.h>

typedef struct maki_rules {
    size_t keep_messages; /* the tail that a condense leaves as it is */
    size_t pair_lookback; /* how far before the tail the call of a kept result is looked for */
    double hide_fraction; /* the share of the visible messages that a truncation hides */
} maki_rules;

static const maki_rules maki_rules_seed = {
    .keep_messages = 3,
    .pair_lookback = 3,
    .hide_fraction = 0.5,
};

#endif

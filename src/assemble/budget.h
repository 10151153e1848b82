/* budget.h -- the token budget of a context: the maximum share of each layer, and the selection of items that fit. */
#ifndef MAKI_ASSEMBLE_BUDGET_H
#define MAKI_ASSEMBLE_BUDGET_H

#include <stddef.h>

#include "base/arena.h"

typedef struct maki_layer_share {
    const char *name;
    double share; /* maximum, as a fraction of the budget; the sum is more than 1 */
} maki_layer_share;

#define MAKI_LAYER_COUNT 10
extern const maki_layer_share maki_layer_shares[MAKI_LAYER_COUNT];

/* The budget of a window, in tokens: 90 % of it. */
double maki_budget_of(double window);

typedef struct maki_budget_item {
    maki_str id; /* any JSON value */
    double priority;
    double tokens;
} maki_budget_item;

/* Select items for `budget` tokens: all of them in their order if they fit, else by priority, highest first and equal
 * ones in their order, up to the first that does not fit.  Sorts `items` in that case; the first *count_kept of them
 * are selected. */
maki_status maki_budget_fit(maki_budget_item *items, size_t count, double budget, maki_arena *arena,
                            size_t *count_kept, maki_err *err);

#endif

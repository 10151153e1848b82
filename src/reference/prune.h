/* prune.h -- shorten and clear old tool results; other messages are never changed. */
#ifndef MAKI_REFERENCE_PRUNE_H
#define MAKI_REFERENCE_PRUNE_H

#include "reference/message.h"

/* The level of pruning, by the share of the window in use (MAKI_PRUNE_SOFT_FROM, MAKI_PRUNE_HARD_FROM). */
typedef enum maki_prune_level {
    MAKI_PRUNE_NONE,
    MAKI_PRUNE_SOFT,
    MAKI_PRUNE_HARD
} maki_prune_level;
maki_prune_level maki_prune_level_of(double tokens, double window);

typedef struct maki_prune_settings {
    double keep_last_assistants; /* nothing after the N-th last assistant message is changed */
    double soft_ratio;           /* of the window: shorten long results from here */
    double hard_ratio;           /* of the window: clear results, oldest first, from here */
    double min_prunable_chars;   /* minimum length of all results for clearing */
    double soft_max_chars;       /* results up to this length are not shortened */
    double soft_head_chars;
    double soft_tail_chars;
    bool hard_clear;
    maki_str placeholder; /* a JSON string that replaces a cleared result */
    maki_str allow;       /* JSON arrays of tool names with '*', or len 0; deny wins */
    maki_str deny;
} maki_prune_settings;
extern const maki_prune_settings maki_prune_defaults;

/* Shorten and clear the results of role `tool` in place.  Sizes are in UTF-16 code units, four to
 * a token; results with images, and everything before the first user message, are not changed. */
maki_status maki_prune_tool_results(maki_msgs list, double window_tokens,
                                    const maki_prune_settings *settings, maki_arena *arena,
                                    size_t *changed, maki_err *err);

#endif

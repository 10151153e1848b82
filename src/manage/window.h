/* window.h -- the tables of models: their context windows, and when and how to condense for each. */
#ifndef MAKI_MANAGE_WINDOW_H
#define MAKI_MANAGE_WINDOW_H

#include <stdbool.h>

#include <maki/str.h>

#define MAKI_WINDOW_DEFAULT 200000.0
#define MAKI_WINDOW_WARN    32000.0 /* under this: a warning */
#define MAKI_WINDOW_REFUSE  16000.0 /* under this: refused */

/* The window of a model, by the longest pattern of the table that matches its id; 0: unknown. */
double maki_window_of_model(maki_str model_id);

/* The first of these that is a number of at least one token, else MAKI_WINDOW_DEFAULT. */
double maki_window_resolve(double model, double config, double agent_default);

/* What suits a model: when to condense, with which model, by what share, and how many messages to keep. */
typedef struct maki_strategy {
    double threshold; /* percent */
    maki_str condense_model;
    double compression_ratio; /* the share of tokens to save */
    double keep_messages;
} maki_strategy;
maki_strategy maki_strategy_of(maki_str model_id);

#endif

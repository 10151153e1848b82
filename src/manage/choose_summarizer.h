/* choose_summarizer.h -- which summarizer a conversation gets: a model of a provider, or the offline one.
 *
 * The one place that decides it, for turns, operations and commands, by `summary.*` of the configuration: a provider's
 * model that is configured and reachable, else offline.  When a configured model is unusable or fails, the offline
 * summarizer takes its place (summary/model_summarizer.h): maki_summary.fallback_reason has the reason, and it is logged,
 * condense_failed reason= fallback=offline.
 *
 * Which model of the provider: summary.model, else the profile's condenseModel, else the one that suits the provider's own
 * model (maki_strategy.condense_model), if it is cheaper by the configuration (prices.*.input) or the table of prices.  When
 * the provider does not serve that one, its own model is asked.
 *
 * The window of the summarizing model: that of the answering model if it is the same one, else as configured, else as
 * its provider reports (asked when the first summary is written, so that a run without summaries sends no request), else
 * the table of models. */
#ifndef MAKI_MANAGE_CHOOSE_SUMMARIZER_H
#define MAKI_MANAGE_CHOOSE_SUMMARIZER_H

#include "base/logger.h"
#include "summary/model_summarizer.h"

/* The conversation; all of it is borrowed as long as the choice lives. */
typedef struct maki_summarizer_options {
    const maki_env *env;
    const maki_config *config; /* NULL: the defaults */
    const maki_model *model;   /* sends to the providers; NULL: offline only */
    const maki_logger *logger; /* or NULL */
    maki_str agent;            /* its provider is the default */
    maki_str profile;          /* as in summary_settings.h */
    bool task;
    maki_str focus; /* what a summary must keep above all; len 0: nothing */
    /* The provider and model that answer the conversation, and their window (0: unknown).  The model also summarizes
     * when the summarizing provider is the same and has no model of its own in the configuration. */
    maki_str provider, answering;
    double window;
    bool (*cancelled)(void *ctx); /* may be NULL */
    void *cancelled_ctx;
} maki_summarizer_options;

/* Points into itself: do not copy. */
typedef struct maki_summarizer_choice {
    maki_summary_settings settings;
    maki_model_found found;
    bool
        cheaper; /* `found` is the provider's own model, and a cheaper one by default writes instead */
    maki_err
        unusable; /* why the configured model is; status MAKI_OK: it is not, or none is configured */
    const maki_logger *logger; /* or NULL */
    maki_model_summarizer_options by_model;
    maki_summarizer by_provider;         /* the model's; `writer` finds its window before */
    struct maki_summarizer_choice *self; /* for `writer`, whose context is const */
    maki_summarizer writer;              /* the model's, or one that needs none */
    maki_summarizer measured; /* the one to use: `writer`, with the facts it kept counted */
} maki_summarizer_choice;

/* Nothing to close. */
maki_status maki_summarizer_choose(const maki_summarizer_options *in, maki_summarizer_choice *out,
                                   maki_err *err);

#endif

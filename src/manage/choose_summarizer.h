/* choose_summarizer.h -- who writes the summaries of a conversation: a model, or nobody but this program.
 *
 * The one place that decides it, for turns, operations and commands, by `summary.*` of the configuration: a provider's
 * model that can be asked, else offline.  A model that fails is made up for by the offline summary (summary/model_summarizer.h).
 *
 * How much its model reads: as is known of the model that answers if it is the same, as configured, as its provider says
 * (asked when the first summary is written, so that runs without one ask nobody), else the table of models. */
#ifndef MAKI_MANAGE_CHOOSE_SUMMARIZER_H
#define MAKI_MANAGE_CHOOSE_SUMMARIZER_H

#include "base/logger.h"
#include "summary/model_summarizer.h"

/* Whose summaries; all of it is borrowed as long as the choice lives. */
typedef struct maki_summarizer_in {
    const maki_env *env;
    const maki_config *config; /* NULL: the defaults */
    const maki_model *model;   /* reaches the providers; NULL: nothing does */
    const maki_logger *logger; /* or NULL */
    maki_str agent;            /* whose provider is asked */
    maki_str profile;          /* as in summary_settings.h */
    bool task;
    /* Who answers the conversation, and how much that reads (0: not known); its model is also asked when its provider has
     * none of its own in the configuration. */
    maki_str provider, answering;
    double window;
    bool (*cancelled)(void *ctx); /* may be NULL */
    void *cancelled_ctx;
} maki_summarizer_in;

/* Points into itself: do not copy. */
typedef struct maki_summarizer_choice {
    maki_summary_settings settings;
    maki_model_found found;
    maki_model_summary by_model;
    maki_offline how;
    maki_summarizer by_provider;         /* the model's; `writer` asks for its window before */
    struct maki_summarizer_choice *self; /* for `writer`, which is handed what it may not write */
    maki_summarizer writer;              /* the model's or the offline one */
    maki_summarizer measured;            /* the one to use */
} maki_summarizer_choice;

/* Nothing to close. */
maki_status maki_summarizer_choose(const maki_summarizer_in *in, maki_summarizer_choice *out,
                                   maki_err *err);

#endif

/* summarist.h -- who writes the summaries of a session: a provider's model, or nobody but this program.
 *
 * By `summary.*` of the configuration: one of `llm` that can be asked, else offline.  A model that fails is made up for by
 * the offline summary (summary/provider.h).
 *
 * How much its model reads: as is known of the turn's if it is the same, as configured, as its provider says (asked when
 * the first summary is written, so that turns without one ask nobody), else the table of models. */
#ifndef MAKI_ENGINE_SUMMARIST_H
#define MAKI_ENGINE_SUMMARIST_H

#include "engine/model_send.h"
#include "engine/turn.h"
#include "summary/provider.h"

/* Whose summaries; all of it is borrowed as long as the summarist lives. */
typedef struct maki_summarist_in {
    const maki_turns_options *options;
    maki_str agent;   /* whose provider is asked */
    maki_str profile; /* as in summary_settings.h */
    bool task;
    /* Who answers the conversation, and how much that reads; the model is also asked when its provider has none of its
     * own in the configuration. */
    maki_str provider, model;
    double window;
    bool (*cancelled)(void *ctx); /* may be NULL */
    void *cancelled_ctx;
} maki_summarist_in;

/* Points into itself: do not copy. */
typedef struct maki_summarist {
    maki_summary_settings settings;
    maki_provider provider;
    maki_model_send sends;
    maki_model model;
    maki_model_summary by_model;
    maki_offline how;
    maki_summarizer by_provider; /* the model's; `writer` asks for its window before */
    struct maki_summarist *self; /* for `writer`, which is handed what it may not write */
    maki_summarizer writer;      /* the model's or the offline one */
    maki_summarizer measured;    /* the one to use */
    bool offline;
} maki_summarist;

/* Nothing to close. */
maki_status maki_summarist_choose(const maki_summarist_in *in, maki_summarist *out, maki_err *err);

#endif

/* summarist.h -- who writes the summaries of a session: a provider's model, or nobody but this program.
 *
 * By `summary.*` of the configuration: one of `llm` that can be asked, else offline.  A model that fails is made up for by
 * the offline summary (summary/provider.h). */
#ifndef MAKI_ENGINE_SUMMARIST_H
#define MAKI_ENGINE_SUMMARIST_H

#include "engine/model_send.h"
#include "engine/turn.h"
#include "summary/provider.h"

/* Points into itself: do not copy. */
typedef struct maki_summarist {
    maki_summary_settings settings;
    maki_provider provider;
    maki_model_send sends;
    maki_model model;
    maki_model_summary by_model;
    maki_offline how;
    maki_summarizer writer;   /* the model's or the offline one */
    maki_summarizer measured; /* the one to use */
    bool offline;
} maki_summarist;

/* `profile` as in summary_settings.h, `agent` whose provider is asked.  `cancelled` may be NULL.  Nothing to close. */
maki_status maki_summarist_choose(const maki_turns_options *options, maki_str agent,
                                  maki_str profile, bool task, bool (*cancelled)(void *ctx),
                                  void *cancelled_ctx, maki_summarist *out, maki_err *err);

#endif

/* model_summarizer.h -- a summary that a model writes.
 *
 * The conversation goes to it as text (render.h) under a prompt (summary_prompt.h).  What does not fit its window goes
 * in parts, cut between messages where that can be, and the summaries of the parts become one in the same
 * way.  Memory does not grow with the conversation: a part waits in a file when it is long.
 *
 * Whatever the model does wrong (fails, is too slow, says nothing, too much or what is no text), the offline
 * summary takes its place and maki_summary.fell_back says why.  Only a cancelled one is not made up for. */
#ifndef MAKI_SUMMARY_MODEL_SUMMARIZER_H
#define MAKI_SUMMARY_MODEL_SUMMARIZER_H

#include <maki/model.h>

#include "summary/summary_settings.h"

typedef struct maki_model_summary {
    const maki_env *env;
    const maki_model *model;
    maki_model_name name;
    const maki_summary_settings *settings;
    uint64_t window;              /* of the model that summarises, in its tokens */
    bool (*cancelled)(void *ctx); /* asked between pieces; or NULL */
    void *cancelled_ctx;
} maki_model_summary;

/* All of it is borrowed and must live as long.  May be run by several threads at once if the model may. */
maki_summarizer maki_summarizer_provider(const maki_model_summary *how);

#endif

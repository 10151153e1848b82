/* model_summarizer.h -- a summary that a model writes.
 *
 * The conversation is sent to it as text (message_text.h) under a prompt (summary_prompt.h).  What does not fit its window
 * is sent in chunks, split between messages where possible, and the summaries of the chunks are merged in the same
 * way.  Memory does not grow with the conversation: a long chunk is in a temporary file.
 *
 * When the model fails, is too slow, or its reply is empty, too long or not text, the offline summary replaces it, and
 * maki_summary.fallback_reason is the error.  A cancelled summary has no fallback. */
#ifndef MAKI_SUMMARY_MODEL_SUMMARIZER_H
#define MAKI_SUMMARY_MODEL_SUMMARIZER_H

#include <maki/model.h>

#include "summary/summary_settings.h"

typedef struct maki_model_summarizer_options {
    const maki_env *env;
    const maki_model *model;
    maki_model_name name;
    const maki_summary_settings *settings;
    uint64_t window;              /* of the model that summarizes, in its tokens */
    bool (*cancelled)(void *ctx); /* checked between messages and chunks; or NULL */
    void *cancelled_ctx;
} maki_model_summarizer_options;

/* All of it is borrowed and must live as long.  May be run by several threads at once if the model may. */
maki_summarizer maki_summarizer_by_model(const maki_model_summarizer_options *how);

#endif

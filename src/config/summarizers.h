/* summarizers.h -- the summarizers that need no provider, one row each: the values of `summary.provider` that are not
 * a name under `llm`.
 *
 * The configuration reads the names, manage/choose_summarizer.c all columns: a new one is a row here and its function
 * in a file of summary/ (`run` of a maki_summarizer, history/summarizer.h, whose ctx is the maki_summary_settings). */
#ifndef MAKI_CONFIG_SUMMARIZERS_H
#define MAKI_CONFIG_SUMMARIZERS_H

/* Name, function.  The first is the fallback when a model is unavailable. */
#define MAKI_SUMMARIZER_MAP(X) X(offline, maki_summarize_offline)

#define MAKI_SUMMARIZER_NAME(name, run) #name "|"
#define MAKI_SUMMARIZER_NAMES           MAKI_SUMMARIZER_MAP(MAKI_SUMMARIZER_NAME)

#endif

/* offline.h -- a summary without a model: deterministic, in constant memory.
 *
 * The six headings, from what the messages say themselves: the first request, the newest ones, the
 * paths and commands that were met, the lines that speak of errors. */
#ifndef MAKI_SUMMARY_OFFLINE_H
#define MAKI_SUMMARY_OFFLINE_H

#include "history/condense.h"

/* Needs nothing and never fails but for memory; its cost is 0. */
maki_summarizer maki_summarizer_offline(void);

#endif

/* measure.h -- a summariser that also tells how many facts its summary kept.
 *
 * Whoever writes the summary, the messages are looked at while it reads them (probe.h): no second pass
 * unless it does not read them at all, and memory does not grow with them. */
#ifndef MAKI_SUMMARY_MEASURE_H
#define MAKI_SUMMARY_MEASURE_H

#include "history/summarizer.h"

/* `of`, which must live as long, with maki_summary.survey filled in.  One that says it itself is believed.
 * NULL gives one that cannot be called. */
maki_summarizer maki_summarizer_measured(const maki_summarizer *of);

#endif

/* measure.h -- how many facts of messages a summary still holds.
 *
 * Facts are what must survive word for word: paths, names of things in code and numbers that somebody
 * wrote or a call was about, error lines that nothing solved, and open tasks.  What is only in
 * a file that was read or in the output of a run is not counted.
 *
 * Whoever writes the summary, the facts are found by the same rules (digest.h), while the summarizer reads the
 * messages: no second pass unless it does not read them at all, and memory does not grow with them. */
#ifndef MAKI_SUMMARY_MEASURE_H
#define MAKI_SUMMARY_MEASURE_H

#include "history/summarizer.h"
#include "summary/digest.h"

typedef struct maki_fact_counts {
    uint64_t kept[MAKI_FACT_KINDS], lost[MAKI_FACT_KINDS];
    maki_fact_coverage coverage; /* all kinds together */
} maki_fact_counts;

/* Look up the facts of an ended digest in `summary`, which is valid UTF-8. */
maki_status maki_digest_count_facts(const maki_digest *digest, maki_str summary,
                                    maki_fact_counts *out, maki_err *err) MAKI_MUST_CHECK;

/* `of`, which must live as long, with maki_summary.coverage filled in, and with the rules and decisions of people appended,
 * word for word, that its summary lacks.  A coverage that it filled in itself is not changed.
 * NULL gives one that cannot be called. */
maki_summarizer maki_summarizer_measured(const maki_summarizer *of);

#endif

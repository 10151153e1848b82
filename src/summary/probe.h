/* probe.h -- which facts of hidden messages a summary still holds.
 *
 * Facts are what must survive word for word: paths, names of things in code and numbers that somebody
 * wrote or a call was about, error lines that nothing solved, and open tasks.  What stands only inside
 * a file that was read or in the output of a run is no fact of the conversation.
 *
 * Whoever wrote the summary, the facts are found by the same rules (digest.h), in bounded memory. */
#ifndef MAKI_SUMMARY_PROBE_H
#define MAKI_SUMMARY_PROBE_H

#include "history/summarizer.h"

typedef enum maki_fact {
    MAKI_FACT_PATH,
    MAKI_FACT_NAME,
    MAKI_FACT_NUMBER,
    MAKI_FACT_ERROR,
    MAKI_FACT_TASK,
    MAKI_FACT_KINDS
} maki_fact;

enum { MAKI_PROBE_LISTED = 256, MAKI_PROBE_FACTS = 1 << 14 };

typedef struct maki_fact_line {
    maki_fact kind;
    maki_str text; /* in the arena */
} maki_fact_line;

typedef struct maki_probed {
    uint64_t kept[MAKI_FACT_KINDS], lost[MAKI_FACT_KINDS];
    uint64_t kept_all, lost_all; /* factsKept and factsLost */
    maki_fact_line *kept_list;   /* the first MAKI_PROBE_LISTED of each, in the order they came */
    maki_fact_line *lost_list;
    size_t kept_listed, lost_listed;
    bool partial; /* there were more than MAKI_PROBE_FACTS; the rest was not looked at */
} maki_probed;

/* Message by message, when the summary is not there yet: facts wait in bounded memory until it is. */
typedef struct maki_prober maki_prober;
/* Lives in the arena. */
maki_status maki_prober_new(maki_arena *arena, maki_prober **out, maki_err *err) MAKI_MUST_CHECK;
/* `json` is a message that was checked. */
void maki_prober_add(maki_prober *prober, maki_str json);
/* After the last message, once: look up what was found in `summary`, which is valid UTF-8.  The lists are
 * in `arena`. */
maki_status maki_prober_judge(maki_prober *prober, maki_str summary, maki_arena *arena,
                              maki_probed *out, maki_err *err) MAKI_MUST_CHECK;

/* The same in one go for the messages of `hidden` (messages, or each and source). */
maki_status maki_probe(const maki_summary_request *hidden, maki_str summary, maki_arena *arena,
                       maki_probed *out, maki_err *err) MAKI_MUST_CHECK;

#endif

/* decide.h -- whether a window must be managed, by the tokens in it.  No state, no I/O.
 *
 * The limit is 90 % of the window minus the tokens reserved for the answer. */
#ifndef MAKI_REFERENCE_DECIDE_H
#define MAKI_REFERENCE_DECIDE_H

#include <stdbool.h>

typedef struct maki_decide_input {
    double total_tokens;        /* of the last request and its answer */
    double last_message_tokens; /* not yet in total_tokens */
    double window;
    double max_tokens; /* reserved for the answer; 0: MAKI_RESERVED_OUTPUT */
    bool auto_condense;
    double threshold;         /* percent, for every profile; not checked for its range */
    bool has_profile;         /* the current profile has a threshold of its own */
    double profile_threshold; /* -1 inherits; outside 5 to 100 is ignored */
} maki_decide_input;

typedef struct maki_window_decision {
    bool manage;   /* condense or truncate */
    bool condense; /* condense first */
    bool over;     /* more than allowed: manage even if auto_condense is off */
    bool profile_invalid;
    double tokens;    /* with the last message */
    double allowed;   /* 90 % of the window less the reserve; may be negative */
    double percent;   /* of the window in use */
    double threshold; /* the effective one */
} maki_window_decision;

maki_window_decision maki_decide(const maki_decide_input *in);

#endif

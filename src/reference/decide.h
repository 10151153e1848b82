/* decide.h -- is it time to manage the window?  Pure arithmetic; see DESIGN.md section 4. */
#ifndef MAKI_REFERENCE_DECIDE_H
#define MAKI_REFERENCE_DECIDE_H

#include <stdbool.h>

typedef struct maki_decide_in {
    double total_tokens;        /* of the last request and its answer */
    double last_message_tokens; /* not yet in total_tokens */
    double window;
    double max_tokens; /* reserved for the answer; 0: MAKI_RESERVED_OUTPUT */
    bool auto_condense;
    double threshold;         /* percent, for every profile; used as it is */
    bool has_profile;         /* the current profile has a threshold of its own */
    double profile_threshold; /* -1 inherits; outside 5 to 100 is ignored */
} maki_decide_in;

typedef struct maki_decision {
    bool manage;   /* something must be done */
    bool condense; /* by condensing first */
    bool over;     /* more than allowed: it must be done whatever the settings */
    bool profile_invalid;
    double tokens;    /* with the last message */
    double allowed;   /* 90 % of the window less the reserve; may be negative */
    double percent;   /* of the window in use */
    double threshold; /* the one in force */
} maki_decision;

maki_decision maki_decide(const maki_decide_in *in);

#endif

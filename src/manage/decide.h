/* decide.h -- is it time to manage the window?  Pure arithmetic; see DESIGN.md section 4. */
#ifndef MAKI_MANAGE_DECIDE_H
#define MAKI_MANAGE_DECIDE_H

#include <stdbool.h>

#define MAKI_RESERVED_OUTPUT   8192.0 /* kept free for the answer unless the caller says how much */
#define MAKI_THRESHOLD_USUAL   75.0   /* percent of the window */
#define MAKI_THRESHOLD_MIN     5.0    /* a profile's threshold counts from here */
#define MAKI_THRESHOLD_MAX     100.0  /* to here, in percent */
#define MAKI_THRESHOLD_INHERIT (-1.0)
#define MAKI_THRESHOLD_NEVER   101.0
#define MAKI_MIN_REDUCTION     0.2 /* a condense that saves less was not worth it */

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

/* The share of tokens saved; 0 when there were none. */
double maki_reduction(double before, double after);

#endif

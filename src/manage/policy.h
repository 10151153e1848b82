/* policy.h -- how room is made, as data: an ordered list of steps.
 *
 * A step says what it does, how much stays, and when it is taken.  None deletes: each appends an event that
 * can be undone. */
#ifndef MAKI_MANAGE_POLICY_H
#define MAKI_MANAGE_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include <maki/str.h>

typedef enum maki_step_kind {
    MAKI_STEP_CONDENSE, /* the middle behind a summary; `keep` messages stay */
    MAKI_STEP_WINDOW,   /* all but the last `keep` behind a marker */
    MAKI_STEP_TRUNCATE  /* `fraction` of the messages behind a marker */
} maki_step_kind;

/* When a step is taken. */
typedef enum maki_step_when {
    MAKI_WHEN_DUE,    /* the run has begun: always */
    MAKI_WHEN_FAILED, /* the step before was refused, or saved too little */
    MAKI_WHEN_OVER /* more than allowed is in view; again, until that is over or nothing is left to hide */
} maki_step_when;

typedef struct maki_step {
    maki_step_kind kind;
    maki_step_when when;
    size_t keep;
    double fraction;
    double min_reduction; /* a share: one that saves less has failed, and is taken back */
} maki_step;

enum { MAKI_STEPS_MOST = 8 };

typedef struct maki_policy {
    const char *name;
    double
        condense_from; /* windows smaller than this are not condensed: a summary would fill them */
    size_t step_count;
    maki_step steps[MAKI_STEPS_MOST];
} maki_policy;

/* "maki", "roo" or "files"; NULL when there is none of that name. */
const maki_policy *maki_policy_named(maki_str name);
/* The i-th from 0; NULL after the last. */
const maki_policy *maki_policy_at(size_t i);
const char *maki_step_name(maki_step_kind kind);

#endif

/* run.h -- one manage run over a list of messages, policy `roo`: condense, and truncate by half when
 * that failed and the context is over the limit. */
#ifndef MAKI_REFERENCE_RUN_H
#define MAKI_REFERENCE_RUN_H

#include "reference/condense.h"
#include "reference/decide.h"
#include "reference/truncate.h"

typedef enum maki_action {
    MAKI_ACTION_NONE,
    MAKI_ACTION_CONDENSE,
    MAKI_ACTION_TRUNCATE
} maki_action;

typedef struct maki_run_input {
    maki_condense_input condense; /* tokens_before is filled in by the run */
    maki_decide_input decide;     /* last_message_tokens is counted by the run */
    double min_reduction; /* a condense that saves less counts as failed; 0: any reduction */
} maki_run_input;

typedef struct maki_run_report {
    maki_action action;
    maki_msgs messages;
    maki_window_decision decision;
    maki_condensed condensed; /* summary, cost, called: also of a failed attempt */
    maki_truncated truncated; /* of action truncate */
    double tokens_after_truncation;
    bool condense_failed;
    maki_err condense_error; /* why, when it failed */
} maki_run_report;

/* A condense that is refused is part of the report, not a failure of the run. */
maki_status maki_manage_run(const maki_run_input *in, maki_arena *arena, maki_run_report *out,
                            maki_err *err);

#endif

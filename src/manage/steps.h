/* steps.h -- run the steps of a policy, one after the other; manage.c decides whether they run at all. */
#ifndef MAKI_MANAGE_STEPS_H
#define MAKI_MANAGE_STEPS_H

#include "history/transaction.h"
#include "manage/manage.h"

enum { MAKI_STEP_EFFECT_MAX = 16 /* events of one step */ };

/* The effect of a step. */
typedef struct maki_step_effect {
    size_t count;                /* events, */
    uint64_t event;              /* the last of them */
    maki_fact_coverage coverage; /* of a summary */
    maki_err fallback_reason;    /* why the fallback summarizer wrote it; MAKI_OK: it did not */
} maki_step_effect;

/* The state of a run. */
typedef struct maki_manage_state {
    maki_conv *conv;
    const maki_manage_options *in;
    maki_manage_report *report; /* tokens_after is always up to date */
    int64_t began;
    double allowed, target;      /* as in the report, in tokens of the index */
    bool failed;                 /* the step before */
    maki_step_result unreported; /* the last step, when the report is full */
    /* Steps that must reach the target and have not yet: */
    bool pending;
    maki_transaction before; /* the transaction that they began in */
    size_t pending_from;     /* the first of them in report->taken */
    double pending_target;
    struct { /* the report before them */
        maki_step_kind action;
        maki_fact_coverage coverage;
        maki_err fallback_reason;
    } saved;
} maki_manage_state;

/* The tokens sent now: the view and other_tokens.  Called after each step; MAKI_CANCELLED: the run was cancelled. */
maki_status maki_manage_count(maki_manage_state *work, double *tokens, maki_err *err);
bool maki_manage_is_over_limit(const maki_manage_state *work); /* than allowed */
/* Tokens that a step reduces to: its own target, else the run's. */
double maki_step_target(const maki_manage_state *work, const maki_step *step);
/* Count an event of a step. */
void maki_step_effect_event(maki_step_effect *effect, const maki_change *change);

/* All steps of the policy that are due, in order. */
maki_status maki_manage_steps(maki_manage_state *work, maki_err *err);
/* Trim the largest message, then the next, until it fits. */
maki_status maki_manage_trim(maki_manage_state *work, maki_err *err);

/* The function of each step.  MAKI_REFUSED: it did nothing, and why. */
#define MAKI_STEP_FN(kind, name, fn, ...)                                                    \
    maki_status fn(maki_manage_state *work, const maki_step *step, maki_step_effect *effect, \
                   maki_err *err);
MAKI_STEP_MAP(MAKI_STEP_FN)
#undef MAKI_STEP_FN

#endif

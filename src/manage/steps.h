/* steps.h -- the steps of a policy, taken one after the other.  manage.c decides whether they are; this is how. */
#ifndef MAKI_MANAGE_STEPS_H
#define MAKI_MANAGE_STEPS_H

#include "history/plan.h"
#include "manage/manage.h"

enum { MAKI_STEP_EFFECT_MAX = 16 /* events of one step */ };

/* What a step did. */
typedef struct maki_step_effect {
    size_t count;              /* events, */
    uint64_t event;            /* the last of them */
    uint64_t removed;          /* messages hidden */
    maki_fact_coverage survey; /* of a summary */
    maki_err fell_back;        /* why another summariser made it; MAKI_OK: none did */
} maki_step_effect;

/* A run under way. */
typedef struct maki_manage_work {
    maki_conv *conv;
    const maki_manage_in *in;
    maki_manage_report *report; /* tokens_after is kept true */
    int64_t began;
    double allowed, target; /* of the report, as the index counts */
    bool failed;            /* the step before */
    maki_step_result more;  /* the last step of a run that took more than can be told */
    /* Steps that must reach the target and have not yet: */
    bool pending;
    maki_plan before;    /* them */
    size_t pending_from; /* the first of them in report->taken */
    double pending_target;
    struct { /* what the report said before them */
        maki_step_kind action;
        uint64_t removed;
        maki_fact_coverage survey;
        maki_err fell_back;
    } unpended;
} maki_manage_work;

/* What is sent now: the view and other_tokens.  Asked after each step: MAKI_CANCELLED when the run shall end. */
maki_status maki_manage_count(maki_manage_work *work, double *tokens, maki_err *err);
bool maki_manage_over(const maki_manage_work *work); /* than allowed */
/* Tokens that a step comes down to: its own target, else the run's. */
double maki_step_target(const maki_manage_work *work, const maki_step *step);
/* An event of a step. */
void maki_step_effect_event(maki_step_effect *took, const maki_change *change);

/* All steps of the policy, in order, those whose time it is. */
maki_status maki_manage_steps(maki_manage_work *work, maki_err *err);
/* Shorten the largest message, then the next, until it fits. */
maki_status maki_manage_trim(maki_manage_work *work, maki_err *err);

/* What each step does.  MAKI_REFUSED: nothing, and why. */
#define MAKI_STEP_FN(kind, name, fn, ...)                                                 \
    maki_status fn(maki_manage_work *work, const maki_step *step, maki_step_effect *took, \
                   maki_err *err);
MAKI_STEP_MAP(MAKI_STEP_FN)
#undef MAKI_STEP_FN

#endif

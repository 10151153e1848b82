/* policy.h -- policies: ordered lists of the steps that reduce a conversation, as data.
 *
 * A step says what it does, when it runs, and its parameters.  None deletes: each appends events that can
 * be undone and expanded.  The first message, system messages and pinned ones survive every step, and a
 * call is never separated from its result.
 *
 * The presets are rows of policy.c; a configuration adds others or replaces them (policy_config.h). */
#ifndef MAKI_MANAGE_POLICY_H
#define MAKI_MANAGE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <maki/str.h>

#include "config/policy_steps.h"

/* Parameters of the presets and of the functions of the reference systems. */
#define MAKI_PRUNE_SOFT_FROM 0.3 /* of the window: summarize the old messages */
#define MAKI_PRUNE_HARD_FROM 0.5 /* of the window: remove them from the view */
#define MAKI_PRUNE_TARGET    0.2 /* of the window, after a soft trim */
/* Of tool output, in UTF-16 units. */
#define MAKI_PRUNE_MAX         4000 /* longer ones are shortened */
#define MAKI_PRUNE_HEAD        1500
#define MAKI_PRUNE_TAIL        1500
#define MAKI_PRUNE_MIN         50000 /* minimum total length for clearing */
#define MAKI_PRUNE_PLACEHOLDER "[Old tool result content cleared]"

/* The rows of config/policy_steps.h. */
typedef enum maki_step_kind {
    MAKI_STEP_NONE,
#define MAKI_STEP_KIND(kind, ...) MAKI_STEP_##kind,
    MAKI_STEP_MAP(MAKI_STEP_KIND)
#undef MAKI_STEP_KIND
        MAKI_STEP_TRIM, /* in no policy: run when the steps of the policy did not reach the target */
    MAKI_STEP_KINDS
} maki_step_kind;

/* When a step runs; all bits must hold, 0 is always. */
enum {
    MAKI_WHEN_NEEDED = 1, /* the target is not reached yet */
    MAKI_WHEN_FAILED = 2, /* the step before was refused, or saved too little */
    /* More than allowed is in view; repeated until it fits or nothing is left to hide. */
    MAKI_WHEN_OVER = 4
};

/* A parameter of 0 is not set: it has no effect, or the default named here. */
typedef struct maki_step {
    maki_step_kind kind;
    unsigned when;
    double from, below; /* the step runs while from <= used share of the window < below */
    double target;      /* share of the window to reduce to; else that of the run (run_limits.h) */
    /* Newest messages that stay; default for condense: the profile's, else 3.  Pruning counts assistant
     * messages (default 3): they and all later messages are unchanged. */
    size_t keep;
    size_t min_messages; /* with fewer in view it does nothing */
    double min_saving;   /* a share: a step that saves less has failed, and is undone */
    double min_window;   /* in smaller windows it is skipped, which counts as failed */
    double share;        /* of truncate; default a half */
    /* A step that prunes is undone, with those before it, unless they reach the target. */
    bool must_reach;
    /* prune_tools, in UTF-16 units */
    uint64_t max_chars, head_chars, tail_chars;
    uint64_t min_prunable_chars; /* minimum total length for clearing */
    bool hard_clear;             /* clearing is enabled */
    maki_str placeholder;        /* in place of what is cleared; not escaped */
    const maki_str *allow,
        *deny; /* patterns of tool names with '*'; deny wins; no `allow`: all are allowed */
    size_t allow_count, deny_count;
} maki_step;

enum { MAKI_STEPS_MAX = 16 };

/* Flags of a policy. */
enum {
    MAKI_POLICY_TASKS = 1,     /* for tasks: the task prompt, and the settings of context_storage */
    MAKI_POLICY_KEEP_THREE = 2 /* condense keeps 3 messages, for every model */
};

typedef struct maki_policy {
    const char *name;
    unsigned flags;
    /* The share of the window at which a run begins; 0: the general threshold. */
    double from;
    bool over; /* a run begins above `from`, not at it */
    size_t step_count;
    maki_step steps[MAKI_STEPS_MAX];
} maki_policy;

/* "maki", "roo", "clawdbot" or "files"; NULL: unknown. */
const maki_policy *maki_policy_find(maki_str name);
/* The i-th from 0; NULL after the last. */
const maki_policy *maki_policy_at(size_t i);

/* The percent of the window at which a run begins: its own, else the general threshold. */
double maki_policy_threshold(const maki_policy *policy, double general);

const char *maki_step_name(maki_step_kind kind); /* "none" and "trim" too */
unsigned maki_step_needs(maki_step_kind kind);   /* config/policy_steps.h */
/* False: unknown. */
bool maki_step_kind_parse(maki_str name, maki_step_kind *kind);
/* A step of this kind with the defaults that its kind has. */
maki_step maki_step_of(maki_step_kind kind);

#endif

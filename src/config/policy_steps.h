/* policy_steps.h -- the steps that a policy can be made of, one row each.
 *
 * The configuration uses the names and the help, manage/ all columns: a new step is a row here and its function in a
 * file of manage/ (`maki_status FN(maki_manage_state *, const maki_step *, maki_step_effect *, maki_err *)`, manage/steps.h). */
#ifndef MAKI_CONFIG_POLICY_STEPS_H
#define MAKI_CONFIG_POLICY_STEPS_H

/* Flags of a row's `needs`: what a step does, or may need. */
enum {
    MAKI_STEP_PRUNES = 1,    /* shortens texts and hides no message: may have `must_reach` */
    MAKI_STEP_SUMMARIZES = 2 /* calls a summarizer, which may refuse */
};

/* kind, name in a configuration, function, needs, default keep (0: none in this table), default share, help */
/* clang-format off */
#define MAKI_STEP_MAP(X) \
    X(PRUNE_TOOLS,   prune_tools,   maki_step_prune_tools,   MAKI_STEP_PRUNES,     0,  0,   "long tool output to its head and tail, then cleared, oldest first") \
    X(PRUNE_REPEATS, prune_repeats, maki_step_prune_repeats, MAKI_STEP_PRUNES,     0,  0,   "of what was read or answered more than once the newest copy stays") \
    X(SHRINK_CODE,   shrink_code,   maki_step_shrink_code,   MAKI_STEP_PRUNES,     0,  0,   "long code in old messages to one line") \
    X(CONDENSE,      condense,      maki_step_condense,      MAKI_STEP_SUMMARIZES, 0,  0,   "the middle behind a summary") \
    X(SOFT_TRIM,     soft_trim,     maki_step_soft_trim,     MAKI_STEP_SUMMARIZES, 3,  0,   "the same with the summary as a system message") \
    X(HARD_CLEAR,    hard_clear,    maki_step_hard_clear,    0,                    3,  0,   "all but the newest behind a marker, summaries too") \
    X(WINDOW,        window,        maki_step_window,        0,                    20, 0,   "all but the newest behind a marker") \
    X(TRUNCATE,      truncate,      maki_step_truncate,      0,                    0,  0.5, "a share of the messages behind a marker") \
    X(LAST_RESORT,   last,          maki_step_last_resort,          0,                    1,  0,   "all but the newest behind a marker, then the largest texts trimmed")
/* clang-format on */

#endif

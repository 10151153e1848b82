/* manage.h -- reduce what is sent of a conversation when it nears its window, by the steps of a policy.
 *
 * The engine's own rules (rules_maki): what is sent is counted, reserved is min(max_tokens or 8192,
 * a quarter of the window), allowed is 90 % of the window less that.  The first message, system messages and pinned ones
 * stay; a call and its result are never separated.  Every run ends: each step hides something or is the last of its kind.
 *
 * A run is a dry run first (history/transaction.h) and is written once: at most one event of each kind, and its record
 * (run_history.h).  A run that was cancelled, failed or saved nothing writes only its record.  One that failed (nothing
 * saved, or still at the threshold) backs off: it is not repeated before the tokens sent have changed by a tenth, unless
 * they are over what is allowed, or the run is forced. */
#ifndef MAKI_MANAGE_MANAGE_H
#define MAKI_MANAGE_MANAGE_H

#include "base/logger.h"
#include "history/conv.h"
#include "manage/policy.h"

typedef struct maki_manage_options {
    double scale; /* ratio of the model's tokens to those of the index; 0: 1 */
    double window;
    double model_window; /* for the logger, when `window` is less than that of the model; else 0 */
    double max_tokens;   /* reserved for the answer; 0: 8192 */
    double
        other_tokens; /* sent in addition to the messages: system prompt, tools, memories; as the index counts */
    double threshold;        /* percent of the window at which a run begins; over 100: never */
    double threshold_tokens; /* the same in tokens; 0: none; the lower one applies */
    bool force;              /* now, at any fill level */
    bool focused;       /* the summarizer has a focus: no summary that was prepared without it */
    bool truncate_only; /* no step that summarizes: autoCondenseContext is false */
    size_t keep; /* newest messages that a condense leaves when its step does not say; 0: 3 */
    const maki_policy *policy;
    const maki_summarizer *summarizer;
    const maki_logger *logger; /* context_check, compress_start ...; or NULL */
    /* Called between steps and while messages are summarized; true ends the run with MAKI_CANCELLED.
     * Or NULL. */
    bool (*cancelled)(void *ctx);
    void *cancel_ctx;
    /* Called when a run starts, with its reason and the token counts that led to it; or NULL. */
    void (*on_start)(void *ctx, const char *reason, double tokens, double window);
    void *start_ctx;
} maki_manage_options;

enum {
    MAKI_STEP_RESULTS_MAX = 32,
    MAKI_CONDENSE_KEEP = 3 /* default number of messages that a condense leaves */
};

/* The result of one step. */
typedef struct maki_step_result {
    maki_step_kind kind;
    uint64_t event;   /* that records the step; 0: it was refused or is undone */
    bool undone;      /* it saved too little */
    char refused[40]; /* why: a code */
} maki_step_result;

/* Why there was a run. */
typedef enum maki_manage_reason {
    MAKI_REASON_NONE,
    MAKI_REASON_THRESHOLD,
    MAKI_REASON_OVER, /* more than allowed */
    MAKI_REASON_FORCED
} maki_manage_reason;
const char *maki_reason_name(maki_manage_reason reason);

typedef struct maki_manage_report {
    maki_manage_reason reason;
    maki_step_kind action;              /* the last step that had an effect */
    double tokens_before, tokens_after; /* with other_tokens, of the model */
    double counted;                     /* tokens_after as the index counts */
    double allowed, target; /* maximum tokens that may be sent; tokens that a run reduces to */
    maki_view_change effect;
    maki_summary_usage usage;    /* of summarizers, also of those whose summary was not used */
    maki_fact_coverage coverage; /* of the last condense that stayed: facts kept and lost */
    maki_err
        fallback_reason; /* error of the main summarizer, when the fallback was used; else MAKI_OK */
    maki_step_result taken[MAKI_STEP_RESULTS_MAX];
    size_t taken_count;
    int64_t ms;
    bool fits;        /* the view fits into `allowed` */
    bool backing_off; /* the threshold is reached, but a failed run is not repeated yet: backoff */
    bool failed;
    uint64_t run; /* the event of its record, for maki_run_history_undo; 0: there was no run */
} maki_manage_report;

/* MAKI_OK also when nothing had to be done, or when it still does not fit (`within`).  MAKI_INVALID: the window or
 * other_tokens are out of range. */
maki_status maki_manage_conversation(maki_conv *conv, const maki_manage_options *in,
                                     maki_manage_report *out, maki_err *err);

#endif

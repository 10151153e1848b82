/* manage.h -- make room in a conversation when it is time, by the steps of a policy.
 *
 * The engine's own rules (rules_maki): what is sent is counted exactly, reserved is min(max_tokens or 8192,
 * a quarter of the window), allowed is 90 % of the window less that.  First, system and pinned messages stay, a call and
 * its result are never parted.  Every run ends: each step hides something or is the last of its kind. */
#ifndef MAKI_MANAGE_MANAGE_H
#define MAKI_MANAGE_MANAGE_H

#include "history/conversation.h"
#include "manage/policy.h"

typedef struct maki_manage_in {
    double window;
    double max_tokens;       /* reserved for the answer; 0: 8192 */
    double other_tokens;     /* sent besides the messages: system prompt, tools, memories */
    double threshold;        /* percent of the window from which it is time; over 100: never */
    double threshold_tokens; /* the same in tokens; 0: none; the lower one counts */
    bool force;              /* now, whatever the figures */
    size_t keep;             /* in place of the policy's, for condensing; 0: the policy's */
    const maki_policy *policy;
    const maki_summarizer *summarizer;
} maki_manage_in;

enum { MAKI_TAKEN_MOST = 32 };

/* A step that was taken. */
typedef struct maki_taken {
    maki_step_kind kind;
    uint64_t event;   /* 0: it was refused */
    bool undone;      /* it saved too little */
    char refused[40]; /* why: a code */
} maki_taken;

typedef struct maki_manage_report {
    const char *reason; /* "none", "threshold", "over" or "forced" */
    const char *action; /* of the last step that had an effect: its name, "trim", or "none" */
    double tokens_before, tokens_after; /* with other_tokens */
    double allowed;
    uint64_t messages_removed;
    maki_taken taken[MAKI_TAKEN_MOST];
    size_t taken_count;
    int64_t ms;
    bool within; /* what is in view fits */
} maki_manage_report;

/* MAKI_OK also when nothing had to be done, or when it does not fit after all (`within`).  MAKI_INVALID: the figures
 * cannot be. */
maki_status maki_manage_conversation(maki_conv *conv, const maki_manage_in *in,
                                     maki_manage_report *out, maki_err *err);

#endif

/* run_limits.h -- the figures of a run, from what the caller says, the configuration and the model, in one place.
 *
 * For each, the first that is there counts:
 *
 *     window      the caller's, profiles.ID.contextWindow, llm.NAME.context_length of that model, the table of
 *                 models, contextWindow, agents.ID.contextWindow, window.default
 *     threshold   profileThresholds.ID (-1 and what is out of range: the general one), what was set as the general
 *                 one, the recommended one of the model, the general one
 *     tokens      profiles.ID.thresholdTokens, autoCondenseContextTokens; the lower of both thresholds wins
 *     keep        the caller's, profiles.ID.keepMessages, messagesRetainCount when it was set, the model's
 *     max_tokens  the caller's, agents.ID.maxTokens, llm.NAME.max_tokens
 *
 * ID of a profile is the one in use, then the model.  docs/decisions/0008-figures-of-a-run.md says why. */
#ifndef MAKI_MANAGE_RUN_LIMITS_H
#define MAKI_MANAGE_RUN_LIMITS_H

#include <maki/config.h>

#include "base/logger.h"

/* What the caller says; zeroed is nothing.  Texts are borrowed for the call. */
typedef struct maki_run_limits_in {
    const maki_config *config; /* NULL: the defaults */
    const maki_logger *logger; /* for what is odd; or NULL */
    maki_str model;            /* of the request; len 0: the agent's, then the provider's */
    maki_str profile;          /* in use; len 0: currentProfileId, then the model */
    maki_str agent;            /* len 0: "default" */
    maki_str provider;         /* one of `llm`; len 0: the agent's, then llm.provider */
    double window, max_tokens;
    size_t keep;
    bool has_automatic, automatic; /* autoCondenseContext */
    double percent;                /* autoCondenseContextPercent; 0: not said */
    double tokens;                 /* autoCondenseContextTokens; 0: not said */
    bool has_profile_threshold;    /* profileThresholds of the caller has the profile */
    double profile_threshold;
} maki_run_limits_in;

enum { MAKI_PROFILE_MAX = 256 };

typedef struct maki_run_limits {
    double window;
    const char *
        window_from; /* "caller", "profile", "provider", "model", "configuration", "agent" or "default" */
    double threshold;        /* percent; over 100: never */
    double threshold_tokens; /* 0: none */
    double max_tokens;       /* 0: not said */
    size_t keep;
    bool keep_set;                /* by a person: it holds for every policy */
    bool small;                   /* the window is under window.warning */
    bool threshold_invalid;       /* the profile's is out of range, and the general one counts */
    double profile_threshold;     /* that one */
    char model[MAKI_PROFILE_MAX]; /* "" when nobody says */
    char agent[MAKI_PROFILE_MAX], provider[MAKI_PROFILE_MAX];
    char profile[MAKI_PROFILE_MAX];
} maki_run_limits;

/* Somebody has said the window: the provider need not be asked. */
bool maki_run_limits_known(const maki_run_limits *figures);

/* MAKI_REFUSED WINDOW_TOO_SMALL: it is under window.minimum. */
maki_status maki_run_limits_of(const maki_run_limits_in *in, maki_run_limits *out, maki_err *err);

/* What of the window may be filled: 90 % less what is reserved for the answer, min(max_tokens or 8192, a quarter). */
double maki_run_limits_allowed(double window, double max_tokens);
/* What a run comes down to: min(half of the window, 70 % of what is allowed). */
double maki_run_limits_target(double window, double max_tokens);

#endif

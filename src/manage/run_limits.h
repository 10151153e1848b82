/* run_limits.h -- the limits of a run (window, thresholds, messages to keep, max_tokens), from the caller,
 * the configuration and the model.
 *
 * For each, the first that is set wins:
 *
 *     window      the caller's, profiles.ID.contextWindow, llm.NAME.context_length of that model, the table of
 *                 models, contextWindow, agents.ID.contextWindow, window.default
 *     threshold   the session's own, unless the caller sets one; profileThresholds.ID (-1 and what is out of range: the general one), the general one if it was
 *                 set, the recommended one of the model, the default of the general one
 *     tokens      profiles.ID.thresholdTokens, autoCondenseContextTokens; the lower of both thresholds wins, unless
 *                 the session has one of its own
 *     keep        the caller's, profiles.ID.keepMessages, messagesRetainCount when it was set, the model's
 *     max_tokens  the caller's, agents.ID.maxTokens, llm.NAME.max_tokens
 *
 * The ID of a profile is the one in use, then the model.  docs/decisions/0008-limits-of-a-run.md says why. */
#ifndef MAKI_MANAGE_RUN_LIMITS_H
#define MAKI_MANAGE_RUN_LIMITS_H

#include <maki/config.h>

#include "base/logger.h"

/* The options of the caller; zeroed: none.  Strings are borrowed for the call. */
typedef struct maki_run_limits_options {
    const maki_config *config; /* NULL: the defaults */
    const maki_logger *logger; /* for warnings; or NULL */
    maki_str model;            /* of the request; len 0: the agent's, then the provider's */
    maki_str profile;          /* in use; len 0: currentProfileId, then the model */
    maki_str agent;            /* len 0: "default" */
    maki_str provider;         /* one of `llm`; len 0: the agent's, then llm.provider */
    double window, max_tokens;
    size_t keep;
    bool has_automatic, automatic; /* autoCondenseContext */
    double percent;                /* autoCondenseContextPercent; 0: not set */
    double session_percent;        /* the threshold that the session was given; 0: none */
    double tokens;                 /* autoCondenseContextTokens; 0: not set */
    bool has_profile_threshold;    /* the caller has a threshold for the profile */
    double profile_threshold;
} maki_run_limits_options;

enum { MAKI_PROFILE_MAX = 256 };

typedef struct maki_run_limits {
    double window;
    const char *
        window_from; /* "caller", "profile", "configuration", "agent", "provider", "table" or "default" */
    bool window_set;  /* by the caller or for this model; else the provider should be asked */
    double threshold; /* percent; over 100: never */
    double threshold_tokens; /* 0: none */
    double max_tokens;       /* 0: not set */
    size_t keep;
    bool keep_set;  /* it was configured, and applies to every policy */
    bool automatic; /* autoCondenseContext; false: a run that is not forced only truncates */
    bool small;     /* the window is under window.warning */
    double warning; /* window.warning */
    bool threshold_invalid;       /* the profile's is out of range, and the general one is used */
    double profile_threshold;     /* the one that is out of range */
    char model[MAKI_PROFILE_MAX]; /* "": unknown */
    char agent[MAKI_PROFILE_MAX], provider[MAKI_PROFILE_MAX];
    char profile[MAKI_PROFILE_MAX];
} maki_run_limits;

/* MAKI_REFUSED WINDOW_TOO_SMALL: it is under window.minimum. */
maki_status maki_run_limits_of(const maki_run_limits_options *in, maki_run_limits *out,
                               maki_err *err);

/* The tokens of the window that are reserved for the answer: min(max_tokens or 8192, a quarter). */
double maki_run_limits_reserved(double window, double max_tokens);
/* The tokens that may be sent: 90 % of the window less what is reserved. */
double maki_run_limits_allowed(double window, double max_tokens);
/* The tokens that a run reduces to: min(half of the window, 70 % of what is allowed). */
double maki_run_limits_target(double window, double max_tokens);

#endif

/* limit.h -- turn limits: how many turns of a session are sent at most.
 *
 * A turn begins with a user message that is not a tool result.  The first message of a conversation,
 * system messages and pinned ones stay whatever the limit, and do not count.  When there are more turns than
 * allowed, the oldest are hidden behind a marker, down to four fifths of the limit: so the beginning of
 * what is sent changes once in limit / 5 turns and not with every one.  Nothing is deleted; undo shows them again. */
#ifndef MAKI_STORE_LIMIT_H
#define MAKI_STORE_LIMIT_H

#include "history/conv.h"
#include "store/session.h"

typedef struct maki_turn_limits {
    double global, provider, user; /* turnLimits.*, of sessions from channels; 0: none */
    double agent;                  /* agents.ID.maxTurns, of all sessions; 0: none */
} maki_turn_limits;

/* Does the session belong to a channel?  Determined by its header or its key, agent:AGENT:CHANNEL:ID. */
bool maki_session_from_channel(const maki_session *s);

/* The lowest limit that applies; 0: none. */
uint64_t maki_turn_limit(const maki_turn_limits *limits, bool channel);

typedef struct maki_turn_limit_report {
    uint64_t turns;     /* in view before */
    uint64_t left;      /* in view after */
    maki_change change; /* event 0: nothing was hidden */
} maki_turn_limit_report;

/* Hide the oldest turns that exceed `limit` (0: no limit).  With `preview` only report how many would remain. */
maki_status maki_conv_limit_turns(maki_conv *conv, uint64_t limit, bool preview,
                                  maki_turn_limit_report *out, maki_err *err);

#endif

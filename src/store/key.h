/* key.h -- session keys, agent:{agentId}:{mainKey}. */
#ifndef MAKI_STORE_KEY_H
#define MAKI_STORE_KEY_H

#include "base/arena.h"

typedef struct maki_session_key {
    maki_str agent_id;
    maki_str main_key; /* may contain colons */
} maki_session_key;

/* Empty parts are skipped, as in the reference: "agent:work::C1" is "agent:work:C1", and
 * "agent::main" lacks a part.  MAKI_INVALID: fewer than three parts. */
maki_status maki_session_key_parse(maki_str key, maki_arena *arena, maki_session_key *out,
                                   maki_err *err);

#endif

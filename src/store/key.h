/* key.h -- session keys, agent:{agentId}:{mainKey}. */
#ifndef MAKI_STORE_KEY_H
#define MAKI_STORE_KEY_H

#include <maki/status.h>
#include <maki/str.h>

typedef struct maki_session_key {
    maki_str agent_id;
    maki_str main_key; /* may hold further colons */
} maki_session_key;

/* Borrowed from `key`.  MAKI_INVALID when it has not the three parts, or an empty one. */
maki_status maki_session_key_parse(maki_str key, maki_session_key *out, maki_err *err);

#endif

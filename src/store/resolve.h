/* resolve.h -- find the session that a message of a channel belongs to; created if missing; and change the state of a
 * session.
 *
 *     global      agent:AGENT:global              one for all chats
 *     per-group   agent:AGENT:CHANNEL:GROUP       one for each group; outside of groups for each sender
 *     per-sender  agent:AGENT:CHANNEL:SENDER      one for each sender
 *
 * In a thread GROUP or SENDER is the id of the thread.  A key is a string in a header, never part of a path:
 * files are named by random ids. */
#ifndef MAKI_STORE_RESOLVE_H
#define MAKI_STORE_RESOLVE_H

#include "store/sessions.h"

typedef enum maki_scope { MAKI_SCOPE_GLOBAL, MAKI_SCOPE_GROUP, MAKI_SCOPE_SENDER } maki_scope;

/* "global", "per-group" or "per-sender"; false: unknown. */
bool maki_scope_parse(maki_str name, maki_scope *out);

/* Where a message came from; "" where unknown. */
typedef struct maki_origin {
    const char *agent, *channel, *sender, *group, *thread;
    const char *client; /* the program that creates the session; NULL: unknown */
} maki_origin;

/* MAKI_INVALID: a part is missing or not valid in a key; the error names it. */
maki_status maki_origin_key(const maki_origin *from, maki_scope scope, char out[MAKI_KEY_MAX],
                            maki_err *err);

typedef struct maki_resolved_session {
    maki_session session;
    bool created;   /* the session is new */
    char note[200]; /* about the session index (session_index.h) */
} maki_resolved_session;

/* The active session with this key, or a new one.  With `fresh` a new one gets the key, with the same overrides, and
 * then those that had it are archived; when that fails, the key still finds the old one.  When the lock is not acquired
 * in time, it proceeds without it: then two processes may create one each, and the older one is found from then on. */
maki_status maki_session_resolve(const maki_env *env, const char *home, const maki_origin *from,
                                 const char *key, bool fresh, maki_resolved_session *out,
                                 maki_err *err);

/* Change the state of the session with this messages file: `overrides`, a JSON object that replaces the one
 * before (NULL: unchanged), whether it is archived (-1: unchanged), and its name, the key without "agent:AGENT:"
 * (NULL: unchanged).  MAKI_REFUSED KEY_TAKEN: it would become active again, or be renamed, but another active session
 * has the key. */
typedef struct maki_session_change {
    const char *overrides;
    int archived;
    const char *name;
} maki_session_change;
maki_status maki_session_set(const maki_env *env, const char *path, const maki_session_change *to,
                             maki_session *out, maki_err *err);
/* The header row of a new session with the id, key, channel, client, title and time of *s, in the arena. */
maki_status maki_session_header(const maki_session *s, maki_arena *arena, maki_str *out,
                                maki_err *err);
/* Read the session with this messages file. */
maki_status maki_session_get(const maki_env *env, const char *path, maki_session *out,
                             maki_err *err);

#endif

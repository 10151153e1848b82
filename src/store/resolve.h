/* resolve.h -- which session a message of a channel belongs to; it is made when there is none.
 *
 *     global      agent:AGENT:global              all chats share one
 *     per-group   agent:AGENT:CHANNEL:GROUP       one a group; outside of groups one a sender
 *     per-sender  agent:AGENT:CHANNEL:SENDER      one a sender
 *
 * In a thread GROUP or SENDER is the id of what the thread hangs on.  A key is a text in a header, never a path:
 * files are named by random ids. */
#ifndef MAKI_STORE_RESOLVE_H
#define MAKI_STORE_RESOLVE_H

#include "store/sessions.h"

typedef enum maki_scope { MAKI_SCOPE_GLOBAL, MAKI_SCOPE_GROUP, MAKI_SCOPE_SENDER } maki_scope;

/* "global", "per-group" or "per-sender"; false when it is none of them. */
bool maki_scope_named(maki_str name, maki_scope *out);

/* Where a message came from; "" for what is not known. */
typedef struct maki_origin {
    const char *agent, *channel, *sender, *group, *thread;
} maki_origin;

/* MAKI_INVALID says which part is missing or cannot stand in a key. */
maki_status maki_origin_key(const maki_origin *from, maki_scope scope, char out[MAKI_KEY_MAX],
                            maki_err *err);

typedef struct maki_resolved {
    maki_session session;
    bool made;      /* it is new */
    char note[200]; /* about the view (session_index.h) */
} maki_resolved;

/* The active session with this key, or a new one.  With `fresh` a new one takes the key, with the same overrides, and
 * then those that had it are archived; when that fails, the one there was is found as before.  When the lock cannot be had in time it goes on without: then two
 * processes may make one each, and the older one is found from then on. */
maki_status maki_session_resolve(const maki_env *env, const char *home, const maki_origin *from,
                                 const char *key, bool fresh, maki_resolved *out, maki_err *err);

/* Note what holds from now on for the session with this messages file: `overrides`, a JSON object that takes the place of the one
 * before (NULL: stays), and whether it is archived (-1: stays).  MAKI_REFUSED KEY_TAKEN: it would be active
 * again, but another one has its key. */
typedef struct maki_session_change {
    const char *overrides;
    int archived;
} maki_session_change;
maki_status maki_session_set(const maki_env *env, const char *path, const maki_session_change *to,
                             maki_session *out, maki_err *err);
/* What is known of it. */
maki_status maki_session_get(const maki_env *env, const char *path, maki_session *out,
                             maki_err *err);

#endif

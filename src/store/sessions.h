/* sessions.h -- list sessions: of an agent or of all, the newest, the one with a key. */
#ifndef MAKI_STORE_SESSIONS_H
#define MAKI_STORE_SESSIONS_H

#include "store/session_index.h"

/* Each session of an agent (NULL: of all), in no particular order.  `note` (or NULL) gets the
 * warning of session_index.h about a sessions.json that could not be read or written, the last of several; "": none. */
maki_status maki_sessions_each(const maki_env *env, const char *home, const char *agent,
                               maki_session_fn fn, void *ctx, char note[200], maki_err *err);

/* The newest sessions. */
typedef struct maki_session_list {
    maki_session *items; /* newest first */
    size_t count, capacity;
    uint64_t all; /* number of all sessions */
    char note[200];
} maki_session_list;
/* At most `max`; freed by maki_session_list_free. */
maki_status maki_sessions_newest(const maki_env *env, const char *home, const char *agent,
                                 size_t max, maki_session_list *out, maki_err *err);
void maki_session_list_free(const maki_env *env, maki_session_list *list);

/* The active session that has this key.  Of several (copied files, two that began at once) the oldest, so
 * that an existing conversation is continued.  *found: is there one?  *report is that of session_index.h. */
maki_status maki_session_with_key(const maki_env *env, const maki_session_index_query *where,
                                  const char *key, maki_session *out, bool *found,
                                  maki_session_index_report *report, maki_err *err);

#endif

/* sessions.h -- list sessions: of an agent or of all, the newest, the one with a key. */
#ifndef MAKI_STORE_SESSIONS_H
#define MAKI_STORE_SESSIONS_H

#include "base/arena.h"
#include "store/session_index.h"

/* Each session of an agent (NULL: of all), in no particular order.  `note` (or NULL) gets the
 * warning of session_index.h about a sessions.json that could not be read or written, the last of several; "": none. */
maki_status maki_sessions_each(const maki_env *env, const char *home, const char *agent,
                               maki_session_fn fn, void *ctx, char note[200], maki_err *err);

/* Which sessions, and which of those, newest first, are returned.  A zeroed one: all of them. */
typedef struct maki_session_query {
    const char *home;
    const char *agent, *client, *model; /* NULL: any */
    int archived;                       /* 0: any, 1: only archived ones, -1: only active ones */
    bool failed;                        /* only those whose newest request failed */
    maki_str words; /* all of them in the title or the key, in any case, separated by white space */
    size_t offset, limit;
} maki_session_query;

enum { MAKI_SESSION_VALUES = 50 };

/* Distinct values over all sessions, the first that were found, sorted. */
typedef struct maki_session_values {
    const char *items[MAKI_SESSION_VALUES];
    size_t count;
} maki_session_values;

typedef struct maki_session_list {
    maki_session **items; /* newest first */
    size_t count;
    uint64_t all; /* number of all sessions that match, whatever offset and limit */
    maki_session_values agents, clients, models;
    char note[200];
    maki_arena arena; /* of all that this points to */
} maki_session_list;

/* The sessions that match.  Memory: those that are returned, and with an offset 16 bytes for each that matches.  *out is
 * freed by maki_session_list_free, also after a failure. */
maki_status maki_sessions_find(const maki_env *env, const maki_session_query *query,
                               maki_session_list *out, maki_err *err);
void maki_session_list_free(maki_session_list *list);

/* The active session that has this key.  Of several (copied files, two that began at once) the oldest, so
 * that an existing conversation is continued.  *found: is there one?  *report is that of session_index.h. */
maki_status maki_session_with_key(const maki_env *env, const maki_session_index_query *where,
                                  const char *key, maki_session *out, bool *found,
                                  maki_session_index_report *report, maki_err *err);

#endif

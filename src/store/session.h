/* session.h -- where sessions are, and which there are.
 *
 * State lives in one folder: agents/{agentId}/sessions/{sessionId}.jsonl with its events and index beside it.
 * An id never becomes a path unchecked: it is letters, digits, '-', '_' and '.', not at the beginning. */
#ifndef MAKI_STORE_SESSION_H
#define MAKI_STORE_SESSION_H

#include <stdbool.h>

#include <maki/env.h>

enum {
    MAKI_PATH_MAX = 4096,
    MAKI_ID_MAX = 128, /* a session's or an agent's id, with its NUL */
    MAKI_TITLE_MAX = 160
};

/* $MAKI_HOME, else $XDG_DATA_HOME/maki, else ~/.local/share/maki. */
void maki_home(char *out, size_t room);

bool maki_id_ok(const char *id);

/* home/agents/{agent}/{inside}, made with its parents (0700) if it is not there; `inside` may be "". */
maki_status maki_agent_folder(const char *home, const char *agent, const char *inside, char *out,
                              size_t room, maki_err *err);

/* The messages file of a session.  MAKI_INVALID: these are not ids. */
maki_status maki_session_file(const char *home, const char *agent, const char *id, char *out,
                              size_t room, maki_err *err);

/* One session, as its files tell. */
typedef struct maki_session {
    char agent[MAKI_ID_MAX], id[MAKI_ID_MAX];
    int64_t created, updated;  /* ms; created 0: its header does not say */
    uint64_t messages, tokens; /* of all rows, in o200k_base; 0 when it has no index */
    char key[MAKI_TITLE_MAX];  /* its session key; "" when its header has none */
} maki_session;

typedef maki_status (*maki_session_fn)(void *ctx, const maki_session *session, maki_err *err);
/* Each session of an agent (NULL: of all), in no order.  Files that cannot be read are passed over. */
maki_status maki_sessions_each(const maki_env *env, const char *home, const char *agent,
                               maki_session_fn fn, void *ctx, maki_err *err);

/* The newest of them, for people. */
typedef struct maki_session_list {
    maki_session *at; /* newest first */
    size_t count, room;
    uint64_t all; /* how many there are */
} maki_session_list;
/* At most `most`; given back by maki_session_list_free. */
maki_status maki_sessions_newest(const maki_env *env, const char *home, const char *agent,
                                 size_t most, maki_session_list *out, maki_err *err);
void maki_session_list_free(const maki_env *env, maki_session_list *list);

#endif

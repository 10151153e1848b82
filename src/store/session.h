/* session.h -- a session: the paths of its files, and the facts about it that sessions.json caches.
 *
 * State is kept in one directory:
 *
 *     agents/{agentId}/sessions.json                 the session index: a cache of all sessions (session_index.h)
 *     agents/{agentId}/sessions/{sessionId}.jsonl    its messages; its events and index are next to it
 *
 * An id never becomes a path unchecked: it is letters, digits, '-', '_' and '.', not at the beginning. */
#ifndef MAKI_STORE_SESSION_H
#define MAKI_STORE_SESSION_H

#include <stdbool.h>

#include <maki/env.h>

#include "base/limits.h"

enum {
    MAKI_CHANNEL_MAX = 64,
    MAKI_OVERRIDES_MAX = 400,
    MAKI_TITLE_MAX = 160,
    MAKI_CLIENT_MAX = 40,
    MAKI_LAST_ERROR_MAX = 320,
    MAKI_LAST_ACTION_MAX = 64
};

#define MAKI_AGENT_DEFAULT "default"

bool maki_id_is_valid(const char *id);

/* home/agents/{agent}/{inside}, created with its parents (0700) if missing; `inside` may be "". */
maki_status maki_agent_directory(const maki_files *files, const char *home, const char *agent,
                                 const char *inside, char *out, size_t capacity, maki_err *err);

/* The messages file of a session.  MAKI_INVALID: an id is not valid. */
maki_status maki_session_file(const char *home, const char *agent, const char *id, char *out,
                              size_t capacity, maki_err *err);

/* The reverse: parse the path of a messages file.  False: it is not under agents/{agent}/sessions; then `id` is still
 * derived from the file name, and the other fields are "". */
typedef struct maki_session_location {
    char home[MAKI_PATH_MAX], agent[MAKI_ID_MAX], id[MAKI_ID_MAX];
    char directory[MAKI_PATH_MAX]; /* of the file */
} maki_session_location;
bool maki_session_location_of(const char *path, maki_session_location *out);

/* The facts that sessions.json caches about a session.  All fields are derived from the session's files. */
typedef struct maki_session {
    char agent[MAKI_ID_MAX], id[MAKI_ID_MAX];
    int64_t created, updated; /* ms; created 0: unknown */
    uint64_t messages;
    uint64_t input, output;             /* tokens of all its requests */
    char key[MAKI_KEY_MAX];             /* "": none */
    char channel[MAKI_CHANNEL_MAX];     /* "": none */
    char model[MAKI_MODEL_MAX];         /* of the newest reply */
    char overrides[MAKI_OVERRIDES_MAX]; /* a JSON object; "": none */
    char title[MAKI_TITLE_MAX];         /* the first words of a person; "": none */
    bool named;                         /* somebody chose its key (maki session rename) */
    char client[MAKI_CLIENT_MAX];       /* the program that sent its requests; "": unknown */
    uint64_t errors;                    /* of providers, in all */
    /* JSON objects; "": none */
    char last_error[MAKI_LAST_ERROR_MAX]; /* {ts, status, message}, if the newest request failed */
    char last_action
        [MAKI_LAST_ACTION_MAX]; /* {ts, type} of the newest event that changed the view */
    bool archived;
    uint64_t read_messages, read_events; /* bytes of both files that were read */
} maki_session;

/* What to call it: the name that was chosen, else its title. */
maki_str maki_session_title(const maki_session *s);
/* The override `threshold`, in percent of the window; 0: none. */
double maki_session_threshold(const maki_session *s);

/* Reset all fields except agent and id. */
void maki_session_reset(maki_session *s);

typedef maki_status (*maki_session_fn)(void *ctx, const maki_session *session, maki_err *err);

#endif

/* session.c -- the paths of sessions: build them from ids, and parse them.
 *
 * An id is checked before it becomes part of a path; directories are created with mode 0700. */
#include "store/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <maki/op.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json_access.h"
#include "base/str_util.h"

bool maki_home(char *out, size_t capacity)
{
    const char *maki_home_dir = getenv("MAKI_HOME"), *xdg_data = getenv("XDG_DATA_HOME"),
               *home = getenv("HOME");
    int n = -1;
    if (maki_home_dir && maki_home_dir[0])
        n = snprintf(out, capacity, "%s", maki_home_dir);
    else if (xdg_data && xdg_data[0])
        n = snprintf(out, capacity, "%s/maki", xdg_data);
    else if (home && home[0])
        n = snprintf(out, capacity, "%s/.local/share/maki", home);
    bool found = n > 0 && (size_t)n < capacity;
    if (!found) out[0] = '\0';
    return found;
}

bool maki_id_is_valid(const char *id)
{
    size_t n = strlen(id);
    if (n == 0 || n >= MAKI_ID_MAX || id[0] == '.') return false;
    return strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

maki_status maki_agent_directory(const maki_files *files, const char *home, const char *agent,
                                 const char *inside, char *out, size_t capacity, maki_err *err)
{
    if (!maki_id_is_valid(agent))
        return maki_fail(err, MAKI_INVALID,
                         "not a valid agent name: letters, digits, - _ and . (not at the front)");
    int n = snprintf(out, capacity, "%s/agents/%s%s%s", home, agent, inside[0] ? "/" : "", inside);
    if (n < 0 || (size_t)n >= capacity) return maki_fail(err, MAKI_INVALID, "the path is too long");
    return maki_make_directories(files, out, err);
}

maki_status maki_session_file(const char *home, const char *agent, const char *id, char *out,
                              size_t capacity, maki_err *err)
{
    if (!maki_id_is_valid(agent) || !maki_id_is_valid(id))
        return maki_fail(err, MAKI_INVALID,
                         "not a valid session id: letters, digits, - _ and . (not at the front)");
    int n = snprintf(out, capacity, "%s/agents/%s/sessions/%s.jsonl", home, agent, id);
    if (n < 0 || (size_t)n >= capacity) return maki_fail(err, MAKI_INVALID, "the path is too long");
    return MAKI_OK;
}

/* Remove the last component of a path and copy it to `name`; false: there is none, or it does not fit. */
static bool pop_component(char *path, char *name, size_t capacity)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash == path || strlen(slash + 1) >= capacity) return false;
    snprintf(name, capacity, "%s", slash + 1);
    *slash = '\0';
    return true;
}

bool maki_session_location_of(const char *path, maki_session_location *out)
{
    char name[MAKI_ID_MAX + 16], sessions[16], agents[16];
    *out = (maki_session_location){ .directory = "." };
    const char *slash = strrchr(path, '/');
    if (slash && slash - path < MAKI_PATH_MAX)
        snprintf(out->directory, sizeof out->directory, "%.*s", (int)(slash - path), path);
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    size_t n = strlen(name), end = strlen(".jsonl");
    if (n > end && strcmp(name + n - end, ".jsonl") == 0) name[n - end] = '\0';
    snprintf(out->id, sizeof out->id, "%.127s", name);
    memcpy(out->home, out->directory, sizeof out->home);
    bool session = pop_component(out->home, sessions, sizeof sessions) &&
                   pop_component(out->home, out->agent, sizeof out->agent) &&
                   pop_component(out->home, agents, sizeof agents) &&
                   strcmp(sessions, "sessions") == 0 && strcmp(agents, "agents") == 0 &&
                   maki_id_is_valid(out->agent);
    if (!session) out->home[0] = out->agent[0] = '\0';
    return session;
}

maki_str maki_session_title(const maki_session *s)
{
    maki_str name = maki_str_of(s->key);
    if (!s->named) return maki_str_of(s->title);
    for (int parts = 0; parts < 2; parts++) /* "agent:AGENT:" */
        (void)maki_str_cut(&name, ':');
    return name;
}

double maki_session_threshold(const maki_session *s)
{
    maki_str value;
    bool found = s->overrides[0] &&
                 maki_json_get(maki_str_of(s->overrides), MAKI_LIT("threshold"), &value) &&
                 maki_json_kind_of(value) == MAKI_JSON_NUMBER;
    return found ? maki_json_double(value) : 0;
}

void maki_session_reset(maki_session *s)
{
    maki_session blank = { 0 };
    memcpy(blank.agent, s->agent, sizeof blank.agent);
    memcpy(blank.id, s->id, sizeof blank.id);
    *s = blank;
}

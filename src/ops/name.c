/* name.c -- which conversation a name means.
 *
 * A path of a messages file, or of a folder with messages.jsonl in it; else a task by its id under
 * contexts/running and contexts/completed; else a session by its id, its key or the beginning of its id under
 * the handle's state folder.  A name with a slash is only ever a path. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/op.h"
#include "store/key.h"
#include "store/names.h"
#include "store/sessions.h"

enum { ABBREVIATED = 4 /* characters of an id that may stand for all of it */ };

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static bool find_task(const char *id, char *path, size_t room)
{
    static const char *const folders[] = { "contexts/running", "contexts/completed" };
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, room, "%s/%s/messages.jsonl", folders[i], id);
        if (is_file(path)) return true;
    }
    return false;
}

static bool find_in_agent(const char *agent, const char *id, char *path, size_t room)
{
    char other[MAKI_ID_MAX];
    snprintf(path, room, "%s/sessions/%s.jsonl", agent, id);
    if (is_file(path)) return true;
    if (!maki_name_other(maki_str_of(id), other, sizeof other)) return false;
    snprintf(path, room, "%s/sessions/%s.jsonl", agent, other);
    return is_file(path);
}

/* Called with the folder of each agent; true stops. */
typedef bool (*agent_fn)(void *ctx, const char *agent);

static bool each_agent(const char *state, agent_fn fn, void *ctx)
{
    char agents[MAKI_PATH_MAX], agent[MAKI_PATH_MAX + 304];
    struct dirent *entry;
    bool stop = false;
    snprintf(agents, sizeof agents, "%s/agents", state);
    DIR *folder = opendir(agents);
    while (folder && !stop && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        snprintf(agent, sizeof agent, "%s/%s", agents, entry->d_name);
        stop = fn(ctx, agent);
    }
    if (folder) closedir(folder);
    return stop;
}

typedef struct looking {
    const char *name;
    char *path;
    size_t room;
    size_t found; /* by their beginning */
} looking;

/* The session with this id. */
static bool has_id(void *ctx, const char *agent)
{
    looking *l = ctx;
    return find_in_agent(agent, l->name, l->path, l->room);
}

/* Sessions whose ids begin so: the path of the first, and how many there are. */
static bool has_beginning(void *ctx, const char *agent)
{
    looking *l = ctx;
    char folder[4500];
    struct dirent *entry;
    maki_str stem;
    snprintf(folder, sizeof folder, "%s/sessions", agent);
    DIR *dir = opendir(folder);
    while (dir && (entry = readdir(dir)) != NULL) {
        if (!maki_name_of_file(entry->d_name, &stem) ||
            !maki_str_starts(stem, maki_str_of(l->name)))
            continue;
        if (l->found++ == 0) snprintf(l->path, l->room, "%s/%s", folder, entry->d_name);
    }
    if (dir) closedir(dir);
    return false;
}

/* The active session that has this key. */
static maki_status find_key(const maki_env *env, const char *state, const char *name, char *path,
                            size_t room, bool *found, maki_err *err)
{
    char agent[MAKI_ID_MAX];
    maki_arena arena = maki_arena_new(env->alloc, 1 << 16);
    maki_session_key key;
    maki_session session;
    maki_roster_report report;
    maki_roster_in where = { .home = state, .agent = agent };
    maki_status st = maki_session_key_parse(maki_str_of(name), &arena, &key, NULL);
    bool is_key = st == MAKI_OK && key.agent_id.len < sizeof agent;
    *found = false;
    if (st != MAKI_NOMEM) st = MAKI_OK; /* what is no key is not one of a session */
    if (is_key) {
        snprintf(agent, sizeof agent, "%.*s", (int)key.agent_id.len, key.agent_id.ptr);
        st = maki_session_with_key(env, &where, name, &session, found, &report, err);
        if (*found)
            snprintf(path, room, "%s/agents/%s/sessions/%s.jsonl", state, agent, session.id);
    }
    maki_arena_free(&arena);
    return st == MAKI_NOMEM ? maki_fail_nomem(err) : st;
}

static maki_status find_session(const maki *m, const char *name, char *path, size_t room,
                                maki_err *err)
{
    const char *state = m->home;
    looking l = { name, path, room, 0 };
    bool found = false;
    if (each_agent(state, has_id, &l)) return MAKI_OK;
    maki_status st = find_key(&m->env, state, name, path, room, &found, err);
    if (st != MAKI_OK || found) return st;
    if (strlen(name) >= ABBREVIATED) each_agent(state, has_beginning, &l);
    if (l.found > 1)
        return maki_fail(err, MAKI_INVALID, "several ids begin with %.80s: give more of it", name);
    if (l.found == 1) return MAKI_OK;
    return maki_fail(err, MAKI_NOTFOUND,
                     "there is no conversation %.80s: not a path, a task, a session or its key",
                     name);
}

maki_status maki_conversation_path(const maki *m, const char *name, char *path, size_t room,
                                   maki_err *err)
{
    size_t n = strlen(name);
    if (n == 0 || n + 40 > room) return maki_fail(err, MAKI_INVALID, "that is not a path");
    snprintf(path, room, "%s", name);
    if (is_folder(name)) {
        snprintf(path, room, "%s/messages.jsonl", name);
        return MAKI_OK;
    }
    if (ends_with(name, ".jsonl") || strchr(name, '/') || is_file(name)) return MAKI_OK;
    if (name[0] == '.' || n >= MAKI_KEY_MAX)
        return maki_fail(err, MAKI_INVALID, "%.80s cannot be the name of a conversation", name);
    if (find_task(name, path, room)) return MAKI_OK;
    return find_session(m, name, path, room, err);
}

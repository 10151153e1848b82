/* lookup.c -- resolve the name of a conversation to the path of its messages file.
 *
 * In this order: the path of a messages file, or of a directory with messages.jsonl in it; a task by its id under
 * contexts/running and contexts/completed; a session in the handle's state directory by its id, its key, its name (the
 * key without "agent:AGENT:") or a prefix of its id.  A name with a slash is always a path.  MAKI_NOTFOUND when nothing
 * matches; a name or prefix of several sessions is MAKI_INVALID.  Nothing is opened or created. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/str_util.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "store/key.h"
#include "store/session_files.h"
#include "store/sessions.h"

enum { PREFIX_MIN = 4 /* characters of an id */ };

static bool is_file(const maki_files *files, const char *path)
{
    return maki_file_is(files, path, S_IFREG);
}

static bool find_task(const maki_files *files, const char *id, char *path, size_t capacity)
{
    static const char *const directories[] = { "contexts/running", "contexts/completed" };
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, capacity, "%s/%s/messages.jsonl", directories[i], id);
        if (is_file(files, path)) return true;
    }
    return false;
}

typedef struct session_search {
    const maki_env *env;
    const maki_files *files;
    const char *home;
    const char *name;
    char *path;
    size_t capacity;
    char agents[MAKI_PATH_MAX], sessions[MAKI_PATH_MAX + 304]; /* directories */
    bool is_id;                                                /* the name is an id */
    size_t matches; /* sessions with this name or prefix */
    char ids[120];  /* ids or keys of the first matches, for the error */
    maki_status status;
    maki_err *err;
} session_search;

/* Called for each agent: does it have a session of this id?  False stops the walk. */
static bool match_id(void *ctx, const char *agent)
{
    session_search *l = ctx;
    char other[MAKI_ID_MAX];
    if (agent[0] == '.') return true;
    snprintf(l->path, l->capacity, "%s/%s/sessions/%s.jsonl", l->agents, agent, l->name);
    l->is_id = is_file(l->files, l->path);
    if (l->is_id || !maki_file_name_alternative(maki_str_of(l->name), other, sizeof other))
        return !l->is_id;
    snprintf(l->path, l->capacity, "%s/%s/sessions/%s.jsonl", l->agents, agent, other);
    l->is_id = is_file(l->files, l->path);
    return !l->is_id;
}

static void add_candidate(session_search *l, maki_str id)
{
    size_t used = strlen(l->ids);
    if (used + id.len + 6 < sizeof l->ids)
        snprintf(l->ids + used, sizeof l->ids - used, "%s%.*s", used ? ", " : "", MAKI_PRINTED(id));
    else if (used && l->ids[used - 1] != '.')
        strcat(l->ids, " ...");
}

static bool match_file_prefix(void *ctx, const char *file)
{
    session_search *l = ctx;
    maki_str stem;
    if (!maki_file_name_stem(file, &stem) || !maki_str_starts(stem, maki_str_of(l->name)))
        return true;
    add_candidate(l, stem);
    if (l->matches++ == 0) snprintf(l->path, l->capacity, "%s/%s", l->sessions, file);
    return true;
}

/* Called for each agent: counts the sessions whose ids have this prefix; the path is that of the first. */
static bool match_prefix(void *ctx, const char *agent)
{
    session_search *l = ctx;
    if (agent[0] == '.') return true;
    snprintf(l->sessions, sizeof l->sessions, "%s/%s/sessions", l->agents, agent);
    (void)l->files->list(l->files, l->sessions, match_file_prefix, l);
    return true;
}

/* The active session that has this key. */
static maki_status find_key(const maki_env *env, const char *state, const char *name, char *path,
                            size_t capacity, bool *found, maki_err *err)
{
    char agent[MAKI_ID_MAX];
    maki_arena arena = maki_arena_new(env->alloc, 1 << 16);
    maki_session_key key;
    maki_session session;
    maki_session_index_report report;
    maki_session_index_query index = { .home = state, .agent = agent };
    maki_status st = maki_session_key_parse(maki_str_of(name), &arena, &key, NULL);
    bool is_key = st == MAKI_OK && key.agent_id.len < sizeof agent;
    *found = false;
    if (st != MAKI_NOMEM) st = MAKI_OK; /* not a key: try the other kinds of names */
    if (is_key) {
        snprintf(agent, sizeof agent, "%.*s", (int)key.agent_id.len, key.agent_id.ptr);
        st = maki_session_with_key(env, &index, name, &session, found, &report, err);
        if (*found)
            snprintf(path, capacity, "%s/agents/%s/sessions/%s.jsonl", state, agent, session.id);
    }
    maki_arena_free(&arena);
    return st == MAKI_NOMEM ? maki_fail_nomem(err) : st;
}

/* Called for each agent: does it have an active session of this name? */
static bool match_name(void *ctx, const char *agent)
{
    session_search *l = ctx;
    char key[MAKI_KEY_MAX], path[MAKI_PATH_MAX];
    bool found = false;
    if (agent[0] == '.' ||
        (size_t)snprintf(key, sizeof key, "agent:%s:%s", agent, l->name) >= sizeof key)
        return true;
    l->status = find_key(l->env, l->home, key, path, sizeof path, &found, l->err);
    if (!found) return l->status == MAKI_OK;
    add_candidate(l, maki_str_of(key));
    if (l->matches++ == 0) snprintf(l->path, l->capacity, "%s", path);
    return true;
}

static maki_status find_session(const maki *m, const char *name, char *path, size_t capacity,
                                maki_err *err)
{
    const maki_files *files = m->env.files;
    session_search l = { .env = &m->env,
                         .files = files,
                         .home = m->home,
                         .name = name,
                         .path = path,
                         .capacity = capacity,
                         .err = err };
    bool found = false;
    snprintf(l.agents, sizeof l.agents, "%s/agents", m->home);
    (void)files->list(files, l.agents, match_id, &l);
    if (l.is_id) return MAKI_OK;
    maki_status st = find_key(&m->env, m->home, name, path, capacity, &found, err);
    if (st != MAKI_OK || found) return st;
    (void)files->list(files, l.agents, match_name, &l);
    if (l.status != MAKI_OK) return l.status;
    if (l.matches > 1)
        return maki_fail(err, MAKI_INVALID, "several sessions are named %.30s: %s; give the key",
                         name, l.ids);
    if (l.matches == 1) return MAKI_OK;
    if (strlen(name) >= PREFIX_MIN) (void)files->list(files, l.agents, match_prefix, &l);
    if (l.matches > 1)
        return maki_fail(err, MAKI_INVALID,
                         "several ids begin with %.30s: %s; give more characters", name, l.ids);
    if (l.matches == 1) return MAKI_OK;
    return maki_fail(
        err, MAKI_NOTFOUND,
        "there is no conversation %.80s: not a path, a task, a session's id, key or name", name);
}

maki_status maki_messages_file_check(const maki_env *env, const char *path, maki_err *err)
{
    char index[MAKI_PATH_MAX], first = '{';
    int fd = env->files->open(env->files, path, O_RDONLY, 0);
    if (fd < 0) return MAKI_OK;
    (void)!env->files->pread(env->files, fd, &first, 1, 0);
    env->files->close(env->files, fd);
    int stem = (int)(strlen(path) - strlen("jsonl"));
    snprintf(index, sizeof index, "%.*sidx", stem > 0 ? stem : 0, path);
    if (first == '{' || is_file(env->files, index)) return MAKI_OK;
    return maki_fail(err, MAKI_INVALID,
                     "%.120s is not a messages file: its first line is not a JSON object", path);
}

maki_status maki_conversation_path(const maki *m, const char *name, char *path, size_t capacity,
                                   maki_err *err)
{
    const maki_files *files = m->env.files;
    size_t n = strlen(name);
    if (n == 0 || n + 40 > capacity)
        return maki_fail(err, MAKI_INVALID, "the name of a conversation is empty or too long");
    snprintf(path, capacity, "%s", name);
    if (maki_file_is(files, name, S_IFDIR)) {
        snprintf(path, capacity, "%s/messages.jsonl", name);
        return MAKI_OK;
    }
    if (maki_str_ends(maki_str_of(name), MAKI_LIT(".jsonl")) || strchr(name, '/') ||
        is_file(files, name))
        return MAKI_OK;
    if (name[0] == '.' || n >= MAKI_KEY_MAX)
        return maki_fail(err, MAKI_INVALID, "%.80s cannot be the name of a conversation", name);
    if (find_task(files, name, path, capacity)) return MAKI_OK;
    return find_session(m, name, path, capacity, err);
}

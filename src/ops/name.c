/* name.c -- which conversation a name means.
 *
 * A path of a messages file, or of a folder with messages.jsonl in it; else a task by its id under
 * contexts/running and contexts/completed; else a session by its id or its key under the state folder
 * ($MAKI_HOME, $XDG_DATA_HOME/maki or ~/.local/share/maki).  A name with a slash is only ever a path. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "ops/op.h"
#include "store/key.h"
#include "store/session.h"

enum { STORE_MAX = 64 << 20 /* of a sessions.json */ };

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
    static const char *const spellings[] = { "%s/sessions/%s.jsonl",
                                             "%s/sessions/session-%s.jsonl" };
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, room, spellings[i], agent, id);
        if (is_file(path)) return true;
    }
    return false;
}

/* The session with this id, of any agent. */
static bool find_session(const char *state, const char *id, char *path, size_t room)
{
    char agents[4096], agent[4400];
    struct dirent *entry;
    bool found = false;
    snprintf(agents, sizeof agents, "%s/agents", state);
    DIR *folder = opendir(agents);
    while (folder && !found && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        snprintf(agent, sizeof agent, "%s/%s", agents, entry->d_name);
        found = find_in_agent(agent, id, path, room);
    }
    if (folder) closedir(folder);
    return found;
}

/* sessions.json of an agent: {"entries": {id: {"sessionKey": ...}}}. */
static bool id_of_key(const maki_env *env, const char *agent, maki_str key, char *id, size_t room)
{
    char file[4500], block[4096];
    maki_buf text = maki_buf_new(env->alloc, STORE_MAX);
    maki_str all, entries, own;
    maki_json_item item;
    bool found = false;
    size_t n;
    snprintf(file, sizeof file, "%s/sessions.json", agent);
    FILE *f = fopen(file, "rb");
    while (f && (n = fread(block, 1, sizeof block, f)) > 0)
        maki_buf_add(&text, (maki_str){ block, n });
    if (f) fclose(f);
    if (text.len && text.status == MAKI_OK &&
        maki_json_check(maki_buf_str(&text), &all, NULL) == MAKI_OK &&
        maki_json_get(all, MAKI_LIT("entries"), &entries)) {
        maki_json_iter iter = maki_json_items(entries);
        while (!found && iter.object && maki_json_next(&iter, &item)) {
            found = maki_json_get(item.value, MAKI_LIT("sessionKey"), &own) &&
                    maki_json_kind_of(own) == MAKI_JSON_STRING && maki_json_text_is(own, key);
            if (!found) continue;
            maki_str name = { item.key.ptr - 1, item.key.len + 2 };
            id[maki_json_copy_text(name, id, room - 1)] = '\0';
        }
    }
    maki_buf_free(&text);
    return found;
}

static bool find_key(const maki_env *env, const char *state, const char *name, char *path,
                     size_t room)
{
    char agent[4400], id[256];
    maki_arena arena = maki_arena_new(env->alloc, 1 << 16);
    maki_session_key key;
    bool found = maki_session_key_parse(maki_str_of(name), &arena, &key, NULL) == MAKI_OK;
    if (found) {
        snprintf(agent, sizeof agent, "%s/agents/%.*s", state, (int)key.agent_id.len,
                 key.agent_id.ptr);
        found = id_of_key(env, agent, maki_str_of(name), id, sizeof id) && !strchr(id, '/') &&
                find_in_agent(agent, id, path, room);
    }
    maki_arena_free(&arena);
    return found;
}

maki_status maki_conversation_path(const maki_env *env, const char *name, char *path, size_t room,
                                   maki_err *err)
{
    char state[3000];
    size_t n = strlen(name);
    if (n == 0 || n + 40 > room) return maki_fail(err, MAKI_INVALID, "that is not a path");
    snprintf(path, room, "%s", name);
    if (is_folder(name)) {
        snprintf(path, room, "%s/messages.jsonl", name);
        return MAKI_OK;
    }
    if (ends_with(name, ".jsonl") || strchr(name, '/') || is_file(name)) return MAKI_OK;
    maki_home(state, sizeof state);
    if (name[0] != '.' && n < 200 &&
        (find_task(name, path, room) || find_session(state, name, path, room) ||
         find_key(env, state, name, path, room))) {
        return MAKI_OK;
    }
    return maki_fail(err, MAKI_NOTFOUND,
                     "there is no conversation %.80s: not a path, a task, a session or its key",
                     name);
}

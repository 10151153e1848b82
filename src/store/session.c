/* session.c -- see session.h. */
#include "store/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json.h"
#include "base/str.h"
#include "log/index.h"

enum { HEADER_MAX = 4096 };

void maki_home(char *out, size_t room)
{
    const char *own = getenv("MAKI_HOME"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (own && own[0])
        snprintf(out, room, "%s", own);
    else if (data && data[0])
        snprintf(out, room, "%s/maki", data);
    else
        snprintf(out, room, "%s/.local/share/maki", home ? home : "");
}

bool maki_id_ok(const char *id)
{
    size_t n = strlen(id);
    if (n == 0 || n >= MAKI_ID_MAX || id[0] == '.') return false;
    return strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

/* Make every folder on the way. */
static maki_status make_folders(char *path, maki_err *err)
{
    for (char *slash = path + 1;; slash++) {
        if (*slash && *slash != '/') continue;
        char kept = *slash;
        *slash = '\0';
        int failed = mkdir(path, 0700) != 0 && errno != EEXIST;
        *slash = kept;
        if (failed) return maki_fail_errno(err, "making the state folder");
        if (!kept) return MAKI_OK;
    }
}

maki_status maki_agent_folder(const char *home, const char *agent, const char *inside, char *out,
                              size_t room, maki_err *err)
{
    if (!maki_id_ok(agent)) return maki_fail(err, MAKI_INVALID, "that is not the name of an agent");
    int n = snprintf(out, room, "%s/agents/%s%s%s", home, agent, inside[0] ? "/" : "", inside);
    if (n < 0 || (size_t)n >= room) return maki_fail(err, MAKI_INVALID, "the path is too long");
    return make_folders(out, err);
}

maki_status maki_session_file(const char *home, const char *agent, const char *id, char *out,
                              size_t room, maki_err *err)
{
    if (!maki_id_ok(agent) || !maki_id_ok(id))
        return maki_fail(err, MAKI_INVALID, "that is not the id of a session");
    int n = snprintf(out, room, "%s/agents/%s/sessions/%s.jsonl", home, agent, id);
    if (n < 0 || (size_t)n >= room) return maki_fail(err, MAKI_INVALID, "the path is too long");
    return MAKI_OK;
}

/* ---- one session ------------------------------------------------------------------------------------- */

/* What the header row says, if there is one. */
static void read_header(const maki_env *env, int fd, maki_session *out)
{
    char text[HEADER_MAX];
    size_t got = 0;
    maki_str header, value;
    if (maki_file_read_at(env->files, fd, 0, text, sizeof text, &got, NULL) != MAKI_OK) return;
    const char *end = memchr(text, '\n', got);
    maki_str row = { text, end ? (size_t)(end - text) : 0 };
    if (!maki_str_starts(row, MAKI_LIT("{\"type\":\"header\"")) ||
        maki_json_check(row, &header, NULL) != MAKI_OK)
        return;
    if (maki_json_get(header, MAKI_LIT("createdAt"), &value))
        out->created = (int64_t)maki_json_double(value);
    if (maki_json_get(header, MAKI_LIT("sessionKey"), &value) &&
        maki_json_kind_of(value) == MAKI_JSON_STRING)
        out->key[maki_json_copy_text(value, out->key, sizeof out->key - 1)] = '\0';
}

/* What the index says, if there is one. */
static void read_index(const maki_env *env, const char *folder, maki_session *out)
{
    char path[MAKI_PATH_MAX];
    maki_index index;
    maki_row last;
    snprintf(path, sizeof path, "%s/%s.idx", folder, out->id);
    if (maki_index_open(&index, env, path, false, NULL) != MAKI_OK) return;
    out->messages = index.header.count;
    if (index.header.count && maki_index_get(&index, index.header.count, &last, NULL) == MAKI_OK)
        out->tokens = last.tokens_so_far;
    maki_index_close(&index);
}

static bool read_session(const maki_env *env, const char *folder, const char *file,
                         maki_session *out)
{
    struct stat st;
    char path[MAKI_PATH_MAX];
    size_t n = strlen(file), end = strlen(".jsonl"), events = strlen(".events.jsonl");
    if (n <= end || strcmp(file + n - end, ".jsonl") != 0 || n - end >= sizeof out->id ||
        (n > events && strcmp(file + n - events, ".events.jsonl") == 0))
        return false;
    snprintf(out->id, sizeof out->id, "%.*s", (int)(n - end), file);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    int fd = env->files->open(env->files, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0) env->files->close(env->files, fd);
        return false;
    }
    out->updated = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    read_header(env, fd, out);
    env->files->close(env->files, fd);
    read_index(env, folder, out);
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------- */

static maki_status each_of_agent(const maki_env *env, const char *home, const char *agent,
                                 maki_session_fn fn, void *ctx, maki_err *err)
{
    char folder[MAKI_PATH_MAX - 256];
    struct dirent *entry;
    maki_status st = MAKI_OK;
    if (!maki_id_ok(agent)) return MAKI_OK;
    snprintf(folder, sizeof folder, "%s/agents/%s/sessions", home, agent);
    DIR *dir = opendir(folder);
    while (dir && st == MAKI_OK && (entry = readdir(dir)) != NULL) {
        maki_session session = { 0 };
        if (!read_session(env, folder, entry->d_name, &session)) continue;
        snprintf(session.agent, sizeof session.agent, "%s", agent);
        st = fn(ctx, &session, err);
    }
    if (dir) closedir(dir);
    return st;
}

maki_status maki_sessions_each(const maki_env *env, const char *home, const char *agent,
                               maki_session_fn fn, void *ctx, maki_err *err)
{
    char folder[MAKI_PATH_MAX];
    struct dirent *entry;
    maki_status st = MAKI_OK;
    if (agent) return each_of_agent(env, home, agent, fn, ctx, err);
    snprintf(folder, sizeof folder, "%s/agents", home);
    DIR *dir = opendir(folder);
    while (dir && st == MAKI_OK && (entry = readdir(dir)) != NULL)
        st = each_of_agent(env, home, entry->d_name, fn, ctx, err);
    if (dir) closedir(dir);
    return st;
}

typedef struct collecting {
    maki_session_list *list;
    size_t most;
} collecting;

/* Keep the list in order; what falls off its end is forgotten. */
static maki_status keep_newest(void *ctx, const maki_session *session, maki_err *err)
{
    collecting *c = ctx;
    maki_session_list *list = c->list;
    size_t at = list->count;
    (void)err;
    list->all++;
    while (at > 0 && list->at[at - 1].updated < session->updated)
        at--;
    if (at == c->most) return MAKI_OK;
    if (list->count < c->most) list->count++;
    memmove(&list->at[at + 1], &list->at[at], (list->count - at - 1) * sizeof list->at[0]);
    list->at[at] = *session;
    return MAKI_OK;
}

maki_status maki_sessions_newest(const maki_env *env, const char *home, const char *agent,
                                 size_t most, maki_session_list *out, maki_err *err)
{
    collecting c = { out, most };
    *out = (maki_session_list){ .room = most };
    out->at = env->alloc->resize(env->alloc, NULL, 0, most * sizeof(maki_session));
    if (!out->at) return maki_fail_nomem(err);
    maki_status st = maki_sessions_each(env, home, agent, keep_newest, &c, err);
    if (st != MAKI_OK) maki_session_list_free(env, out);
    return st;
}

void maki_session_list_free(const maki_env *env, maki_session_list *list)
{
    if (list->at) env->alloc->resize(env->alloc, list->at, list->room * sizeof(maki_session), 0);
    *list = (maki_session_list){ 0 };
}

/* session_watch.c -- watch agents/, each agents/AGENT and its sessions/, and report changed sessions from a timer.
 *
 * A new directory is listed once, when its watch has begun: what was created in it before that is found there.  The list
 * of changed sessions has a fixed size. */
#include "daemon/session_watch.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/files.h"
#include "base/json_print.h"
#include "base/platform.h"
#include "store/event_fifo.h"
#include "store/session.h"
#include "store/session_files.h"

enum {
    INTERVAL_MS = 200,
    CHANGED_MAX = 128, /* sessions; more at once are reported as one event */
    AGENTS_MAX = 4096
};

/* A watched directory: agents/, an agent's, or its sessions/. */
typedef enum directory_kind { AGENTS, AGENT, SESSIONS } directory_kind;
typedef struct directory {
    int watch;
    directory_kind kind;
    char agent[MAKI_ID_MAX];
} directory;

typedef struct changed_session {
    char agent[MAKI_ID_MAX], id[MAKI_ID_MAX];
} changed_session;

struct maki_session_watch {
    const maki_env *env;
    struct event_base *base;
    maki_broadcast *broadcast;
    int fd; /* -1: nobody listens, or the system cannot watch */
    struct event *readable, *timer;
    directory *directories;
    size_t count, capacity;
    changed_session changed[CHANGED_MAX];
    size_t changed_count;
    bool overflow; /* more sessions have changed than are listed */
    char home[MAKI_PATH_MAX];
};

/* ---- reporting ------------------------------------------------------------------------------------ */

static void send_changed(const maki_session_watch *w, const char *agent, const char *id)
{
    maki_jw out;
    maki_buf json = maki_buf_new(w->env->alloc, MAKI_EVENT_MAX);
    maki_jw_init(&out, maki_buf_sink(&json), NULL);
    maki_jw_print(&out, "{'type':'changed','agent':%z,'session':%z}", agent, id);
    if (maki_jw_end(&out) == MAKI_OK) maki_broadcast_send(w->broadcast, maki_buf_str(&json));
    maki_buf_free(&json);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    maki_session_watch *w = ctx;
    (void)fd, (void)what;
    for (size_t i = 0; i < w->changed_count && !w->overflow; i++)
        send_changed(w, w->changed[i].agent, w->changed[i].id);
    if (w->overflow) send_changed(w, NULL, NULL);
    w->changed_count = 0;
    w->overflow = false;
}

static void start_timer(maki_session_watch *w)
{
    static const struct timeval interval = { .tv_usec = INTERVAL_MS * 1000 };
    if (!evtimer_pending(w->timer, NULL)) evtimer_add(w->timer, &interval);
}

static void add_overflow(maki_session_watch *w)
{
    w->overflow = true;
    start_timer(w);
}

static void add_changed(maki_session_watch *w, const char *agent, maki_str id)
{
    for (size_t i = w->changed_count; i > 0; i--) { /* the newest first: it is often the same */
        const changed_session *c = &w->changed[i - 1];
        if (maki_str_equal(maki_str_of(c->id), id) && strcmp(c->agent, agent) == 0) return;
    }
    if (w->changed_count == CHANGED_MAX) {
        w->overflow = true;
        return;
    }
    changed_session *c = &w->changed[w->changed_count++];
    snprintf(c->agent, sizeof c->agent, "%s", agent);
    snprintf(c->id, sizeof c->id, "%.*s", MAKI_PRINTED(id));
    start_timer(w);
}

/* A file of a session: ID.jsonl or ID.events.jsonl.  Other files (the index, temporary ones) are derived from these. */
static void add_file(maki_session_watch *w, const char *agent, const char *file)
{
    static const maki_str events = { ".events.jsonl", 13 };
    char messages[MAKI_ID_MAX + 16];
    maki_str name = maki_str_of(file), id;
    if (maki_str_ends(name, events)) {
        snprintf(messages, sizeof messages, "%.*s.jsonl", (int)(name.len - events.len), file);
        file = messages;
    }
    if (maki_file_name_stem(file, &id)) add_changed(w, agent, id);
}

/* ---- directories ---------------------------------------------------------------------------------- */

static bool watch_directory(maki_session_watch *w, directory_kind kind, const char *agent,
                            const char *path)
{
    const maki_alloc *alloc = w->env->alloc;
    int watch = maki_watch_add(w->fd, path, kind == SESSIONS);
    if (watch < 0) return false;
    for (size_t i = 0; i < w->count; i++) {
        if (w->directories[i].watch == watch) return false;
    }
    directory *grown =
        maki_array_grow(alloc, w->directories, w->count, &w->capacity, sizeof *grown);
    if (!grown) return false;
    w->directories = grown;
    directory *d = &w->directories[w->count++];
    *d = (directory){ .watch = watch, .kind = kind };
    snprintf(d->agent, sizeof d->agent, "%s", agent);
    return true;
}

typedef struct listing {
    maki_session_watch *watch;
    const char *agent;
} listing;

static bool add_listed_file(void *ctx, const char *file)
{
    const listing *l = ctx;
    add_file(l->watch, l->agent, file);
    return !l->watch->overflow;
}

/* `is_new`: what is in it was not there when somebody began to listen. */
static void watch_sessions(maki_session_watch *w, const char *agent, bool is_new)
{
    char path[MAKI_PATH_MAX];
    listing l = { w, agent };
    snprintf(path, sizeof path, "%s/agents/%s/sessions", w->home, agent);
    if (watch_directory(w, SESSIONS, agent, path) && is_new)
        (void)w->env->files->list(w->env->files, path, add_listed_file, &l);
}

static void watch_agent(maki_session_watch *w, const char *agent, bool is_new)
{
    char path[MAKI_PATH_MAX];
    if (!maki_id_is_valid(agent) || w->count > 2 * AGENTS_MAX) return;
    snprintf(path, sizeof path, "%s/agents/%s", w->home, agent);
    if (watch_directory(w, AGENT, agent, path)) watch_sessions(w, agent, is_new);
}

static bool watch_listed_agent(void *ctx, const char *agent)
{
    watch_agent(ctx, agent, false);
    return true;
}

/* Of agents/, which is created if missing. */
static void watch_agents(maki_session_watch *w)
{
    char path[MAKI_PATH_MAX];
    snprintf(path, sizeof path, "%s/agents", w->home);
    if (maki_make_directories(w->env->files, path, NULL) == MAKI_OK &&
        watch_directory(w, AGENTS, "", path))
        (void)w->env->files->list(w->env->files, path, watch_listed_agent, w);
}

static void on_change(void *ctx, int watch, const char *name)
{
    maki_session_watch *w = ctx;
    char agent[MAKI_ID_MAX];
    size_t i = 0;
    if (watch < 0) add_overflow(w);
    while (i < w->count && w->directories[i].watch != watch)
        i++;
    if (i == w->count) return;
    memcpy(agent, w->directories[i].agent, sizeof agent); /* the array may move */
    if (!*name)
        w->directories[i] = w->directories[--w->count];
    else if (w->directories[i].kind == AGENTS)
        watch_agent(w, name, true);
    else if (w->directories[i].kind == SESSIONS)
        add_file(w, agent, name);
    else if (strcmp(name, "sessions") == 0)
        watch_sessions(w, agent, true);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
    (void)what;
    maki_watch_read((int)fd, on_change, ctx);
}

/* ---- begin and end -------------------------------------------------------------------------------- */

static void stop(maki_session_watch *w)
{
    const maki_files *files = w->env->files;
    if (w->readable) event_free(w->readable);
    if (w->fd >= 0) files->close(files, w->fd);
    if (w->timer) evtimer_del(w->timer);
    w->env->alloc->resize(w->env->alloc, w->directories, w->capacity * sizeof *w->directories, 0);
    w->readable = NULL;
    w->fd = -1;
    w->directories = NULL;
    w->count = w->capacity = w->changed_count = 0;
    w->overflow = false;
}

static void start(maki_session_watch *w)
{
    w->fd = maki_watch_open();
    if (w->fd < 0) return;
    w->readable = event_new(w->base, w->fd, EV_READ | EV_PERSIST, on_readable, w);
    if (w->readable && event_add(w->readable, NULL) == 0)
        watch_agents(w);
    else
        stop(w);
}

static void on_listened(void *ctx, bool listened)
{
    if (listened)
        start(ctx);
    else
        stop(ctx);
}

maki_status maki_session_watch_open(const maki_env *env, struct event_base *base, const char *home,
                                    maki_broadcast *broadcast, maki_session_watch **out,
                                    maki_err *err)
{
    maki_session_watch *w = maki_new(env->alloc, maki_session_watch);
    if (!w) return maki_fail_nomem(err);
    *w = (maki_session_watch){ .env = env, .base = base, .broadcast = broadcast, .fd = -1 };
    snprintf(w->home, sizeof w->home, "%s", home);
    w->timer = evtimer_new(base, on_timer, w);
    if (!w->timer) {
        maki_session_watch_close(w);
        return maki_fail_nomem(err);
    }
    maki_broadcast_watch(broadcast, on_listened, w);
    *out = w;
    return MAKI_OK;
}

void maki_session_watch_close(maki_session_watch *w)
{
    if (!w) return;
    maki_broadcast_watch(w->broadcast, NULL, NULL);
    stop(w);
    if (w->timer) event_free(w->timer);
    maki_delete(w->env->alloc, w);
}

/* sessions.c -- list sessions by scanning the session index (session_index.h) of one agent or of all.
 *
 * In:    the state directory, an agent (NULL: all), a key or a maximum count.
 * Out:   each session to a callback, the newest, or the oldest active one with the key. */
#include "store/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "store/transcript.h"

typedef struct agent_walk {
    const maki_env *env;
    maki_session_index_query in;
    char *note;
    maki_status status;
    maki_err *err;
} agent_walk;

/* False: it failed. */
static bool walk_agent(void *ctx, const char *agent)
{
    agent_walk *w = ctx;
    maki_session_index_report report;
    w->in.agent = agent;
    w->status = maki_session_index_each(w->env, &w->in, &report, w->err);
    if (w->note && report.note[0]) memcpy(w->note, report.note, sizeof report.note);
    return w->status == MAKI_OK;
}

maki_status maki_sessions_each(const maki_env *env, const char *home, const char *agent,
                               maki_session_fn fn, void *ctx, char note[200], maki_err *err)
{
    char directory[MAKI_PATH_MAX];
    agent_walk w = { env, { .home = home, .fn = fn, .ctx = ctx }, note, MAKI_OK, err };
    if (note) note[0] = '\0';
    if (agent) {
        (void)walk_agent(&w, agent);
        return w.status;
    }
    snprintf(directory, sizeof directory, "%s/agents", home);
    if (env->files->list(env->files, directory, walk_agent, &w) == 0 || errno == ENOENT)
        return w.status; /* the directory is missing: there are no sessions yet */
    return maki_fail_errno(err, "reading the directory of the agents");
}

/* ---- the newest ------------------------------------------------------------------------------------ */

typedef struct newest_list {
    maki_session_list *list;
    size_t max;
} newest_list;

/* Insert in order; a full list loses its last item. */
static maki_status insert_newest(void *ctx, const maki_session *session, maki_err *err)
{
    newest_list *c = ctx;
    maki_session_list *list = c->list;
    size_t at = list->count;
    (void)err;
    list->all++;
    while (at > 0 && list->items[at - 1].updated < session->updated)
        at--;
    if (at == c->max) return MAKI_OK;
    if (list->count < c->max) list->count++;
    memmove(&list->items[at + 1], &list->items[at], (list->count - at - 1) * sizeof list->items[0]);
    list->items[at] = *session;
    return MAKI_OK;
}

/* Events without a message do not change the time of the messages file: so they are read for the sessions in the
 * list. */
static void read_new_events(const maki_env *env, const char *home, maki_session *s)
{
    char directory[MAKI_PATH_MAX + MAKI_ID_MAX];
    maki_session seen = *s;
    snprintf(directory, sizeof directory, "%s/agents/%s/sessions", home, s->agent);
    if (maki_transcript_has_events(env, directory, s) &&
        maki_transcript_read(env, directory, &seen, NULL) == MAKI_OK)
        *s = seen;
}

maki_status maki_sessions_newest(const maki_env *env, const char *home, const char *agent,
                                 size_t max, maki_session_list *out, maki_err *err)
{
    newest_list c = { out, max };
    *out = (maki_session_list){ .capacity = max };
    out->items = env->alloc->resize(env->alloc, NULL, 0, max * sizeof(maki_session));
    if (!out->items) return maki_fail_nomem(err);
    maki_status st = maki_sessions_each(env, home, agent, insert_newest, &c, out->note, err);
    if (st != MAKI_OK) maki_session_list_free(env, out);
    for (size_t i = 0; i < out->count; i++)
        read_new_events(env, home, &out->items[i]);
    return st;
}

void maki_session_list_free(const maki_env *env, maki_session_list *list)
{
    if (list->items)
        env->alloc->resize(env->alloc, list->items, list->capacity * sizeof(maki_session), 0);
    *list = (maki_session_list){ 0 };
}

/* ---- by key ---------------------------------------------------------------------------------------- */

typedef struct oldest_match {
    maki_session *best;
    bool found;
} oldest_match;

static bool is_older(const maki_session *a, const maki_session *b)
{
    if (a->created != b->created) return a->created < b->created;
    return strcmp(a->id, b->id) < 0;
}

static maki_status on_match(void *ctx, const maki_session *session, maki_err *err)
{
    oldest_match *c = ctx;
    (void)err;
    if (session->archived || (c->found && !is_older(session, c->best))) return MAKI_OK;
    *c->best = *session;
    c->found = true;
    return MAKI_OK;
}

maki_status maki_session_with_key(const maki_env *env, const maki_session_index_query *where,
                                  const char *key, maki_session *out, bool *found,
                                  maki_session_index_report *report, maki_err *err)
{
    oldest_match c = { out, false };
    maki_session_index_query in = *where;
    in.key = key;
    in.fn = on_match;
    in.ctx = &c;
    maki_status st = maki_session_index_each(env, &in, report, err);
    *found = st == MAKI_OK && c.found;
    return st;
}

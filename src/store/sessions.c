/* sessions.c -- list sessions by scanning the session index (session_index.h) of one agent or of all.
 *
 * In:    the state directory, an agent (NULL: all), a key or a query.
 * Out:   each session to a callback, those that match the query, or the oldest active one with the key. */
#include "store/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/casefold.h"
#include "base/err.h"
#include "base/sort.h"
#include "base/str_util.h"
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
    return maki_fail_errno(err, "cannot read the directory of the agents");
}

/* ---- a query --------------------------------------------------------------------------------------- */

enum { LIST_MEMORY_MAX = 256 << 20, WORDS_MAX = 512, FOLDED_MAX = 4096 };

/* The place of a session in the list: the newest first, equal times in an order of their own. */
typedef struct rank {
    int64_t updated;
    uint64_t hash; /* of agent and id */
} rank;

typedef struct query_scan {
    const maki_session_query *query;
    maki_session_list *list;
    char words[WORDS_MAX]; /* folded */
    bool counts; /* the first scan: count, note the values, and with an offset the ranks */
    rank *ranks;
    size_t rank_count, rank_capacity;
    bool bounded;
    rank first; /* if bounded: of the first session that is returned */
} query_scan;

static rank rank_of(const maki_session *s)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *c = s->agent; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (const char *c = s->id; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return (rank){ s->updated, hash };
}

static bool is_before(const void *a, const void *b)
{
    const rank *x = a, *y = b;
    return x->updated != y->updated ? x->updated > y->updated : x->hash > y->hash;
}

/* Is each word in the title or in the key? */
static bool has_words(const char *folded_words, const maki_session *s)
{
    char text[FOLDED_MAX];
    maki_str words = maki_str_of(folded_words);
    if (!words.len) return true;
    size_t n = maki_casefold(maki_str_of(s->title), text, sizeof text - 1);
    text[n++] = '\n';
    n += maki_casefold(maki_str_of(s->key), text + n, sizeof text - n);
    while (words.len) {
        maki_str word = maki_str_cut(&words, ' ');
        if (word.len && !maki_str_contains((maki_str){ text, n }, word)) return false;
    }
    return true;
}

static bool is_in_state(const maki_session_query *query, const maki_session *s)
{
    switch (query->state) {
    case MAKI_SESSIONS_ACTIVE: return !s->archived;
    case MAKI_SESSIONS_ARCHIVED: return s->archived;
    case MAKI_SESSIONS_FAILED: return s->last_error[0] != '\0';
    default: return true;
    }
}

static bool is_same(const char *wanted, const char *value)
{
    return !wanted || strcmp(wanted, value) == 0;
}

static bool matches(const query_scan *q, const maki_session *s)
{
    const maki_session_query *query = q->query;
    return is_same(query->agent, s->agent) && is_same(query->client, s->client) &&
           is_same(query->model, s->model) && is_in_state(query, s) && has_words(q->words, s);
}

static void note_value(maki_session_values *values, const char *value, maki_arena *arena)
{
    size_t at = 0;
    if (!value[0]) return;
    while (at < values->count && strcmp(values->items[at], value) < 0)
        at++;
    bool known = at < values->count && strcmp(values->items[at], value) == 0;
    if (known || values->count == MAKI_SESSION_VALUES) return;
    const char *copy = maki_arena_print(arena, "%s", value).ptr;
    memmove(&values->items[at + 1], &values->items[at],
            (values->count - at) * sizeof values->items[0]);
    values->items[at] = copy;
    values->count++;
}

/* Keep the first of those that are not before `first`; the place of the last is used again. */
static void insert(query_scan *q, const maki_session *session)
{
    maki_session_list *list = q->list;
    rank r = rank_of(session);
    size_t at = list->count;
    if (q->bounded && is_before(&r, &q->first)) return;
    while (at > 0) {
        rank other = rank_of(list->items[at - 1]);
        if (!is_before(&r, &other)) break;
        at--;
    }
    if (at == q->query->limit) return;
    bool full = list->count == q->query->limit;
    maki_session *place =
        full ? list->items[list->count - 1] : maki_arena_get(&list->arena, sizeof *place);
    if (!place) return; /* the status of the arena says so */
    if (!full) list->count++;
    memmove(&list->items[at + 1], &list->items[at], (list->count - at - 1) * sizeof place);
    *place = *session;
    list->items[at] = place;
}

static maki_status on_session(void *ctx, const maki_session *s, maki_err *err)
{
    query_scan *q = ctx;
    maki_session_list *list = q->list;
    if (q->counts) {
        note_value(&list->agents, s->agent, &list->arena);
        note_value(&list->clients, s->client, &list->arena);
        note_value(&list->models, s->model, &list->arena);
    }
    if (!matches(q, s)) return maki_arena_status(&list->arena, err);
    list->all += q->counts;
    if (q->counts && q->query->offset) {
        rank *grown = maki_arena_grow(&list->arena, q->ranks, q->rank_count, &q->rank_capacity,
                                      sizeof *grown);
        if (grown) q->ranks = grown;
        if (grown) q->ranks[q->rank_count++] = rank_of(s);
    } else {
        insert(q, s);
    }
    return maki_arena_status(&list->arena, err);
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

/* The second scan: those from the rank at the offset on. */
static maki_status read_page(const maki_env *env, query_scan *q, maki_err *err)
{
    maki_session_list *list = q->list;
    if (q->rank_count <= q->query->offset) return MAKI_OK;
    maki_status st =
        maki_sort(q->ranks, q->rank_count, sizeof *q->ranks, is_before, &list->arena, err);
    if (st != MAKI_OK) return st;
    q->counts = false;
    q->bounded = true;
    q->first = q->ranks[q->query->offset];
    return maki_sessions_each(env, q->query->home, q->query->agent, on_session, q, NULL, err);
}

maki_status maki_sessions_find(const maki_env *env, const maki_session_query *query,
                               maki_session_list *out, maki_err *err)
{
    query_scan q = { .query = query, .list = out, .counts = true };
    *out = (maki_session_list){ .arena = maki_arena_new(env->alloc, LIST_MEMORY_MAX) };
    out->items = maki_arena_get(&out->arena, (query->limit + 1) * sizeof *out->items);
    size_t n = maki_casefold(query->words, q.words, sizeof q.words - 1);
    q.words[n] = '\0';
    maki_status st = maki_arena_status(&out->arena, err);
    if (st == MAKI_OK)
        st = maki_sessions_each(env, query->home, NULL, on_session, &q, out->note, err);
    if (st == MAKI_OK && query->offset) st = read_page(env, &q, err);
    for (size_t i = 0; st == MAKI_OK && i < out->count; i++)
        read_new_events(env, query->home, out->items[i]);
    return st;
}

void maki_session_list_free(maki_session_list *list)
{
    maki_arena_free(&list->arena);
    *list = (maki_session_list){ .count = 0 };
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

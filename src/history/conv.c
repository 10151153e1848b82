/* conv.c -- opening and seeing a conversation; see conversation.h.  Changes are in change.c, conv_*.c. */
#include "history/conv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/spool.h"
#include "base/str_util.h"
#include "history/apply_trims.h"
#include "history/change_internal.h"
#include "history/facts.h"

enum { FORK_DEPTH_MAX = 32, ARENA_MAX = 256 << 20 };

static maki_status open_log(maki_conv *conv, const char *path, const maki_conv_options *options,
                            maki_err *err)
{
    conv->facts.alloc = conv->env.alloc;
    conv->checked = options->checked;
    maki_token_counter_init(&conv->counter, &conv->env);
    conv->counter.borrowed = options->tokenizer;
    maki_log_options log = { .create = options->create,
                             .read_only = options->read_only,
                             .share_index = options->share_index,
                             .dry_run = options->dry_run,
                             .repair = options->repair,
                             .durability = options->durability,
                             .family = MAKI_INDEX_FAMILY,
                             .facts = maki_facts_of,
                             .facts_ctx = &conv->facts,
                             .tokens = maki_token_counter_row,
                             .tokens_ctx = &conv->counter,
                             .threads = options->threads,
                             .progress = options->progress,
                             .progress_ctx = options->progress_ctx,
                             .on_write = options->on_write,
                             .on_write_ctx = options->on_write_ctx,
                             .header = options->header };
    return maki_log_open(&conv->env, path, &log, &conv->log, err);
}

/* ---- parents ---------------------------------------------------------------------------------------- */

/* Ids are names of files or directories, never paths. */
static bool safe_id(const char *id)
{
    return id[0] && id[0] != '.' && !strchr(id, '/') && strlen(id) < 200;
}

static maki_status parent_path(const char *child, const char *id, char *out, size_t capacity,
                               maki_err *err)
{
    if (!safe_id(id)) return maki_fail(err, MAKI_CORRUPT, "the name of the parent is not a name");
    const char *slash = strrchr(child, '/');
    int directory = slash ? (int)(slash - child) + 1 : 0;
    if (strcmp(child + directory, "messages.jsonl") == 0) {
        snprintf(out, capacity, "%.*s../%s/messages.jsonl", directory, child, id);
    } else {
        snprintf(out, capacity, "%.*s%s.jsonl", directory, child, id);
    }
    return MAKI_OK;
}

static maki_status open_parent(maki_conv *conv, const maki_conv_options *options, int depth,
                               maki_err *err);

static maki_status open_conv(const maki_env *env, const char *path,
                             const maki_conv_options *options, int depth, maki_conv **out,
                             maki_err *err)
{
    maki_conv *conv = env->alloc->resize(env->alloc, NULL, 0, sizeof *conv);
    if (!conv) return maki_fail_nomem(err);
    memset(conv, 0, sizeof *conv);
    conv->env = *env;
    conv->arena = maki_arena_new(conv->env.alloc, ARENA_MAX);
    conv->events_arena = conv->arena;
    maki_status st = open_log(conv, path, options, err);
    if (st == MAKI_OK) st = open_parent(conv, options, depth, err);
    if (st != MAKI_OK) {
        maki_conv_close(conv);
        return st;
    }
    *out = conv;
    return MAKI_OK;
}

static maki_status open_parent(maki_conv *conv, const maki_conv_options *options, int depth,
                               maki_err *err)
{
    const maki_log_fork *fork = maki_log_fork_of(conv->log);
    char path[MAKI_PATH_MAX];
    maki_row row;
    maki_err why = { 0 };
    if (!fork->found) return MAKI_OK;
    if (depth >= FORK_DEPTH_MAX)
        return maki_fail(err, MAKI_TOOBIG, "more than %d forks of forks", FORK_DEPTH_MAX);
    maki_status st = parent_path(maki_log_path(conv->log), fork->parent, path, sizeof path, err);
    if (st != MAKI_OK) return st;
    maki_conv_options reading = { .read_only = true,
                                  .threads = options->threads,
                                  .progress = options->progress,
                                  .progress_ctx = options->progress_ctx };
    st = open_conv(&conv->env, path, &reading, depth + 1, &conv->parent, &why);
    if (st != MAKI_OK) {
        return maki_fail(err, st, "the parent %.60s of this fork: %.100s", fork->parent, why.msg);
    }
    conv->fork_seq = fork->seq;
    conv->fork_ev = fork->ev;
    if (fork->seq > maki_log_base(conv->parent->log)) {
        st = maki_log_row(conv->parent->log, fork->seq, &row, err);
    }
    return st;
}

maki_status maki_conv_open(const maki_env *env, const char *path, const maki_conv_options *options,
                           maki_conv **out, maki_err *err)
{
    return open_conv(env, path, options, 0, out, err);
}

void maki_conv_close(maki_conv *conv)
{
    if (!conv) return;
    const maki_alloc *alloc = conv->env.alloc;
    maki_conv_close(conv->parent);
    maki_log_close(conv->log);
    maki_token_counter_close(&conv->counter);
    maki_arena_free(&conv->arena);
    maki_arena_free(&conv->events_arena);
    alloc->resize(alloc, conv, sizeof *conv, 0);
}

maki_log *maki_conv_log(maki_conv *conv)
{
    return conv->log;
}

/* ---- views -------------------------------------------------------------------------------------------- */

static void drop_events(maki_conv *conv)
{
    maki_arena_free(&conv->events_arena);
    conv->events_arena = maki_arena_new(conv->env.alloc, ARENA_MAX);
    conv->events = (maki_events){ 0 };
}

maki_status maki_conv_load_events(maki_conv *conv, maki_err *err)
{
    maki_status st = maki_events_read(conv->log, &conv->events_arena, &conv->events, err);
    if (st != MAKI_OK) drop_events(conv);
    return st;
}

static void reset_view(maki_conv *conv)
{
    maki_arena_free(&conv->arena);
    conv->arena = maki_arena_new(conv->env.alloc, ARENA_MAX);
}

/* With `then`: of the events up to at.ev only those that had happened when at.seq was the newest message. */
static maki_status view_at(maki_conv *conv, maki_view_at at, bool then, const maki_view **out,
                           maki_err *err)
{
    const maki_view *below = NULL;
    uint64_t last = maki_log_last(conv->log), ev = 0;
    if (at.seq > last) at.seq = last;
    reset_view(conv);
    maki_status st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK && then) ev = maki_events_at(&conv->events, at.seq);
    if (then && ev < at.ev) at.ev = ev;
    if (st == MAKI_OK && conv->parent) { /* before the fork, it is a view of the parent */
        uint64_t limit = maki_view_parent_end(conv->log, &conv->events, &at);
        maki_view_at above = { .seq = limit, .ev = conv->fork_ev, .hiding = at.hiding };
        st = view_at(conv->parent, above, limit < conv->fork_seq, &below, err);
    }
    if (st == MAKI_OK) {
        st = maki_view_make(conv->log, &conv->events, below, &at, &conv->arena, &conv->view, err);
    }
    *out = &conv->view;
    return st;
}

maki_status maki_conv_view_at(maki_conv *conv, const maki_view_at *at, const maki_view **out,
                              maki_err *err)
{
    return view_at(conv, *at, at->ev == MAKI_NOW, out, err);
}

maki_status maki_conv_view(maki_conv *conv, uint64_t seq, uint64_t ev, const maki_view **out,
                           maki_err *err)
{
    return maki_conv_view_at(conv, &(maki_view_at){ .seq = seq, .ev = ev }, out, err);
}

void maki_conv_free_view(maki_conv *conv)
{
    for (; conv; conv = conv->parent) {
        reset_view(conv);
        drop_events(conv);
        conv->view = (maki_view){ 0 };
    }
}

maki_status maki_conv_all_messages(maki_conv *conv, const maki_view **out, maki_err *err)
{
    const maki_view *below = NULL;
    maki_events none = { 0 };
    maki_view_at at = { .seq = maki_log_last(conv->log), .ev = MAKI_NOW };
    reset_view(conv);
    maki_status st = conv->parent ? maki_conv_all_messages(conv->parent, &below, err) : MAKI_OK;
    if (st == MAKI_OK) {
        st = maki_view_make(conv->log, &none, below, &at, &conv->arena, &conv->view, err);
    }
    *out = &conv->view;
    return st;
}

/* Searching back from the newest message for one before a time. */
typedef struct time_search {
    int64_t ms;
    bool include;
    bool timed;        /* a message that has a time was met */
    bool exact;        /* one of this very time was */
    uint64_t behind;   /* the newest of the messages without one that follow; 0: none */
    uint64_t boundary; /* the oldest of the user's that is not before the time; 0: none */
    uint64_t seq;      /* the one to go back to */
} time_search;

static maki_status seq_before(maki_conv *conv, uint64_t last, time_search *g, maki_err *err)
{
    uint64_t base = maki_log_base(conv->log);
    for (uint64_t s = last; s > base; s--) {
        maki_row row;
        maki_status st = maki_log_row(conv->log, s, &row, err);
        if (st != MAKI_OK) return st;
        if (row.ts == 0) { /* it has the time of the message before it */
            if (!g->behind) g->behind = s;
            continue;
        }
        g->timed = true;
        g->exact |= row.ts == g->ms;
        if (row.ts < g->ms || (g->include && row.ts == g->ms)) {
            g->seq = g->boundary && !g->exact ? g->boundary - 1 : g->behind ? g->behind : s;
            return MAKI_OK;
        }
        g->behind = 0;
        if ((row.flags & MAKI_FACT_ROLE) == MAKI_ROLE_USER) g->boundary = s;
    }
    last = last < base ? last : base; /* the parent went on after the fork: not our past */
    if (conv->parent) return seq_before(conv->parent, last, g, err);
    g->seq = g->behind ? g->behind : last;
    return MAKI_OK;
}

/* The newest event that counts there: one that a message which stays came after does; else its time says. */
static uint64_t event_before(const maki_events *events, const time_search *g)
{
    uint64_t ev = 0;
    for (size_t i = 0; i < events->count; i++) {
        const maki_event *e = &events->at[i];
        bool early = e->ts < g->ms || (g->include && e->ts == g->ms);
        if (e->at > g->seq || (e->at == g->seq && !early)) break;
        ev = e->ev;
    }
    return ev;
}

maki_status maki_conv_before(maki_conv *conv, int64_t ms, bool include, uint64_t *seq, uint64_t *ev,
                             maki_err *err)
{
    time_search g = { .ms = ms, .include = include };
    maki_status st = seq_before(conv, maki_log_last(conv->log), &g, err);
    if (st == MAKI_OK) st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK) st = maki_adjust_cut(conv, &g.seq, err);
    *seq = g.seq;
    *ev = event_before(&conv->events, &g);
    if (st != MAKI_OK || g.timed || maki_log_last(conv->log) == 0) return st;
    return maki_refuse(
        err, "NO_TIMES",
        "no message has a time (ts, createdAt or timestamp): rewind to a message (SEQ) "
        "or an event instead");
}

/* ---- the messages of a view, one by one --------------------------------------------------------------------- */

typedef struct iteration {
    maki_conv *conv;
    const maki_view *view;
    maki_view_message_fn fn;
    void *ctx;
    maki_buf row, places, shorter;
    maki_log_window window;
    maki_spool long_row; /* a message of many MB, in an unlinked file that is mapped */
} iteration;

/* A message: short ones many at a time through the window, long ones alone, very long ones through the spool. */
static maki_status read_row(iteration *p, const maki_view_item *item, maki_view_message *seen,
                            maki_err *err)
{
    if (seen->row.length <= MAKI_LOG_WINDOW_MAX)
        return maki_log_read_buffered(item->log, seen->seq, &seen->row, &p->window, &seen->json,
                                      err);
    maki_buf_clear(&p->row);
    maki_spool_clear(&p->long_row);
    if (seen->row.length <= MAKI_SPOOL_MEMORY || seen->row.flags & MAKI_ROW_BAD) {
        maki_status st = maki_log_read(item->log, seen->seq, &p->row, err);
        seen->json = maki_buf_str(&p->row);
        return st;
    }
    maki_status st =
        maki_log_copy(item->log, seen->seq, seen->seq, maki_spool_sink(&p->long_row), err);
    if (st == MAKI_OK) st = maki_spool_text(&p->long_row, &seen->json, err);
    if (st == MAKI_OK) seen->json.len--; /* the newline */
    return st;
}

/* The trims of one message of a view. */
static size_t trims_of(const maki_view *view, uint64_t seq, size_t *first)
{
    size_t end = *first = maki_view_trims_from(view, seq);
    while (end < view->trim_count && view->trims[end]->seq == seq)
        end++;
    return end - *first;
}

static maki_status apply_trims(iteration *p, maki_view_message *seen, maki_err *err)
{
    size_t first = 0, count = trims_of(p->view, seen->seq, &first);
    if (count == 0) return MAKI_OK;
    maki_buf_clear(&p->shorter);
    maki_status st =
        maki_apply_trims(seen->json, p->view->trims + first, count, &p->places, &p->shorter, err);
    seen->json = maki_buf_str(&p->shorter);
    for (size_t i = first; st == MAKI_OK && i < first + count; i++) {
        int64_t saved = 0;
        st = maki_conv_trim_tokens(p->conv, p->view->trims[i], &saved, err);
        int64_t left = (int64_t)seen->row.tokens - saved;
        seen->row.tokens = left > 0 ? (uint32_t)left : 0;
    }
    return st;
}

static maki_status visit_rows(iteration *p, const maki_view_item *item, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (uint64_t seq = item->from; st == MAKI_OK && seq <= item->to; seq++) {
        maki_view_message seen = { .seq = seq };
        st = maki_log_row(item->log, seq, &seen.row, err);
        if (st == MAKI_OK) st = read_row(p, item, &seen, err);
        if (st != MAKI_OK) return st;
        if (!(seen.row.flags & MAKI_ROW_BAD)) st = apply_trims(p, &seen, err);
        if (st == MAKI_OK) st = p->fn(p->ctx, &seen, err);
    }
    return st;
}

static maki_status visit_synthetic(iteration *p, const maki_view_item *item, maki_err *err)
{
    const maki_event *e = item->synthetic;
    maki_buf_clear(&p->row);
    maki_status st =
        maki_log_event_bytes(item->log, e->synthetic_at, e->synthetic_len, &p->row, err);
    maki_view_message seen = { .ev = e->ev, .json = maki_buf_str(&p->row) };
    uint64_t tokens = 0;
    if (st == MAKI_OK) st = maki_conv_synthetic_tokens(p->conv, item, &tokens, err);
    seen.row.tokens = (uint32_t)tokens;
    return st == MAKI_OK ? p->fn(p->ctx, &seen, err) : st;
}

maki_status maki_conv_each(maki_conv *conv, const maki_view *view, maki_view_message_fn fn,
                           void *ctx, maki_err *err)
{
    const maki_alloc *alloc = conv->env.alloc;
    maki_buf empty = maki_buf_new(alloc, (size_t)MAKI_ROW_MAX);
    iteration p = { .conv = conv,
                    .view = view,
                    .fn = fn,
                    .ctx = ctx,
                    .row = empty,
                    .places = empty,
                    .shorter = empty,
                    .long_row = maki_spool_new(&conv->env, MAKI_SPOOL_MEMORY) };
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        st = item->from ? visit_rows(&p, item, err) : visit_synthetic(&p, item, err);
    }
    maki_log_window_free(&p.window);
    maki_spool_free(&p.long_row);
    maki_buf_free(&p.row);
    maki_buf_free(&p.places);
    maki_buf_free(&p.shorter);
    return st;
}

/* ---- a view as JSON, whole ranges at a time -------------------------------------------------------------------- */

typedef struct writing {
    maki_jw w;
    bool array;
    bool pending; /* a row has ended: a comma goes before the next */
    char out[1 << 16];
} writing;

/* Rows with their newlines, cut anywhere; in an array the newlines become commas. */
static maki_status put_rows(void *ctx, maki_str bytes, maki_err *err)
{
    writing *w = ctx;
    (void)err; /* the writer has it */
    while (w->array && bytes.len) {
        maki_str row;
        bool ended = maki_str_take(&bytes, '\n', &row);
        if (row.len && w->pending) maki_jw_bytes(&w->w, MAKI_LIT(","));
        maki_jw_bytes(&w->w, row);
        w->pending = ended || (w->pending && !row.len);
    }
    maki_jw_bytes(&w->w, bytes);
    return w->w.status;
}

static maki_status put_seen(void *ctx, const maki_view_message *seen, maki_err *err)
{
    maki_status st = put_rows(ctx, seen->json, err);
    return st == MAKI_OK ? put_rows(ctx, MAKI_LIT("\n"), err) : st;
}

static maki_status write_one(writing *w, maki_conv *conv, const maki_view *view,
                             maki_view_item item, maki_err *err)
{
    maki_view one = *view;
    one.items = &item;
    one.count = 1;
    return maki_conv_each(conv, &one, put_seen, w, err);
}

/* Ranges without a trim are copied from the file, trimmed messages written one by one. */
static maki_status write_range(writing *w, maki_conv *conv, const maki_view *view,
                               maki_view_item item, maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t end = item.to;
    while (st == MAKI_OK && item.from <= end) {
        size_t next = maki_view_trims_from(view, item.from);
        uint64_t trimmed = next < view->trim_count ? view->trims[next]->seq : UINT64_MAX;
        item.to = trimmed > end ? end : trimmed == item.from ? trimmed : trimmed - 1;
        st = trimmed == item.from
                 ? write_one(w, conv, view, item, err)
                 : maki_log_copy(item.log, item.from, item.to, (maki_sink){ put_rows, w }, err);
        item.from = item.to + 1;
    }
    return st;
}

maki_status maki_conv_write(maki_conv *conv, const maki_view *view, bool array, maki_sink sink,
                            maki_err *err)
{
    maki_status st = MAKI_OK;
    writing *w = conv->env.alloc->resize(conv->env.alloc, NULL, 0, sizeof *w);
    if (!w) return maki_fail_nomem(err);
    maki_jw_init(&w->w, sink, err);
    maki_jw_set_buffer(&w->w, w->out, sizeof w->out);
    w->array = array;
    w->pending = false;
    if (array) maki_jw_bytes(&w->w, MAKI_LIT("["));
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        maki_view_item item = view->items[i];
        st =
            item.from ? write_range(w, conv, view, item, err) : write_one(w, conv, view, item, err);
    }
    if (array) maki_jw_bytes(&w->w, MAKI_LIT("]"));
    if (st == MAKI_OK) st = maki_jw_end(&w->w);
    conv->env.alloc->resize(conv->env.alloc, w, sizeof *w, 0);
    return st;
}

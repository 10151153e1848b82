/* conv.c -- open a conversation with its parents, make its views, and iterate over or write the messages of a view.
 *
 * In:    the path of a messages file; a revision or a time; a view.
 * Out:   a view in the arena of the conversation; messages with trims applied, one by one or as JSON in a sink.
 * Must stay true: nothing is changed here (change.c, conv_*.c), and memory does not grow with the messages. */
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
                             .encoding = MAKI_INDEX_ENCODING,
                             .facts = maki_row_facts_of,
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
static bool is_safe_id(const char *id)
{
    return id[0] && id[0] != '.' && !strchr(id, '/') && strlen(id) < 200;
}

maki_status maki_conv_parent_path(const char *child, const char *id, char *out, size_t capacity,
                                  maki_err *err)
{
    if (!is_safe_id(id)) return maki_fail(err, MAKI_CORRUPT, "the parent's id is not a valid id");
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
    maki_index_record row;
    maki_err why = { 0 };
    if (!fork->found) return MAKI_OK;
    if (depth >= FORK_DEPTH_MAX)
        return maki_fail(err, MAKI_TOOBIG, "more than %d forks of forks", FORK_DEPTH_MAX);
    maki_status st =
        maki_conv_parent_path(maki_log_path(conv->log), fork->parent, path, sizeof path, err);
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

static void reset_events(maki_conv *conv)
{
    maki_arena_free(&conv->events_arena);
    conv->events_arena = maki_arena_new(conv->env.alloc, ARENA_MAX);
    conv->events = (maki_events){ 0 };
}

maki_status maki_conv_load_events(maki_conv *conv, maki_err *err)
{
    maki_status st = maki_events_read(conv->log, &conv->events_arena, &conv->events, err);
    if (st != MAKI_OK) reset_events(conv);
    return st;
}

static void reset_view(maki_conv *conv)
{
    maki_arena_free(&conv->arena);
    conv->arena = maki_arena_new(conv->env.alloc, ARENA_MAX);
}

/* With `as_of_seq`: of the events up to at.ev only those that had happened when at.seq was the newest message. */
static maki_status view_at(maki_conv *conv, maki_view_at at, bool as_of_seq, const maki_view **out,
                           maki_err *err)
{
    const maki_view *parent_view = NULL;
    uint64_t last = maki_log_last(conv->log), ev = 0;
    if (at.seq > last) at.seq = last;
    reset_view(conv);
    maki_status st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK && as_of_seq) ev = maki_events_at(&conv->events, at.seq);
    if (as_of_seq && ev < at.ev) at.ev = ev;
    if (st == MAKI_OK && conv->parent) { /* before the fork, it is a view of the parent */
        uint64_t limit = maki_view_parent_end(conv->log, &conv->events, &at);
        maki_view_at parent_at = { .seq = limit, .ev = conv->fork_ev, .hiding = at.hiding };
        st = view_at(conv->parent, parent_at, limit < conv->fork_seq, &parent_view, err);
    }
    if (st == MAKI_OK) {
        st = maki_view_make(conv->log, &conv->events, parent_view, &at, &conv->arena, &conv->view,
                            err);
    }
    *out = &conv->view;
    return st;
}

maki_status maki_conv_view_at(maki_conv *conv, const maki_view_at *at, const maki_view **out,
                              maki_err *err)
{
    return view_at(conv, *at, at->ev == MAKI_NEWEST, out, err);
}

maki_status maki_conv_view(maki_conv *conv, uint64_t seq, uint64_t ev, const maki_view **out,
                           maki_err *err)
{
    return maki_conv_view_at(conv, &(maki_view_at){ .seq = seq, .ev = ev }, out, err);
}

const maki_events *maki_conv_events(const maki_conv *conv)
{
    return &conv->events;
}

void maki_conv_free_view(maki_conv *conv)
{
    for (; conv; conv = conv->parent) {
        reset_view(conv);
        reset_events(conv);
        conv->view = (maki_view){ 0 };
    }
}

maki_status maki_conv_all_messages(maki_conv *conv, const maki_view **out, maki_err *err)
{
    const maki_view *parent_view = NULL;
    maki_events none = { 0 };
    maki_view_at at = { .seq = maki_log_last(conv->log), .ev = MAKI_NEWEST };
    reset_view(conv);
    maki_status st =
        conv->parent ? maki_conv_all_messages(conv->parent, &parent_view, err) : MAKI_OK;
    if (st == MAKI_OK) {
        st = maki_view_make(conv->log, &none, parent_view, &at, &conv->arena, &conv->view, err);
    }
    *out = &conv->view;
    return st;
}

/* The state of a search from the newest message back for the last one before a time. */
typedef struct time_search {
    int64_t ms;
    bool include;
    bool timed; /* a message that has a time was found */
    bool exact; /* a message of exactly this time was found */
    uint64_t
        untimed; /* the newest of the messages without a time right after the current one; 0: none */
    uint64_t boundary; /* the oldest user message that is not before the time; 0: none */
    uint64_t seq;      /* the result: the last message to keep */
} time_search;

static maki_status seq_before(maki_conv *conv, uint64_t last, time_search *search, maki_err *err)
{
    uint64_t base = maki_log_base(conv->log);
    for (uint64_t s = last; s > base; s--) {
        maki_index_record row;
        maki_status st = maki_log_row(conv->log, s, &row, err);
        if (st != MAKI_OK) return st;
        if (row.ts == 0) { /* it has the time of the message before it */
            if (!search->untimed) search->untimed = s;
            continue;
        }
        search->timed = true;
        search->exact |= row.ts == search->ms;
        if (row.ts < search->ms || (search->include && row.ts == search->ms)) {
            search->seq = search->boundary && !search->exact ? search->boundary - 1
                          : search->untimed                  ? search->untimed
                                                             : s;
            return MAKI_OK;
        }
        search->untimed = 0;
        if ((row.flags & MAKI_ROW_ROLE) == MAKI_ROLE_USER) search->boundary = s;
    }
    last =
        last < base
            ? last
            : base; /* messages that the parent got after the fork are not part of this conversation */
    if (conv->parent) return seq_before(conv->parent, last, search, err);
    search->seq = search->untimed ? search->untimed : last;
    return MAKI_OK;
}

/* The newest event before the time: all that came before message search->seq, and of those after it, the ones whose own
 * time is early enough. */
static uint64_t event_before(const maki_events *events, const time_search *search)
{
    uint64_t ev = 0;
    for (size_t i = 0; i < events->count; i++) {
        const maki_event *e = &events->at[i];
        bool early = e->ts < search->ms || (search->include && e->ts == search->ms);
        if (e->at > search->seq || (e->at == search->seq && !early)) break;
        ev = e->ev;
    }
    return ev;
}

maki_status maki_conv_before(maki_conv *conv, int64_t ms, bool include, uint64_t *seq, uint64_t *ev,
                             maki_err *err)
{
    time_search search = { .ms = ms, .include = include };
    maki_status st = seq_before(conv, maki_log_last(conv->log), &search, err);
    if (st == MAKI_OK) st = maki_conv_load_events(conv, err);
    if (st == MAKI_OK) st = maki_adjust_cut(conv, &search.seq, err);
    *seq = search.seq;
    *ev = event_before(&conv->events, &search);
    if (st != MAKI_OK || search.timed || maki_log_last(conv->log) == 0) return st;
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

/* Read a message: short ones many at a time through the window, long ones alone, very long ones through the spool. */
static maki_status read_row(iteration *p, const maki_view_item *item, maki_view_message *seen,
                            maki_err *err)
{
    if (seen->row.length <= MAKI_LOG_WINDOW_MAX)
        return maki_log_read_buffered(item->log, seen->seq, &seen->row, &p->window, &seen->json,
                                      err);
    maki_buf_clear(&p->row);
    maki_spool_clear(&p->long_row);
    if (seen->row.length <= MAKI_SPOOL_MEMORY || seen->row.flags & MAKI_ROW_NOT_MESSAGE) {
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
        int64_t remaining = (int64_t)seen->row.tokens - saved;
        seen->row.tokens = remaining > 0 ? (uint32_t)remaining : 0;
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
        if (!(seen.row.flags & MAKI_ROW_NOT_MESSAGE)) st = apply_trims(p, &seen, err);
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

/* ---- writing a view as JSON, by ranges -------------------------------------------------------------------- */

typedef struct view_writer {
    maki_jw w;
    bool array;
    bool pending; /* a row has ended: a comma goes before the next */
    char out[1 << 16];
} view_writer;

/* A sink of rows with their newlines, in chunks that may end anywhere; in an array the newlines become commas. */
static maki_status write_rows(void *ctx, maki_str bytes, maki_err *err)
{
    view_writer *w = ctx;
    (void)err; /* the writer has it already */
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

static maki_status write_message(void *ctx, const maki_view_message *seen, maki_err *err)
{
    maki_status st = write_rows(ctx, seen->json, err);
    return st == MAKI_OK ? write_rows(ctx, MAKI_LIT("\n"), err) : st;
}

static maki_status write_item(view_writer *w, maki_conv *conv, const maki_view *view,
                              maki_view_item item, maki_err *err)
{
    maki_view one = *view;
    one.items = &item;
    one.count = 1;
    return maki_conv_each(conv, &one, write_message, w, err);
}

/* Ranges without a trim are copied from the file, trimmed messages written one by one. */
static maki_status write_range(view_writer *w, maki_conv *conv, const maki_view *view,
                               maki_view_item item, maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t end = item.to;
    while (st == MAKI_OK && item.from <= end) {
        size_t next = maki_view_trims_from(view, item.from);
        uint64_t trimmed = next < view->trim_count ? view->trims[next]->seq : UINT64_MAX;
        item.to = trimmed > end ? end : trimmed == item.from ? trimmed : trimmed - 1;
        st = trimmed == item.from
                 ? write_item(w, conv, view, item, err)
                 : maki_log_copy(item.log, item.from, item.to, (maki_sink){ write_rows, w }, err);
        item.from = item.to + 1;
    }
    return st;
}

maki_status maki_conv_write(maki_conv *conv, const maki_view *view, bool array, maki_sink sink,
                            maki_err *err)
{
    maki_status st = MAKI_OK;
    view_writer *w = conv->env.alloc->resize(conv->env.alloc, NULL, 0, sizeof *w);
    if (!w) return maki_fail_nomem(err);
    maki_jw_init(&w->w, sink, err);
    maki_jw_set_buffer(&w->w, w->out, sizeof w->out);
    w->array = array;
    w->pending = false;
    if (array) maki_jw_bytes(&w->w, MAKI_LIT("["));
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        maki_view_item item = view->items[i];
        st = item.from ? write_range(w, conv, view, item, err)
                       : write_item(w, conv, view, item, err);
    }
    if (array) maki_jw_bytes(&w->w, MAKI_LIT("]"));
    if (st == MAKI_OK) st = maki_jw_end(&w->w);
    conv->env.alloc->resize(conv->env.alloc, w, sizeof *w, 0);
    return st;
}

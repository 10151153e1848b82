/* live_conversation.c -- an open log with its current branch, a list of ranges of rows that is updated as groups are
 * written.
 *
 * Always: `last` and `events` say which state of the log the branch was read from.  When another process has written
 *         since, or after a failure (`last` is UINT64_MAX), it is read again under the log's lock.
 *
 * A group is written to the log at once and goes to the journal from the log's `wrote` callback; bytes that could
 * not be added make the conversation `direct`: the caller must sync its files. */
#include "proxy/live_conversation.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "history/erase.h"
#include "proxy/journal.h"

enum {
    HEADER_MAX = 1024,
    ATTEMPTS = 4,
    GROUP_MAX = 1000 /* rows: the log's limit */
};

void maki_session_text(const unsigned char session[MAKI_SESSION_BYTES], char out[37])
{
    static const size_t groups[] = { 4, 2, 2, 2, 6 };
    for (size_t i = 0; i < 5; i++) {
        maki_hex(session, groups[i], out);
        session += groups[i];
        out += 2 * groups[i];
        *out++ = i < 4 ? '-' : '\0';
    }
}

/* ---- the current branch ------------------------------------------------------------------------------ */

static maki_status add_range(maki_live_conversation *t, uint64_t from, uint64_t to, maki_err *err)
{
    const maki_alloc *alloc = t->env->alloc;
    if (t->path_count && t->path[t->path_count - 1].to + 1 == from) {
        t->path[t->path_count - 1].to = to;
        return MAKI_OK;
    }
    void *grown =
        maki_array_grow(alloc, t->path, t->path_count, &t->path_capacity, sizeof *t->path);
    if (!grown) return maki_fail_nomem(err);
    t->path = grown;
    t->path[t->path_count++] = (maki_span64){ from, to };
    return MAKI_OK;
}

/* Read the branch at a revision of the log. */
static maki_status load_path(maki_live_conversation *t, uint64_t seq, uint64_t ev, maki_err *err)
{
    const maki_view *view;
    maki_view_totals totals;
    maki_status st = maki_conv_view(t->conv, seq, ev, &view, err);
    t->path_count = 0;
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        if (item->from) st = add_range(t, item->from, item->to, err);
    }
    if (st == MAKI_OK) st = maki_conv_total(t->conv, view, &totals, err);
    if (st == MAKI_OK) t->tokens = totals.tokens;
    maki_conv_free_view(t->conv); /* only the ranges are needed from now on */
    return st;
}

static maki_status load_branch(maki_live_conversation *t, maki_err *err)
{
    t->last = UINT64_MAX; /* invalid until this function succeeds */
    maki_status st = maki_log_refresh(maki_conv_log(t->conv), err);
    if (st == MAKI_OK) st = load_path(t, MAKI_NEWEST, MAKI_NEWEST, err);
    if (st != MAKI_OK) return st;
    t->last = maki_log_last(maki_conv_log(t->conv));
    t->events = maki_log_events(maki_conv_log(t->conv));
    return MAKI_OK;
}

/* Truncate the branch after `from`; false when that message is on another branch. */
static bool truncate_path(maki_live_conversation *t, const maki_point *from)
{
    size_t i = 0;
    while (i < t->path_count && t->path[i].to < from->seq)
        i++;
    if (from->seq == 0) {
        t->path_count = 0;
    } else if (i == t->path_count || t->path[i].from > from->seq) {
        return false;
    } else {
        t->path[i].to = from->seq;
        t->path_count = i + 1;
    }
    t->tokens = from->tokens;
    return true;
}

maki_point maki_live_tip(const maki_live_conversation *t)
{
    uint64_t seq = t->path_count ? t->path[t->path_count - 1].to : 0;
    return (maki_point){ seq, t->events, t->tokens, 0 };
}

/* ---- opening ----------------------------------------------------------------------------------------- */

/* {"type":"header","version":1,"sessionId":...,"createdAt":...,"sessionKey":...,"client":...} */
static maki_str header_of(const maki_live_conversation *t, const char *id, maki_str key,
                          maki_str client, char out[HEADER_MAX])
{
    int64_t now = t->env->clock->now_ms(t->env->clock);
    int n = snprintf(
        out, HEADER_MAX,
        "{\"type\":\"header\",\"version\":1,\"sessionId\":\"%s\",\"createdAt\":%" PRId64, id, now);
    if (key.len && key.len < HEADER_MAX / 2)
        n += snprintf(out + n, HEADER_MAX - (size_t)n, ",\"sessionKey\":%.*s", (int)key.len,
                      key.ptr);
    if (client.len && client.len < MAKI_ID_MAX)
        n +=
            snprintf(out + n, HEADER_MAX - (size_t)n, ",\"client\":\"%.*s\"", MAKI_PRINTED(client));
    n += snprintf(out + n, HEADER_MAX - (size_t)n, "}");
    return (maki_str){ out, (size_t)n };
}

/* Bytes were written to the log: add them to the journal. */
static void on_write(void *ctx, maki_log_part part, uint64_t offset, maki_str bytes)
{
    maki_live_conversation *t = ctx;
    if (!bytes.ptr || !t->journal || !maki_journal_add(t->journal, t->session, part, offset, bytes))
        t->direct = true;
}

maki_status maki_live_open(const maki_env *env, const unsigned char session[MAKI_SESSION_BYTES],
                           const maki_live_options *options, maki_live_conversation **out,
                           maki_err *err)
{
    char path[MAKI_PATH_MAX], id[37], header[HEADER_MAX];
    maki_live_conversation *t = maki_new(env->alloc, maki_live_conversation);
    if (!t) return maki_fail_nomem(err);
    *t = (maki_live_conversation){ .env = env,
                                   .created = options->create,
                                   .journal = options->journal,
                                   .logger = options->logger };
    memcpy(t->session, session, sizeof t->session);
    maki_session_text(session, id);
    snprintf(path, sizeof path, "%s/%s.jsonl", options->directory, id);
    maki_conv_options conv = { .create = options->create,
                               .durability = MAKI_DURABILITY_BY_CALLER,
                               .threads = 1,
                               .on_write = on_write,
                               .on_write_ctx = t,
                               .tokenizer = options->tokenizer };
    if (options->create) conv.header = header_of(t, id, options->key, options->client, header);
    maki_status st = maki_conv_open(env, path, &conv, &t->conv, err);
    if (st == MAKI_OK) st = load_branch(t, err);
    if (st != MAKI_OK) {
        if (options->create) maki_conv_erase_new(env, path);
        maki_live_close(t);
        return st;
    }
    *out = t;
    return MAKI_OK;
}

/* Sync the files if some bytes are neither in the journal nor passed to the syncing thread: after the close no other
 * code would.  It happens when a conversation is evicted between a long request and its reply. */
static void sync_direct(maki_live_conversation *t)
{
    const maki_files *files = t->env->files;
    int fds[3];
    (void)!maki_live_files(t, fds, NULL); /* on a failure too, sync those that it returned */
    for (size_t i = 0; i < 3; i++) {
        if (fds[i] < 0) continue;
        (void)!files->sync(files, fds[i]);
        files->close(files, fds[i]);
    }
}

void maki_live_close(maki_live_conversation *t)
{
    if (!t) return;
    const maki_alloc *alloc = t->env->alloc;
    if (t->conv && t->direct) sync_direct(t);
    maki_conv_close(t->conv);
    if (t->path) alloc->resize(alloc, t->path, t->path_capacity * sizeof t->path[0], 0);
    maki_delete(alloc, t);
}

bool maki_live_is_deleted(const maki_live_conversation *t)
{
    struct stat st;
    int fd = maki_log_open_files(maki_conv_log(t->conv)).messages_fd;
    return t->env->files->stat(t->env->files, fd, NULL, &st) == 0 && st.st_nlink == 0;
}

bool maki_live_is_empty(const maki_live_conversation *t)
{
    return t->created && maki_log_last(maki_conv_log(t->conv)) == 0;
}

void maki_live_discard(maki_live_conversation *t)
{
    maki_conv_erase_new(t->env, maki_log_path(maki_conv_log(t->conv)));
    maki_live_close(t);
}

/* ---- groups ------------------------------------------------------------------------------------------ */

/* Acquire the log's lock, and make the branch up to date. */
static maki_status lock_and_refresh(maki_live_conversation *t, maki_err *err)
{
    maki_log *log = maki_conv_log(t->conv);
    for (int i = 0; i < ATTEMPTS; i++) {
        maki_status st = maki_log_begin(log, NULL, err);
        if (st != MAKI_OK) {
            t->last = UINT64_MAX; /* the index may have been closed: read the branch again */
            return st;
        }
        if (maki_log_last(log) == t->last && maki_log_events(log) == t->events) return MAKI_OK;
        maki_log_abort(log);
        st = load_branch(t, err);
        if (st != MAKI_OK) return st;
    }
    return maki_fail(err, MAKI_CONFLICT, "other processes keep writing to this conversation");
}

static maki_status add_rewind(maki_live_conversation *t, const maki_point *from, maki_err *err)
{
    char fields[80];
    uint64_t ev;
    int n = snprintf(fields, sizeof fields, "\"to\":%" PRIu64 ",\"toEv\":%" PRIu64, from->seq,
                     from->ev);
    return maki_log_add_event(maki_conv_log(t->conv), "rewind", (maki_str){ fields, (size_t)n },
                              &ev, err);
}

maki_status maki_live_begin(maki_live_conversation *t, const maki_point *from, maki_err *err)
{
    maki_status st = lock_and_refresh(t, err);
    if (st != MAKI_OK) return st;
    t->first_added = t->last_added = 0;
    t->rewound = maki_live_tip(t).seq != from->seq;
    t->rewound_to = from->seq;
    if (t->rewound && (from->seq > t->last || from->ev > t->events))
        st = maki_fail(err, MAKI_NOTFOUND, "no message %" PRIu64 " at event %" PRIu64, from->seq,
                       from->ev);
    if (st == MAKI_OK && t->rewound) st = add_rewind(t, from, err);
    if (st == MAKI_OK && t->rewound && !truncate_path(t, from)) {
        /* read now, so that the commit cannot fail for it */
        st = load_path(t, from->seq, from->ev, err);
    }
    if (st != MAKI_OK) maki_live_abort(t);
    return st;
}

maki_status maki_live_add(maki_live_conversation *t, maki_str row, uint64_t *seq, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (t->first_added && t->last_added - t->first_added + 1 == GROUP_MAX) {
        st = maki_live_commit(t, err);
        maki_point tip = maki_live_tip(t);
        if (st == MAKI_OK) st = maki_live_begin(t, &tip, err);
    }
    if (st == MAKI_OK) st = maki_log_add_row(maki_conv_log(t->conv), row, seq, err);
    if (st != MAKI_OK) return st;
    if (!t->first_added) t->first_added = *seq;
    t->last_added = *seq;
    return MAKI_OK;
}

maki_status maki_live_add_event(maki_live_conversation *t, const char *type, maki_str fields,
                                maki_err *err)
{
    uint64_t ev;
    return maki_log_add_event(maki_conv_log(t->conv), type, fields, &ev, err);
}

void maki_live_abort(maki_live_conversation *t)
{
    maki_log_abort(maki_conv_log(t->conv));
    t->last = UINT64_MAX; /* the branch may have been truncated already: read it again */
}

static uint32_t fingerprint_of(const unsigned char *chain)
{
    uint32_t fingerprint;
    memcpy(&fingerprint, chain, sizeof fingerprint);
    return fingerprint ? fingerprint : 1;
}

maki_status maki_live_row(maki_live_conversation *t, uint64_t seq, uint64_t *tokens,
                          uint32_t *fingerprint, maki_err *err)
{
    maki_log *log = maki_conv_log(t->conv);
    maki_index_record row;
    if (seq == t->first_added && seq == t->last_added && seq == maki_log_last(log)) {
        *tokens = t->added_tokens;
        *fingerprint = fingerprint_of(maki_log_head(log));
        return MAKI_OK;
    }
    maki_status st = maki_log_row(log, seq, &row, err);
    *tokens = st == MAKI_OK ? row.tokens : 0;
    *fingerprint = st == MAKI_OK ? fingerprint_of(row.chain) : 0;
    return st;
}

maki_status maki_live_has(maki_live_conversation *t, const maki_point *point, maki_err *err)
{
    maki_log *log = maki_conv_log(t->conv);
    /* after a failed group the branch is unknown */
    maki_status st = t->last == UINT64_MAX ? load_branch(t, err) : MAKI_OK;
    maki_index_record row;
    if (st != MAKI_OK) return st;
    if (point->seq > t->last || point->ev > t->events)
        return maki_fail(err, MAKI_NOTFOUND, "the log has lost the message");
    if (point->seq == 0 || point->fingerprint == 0) return MAKI_OK;
    if (point->seq == maki_log_last(log))
        memcpy(row.chain, maki_log_head(log), sizeof row.chain);
    else
        st = maki_log_row(log, point->seq, &row, err);
    if (st == MAKI_OK && fingerprint_of(row.chain) != point->fingerprint)
        st = maki_fail(err, MAKI_NOTFOUND, "the log has another message in its place");
    return st;
}

maki_status maki_live_commit(maki_live_conversation *t, maki_err *err)
{
    maki_log *log = maki_conv_log(t->conv);
    uint64_t before = maki_log_tokens(log);
    maki_status st = maki_log_commit(log, err);
    if (st != MAKI_OK) {
        t->last = UINT64_MAX;
        return st;
    }
    t->last = maki_log_last(log);
    t->events = maki_log_events(log);
    if (t->rewound) {
        maki_kv cutoff[] = { MAKI_KV_I("from", t->first_added ? t->first_added - 1 : t->last),
                             MAKI_KV_I("to", t->rewound_to),
                             MAKI_KV_S("session", maki_conv_id(t->conv)) };
        maki_log_event(t->logger, MAKI_INFO, "rewind_cutoff", cutoff, 3);
    }
    t->added_tokens = maki_log_tokens(log) - before;
    t->tokens += t->added_tokens;
    if (t->first_added && add_range(t, t->first_added, t->last_added, NULL) != MAKI_OK)
        t->last = UINT64_MAX; /* the rows are written: read the branch again */
    return MAKI_OK;
}

maki_status maki_live_files(maki_live_conversation *t, int fds[3], maki_err *err)
{
    const maki_files *table = t->env->files;
    maki_log_files files = maki_log_open_files(maki_conv_log(t->conv));
    char directory[MAKI_PATH_MAX];
    fds[0] = fds[1] = fds[2] = -1;
    if (!t->direct) return MAKI_OK;
    if (files.events_fd >= 0) fds[0] = table->dup(table, files.events_fd);
    fds[1] = table->dup(table, files.messages_fd);
    if (t->created) {
        const char *path = maki_log_path(maki_conv_log(t->conv));
        snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
        fds[2] = table->open(table, directory, O_RDONLY | O_DIRECTORY, 0);
    }
    bool failed = (files.events_fd >= 0 && fds[0] < 0) || fds[1] < 0 || (t->created && fds[2] < 0);
    if (failed)
        return maki_fail_errno(err,
                               "cannot duplicate a descriptor"); /* retried with the next reply */
    t->created = t->direct = false;
    return MAKI_OK;
}

/* log_read.c -- rows and events of a log that is open; see log.h. */
#include <inttypes.h>
#include <string.h>

#include "base/block.h"
#include "base/err.h"
#include "base/files.h"
#include "base/str.h"
#include "log/lines.h"
#include "log/log_internal.h"

maki_status maki_log_row(maki_log *log, uint64_t seq, maki_row *out, maki_err *err)
{
    if (seq <= log->base || seq > maki_log_last(log)) {
        return maki_fail(err, MAKI_NOTFOUND, "there is no message %" PRIu64, seq);
    }
    return maki_index_get(&log->index, seq - log->base, out, err);
}

static maki_status changed(uint64_t seq, maki_err *err)
{
    return maki_fail(err, MAKI_CORRUPT,
                     "message %" PRIu64 " is not what was written; see maki fsck", seq);
}

maki_status maki_log_read(maki_log *log, uint64_t seq, maki_buf *out, maki_err *err)
{
    maki_row row;
    size_t got = 0;
    maki_status st = maki_log_row(log, seq, &row, err);
    if (st != MAKI_OK) return st;
    if (row.length == 0) /* an empty line, or a record that lies */
        return maki_row_hash(MAKI_LIT("")) == row.xxh3 ? MAKI_OK : changed(seq, err);
    char *capacity = maki_buf_reserve(out, row.length);
    if (!capacity) return maki_buf_status(out, err);
    st = maki_file_read_at(log->env.files, log->messages_fd, row.offset, capacity, row.length, &got,
                           err);
    if (st != MAKI_OK) return st;
    if (got < row.length || maki_row_hash((maki_str){ capacity, got }) != row.xxh3) {
        return changed(seq, err);
    }
    out->len += got;
    return MAKI_OK;
}

/* ---- row after row ------------------------------------------------------------------------------------------ */

enum { WINDOW_FIRST = 16 << 10 };

static bool holds(const maki_log_window *w, const maki_log *log, const maki_row *row)
{
    return w->log == log && row->offset >= w->at && row->offset - w->at <= w->len &&
           row->length <= w->len - (row->offset - w->at);
}

/* How much is read next: twice as much as before while rows follow on each other. */
static size_t next_size(const maki_log_window *w, const maki_log *log, const maki_row *row)
{
    bool on = w->log == log && row->offset >= w->at && row->offset - w->at <= w->len + 1;
    size_t size = on ? 2 * w->len : WINDOW_FIRST;
    if (size > MAKI_LOG_WINDOW_MAX) size = MAKI_LOG_WINDOW_MAX;
    return size > row->length ? size : row->length;
}

static maki_status fill(maki_log_window *w, maki_log *log, const maki_row *row, maki_err *err)
{
    uint64_t at = row->offset / MAKI_PAGE * MAKI_PAGE; /* pages are copied fastest */
    size_t want = next_size(w, log, row) + MAKI_PAGE;
    w->log = NULL;
    if (want > w->block.size) {
        maki_log_window_free(w);
        w->alloc = log->env.alloc;
        w->block = maki_block_new(w->alloc, want);
        if (!w->block.at) return maki_fail_nomem(err);
    }
    w->at = at;
    maki_status st =
        maki_file_read_at(log->env.files, log->messages_fd, w->at, w->block.at, want, &w->len, err);
    if (st == MAKI_OK) w->log = log;
    return st;
}

maki_status maki_log_read_on(maki_log *log, uint64_t seq, const maki_row *row,
                             maki_log_window *window, maki_str *out, maki_err *err)
{
    maki_status st = holds(window, log, row) ? MAKI_OK : fill(window, log, row, err);
    if (st != MAKI_OK) return st;
    if (!holds(window, log, row)) return changed(seq, err);
    *out = (maki_str){ window->block.at + (row->offset - window->at), row->length };
    return maki_row_hash(*out) == row->xxh3 ? MAKI_OK : changed(seq, err);
}

void maki_log_window_free(maki_log_window *window)
{
    if (window->alloc) maki_block_free(window->alloc, &window->block);
    *window = (maki_log_window){ 0 };
}

/* ---- stretches ---------------------------------------------------------------------------------------------- */

/* A run of rows that stand one after the other in the file. */
typedef struct row_run {
    maki_row rows[ROWS_AT_ONCE];
    size_t count;
    uint64_t bytes; /* with their newlines */
} row_run;

/* The rows from `seq` on that fit into a block together; at least one. */
static maki_status next_run(maki_log *log, uint64_t seq, uint64_t to, row_run *run, maki_err *err)
{
    run->count = 0;
    run->bytes = 0;
    for (; seq <= to && run->count < ROWS_AT_ONCE; seq++) {
        maki_row *row = &run->rows[run->count];
        maki_status st = maki_log_row(log, seq, row, err);
        if (st != MAKI_OK) return st;
        if (row->flags & MAKI_ROW_BAD) {
            return maki_fail(err, MAKI_CORRUPT, "message %" PRIu64 " is damaged; see maki fsck",
                             seq);
        }
        uint64_t bytes = (uint64_t)row->length + 1;
        bool behind = run->count == 0 || row->offset == run->rows[0].offset + run->bytes;
        if (run->count > 0 && (run->bytes + bytes > BLOCK || !behind)) break;
        run->count++;
        run->bytes += bytes;
    }
    return MAKI_OK;
}

/* A row that is longer than a block: its hash is known only after it has been handed on. */
static maki_status copy_long(maki_log *log, uint64_t seq, const maki_row *row, char *block,
                             maki_sink sink, maki_err *err)
{
    maki_row_hasher hasher;
    uint64_t at = row->offset, end = row->offset + row->length;
    maki_status st = MAKI_OK;
    maki_row_hasher_begin(&hasher);
    while (st == MAKI_OK && at < end) {
        size_t want = end - at < BLOCK ? (size_t)(end - at) : BLOCK, got = 0;
        st = maki_file_read_at(log->env.files, log->messages_fd, at, block, want, &got, err);
        if (st == MAKI_OK && got < want) st = changed(seq, err);
        if (st != MAKI_OK) return st;
        maki_row_hasher_add(&hasher, (maki_str){ block, got });
        st = sink.write(sink.ctx, (maki_str){ block, got }, err);
        at += got;
    }
    if (st == MAKI_OK && maki_row_hasher_end(&hasher) != row->xxh3) st = changed(seq, err);
    return st == MAKI_OK ? sink.write(sink.ctx, MAKI_LIT("\n"), err) : st;
}

static maki_status copy_run(maki_log *log, uint64_t seq, const row_run *run, char *block,
                            maki_sink sink, maki_err *err)
{
    size_t got = 0, at = 0;
    if (run->bytes > BLOCK) return copy_long(log, seq, &run->rows[0], block, sink, err);
    maki_status st = maki_file_read_at(log->env.files, log->messages_fd, run->rows[0].offset, block,
                                       (size_t)run->bytes, &got, err);
    for (size_t i = 0; st == MAKI_OK && i < run->count; i++) {
        maki_str row = { block + at, run->rows[i].length };
        bool whole = at + row.len < got && block[at + row.len] == '\n';
        if (!whole || maki_row_hash(row) != run->rows[i].xxh3) st = changed(seq + i, err);
        at += row.len + 1;
    }
    return st == MAKI_OK ? sink.write(sink.ctx, (maki_str){ block, got }, err) : st;
}

maki_status maki_log_copy(maki_log *log, uint64_t from, uint64_t to, maki_sink sink, maki_err *err)
{
    const maki_alloc *alloc = log->env.alloc;
    maki_status st = MAKI_OK;
    maki_block block = maki_block_new(alloc, BLOCK);
    row_run *run = alloc->resize(alloc, NULL, 0, sizeof *run);
    if (!block.at || !run) st = maki_fail_nomem(err);
    for (uint64_t seq = from; st == MAKI_OK && seq <= to; seq += run->count) {
        st = next_run(log, seq, to, run, err);
        if (st == MAKI_OK) st = copy_run(log, seq, run, block.at, sink, err);
    }
    if (run) alloc->resize(alloc, run, sizeof *run, 0);
    maki_block_free(alloc, &block);
    return st;
}

typedef struct event_walk {
    maki_log *log;
    maki_event_fn fn;
    void *ctx;
    uint64_t ev;
} event_walk;

static maki_status walk_event(void *ctx, maki_str row, uint64_t at, maki_err *err)
{
    event_walk *walk = ctx;
    if (at >= walk->log->events_end) return MAKI_CANCELLED; /* added since we looked */
    return walk->fn(walk->ctx, ++walk->ev, row, at, err);
}

maki_status maki_log_each_event_from(maki_log *log, uint64_t ev, uint64_t at, maki_event_fn fn,
                                     void *ctx, maki_err *err)
{
    event_walk walk = { log, fn, ctx, ev };
    uint64_t end = 0;
    if (log->events_fd < 0 || ev == log->ev) return MAKI_OK;
    maki_status st =
        maki_lines_each(&log->env, log->events_fd, at, EVENT_MAX, walk_event, &walk, &end, err);
    if (st == MAKI_CANCELLED && walk.ev == log->ev) st = MAKI_OK;
    if (st == MAKI_OK && walk.ev < log->ev) {
        st = maki_fail(err, MAKI_CORRUPT, "the events file was cut short while in use");
    }
    return st;
}

maki_status maki_log_each_event(maki_log *log, maki_event_fn fn, void *ctx, maki_err *err)
{
    return maki_log_each_event_from(log, 0, 0, fn, ctx, err);
}

maki_status maki_log_event_bytes(maki_log *log, uint64_t at, uint64_t len, maki_buf *out,
                                 maki_err *err)
{
    size_t got = 0;
    char *capacity = maki_buf_reserve(out, (size_t)len);
    if (!capacity) return maki_buf_status(out, err);
    maki_status st =
        maki_file_read_at(log->env.files, log->events_fd, at, capacity, (size_t)len, &got, err);
    if (st == MAKI_OK && got < len)
        st = maki_fail(err, MAKI_CORRUPT, "the events file was cut short");
    if (st == MAKI_OK) out->len += got;
    return st;
}

maki_status maki_log_newest_events(maki_log *log, size_t most, maki_buf *out, maki_err *err)
{
    uint64_t end = log->events_end, from = end > most ? end - most : 0;
    size_t start = out->len;
    if (end == from) return MAKI_OK;
    maki_status st = maki_log_event_bytes(log, from, end - from, out, err);
    if (st != MAKI_OK || from == 0) return st;
    const char *newline = memchr(out->ptr + start, '\n', out->len - start); /* half a row is none */
    size_t cut = newline ? (size_t)(newline - out->ptr) + 1 - start : out->len - start;
    memmove(out->ptr + start, out->ptr + start + cut, out->len - start - cut);
    out->len -= cut;
    return MAKI_OK;
}

/* log_read.c -- reads rows and events of an open log.
 *
 * Every row is checked against the hash in its record before the caller sees it; only maki_log_copy emits the bytes of
 * a row of over a megabyte before that.  Events are read up to the end that was known at the last refresh. */
#include <inttypes.h>
#include <string.h>

#include "base/block.h"
#include "base/err.h"
#include "base/files.h"
#include "log/lines.h"
#include "log/log_internal.h"

maki_status maki_log_row(maki_log *log, uint64_t seq, maki_index_record *out, maki_err *err)
{
    if (seq <= log->fork.seq || seq > maki_log_last(log)) {
        return maki_fail(err, MAKI_NOTFOUND, "there is no message %" PRIu64, seq);
    }
    return maki_index_get(&log->index, seq - log->fork.seq, out, err);
}

static maki_status fail_changed(uint64_t seq, maki_err *err)
{
    return maki_fail(err, MAKI_CORRUPT,
                     "message %" PRIu64 " is not what was written; run maki fsck", seq);
}

maki_status maki_log_read(maki_log *log, uint64_t seq, maki_buf *out, maki_err *err)
{
    maki_index_record row;
    size_t got = 0;
    maki_status st = maki_log_row(log, seq, &row, err);
    if (st != MAKI_OK) return st;
    if (row.length == 0) /* an empty line, or a wrong record */
        return maki_row_hash(MAKI_LIT("")) == row.xxh3 ? MAKI_OK : fail_changed(seq, err);
    char *bytes = maki_buf_reserve(out, row.length);
    if (!bytes) return maki_buf_status(out, err);
    st = maki_file_read_at(log->env.files, log->messages_fd, row.offset, bytes, row.length, &got,
                           err);
    if (st != MAKI_OK) return st;
    if (got < row.length || maki_row_hash((maki_str){ bytes, got }) != row.xxh3) {
        return fail_changed(seq, err);
    }
    out->len += got;
    return MAKI_OK;
}

/* ---- sequential reading ------------------------------------------------------------------------------------- */

enum { WINDOW_MIN = 16 << 10 };

static bool window_has(const maki_log_window *w, const maki_log *log, const maki_index_record *row)
{
    return w->log == log && row->offset >= w->offset && row->offset - w->offset <= w->len &&
           row->length <= w->len - (row->offset - w->offset);
}

/* The bytes to read next: twice as much as before while reading is sequential. */
static size_t next_window_size(const maki_log_window *w, const maki_log *log,
                               const maki_index_record *row)
{
    bool sequential =
        w->log == log && row->offset >= w->offset && row->offset - w->offset <= w->len + 1;
    size_t size = sequential ? 2 * w->len : WINDOW_MIN;
    if (size > MAKI_LOG_WINDOW_MAX) size = MAKI_LOG_WINDOW_MAX;
    return size > row->length ? size : row->length;
}

static maki_status fill_window(maki_log_window *w, maki_log *log, const maki_index_record *row,
                               maki_err *err)
{
    uint64_t start = row->offset / MAKI_PAGE * MAKI_PAGE; /* pages are copied fastest */
    size_t size = next_window_size(w, log, row) + MAKI_PAGE;
    w->log = NULL;
    if (size > w->block.size) {
        maki_log_window_free(w);
        w->alloc = log->env.alloc;
        w->block = maki_block_new(w->alloc, size);
        if (!w->block.at) return maki_fail_nomem(err);
    }
    w->offset = start;
    maki_status st = maki_file_read_at(log->env.files, log->messages_fd, w->offset, w->block.at,
                                       size, &w->len, err);
    if (st == MAKI_OK) w->log = log;
    return st;
}

maki_status maki_log_read_buffered(maki_log *log, uint64_t seq, const maki_index_record *row,
                                   maki_log_window *window, maki_str *out, maki_err *err)
{
    maki_status st = window_has(window, log, row) ? MAKI_OK : fill_window(window, log, row, err);
    if (st != MAKI_OK) return st;
    if (!window_has(window, log, row)) return fail_changed(seq, err);
    *out = (maki_str){ window->block.at + (row->offset - window->offset), row->length };
    return maki_row_hash(*out) == row->xxh3 ? MAKI_OK : fail_changed(seq, err);
}

void maki_log_window_free(maki_log_window *window)
{
    if (window->alloc) maki_block_free(window->alloc, &window->block);
    *window = (maki_log_window){ 0 };
}

/* ---- copying ranges ---------------------------------------------------------------------------------------------- */

/* Rows that are contiguous in the file. */
typedef struct row_run {
    maki_index_record rows[ROWS_MAX];
    size_t count;
    uint64_t bytes; /* with newlines */
} row_run;

/* The contiguous rows from `seq` on that fit into a block; at least one. */
static maki_status next_run(maki_log *log, uint64_t seq, uint64_t to, row_run *run, maki_err *err)
{
    run->count = 0;
    run->bytes = 0;
    for (; seq <= to && run->count < ROWS_MAX; seq++) {
        maki_index_record *row = &run->rows[run->count];
        maki_status st = maki_log_row(log, seq, row, err);
        if (st != MAKI_OK) return st;
        if (row->flags & MAKI_ROW_NOT_MESSAGE) {
            return maki_fail(err, MAKI_CORRUPT, "message %" PRIu64 " is corrupt; run maki fsck",
                             seq);
        }
        uint64_t bytes = (uint64_t)row->length + 1;
        bool contiguous = run->count == 0 || row->offset == run->rows[0].offset + run->bytes;
        if (run->count > 0 && (run->bytes + bytes > BLOCK || !contiguous)) break;
        run->count++;
        run->bytes += bytes;
    }
    return MAKI_OK;
}

/* A row that is longer than a block: its hash is known only after it was written. */
static maki_status copy_long(maki_log *log, uint64_t seq, const maki_index_record *row, char *block,
                             maki_sink sink, maki_err *err)
{
    maki_row_hasher hasher;
    uint64_t offset = row->offset, end = row->offset + row->length;
    maki_status st = MAKI_OK;
    maki_row_hasher_begin(&hasher);
    while (st == MAKI_OK && offset < end) {
        size_t wanted = end - offset < BLOCK ? (size_t)(end - offset) : BLOCK, got = 0;
        st = maki_file_read_at(log->env.files, log->messages_fd, offset, block, wanted, &got, err);
        if (st == MAKI_OK && got < wanted) st = fail_changed(seq, err);
        if (st != MAKI_OK) return st;
        maki_row_hasher_add(&hasher, (maki_str){ block, got });
        st = sink.write(sink.ctx, (maki_str){ block, got }, err);
        offset += got;
    }
    if (st == MAKI_OK && maki_row_hasher_end(&hasher) != row->xxh3) st = fail_changed(seq, err);
    return st == MAKI_OK ? sink.write(sink.ctx, MAKI_LIT("\n"), err) : st;
}

static maki_status copy_run(maki_log *log, uint64_t seq, const row_run *run, char *block,
                            maki_sink sink, maki_err *err)
{
    size_t got = 0, pos = 0;
    if (run->bytes > BLOCK) return copy_long(log, seq, &run->rows[0], block, sink, err);
    maki_status st = maki_file_read_at(log->env.files, log->messages_fd, run->rows[0].offset, block,
                                       (size_t)run->bytes, &got, err);
    for (size_t i = 0; st == MAKI_OK && i < run->count; i++) {
        maki_str row = { block + pos, run->rows[i].length };
        bool complete = pos + row.len < got && block[pos + row.len] == '\n';
        if (!complete || maki_row_hash(row) != run->rows[i].xxh3) st = fail_changed(seq + i, err);
        pos += row.len + 1;
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

/* ---- events ------------------------------------------------------------------------------------------------- */

typedef struct event_walk {
    maki_log *log;
    maki_event_fn fn;
    void *ctx;
    uint64_t ev;
} event_walk;

static maki_status on_event_line(void *ctx, maki_str row, uint64_t offset, maki_err *err)
{
    event_walk *walk = ctx;
    if (offset >= walk->log->events_end) return MAKI_CANCELLED; /* added since the last refresh */
    return walk->fn(walk->ctx, ++walk->ev, row, offset, err);
}

maki_status maki_log_each_event_from(maki_log *log, uint64_t ev, uint64_t offset, maki_event_fn fn,
                                     void *ctx, maki_err *err)
{
    event_walk walk = { log, fn, ctx, ev };
    uint64_t end = 0;
    if (log->events_fd < 0 || ev == log->ev) return MAKI_OK;
    maki_status st = maki_lines_each(&log->env, log->events_fd, offset, EVENT_MAX, on_event_line,
                                     &walk, &end, err);
    if (st == MAKI_CANCELLED && walk.ev == log->ev) st = MAKI_OK;
    if (st == MAKI_OK && walk.ev < log->ev) {
        st = maki_fail(err, MAKI_CORRUPT, "the events file was truncated while in use");
    }
    return st;
}

maki_status maki_log_each_event(maki_log *log, maki_event_fn fn, void *ctx, maki_err *err)
{
    return maki_log_each_event_from(log, 0, 0, fn, ctx, err);
}

maki_status maki_log_event_bytes(maki_log *log, uint64_t offset, uint64_t len, maki_buf *out,
                                 maki_err *err)
{
    size_t got = 0;
    char *bytes = maki_buf_reserve(out, (size_t)len);
    if (!bytes) return maki_buf_status(out, err);
    maki_status st =
        maki_file_read_at(log->env.files, log->events_fd, offset, bytes, (size_t)len, &got, err);
    if (st == MAKI_OK && got < len)
        st = maki_fail(err, MAKI_CORRUPT, "the events file was truncated");
    if (st == MAKI_OK) out->len += got;
    return st;
}

maki_status maki_log_newest_events(maki_log *log, size_t max, maki_buf *out, maki_err *err)
{
    uint64_t end = log->events_end, from = end > max ? end - max : 0;
    size_t start = out->len;
    if (end == from) return MAKI_OK;
    maki_status st = maki_log_event_bytes(log, from, end - from, out, err);
    if (st != MAKI_OK || from == 0) return st;
    const char *newline =
        memchr(out->ptr + start, '\n', out->len - start); /* the first row is incomplete */
    size_t cut = newline ? (size_t)(newline - out->ptr) + 1 - start : out->len - start;
    memmove(out->ptr + start, out->ptr + start + cut, out->len - start - cut);
    out->len -= cut;
    return MAKI_OK;
}

/* log_write.c -- writes a group of rows and events: begin, add, commit or abort.
 *
 * Order of a commit: rows and events are written at the ends of the files, synced, and only then published
 * in the index.  A process killed before that leaves rows that were never acknowledged: the next writer
 * finds them after the end of the index and indexes them, or cuts them off when the last is torn.  A commit that fails
 * truncates the files to their sizes before it. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/str_util.h"
#include "log/lines.h"
#include "log/log_internal.h"

/* ---- writing ---------------------------------------------------------------------------------------------------- */

void maki_log_discard_group(maki_log *log)
{
    maki_log_end_batches(log);
    maki_buf_clear(&log->rows);
    maki_buf_clear(&log->events);
    log->record_count = 0;
    log->rows_begun = log->events_after_rows = false;
    log->events_added = 0;
    memcpy(log->new_head, log->head, MAKI_CHAIN_LEN);
    memcpy(log->new_sum, log->sum, MAKI_CHAIN_LEN);
    log->new_tokens = log->tokens;
}

maki_status maki_log_writable(const maki_log *log, maki_err *err)
{
    if (!log->read_only) return MAKI_OK;
    return maki_fail(err, MAKI_DENIED, "%s may not be written", log->paths.messages);
}

static maki_status begin(maki_log *log, maki_recovery mode, const unsigned char *expect,
                         maki_err *err)
{
    maki_status st =
        log->options.dry_run ? maki_log_copy_events(log, err) : maki_log_writable(log, err);
    if (st == MAKI_OK && !log->options.dry_run) st = maki_log_lock(log, err);
    if (st == MAKI_OK && log->locked && !maki_log_is_unchanged(log)) {
        st = maki_log_check_paths(log, err);
        if (st == MAKI_OK) st = maki_log_recover(log, mode, err);
    }
    if (st == MAKI_OK && expect && memcmp(expect, log->head, MAKI_CHAIN_LEN) != 0) {
        st = maki_fail(err, MAKI_CONFLICT,
                       "the conversation has grown since it was read; read it again");
    }
    if (st != MAKI_OK) {
        maki_log_unlock(log);
        return st;
    }
    maki_log_discard_group(log);
    return MAKI_OK;
}

maki_status maki_log_begin(maki_log *log, const unsigned char *expect, maki_err *err)
{
    return begin(log, MAKI_RECOVER_ALL, expect, err);
}

maki_status maki_log_begin_rows(maki_log *log, const unsigned char *expect, maki_err *err)
{
    return begin(log, MAKI_RECOVER_ROWS, expect, err);
}

/* Write the buffered rows; under MAKI_DURABILITY_AT_END they are published at once, so that a long import does not
 * accumulate records, and the next ones are counted in batches. */
static maki_status flush_rows(maki_log *log, maki_err *err)
{
    log->rows_begun = true;
    maki_status st = maki_file_write_at(log->env.files, log->messages_fd, log->written_end,
                                        maki_buf_str(&log->rows), err);
    if (st != MAKI_OK) return st;
    log->written_end += log->rows.len;
    maki_buf_clear(&log->rows);
    if (!maki_log_syncs_at_end(log)) return MAKI_OK;
    st = maki_log_publish(log, err);
    return st == MAKI_OK ? maki_log_begin_batches(log, true, err) : st;
}

/* A row that is longer than a block is written without being buffered: a message of hundreds of
 * megabytes would need its size in memory again. */
static maki_status write_long(maki_log *log, maki_str row, maki_err *err)
{
    const maki_files *files = log->env.files;
    uint64_t end = log->written_end + row.len;
    log->rows_begun = true;
    maki_status st = maki_file_write_at(files, log->messages_fd, log->written_end, row, err);
    if (st == MAKI_OK) st = maki_file_write_at(files, log->messages_fd, end, MAKI_LIT("\n"), err);
    if (st == MAKI_OK) log->written_end = end + 1;
    return st;
}

/* Add a row after the buffered ones; before a long row the buffer is empty. */
static maki_status add_line(maki_log *log, maki_str row, const maki_row_facts *facts, maki_err *err)
{
    const maki_token_batch *batch =
        log->token_batches ? maki_token_batches_current(log->token_batches) : NULL;
    uint64_t offset = log->written_end + log->rows.len + (batch ? batch->len : 0);
    maki_index_record record = maki_log_make_record(log, row, offset, facts);
    if (log->token_batches) return maki_log_add_to_batch(log, row, &record, &facts->spans, err);
    maki_status st = maki_log_add_record(log, row, &record, &facts->spans, err);
    if (st != MAKI_OK || row.len >= BLOCK) return st == MAKI_OK ? write_long(log, row, err) : st;
    maki_buf_add(&log->rows, row);
    maki_buf_add_byte(&log->rows, '\n');
    return maki_buf_status(&log->rows, err);
}

maki_status maki_log_add_row(maki_log *log, maki_str row, uint64_t *seq, maki_err *err)
{
    maki_row_facts facts = { 0 };
    assert(log->locked || log->options.dry_run);
    if (row.len > log->options.max_row_bytes) {
        return maki_fail(err, MAKI_TOOBIG, "a message of %zu bytes; the maximum is %" PRIu64,
                         row.len, log->options.max_row_bytes);
    }
    if (memchr(row.ptr, '\n', row.len)) {
        return maki_fail(err, MAKI_INVALID, "a row may not contain a newline");
    }
    bool flush_first =
        row.len >= BLOCK && log->rows.len > 0; /* the buffered ones are written first */
    if (log->record_count == ROWS_MAX || log->rows.len >= BLOCK || flush_first) {
        if (!maki_log_syncs_at_end(log) && log->record_count == ROWS_MAX) {
            return maki_fail(err, MAKI_TOOBIG, "more than %d messages in one synced group",
                             ROWS_MAX);
        }
        maki_status st = flush_rows(log, err);
        if (st != MAKI_OK) return st;
    }
    uint64_t number = maki_log_next_seq(log);
    maki_status st = maki_log_writable(log, err); /* a dry run adds events only */
    if (st == MAKI_OK)
        st = log->options.facts(log->options.facts_ctx, log, number, row, &facts, err);
    if (st == MAKI_OK) st = add_line(log, row, &facts, err);
    if (st == MAKI_OK && seq) *seq = number;
    return st;
}

maki_status maki_log_add_event(maki_log *log, const char *type, maki_str fields, uint64_t *ev,
                               maki_err *err)
{
    char head[2 * MAKI_CHAIN_LEN + 1], sum[2 * MAKI_CHAIN_LEN + 1];
    uint64_t number = log->ev + log->events_added + 1;
    size_t start = log->events.len;
    assert(log->locked || log->options.dry_run);
    maki_status st = maki_log_open_events(log, true, err);
    if (st != MAKI_OK) return st;
    if (log->events_added == 0) memcpy(log->new_sum, log->sum, MAKI_CHAIN_LEN);
    if (log->record_count || log->rows_begun) log->events_after_rows = true;
    maki_hex(log->new_head, MAKI_CHAIN_LEN, head);
    maki_buf_print(&log->events,
                   "{\"ev\":%" PRIu64 ",\"at\":%" PRIu64 ",\"ts\":%" PRId64
                   ",\"type\":\"%s\",\"head\":\"%s\"%s",
                   number, maki_log_next_seq(log) - 1, log->env.clock->now_ms(log->env.clock), type,
                   head, fields.len ? "," : "");
    maki_buf_add(&log->events, fields);
    st = maki_buf_status(&log->events, err);
    if (st != MAKI_OK) return st;
    maki_str covered = maki_str_skip(maki_buf_str(&log->events), start);
    maki_chain_next(log->new_sum, covered, log->new_sum);
    maki_hex(log->new_sum, MAKI_CHAIN_LEN, sum);
    maki_buf_print(&log->events, ",\"sum\":\"%s\"}\n", sum);
    log->events_added++;
    if (ev) *ev = number;
    return maki_buf_status(&log->events, err);
}

static maki_status sync_file(maki_log *log, int fd, maki_err *err)
{
    if (log->options.durability != MAKI_DURABILITY_SYNC || log->events_copied) return MAKI_OK;
    if (log->env.files->sync(log->env.files, fd) < 0) return maki_fail_errno(err, "cannot sync");
    return MAKI_OK;
}

static maki_status write_rows(maki_log *log, maki_err *err)
{
    if (log->rows.len == 0 && log->record_count == 0) return MAKI_OK;
    log->rows_begun = true;
    maki_status st = maki_file_write_at(log->env.files, log->messages_fd, log->written_end,
                                        maki_buf_str(&log->rows), err);
    return st == MAKI_OK ? sync_file(log, log->messages_fd, err) : st;
}

static maki_status write_events(maki_log *log, maki_err *err)
{
    if (log->events.len == 0) return MAKI_OK;
    maki_status st = maki_file_write_at(log->env.files, log->events_fd, log->events_end,
                                        maki_buf_str(&log->events), err);
    return st == MAKI_OK ? sync_file(log, log->events_fd, err) : st;
}

/* Events first: one that names the next row must be found before that row (FORMATS section 1).  But one
 * that was added after rows of this group comes after them: its head covers them, and if the process is killed in
 * between it would name a row that is missing. */
static maki_status write_files(maki_log *log, maki_err *err)
{
    bool new_file = log->index.header.count == 0 || (log->events.len && log->events_end == 0);
    maki_status st = MAKI_OK;
    if (!log->events_after_rows) st = write_events(log, err);
    if (st == MAKI_OK) st = write_rows(log, err);
    if (st == MAKI_OK && log->events_after_rows) st = write_events(log, err);
    if (st == MAKI_OK && new_file && log->options.durability == MAKI_DURABILITY_SYNC &&
        !log->events_copied) {
        st = maki_directory_sync(&log->env, log->paths.messages, err);
    }
    return st;
}

/* Truncate the files to their sizes before the group, so that the next writer does not find rows of this group. */
static void roll_back(maki_log *log, uint64_t end)
{
    const maki_files *files = log->env.files;
    if (log->rows_begun && maki_file_size(files, log->messages_fd) > (off_t)end) {
        (void)!files->truncate(files, log->messages_fd, (off_t)end);
    }
    if (log->events_fd >= 0 && maki_file_size(files, log->events_fd) > (off_t)log->events_end) {
        (void)!files->truncate(files, log->events_fd, (off_t)log->events_end);
    }
    maki_log_discard_group(log);
    log->written_end = end;
}

/* Publish the rows of the group; an index that cannot be appended to is rebuilt.  When that fails too, the log
 * is unchanged, but without an index until the next refresh. */
static maki_status publish_group(maki_log *log, maki_err *err)
{
    maki_index_header header = log->index.header;
    unsigned char head[MAKI_CHAIN_LEN];
    uint64_t tokens = log->tokens, end = 0;
    memcpy(head, log->head, MAKI_CHAIN_LEN);
    log->written_end += log->rows.len;
    if (maki_log_publish(log, NULL) == MAKI_OK) return MAKI_OK;
    maki_status st = maki_log_rebuild(log, &end, err);
    if (st == MAKI_OK) return MAKI_OK;
    maki_index_close(&log->index);
    log->index.header = header;
    log->tokens = tokens;
    memcpy(log->head, head, MAKI_CHAIN_LEN);
    return st;
}

void maki_log_store_event_count(maki_log *log)
{
    (void)!maki_index_store_event_count(&log->index, log->ev, NULL);
}

/* Call the on_write callback; the rows of the group began at `from`. */
static void notify_written(maki_log *log, uint64_t from)
{
    maki_log_write_fn fn = log->options.on_write;
    uint64_t to = maki_log_published_end(log);
    if (!fn || log->events_copied) return;
    maki_str rows = { to - from == log->rows.len ? log->rows.ptr : NULL, (size_t)(to - from) };
    if (to > from) fn(log->options.on_write_ctx, MAKI_LOG_MESSAGES, from, rows);
    if (log->events.len)
        fn(log->options.on_write_ctx, MAKI_LOG_EVENTS, log->events_end, maki_buf_str(&log->events));
}

maki_status maki_log_commit_locked(maki_log *log, maki_err *err)
{
    maki_status st = log->token_batches ? maki_log_flush_batches(log, true, err) : MAKI_OK;
    maki_log_end_batches(log);
    uint64_t end = maki_log_published_end(log);
    assert(log->locked || log->options.dry_run);
    assert(end <= log->written_end);
    if (st == MAKI_OK) st = write_files(log, err);
    if (st == MAKI_OK) st = publish_group(log, err);
    if (st != MAKI_OK) {
        roll_back(log, end);
        return st;
    }
    notify_written(log, end);
    log->events_end += log->events.len;
    log->ev += log->events_added;
    if (log->events_added) {
        memcpy(log->sum, log->new_sum, MAKI_CHAIN_LEN);
        if (log->options.durability != MAKI_DURABILITY_BY_CALLER && !log->read_only)
            maki_log_store_event_count(log);
    }
    maki_log_discard_group(log);
    return MAKI_OK;
}

/* Release the memory of a buffer that a long row has grown. */
static void shrink_buffer(maki_buf *buf)
{
    size_t max = buf->max;
    const maki_alloc *alloc = buf->alloc;
    if (buf->capacity <= RETAINED_MAX) return;
    maki_buf_free(buf);
    *buf = maki_buf_new(alloc, max);
}

maki_status maki_log_commit(maki_log *log, maki_err *err)
{
    maki_status st = maki_log_commit_locked(log, err);
    maki_log_unlock(log);
    shrink_buffer(&log->rows);
    shrink_buffer(&log->events);
    return st;
}

maki_status maki_log_end(maki_log *log, maki_status st, maki_err *err)
{
    if (st == MAKI_OK) return maki_log_commit(log, err);
    maki_log_abort(log);
    return st;
}

void maki_log_abort(maki_log *log)
{
    if (!log->locked) return;
    roll_back(log, maki_log_published_end(log));
    maki_log_unlock(log);
    shrink_buffer(&log->rows);
    shrink_buffer(&log->events);
}

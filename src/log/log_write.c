/* log_write.c -- a group of rows and events; see log.h.
 *
 * Order of a commit: rows and events are written where the files end, synced, and only then published
 * in the index.  A process killed before that leaves rows that nobody was promised: the next writer
 * finds them after the index's end and takes them in, or cuts them off when the last is torn. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/str.h"
#include "log/lines.h"
#include "log/log_internal.h"

/* ---- writing ---------------------------------------------------------------------------------------------------- */

void maki_log_discard_group(maki_log *log)
{
    maki_log_end_batches(log);
    maki_buf_clear(&log->rows);
    maki_buf_clear(&log->events);
    log->record_count = 0;
    log->rows_begun = log->seals_rows = false;
    log->events_added = 0;
    memcpy(log->new_head, log->head, MAKI_CHAIN_LEN);
    memcpy(log->new_sum, log->sum, MAKI_CHAIN_LEN);
    log->new_tokens = log->tokens;
}

maki_status maki_log_writable(const maki_log *log, maki_err *err)
{
    if (!log->read_only) return MAKI_OK;
    return maki_fail(err, MAKI_DENIED, "%s may not be written", log->path);
}

static maki_status begin(maki_log *log, maki_recovery what, const unsigned char *expect,
                         maki_err *err)
{
    maki_status st =
        log->options.rehearse ? maki_log_save_tail(log, err) : maki_log_writable(log, err);
    if (st == MAKI_OK && !log->options.rehearse) st = maki_log_lock(log, err);
    if (st == MAKI_OK && log->locked && !maki_log_untouched(log)) {
        st = maki_log_check_names(log, err);
        if (st == MAKI_OK) st = maki_log_recover(log, what, err);
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

/* Write the waiting rows; under MAKI_LAZY they are published at once, so that a long import does not
 * gather records, and those to come go in batches. */
static maki_status flush_rows(maki_log *log, maki_err *err)
{
    log->rows_begun = true;
    maki_status st = maki_file_write_at(log->env.files, log->messages_fd, log->written_end,
                                        maki_buf_str(&log->rows), err);
    if (st != MAKI_OK) return st;
    log->written_end += log->rows.len;
    maki_buf_clear(&log->rows);
    if (!maki_log_lazy(log)) return MAKI_OK;
    st = maki_log_publish(log, err);
    return st == MAKI_OK ? maki_log_begin_batches(log, true, err) : st;
}

/* A row that is longer than a block is written from where it is: held here too, a message of hundreds of
 * megabytes would take as much memory again. */
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

/* A row of the group, after those that wait; a long one has none before it. */
static maki_status add_line(maki_log *log, maki_str row, const maki_facts *facts, maki_err *err)
{
    const maki_batch *batch = log->intake ? maki_batch_counter_filled(log->intake) : NULL;
    uint64_t at = log->written_end + log->rows.len + (batch ? batch->len : 0);
    maki_row record = maki_log_make_record(log, row, at, facts);
    if (log->intake) return maki_log_add_to_batch(log, row, &record, &facts->hint, err);
    maki_status st = maki_log_add_record(log, row, &record, &facts->hint, err);
    if (st != MAKI_OK || row.len >= BLOCK) return st == MAKI_OK ? write_long(log, row, err) : st;
    maki_buf_add(&log->rows, row);
    maki_buf_add_byte(&log->rows, '\n');
    return maki_buf_status(&log->rows, err);
}

maki_status maki_log_add_row(maki_log *log, maki_str row, uint64_t *seq, maki_err *err)
{
    maki_facts facts = { 0 };
    assert(log->locked || log->options.rehearse);
    if (row.len > log->options.max_row_bytes) {
        return maki_fail(err, MAKI_TOOBIG, "a message of %zu bytes; the most is %" PRIu64, row.len,
                         log->options.max_row_bytes);
    }
    if (memchr(row.ptr, '\n', row.len)) {
        return maki_fail(err, MAKI_INVALID, "a row may not contain a newline");
    }
    bool alone = row.len >= BLOCK && log->rows.len > 0; /* those before it go first */
    if (log->record_count == ROWS_AT_ONCE || log->rows.len >= BLOCK || alone) {
        if (!maki_log_lazy(log) && log->record_count == ROWS_AT_ONCE) {
            return maki_fail(err, MAKI_TOOBIG, "more than %d messages in one synced group",
                             ROWS_AT_ONCE);
        }
        maki_status st = flush_rows(log, err);
        if (st != MAKI_OK) return st;
    }
    uint64_t number = maki_log_next_seq(log);
    maki_status st = maki_log_writable(log, err); /* a rehearsal is of events alone */
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
    assert(log->locked || log->options.rehearse);
    maki_status st = maki_log_open_events(log, true, err);
    if (st != MAKI_OK) return st;
    if (log->events_added == 0) memcpy(log->new_sum, log->sum, MAKI_CHAIN_LEN);
    if (log->record_count || log->rows_begun) log->seals_rows = true;
    maki_hex(log->new_head, MAKI_CHAIN_LEN, head);
    maki_buf_print(&log->events,
                   "{\"ev\":%" PRIu64 ",\"at\":%" PRIu64 ",\"ts\":%" PRId64
                   ",\"type\":\"%s\",\"head\":\"%s\"%s",
                   number, maki_log_next_seq(log) - 1, log->env.clock->now_ms(log->env.clock), type,
                   head, fields.len ? "," : "");
    maki_buf_add(&log->events, fields);
    st = maki_buf_status(&log->events, err);
    if (st != MAKI_OK) return st;
    maki_str covered = maki_str_from(maki_buf_str(&log->events), start);
    maki_chain_next(log->new_sum, covered, log->new_sum);
    maki_hex(log->new_sum, MAKI_CHAIN_LEN, sum);
    maki_buf_print(&log->events, ",\"sum\":\"%s\"}\n", sum);
    log->events_added++;
    if (ev) *ev = number;
    return maki_buf_status(&log->events, err);
}

static maki_status sync_file(maki_log *log, int fd, maki_err *err)
{
    if (log->options.durability != MAKI_SYNC || log->apart) return MAKI_OK;
    if (log->env.files->sync(log->env.files, fd) < 0) return maki_fail_errno(err, "syncing");
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

/* Events first: one that names a row to come is found before the row (FORMATS section 1).  But one
 * that seals a row of this group comes after it: killed in between, it would speak of a row that is
 * not there. */
static maki_status write_group(maki_log *log, maki_err *err)
{
    bool new_file = log->index.header.count == 0 || (log->events.len && log->events_end == 0);
    maki_status st = MAKI_OK;
    if (!log->seals_rows) st = write_events(log, err);
    if (st == MAKI_OK) st = write_rows(log, err);
    if (st == MAKI_OK && log->seals_rows) st = write_events(log, err);
    if (st == MAKI_OK && new_file && log->options.durability == MAKI_SYNC && !log->apart) {
        st = maki_directory_sync(&log->env, log->path, err);
    }
    return st;
}

/* What was written of the group must not be taken for rows by the next writer. */
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

/* Publish the rows of the group; an index that cannot be added to is made again.  When neither can be
 * done the log is as it was before, without an index until it is looked at again. */
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

/* In the index: how many events there are.  Fewer than there are is no harm. */
void maki_log_note_events(maki_log *log)
{
    (void)!maki_index_note_events(&log->index, log->ev, NULL);
}

/* Whoever wants to know what the group wrote; its rows began at `from`. */
static void tell_written(maki_log *log, uint64_t from)
{
    maki_log_wrote_fn fn = log->options.wrote;
    uint64_t to = maki_log_published_end(log);
    if (!fn || log->apart) return;
    maki_str rows = { to - from == log->rows.len ? log->rows.ptr : NULL, (size_t)(to - from) };
    if (to > from) fn(log->options.wrote_ctx, MAKI_LOG_MESSAGES, from, rows);
    if (log->events.len)
        fn(log->options.wrote_ctx, MAKI_LOG_EVENTS, log->events_end, maki_buf_str(&log->events));
}

/* Write, sync and publish the group; the lock stays. */
maki_status maki_log_finish(maki_log *log, maki_err *err)
{
    maki_status st = log->intake ? maki_log_flush_batches(log, true, err) : MAKI_OK;
    maki_log_end_batches(log);
    uint64_t end = maki_log_published_end(log);
    if (st == MAKI_OK) st = write_group(log, err);
    if (st == MAKI_OK) st = publish_group(log, err);
    if (st != MAKI_OK) {
        roll_back(log, end);
        return st;
    }
    tell_written(log, end);
    log->events_end += log->events.len;
    log->ev += log->events_added;
    if (log->events_added) {
        memcpy(log->sum, log->new_sum, MAKI_CHAIN_LEN);
        if (log->options.durability != MAKI_REPLY && !log->read_only) maki_log_note_events(log);
    }
    maki_log_discard_group(log);
    return MAKI_OK;
}

/* A long row came by: what it took is not kept for the next. */
static void give_back(maki_buf *buf)
{
    size_t max = buf->max;
    const maki_alloc *alloc = buf->alloc;
    if (buf->capacity <= KEPT) return;
    maki_buf_free(buf);
    *buf = maki_buf_new(alloc, max);
}

maki_status maki_log_commit(maki_log *log, maki_err *err)
{
    maki_status st = maki_log_finish(log, err);
    maki_log_unlock(log);
    give_back(&log->rows);
    give_back(&log->events);
    return st;
}

void maki_log_abort(maki_log *log)
{
    if (!log->locked) return;
    roll_back(log, maki_log_published_end(log));
    maki_log_unlock(log);
    give_back(&log->rows);
    give_back(&log->events);
}

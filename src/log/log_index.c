/* log_index.c -- opens the index of a log, checks that it belongs to it, and adds the rows that are missing in it.
 *
 * A writer has the lock and updates the shared index.  A reader never waits for a lock: when there are rows after the
 * end of the index (a killed writer left them, or another program wrote them) and no process is writing, it adds them
 * to a private copy; with `share_index` it updates the shared one instead, if that may be written and the lock is
 * free.  A torn end is left alone: only a writer cuts it off.  An index that is corrupt is rebuilt, never repaired. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "log/lines.h"
#include "log/log_internal.h"

static maki_status discard_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    (void)ctx, (void)bytes, (void)err;
    return MAKI_OK;
}

/* Does record `number` of the index match the bytes of its row? */
static maki_status check_record(maki_log *log, uint64_t number, uint64_t end, maki_err *err)
{
    maki_index_record row;
    maki_status st = maki_index_get(&log->index, number, &row, err);
    if (st != MAKI_OK) return st;
    if (row.offset > end || row.length >= end - row.offset) {
        return maki_fail(err, MAKI_CORRUPT, "the index is corrupt");
    }
    uint64_t seq = log->fork.seq + number;
    if (row.length > BLOCK)
        return maki_log_copy(log, seq, seq, (maki_sink){ discard_bytes, NULL }, err);
    maki_buf bytes = maki_buf_new(log->env.alloc, (size_t)row.length + 1);
    st = maki_log_read(log, seq, &bytes, err);
    maki_buf_free(&bytes);
    return st;
}

/* Does the index belong to this file?  Its last record must match the bytes. */
static maki_status check_index(maki_log *log, uint64_t size, maki_err *err)
{
    maki_index *index = &log->index;
    const char *encoding = log->options.encoding;
    maki_index_record first;
    if (strncmp(index->header.encoding, encoding, MAKI_INDEX_ENCODING_LEN) != 0 ||
        index->header.base != log->fork.seq ||
        memcmp(index->header.start, log->start, MAKI_CHAIN_LEN) != 0) {
        return maki_fail(err, MAKI_CORRUPT, "the index belongs to another log");
    }
    maki_status st = maki_log_load_head(log, err);
    if (st != MAKI_OK || index->header.count == 0) return st;
    if (index->header.end <= size) return check_record(log, index->header.count, size, err);
    /* The log was truncated, which the caller reports, or replaced by another one, whose row 1 differs. */
    st = maki_index_get(index, 1, &first, err);
    if (st != MAKI_OK || first.offset + first.length >= size) return st;
    return check_record(log, 1, size, err);
}

/* Rebuild the index from the log: in a private file, or in a new file that replaces the old one. */
static maki_status rebuild(maki_log *log, bool private_file, uint64_t *end, maki_err *err)
{
    const maki_files *files = log->env.files;
    maki_index_header header;
    char temp[MAKI_PATH_MAX + 8];
    maki_index_close(&log->index);
    maki_index_header_init(&header, log->options.encoding, log->fork.seq, log->start);
    snprintf(temp, sizeof temp, "%s.new", log->paths.index);
    maki_status st =
        maki_index_create(&log->index, &log->env, private_file ? NULL : temp, &header, err);
    if (st == MAKI_DENIED && !private_file) { /* the directory is read-only */
        private_file = true;
        st = maki_index_create(&log->index, &log->env, NULL, &header, err);
    }
    if (st == MAKI_OK) st = maki_log_catch_up(log, end, err);
    if (st == MAKI_OK) st = maki_index_store_event_count(&log->index, log->ev, err);
    if (st == MAKI_OK && !private_file && files->rename(files, temp, log->paths.index) < 0) {
        st = maki_fail_errno(err, "cannot replace the index");
    }
    if (st != MAKI_OK && !private_file) files->unlink(files, temp);
    return st;
}

maki_status maki_log_fail_truncated(const maki_log *log, uint64_t size, maki_err *err)
{
    return maki_fail(err, MAKI_CORRUPT,
                     "the messages file has %" PRIu64 " bytes where it had %" PRIu64
                     ": rows are gone; run maki fsck",
                     size, log->index.header.end);
}

/* The index has the number of events.  If the events file has fewer, it was truncated or removed, and changes to the
 * messages are lost. */
maki_status maki_log_check_events(maki_log *log, maki_err *err)
{
    bool fewer = log->index.header.events > log->ev;
    if (!fewer || log->options.repair || log->options.messages_only) return MAKI_OK;
    if (!log->locked) { /* a writer may have added events after we read them */
        maki_status st = maki_log_refresh_events(log, err);
        if (st != MAKI_OK || log->index.header.events <= log->ev) return st;
    }
    return maki_fail(err, MAKI_CORRUPT, "%" PRIu64 " of %" PRIu64 " events are gone; run maki fsck",
                     log->index.header.events - log->ev, log->index.header.events);
}

/* ---- a reader ---------------------------------------------------------------------------------------- */

/* Try the lock without waiting.  True: no process writes until maki_log_unlock. */
static bool lock_if_free(maki_log *log, int operation)
{
    const maki_files *files = log->env.files;
    if (log->locked) return false;
    log->locked = files->lock(files, log->messages_fd, operation | LOCK_NB) == 0;
    return log->locked;
}

static maki_status on_any_line(void *ctx, maki_str line, uint64_t offset, maki_err *err)
{
    (void)line, (void)offset, (void)err;
    *(bool *)ctx = true;
    return MAKI_CANCELLED;
}

/* Is there a complete row after the end of the index?  If not, all that follows is a torn end. */
static maki_status has_new_rows(maki_log *log, bool *found, maki_err *err)
{
    uint64_t end = 0;
    *found = false;
    maki_status st = maki_lines_each(&log->env, log->messages_fd, log->written_end,
                                     log->options.max_row_bytes, on_any_line, found, &end, err);
    return *found ? MAKI_OK : st;
}

/* Replace the shared index in this handle by a private copy. */
static maki_status copy_index(maki_log *log, maki_err *err)
{
    maki_index_header header = log->index.header;
    uint64_t start = sizeof header, end = start + header.count * sizeof(maki_index_record);
    maki_index copy;
    maki_status st = maki_index_create(&copy, &log->env, NULL, &header, err);
    if (st != MAKI_OK) return st;
    st = maki_file_copy(&log->env, log->index.fd, start, end, copy.fd, start, err);
    maki_index_close(st == MAKI_OK ? &log->index : &copy);
    if (st == MAKI_OK) log->index = copy;
    return st;
}

/* Under the lock: add the rows to the shared index; another process may have updated it meanwhile.
 * MAKI_CORRUPT: it is not an index of this log any more; any other failure: it cannot be written. */
static maki_status add_to_shared(maki_log *log, uint64_t *end)
{
    uint64_t size = 0;
    maki_index shared;
    maki_status st = maki_index_open(&shared, &log->env, log->paths.index, true, NULL);
    if (st != MAKI_OK) return st;
    maki_index_close(&log->index);
    log->index = shared;
    st = maki_file_get_size(&log->env, log->messages_fd, &size, NULL);
    if (st == MAKI_OK) st = check_index(log, size, NULL);
    if (st == MAKI_OK && log->index.header.end > size) st = MAKI_CORRUPT;
    return st == MAKI_OK ? maki_log_catch_up(log, end, NULL) : st;
}

maki_status maki_log_index_new_rows(maki_log *log, uint64_t size, uint64_t *end, maki_err *err)
{
    bool new_rows = false;
    maki_status st = maki_log_load_head(log, err);
    *end = log->written_end;
    if (st != MAKI_OK || size <= *end) return st;
    st = has_new_rows(log, &new_rows, err);
    if (st != MAKI_OK || !new_rows) return st;
    bool shared = log->options.share_index && !log->index.is_private;
    if (!lock_if_free(log, shared ? LOCK_EX : LOCK_SH))
        return MAKI_OK; /* another process is writing and publishes them when they are complete */
    maki_status updated = shared ? add_to_shared(log, end) : MAKI_DENIED;
    maki_log_unlock(log);
    if (updated == MAKI_OK) return MAKI_OK;
    if (updated == MAKI_CORRUPT) return rebuild(log, true, end, err);
    st = log->index.is_private ? MAKI_OK : copy_index(log, err);
    return st == MAKI_OK ? maki_log_catch_up(log, end, err) : st;
}

maki_status maki_log_rebuild(maki_log *log, uint64_t *end, maki_err *err)
{
    if (!log->read_only) return rebuild(log, false, end, err);
    if (log->options.share_index && lock_if_free(log, LOCK_EX)) {
        maki_status st = rebuild(log, false, end, err);
        maki_log_unlock(log);
        if (st != MAKI_IO && st != MAKI_FULL) return st;
    }
    return rebuild(log, true, end, err);
}

maki_status maki_log_open_index(maki_log *log, uint64_t *end, maki_err *err)
{
    uint64_t size = 0;
    maki_err cause = { 0 };
    maki_index_close(&log->index);
    maki_status st =
        maki_index_open(&log->index, &log->env, log->paths.index, !log->read_only, &cause);
    if (st == MAKI_DENIED && !log->read_only) {
        st = maki_index_open(&log->index, &log->env, log->paths.index, false, &cause);
    }
    /* The size is read after the index, which has only complete rows: a row that is being written must not look
     * like a missing one. */
    maki_status size_status = maki_file_get_size(&log->env, log->messages_fd, &size, err);
    if (size_status != MAKI_OK) return size_status;
    if (st == MAKI_OK) st = check_index(log, size, &cause);
    if (st == MAKI_NOMEM) {
        if (err) *err = cause;
        return st;
    }
    bool truncated = st == MAKI_OK && log->index.header.end > size;
    if (truncated && !log->options.repair) return maki_log_fail_truncated(log, size, err);
    if (st != MAKI_OK || truncated) return maki_log_rebuild(log, end, err);
    st = maki_log_check_events(log, err);
    if (st != MAKI_OK) return st;
    if (log->read_only) return maki_log_index_new_rows(log, size, end, err);
    return maki_log_catch_up(log, end, err);
}

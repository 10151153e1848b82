/* log_index.c -- the index of a log that is opened: does it belong to it, does it go as far; see
 * log_internal.h.
 *
 * A writer has the lock and puts the shared index right.  A reader takes no lock that anybody would wait
 * for: when rows stand after the end of the index (a killed writer left them, or another program wrote
 * them) and nobody is writing, it takes them into an index of its own; one that was told to keep the
 * index (`looks`) puts the shared one right instead, if that may be written and the lock is free.  A
 * torn end stays where it is: only a writer cuts it off. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/block.h"
#include "base/err.h"
#include "base/files.h"
#include "log/lines.h"
#include "log/log_internal.h"

static maki_status drop(void *ctx, maki_str bytes, maki_err *err)
{
    (void)ctx, (void)bytes, (void)err;
    return MAKI_OK;
}

/* Record `number` of the index fits the bytes it speaks of. */
static maki_status check_record(maki_log *log, uint64_t number, uint64_t end, maki_err *err)
{
    maki_row row;
    maki_status st = maki_index_get(&log->index, number, &row, err);
    if (st != MAKI_OK) return st;
    if (row.offset > end || row.length >= end - row.offset) {
        return maki_fail(err, MAKI_CORRUPT, "the index is garbage");
    }
    uint64_t seq = log->base + number;
    if (row.length > BLOCK) return maki_log_copy(log, seq, seq, (maki_sink){ drop, NULL }, err);
    maki_buf bytes = maki_buf_new(log->env.alloc, (size_t)row.length + 1);
    st = maki_log_read(log, seq, &bytes, err);
    maki_buf_free(&bytes);
    return st;
}

/* Does the index belong to this file?  Its last record must fit the bytes. */
static maki_status check_index(maki_log *log, uint64_t size, maki_err *err)
{
    maki_index *index = &log->index;
    const char *family = log->options.family;
    maki_row first;
    if (strncmp(index->header.family, family, MAKI_FAMILY_LEN) != 0 ||
        index->header.base != log->base ||
        memcmp(index->header.start, log->start, MAKI_CHAIN_LEN) != 0) {
        return maki_fail(err, MAKI_CORRUPT, "the index belongs to another log");
    }
    maki_status st = maki_log_load_head(log, err);
    if (st != MAKI_OK || index->header.count == 0) return st;
    if (index->header.end <= size) return check_record(log, index->header.count, size, err);
    /* The log is shorter, which the caller tells; or it is another one: that shows in row 1. */
    st = maki_index_get(index, 1, &first, err);
    if (st != MAKI_OK || first.offset + first.length >= size) return st;
    return check_record(log, 1, size, err);
}

/* Make the index again from the log: a private one, or beside the old one if that may be written, and put
 * it in place. */
static maki_status rebuild(maki_log *log, bool private_one, uint64_t *end, maki_err *err)
{
    const maki_files *files = log->env.files;
    maki_index_header header;
    char temp[MAKI_PATH_MAX + 8];
    maki_index_close(&log->index);
    maki_index_header_init(&header, log->options.family, log->base, log->start);
    snprintf(temp, sizeof temp, "%s.new", log->index_path);
    maki_status st =
        maki_index_create(&log->index, &log->env, private_one ? NULL : temp, &header, err);
    if (st == MAKI_DENIED &&
        !private_one) { /* the folder may not be written: keep it to ourselves */
        private_one = true;
        st = maki_index_create(&log->index, &log->env, NULL, &header, err);
    }
    if (st == MAKI_OK) st = maki_log_catch_up(log, end, err);
    if (st == MAKI_OK) st = maki_index_note_events(&log->index, log->ev, err);
    if (st == MAKI_OK && !private_one && files->rename(files, temp, log->index_path) < 0) {
        st = maki_fail_errno(err, "putting the new index in place");
    }
    if (st != MAKI_OK && !private_one) files->unlink(files, temp);
    return st;
}

maki_status maki_log_shorter(const maki_log *log, uint64_t size, maki_err *err)
{
    return maki_fail(err, MAKI_CORRUPT,
                     "the messages file has %" PRIu64 " bytes where it had %" PRIu64
                     ": rows are gone; see maki fsck",
                     size, log->index.header.end);
}

/* The index remembers how many events there were.  Fewer now: the file was cut short or taken away, and
 * with it what was done to the messages. */
maki_status maki_log_check_events(maki_log *log, maki_err *err)
{
    bool fewer = log->index.header.events > log->ev;
    if (!fewer || log->options.repair || log->options.from_rows) return MAKI_OK;
    if (!log->locked) { /* a writer may have been faster than our look at the events */
        maki_status st = maki_log_refresh_events(log, err);
        if (st != MAKI_OK || log->index.header.events <= log->ev) return st;
    }
    return maki_fail(err, MAKI_CORRUPT, "%" PRIu64 " of %" PRIu64 " events are gone; see maki fsck",
                     log->index.header.events - log->ev, log->index.header.events);
}

/* ---- a reader ---------------------------------------------------------------------------------------- */

/* Nobody is writing, and nobody begins to until maki_log_unlock. */
static bool lock_if_free(maki_log *log, int how)
{
    const maki_files *files = log->env.files;
    if (log->locked) return false;
    log->locked = files->lock(files, log->messages_fd, how | LOCK_NB) == 0;
    return log->locked;
}

static maki_status stop(void *ctx, maki_str line, uint64_t at, maki_err *err)
{
    (void)line, (void)at, (void)err;
    *(bool *)ctx = true;
    return MAKI_CANCELLED;
}

/* Is there a whole row after the last that the index has?  Else all that stands there is a torn end. */
static maki_status has_more(maki_log *log, bool *more, maki_err *err)
{
    uint64_t end = 0;
    *more = false;
    maki_status st = maki_lines_each(&log->env, log->messages_fd, log->written_end,
                                     log->options.max_row_bytes, stop, more, &end, err);
    return *more ? MAKI_OK : st;
}

/* From here on the index is a copy of our own. */
static maki_status copy_index(maki_log *log, maki_err *err)
{
    maki_index_header header = log->index.header;
    uint64_t size = sizeof header + header.count * sizeof(maki_row);
    maki_index made;
    maki_status st = maki_index_create(&made, &log->env, NULL, &header, err);
    if (st != MAKI_OK) return st;
    maki_block block = maki_block_new(log->env.alloc, BLOCK);
    if (!block.at) st = maki_fail_nomem(err);
    for (uint64_t at = sizeof header; st == MAKI_OK && at < size;) {
        size_t want = size - at < BLOCK ? (size_t)(size - at) : BLOCK, got = 0;
        st = maki_file_read_at(log->env.files, log->index.fd, at, block.at, want, &got, err);
        if (st == MAKI_OK && got < want)
            st = maki_fail(err, MAKI_CORRUPT, "the index was cut short while in use");
        if (st == MAKI_OK)
            st = maki_file_write_at(log->env.files, made.fd, at, (maki_str){ block.at, got }, err);
        at += got;
    }
    maki_block_free(log->env.alloc, &block);
    if (st != MAKI_OK) {
        maki_index_close(&made);
        return st;
    }
    maki_index_close(&log->index);
    log->index = made;
    return MAKI_OK;
}

/* Under the lock: the shared index takes the rows in; another process may have put it right meanwhile.
 * MAKI_CORRUPT: it is no index of this log any more; else not MAKI_OK: it may not be written, or cannot. */
static maki_status add_to_shared(maki_log *log, uint64_t *end)
{
    const maki_files *files = log->env.files;
    maki_index shared;
    maki_status st = maki_index_open(&shared, &log->env, log->index_path, true, NULL);
    if (st != MAKI_OK) return st;
    maki_index_close(&log->index);
    log->index = shared;
    off_t size = maki_file_size(files, log->messages_fd);
    st = size < 0 ? MAKI_IO : check_index(log, (uint64_t)size, NULL);
    if (st == MAKI_OK && log->index.header.end > (uint64_t)size) st = MAKI_CORRUPT;
    return st == MAKI_OK ? maki_log_catch_up(log, end, NULL) : st;
}

maki_status maki_log_index_new_rows(maki_log *log, uint64_t size, uint64_t *end, maki_err *err)
{
    bool more = false;
    maki_status st = maki_log_load_head(log, err);
    *end = log->written_end;
    if (st != MAKI_OK || size <= *end) return st;
    st = has_more(log, &more, err);
    if (st != MAKI_OK || !more) return st;
    bool shared = log->options.looks && !log->index.own;
    if (!lock_if_free(log, shared ? LOCK_EX : LOCK_SH))
        return MAKI_OK; /* somebody writes, and publishes it when it is whole */
    maki_status kept = shared ? add_to_shared(log, end) : MAKI_DENIED;
    maki_log_unlock(log);
    if (kept == MAKI_OK) return MAKI_OK;
    if (kept == MAKI_CORRUPT) return rebuild(log, true, end, err);
    st = log->index.own ? MAKI_OK : copy_index(log, err);
    return st == MAKI_OK ? maki_log_catch_up(log, end, err) : st;
}

maki_status maki_log_rebuild(maki_log *log, uint64_t *end, maki_err *err)
{
    if (!log->read_only) return rebuild(log, false, end, err);
    if (log->options.looks && lock_if_free(log, LOCK_EX)) {
        maki_status st = rebuild(log, false, end, err);
        maki_log_unlock(log);
        if (st != MAKI_IO && st != MAKI_FULL) return st;
    }
    return rebuild(log, true, end, err);
}

/* Open or make the index and take in new rows. */
maki_status maki_log_open_index(maki_log *log, uint64_t *end, maki_err *err)
{
    const maki_files *files = log->env.files;
    maki_err why = { 0 };
    maki_index_close(&log->index);
    maki_status st =
        maki_index_open(&log->index, &log->env, log->index_path, !log->read_only, &why);
    if (st == MAKI_DENIED && !log->read_only) {
        st = maki_index_open(&log->index, &log->env, log->index_path, false, &why);
    }
    /* asked after the index was read, which tells only of rows that are there: one that is written
     * just now must not look like one that is gone */
    off_t size = maki_file_size(files, log->messages_fd);
    if (size < 0) return maki_fail_errno(err, "asking the size of the messages");
    if (st == MAKI_OK) st = check_index(log, (uint64_t)size, &why);
    if (st == MAKI_NOMEM) {
        if (err) *err = why;
        return st;
    }
    bool gone = st == MAKI_OK && log->index.header.end > (uint64_t)size;
    if (gone && !log->options.repair) return maki_log_shorter(log, (uint64_t)size, err);
    if (st != MAKI_OK || gone) return maki_log_rebuild(log, end, err);
    st = maki_log_check_events(log, err);
    if (st != MAKI_OK) return st;
    if (log->read_only) return maki_log_index_new_rows(log, (uint64_t)size, end, err);
    return maki_log_catch_up(log, end, err);
}

/* log_tail.c -- the end of a log's files: events that have come, and rows or events that are torn; see log_internal.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/str.h"
#include "log/lines.h"
#include "log/log_internal.h"

/* ---- events: the tail --------------------------------------------------------------------------------- */

typedef struct last_event {
    uint64_t ev;
    unsigned char sum[MAKI_CHAIN_LEN];
    bool bad;
} last_event;

static uint64_t event_number(maki_str row)
{
    uint64_t n = 0;
    maki_str prefix = MAKI_LIT("{\"ev\":");
    if (!maki_str_starts(row, prefix)) return 0;
    for (size_t i = prefix.len; i < row.len && row.ptr[i] >= '0' && row.ptr[i] <= '9'; i++) {
        n = n * 10 + (uint64_t)(row.ptr[i] - '0');
    }
    return n;
}

static maki_status note_event(void *ctx, maki_str row, uint64_t at, maki_err *err)
{
    last_event *last = ctx;
    maki_str covered;
    (void)at;
    (void)err;
    last->ev++;
    if (event_number(row) != last->ev || !maki_event_sum(row, &covered, last->sum))
        last->bad = true;
    return MAKI_OK;
}

/* Read on from where the events were known to end; *end is one past the last whole one. */
maki_status maki_log_read_tail(maki_log *log, uint64_t *end, maki_err *err)
{
    last_event last = { .ev = log->ev };
    memcpy(last.sum, log->sum, MAKI_CHAIN_LEN);
    *end = log->events_end;
    if (log->events_fd < 0) return MAKI_OK;
    off_t size = maki_file_size(log->env.files, log->events_fd);
    if (size < 0) return maki_fail_errno(err, "asking the size of the events");
    if ((uint64_t)size < log->events_end) {
        return maki_fail(err, MAKI_CORRUPT, "the events file was cut short while in use");
    }
    if ((uint64_t)size == log->events_end) return MAKI_OK; /* nothing has come */
    maki_status st = maki_lines_each(&log->env, log->events_fd, log->events_end, EVENT_MAX,
                                     note_event, &last, end, err);
    if (st != MAKI_OK) return st;
    if (last.bad) return maki_fail(err, MAKI_CORRUPT, "the events file is damaged; see maki fsck");
    log->ev = last.ev;
    memcpy(log->sum, last.sum, MAKI_CHAIN_LEN);
    log->events_end = *end;
    return MAKI_OK;
}

/* ---- torn tails ------------------------------------------------------------------------------------------ */

/* The inside of a damage event that keeps the bytes [end, size) of a file: a few in the event itself,
 * more in a file of their own. */
static maki_status keep_tail(maki_log *log, int fd, uint64_t end, uint64_t size, maki_buf *fields,
                             maki_err *err)
{
    enum { KEPT_MAX = 1 << 16 };
    bool events = fd == log->events_fd;
    uint64_t torn = size - end;
    size_t got = 0;
    char name[MAKI_ASIDE_LEN];
    maki_status st = MAKI_OK;
    maki_buf_print(fields,
                   "\"what\":\"torn\",\"file\":\"%s\",\"offset\":%" PRIu64 ",\"length\":%" PRIu64,
                   events ? "events" : "messages", end, torn);
    if (torn > KEPT_MAX) {
        st = maki_lines_aside(&log->env, fd, events ? log->events_path : log->path, end, size, name,
                              err);
        maki_buf_print(fields, ",\"kept\":\"%s\"", name);
        return st == MAKI_OK ? maki_buf_status(fields, err) : st;
    }
    char *bytes = log->env.alloc->resize(log->env.alloc, NULL, 0, (size_t)torn);
    if (!bytes) return maki_fail_nomem(err);
    st = maki_file_read_at(log->env.files, fd, end, bytes, (size_t)torn, &got, err);
    maki_buf_add(fields, MAKI_LIT(",\"bytes\":\""));
    if (st == MAKI_OK) maki_buf_add_base64(fields, (maki_str){ bytes, got });
    maki_buf_add(fields, MAKI_LIT("\""));
    log->env.alloc->resize(log->env.alloc, bytes, (size_t)torn, 0);
    return st == MAKI_OK ? maki_buf_status(fields, err) : st;
}

/* Cut [end, size) off the file, the bytes kept by a damage event that is durable before. */
maki_status maki_log_cut_tail(maki_log *log, int fd, uint64_t end, maki_err *err)
{
    const maki_files *files = log->env.files;
    off_t size = maki_file_size(files, fd);
    if (size < 0) return maki_fail_errno(err, "asking the size of a file");
    if ((uint64_t)size <= end) return MAKI_OK;
    bool events = fd == log->events_fd;
    maki_buf fields = maki_buf_new(log->env.alloc, EVENT_MAX);
    maki_status st = keep_tail(log, fd, end, (uint64_t)size, &fields, err);
    if (st == MAKI_OK) st = maki_log_add_event(log, "damage", maki_buf_str(&fields), NULL, err);
    maki_buf_free(&fields);
    if (st != MAKI_OK) {
        maki_log_discard_group(log);
        return st;
    }
    st = maki_log_finish(log, err); /* a torn event is written over */
    if (events) end = log->events_end;
    if (st == MAKI_OK && size > (off_t)end && files->truncate(files, fd, (off_t)end) < 0) {
        st = maki_fail_errno(err, "cutting a torn row off");
    }
    return st;
}

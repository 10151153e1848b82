/* log_tail.c -- the ends of the files of a log: reads events that were added, and cuts off torn rows and events.
 *
 * A torn end is bytes after the last newline, left by a killed writer.  Nothing is lost: the bytes are in a damage event,
 * or in a file that it names, and that event is durable before the file is truncated. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/str_util.h"
#include "log/lines.h"
#include "log/log_internal.h"

/* ---- events: the tail --------------------------------------------------------------------------------- */

typedef struct last_event {
    uint64_t ev;
    unsigned char sum[MAKI_CHAIN_LEN];
    bool invalid;
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

static maki_status on_event(void *ctx, maki_str row, uint64_t offset, maki_err *err)
{
    last_event *last = ctx;
    maki_str covered;
    (void)offset;
    (void)err;
    last->ev++;
    if (event_number(row) != last->ev || !maki_event_parse_sum(row, &covered, last->sum))
        last->invalid = true;
    return MAKI_OK;
}

maki_status maki_log_read_tail(maki_log *log, uint64_t *end, maki_err *err)
{
    last_event last = { .ev = log->ev };
    memcpy(last.sum, log->sum, MAKI_CHAIN_LEN);
    *end = log->events_end;
    if (log->events_fd < 0) return MAKI_OK;
    uint64_t size = 0;
    maki_status st = maki_file_get_size(&log->env, log->events_fd, &size, err);
    if (st != MAKI_OK || size == log->events_end) return st; /* nothing was added */
    if (size < log->events_end)
        return maki_fail(err, MAKI_CORRUPT, "%s was truncated while in use", log->paths.events);
    st = maki_lines_each(&log->env, log->events_fd, log->events_end, EVENT_MAX, on_event, &last,
                         end, err);
    if (st != MAKI_OK) return st;
    if (last.invalid)
        return maki_fail(err, MAKI_CORRUPT, "the events file is corrupt; run maki fsck %s",
                         log->paths.messages);
    log->ev = last.ev;
    memcpy(log->sum, last.sum, MAKI_CHAIN_LEN);
    log->events_end = *end;
    return MAKI_OK;
}

/* ---- torn tails ------------------------------------------------------------------------------------------ */

/* The fields of a damage event about the bytes [end, size) of a file: at most EMBEDDED_MAX in the event
 * itself, more in a quarantine file. */
static maki_status write_torn_fields(maki_log *log, int fd, uint64_t end, uint64_t size,
                                     maki_buf *fields, maki_err *err)
{
    enum { EMBEDDED_MAX = 1 << 16 };
    bool events = fd == log->events_fd;
    uint64_t torn = size - end;
    size_t got = 0;
    char name[MAKI_QUARANTINE_NAME_LEN];
    maki_status st = MAKI_OK;
    maki_buf_print(fields,
                   "\"what\":\"torn\",\"file\":\"%s\",\"offset\":%" PRIu64 ",\"length\":%" PRIu64,
                   events ? "events" : "messages", end, torn);
    if (torn > EMBEDDED_MAX) {
        st = maki_lines_quarantine(&log->env, fd, events ? log->paths.events : log->paths.messages,
                                   end, size, name, err);
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

maki_status maki_log_truncate_tail(maki_log *log, int fd, uint64_t end, maki_err *err)
{
    const maki_files *files = log->env.files;
    uint64_t size = 0;
    maki_status st = maki_file_get_size(&log->env, fd, &size, err);
    if (st != MAKI_OK || size <= end) return st;
    bool events = fd == log->events_fd;
    maki_buf fields = maki_buf_new(log->env.alloc, EVENT_MAX);
    st = write_torn_fields(log, fd, end, size, &fields, err);
    if (st == MAKI_OK) st = maki_log_add_event(log, "damage", maki_buf_str(&fields), NULL, err);
    maki_buf_free(&fields);
    if (st != MAKI_OK) {
        maki_log_discard_group(log);
        return st;
    }
    st = maki_log_commit_locked(log, err); /* overwrites a torn event */
    if (events) end = log->events_end;
    if (st == MAKI_OK && size > end && files->truncate(files, fd, (off_t)end) < 0) {
        char action[MAKI_PATH_MAX + 32];
        snprintf(action, sizeof action, "cannot truncate %s",
                 events ? log->paths.events : log->paths.messages);
        st = maki_fail_errno(err, action);
    }
    return st;
}

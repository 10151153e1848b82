/* log.c -- opens a log, takes its lock, and reads what other processes have added.
 *
 * A reader opens events, header row, parent and index, in this order, and writes nothing.  A writer does the same under
 * the lock and recovers first: rows after the end of the index are indexed, torn ends are cut off with a damage event.
 * A refresh does as little as possible: when files and index were not replaced, only new events and rows are read. */
#include "log/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "log/lines.h"
#include "log/log_internal.h"

/* ---- accessors ------------------------------------------------------------------------------ */

bool maki_log_read_only(const maki_log *log)
{
    return log->options.share_index ? log->denied : log->read_only;
}

const maki_env *maki_log_env(const maki_log *log)
{
    return &log->env;
}

const char *maki_log_path(const maki_log *log)
{
    return log->paths.messages;
}

uint64_t maki_log_base(const maki_log *log)
{
    return log->fork.seq;
}

uint64_t maki_log_last(const maki_log *log)
{
    return log->fork.seq + log->index.header.count;
}

uint64_t maki_log_events(const maki_log *log)
{
    return log->ev;
}

uint64_t maki_log_tokens(const maki_log *log)
{
    return log->tokens;
}

const maki_log_fork *maki_log_fork_of(const maki_log *log)
{
    return &log->fork;
}

const unsigned char *maki_log_head(const maki_log *log)
{
    return log->head;
}

bool maki_log_syncs_at_end(const maki_log *log)
{
    return log->options.durability == MAKI_DURABILITY_AT_END;
}

maki_log_files maki_log_open_files(maki_log *log)
{
    return (maki_log_files){ log->messages_fd,  log->events_fd,   log->header_len,
                             log->paths.events, log->paths.index, &log->index };
}

/* ---- paths ---------------------------------------------------------------------------------------- */

maki_status maki_log_file_paths_of(const char *path, maki_log_file_paths *out, maki_err *err)
{
    maki_str p = maki_str_of(path), suffix = MAKI_LIT(".jsonl"), events = MAKI_LIT(".events.jsonl");
    bool has_suffix =
        p.len > suffix.len && maki_str_equal(maki_str_skip(p, p.len - suffix.len), suffix);
    if (!has_suffix || p.len + 40 > MAKI_PATH_MAX) {
        return maki_fail(err, MAKI_INVALID, "a messages file is a path that ends with .jsonl");
    }
    int stem = (int)(p.len - suffix.len);
    const char *slash = strrchr(path, '/');
    int directory = slash ? (int)(slash - path) + 1 : 0;
    if (strcmp(path + directory, "events.jsonl") == 0 ||
        (p.len > events.len && maki_str_equal(maki_str_skip(p, p.len - events.len), events))) {
        return maki_fail(err, MAKI_INVALID,
                         "that is an events file; name the messages file next to it");
    }
    bool is_task = strcmp(path + directory, "messages.jsonl") == 0;
    snprintf(out->messages, sizeof out->messages, "%s", path);
    snprintf(out->events, sizeof out->events, "%.*s%s", is_task ? directory : stem, path,
             is_task ? "events.jsonl" : ".events.jsonl");
    snprintf(out->index, sizeof out->index, "%.*s.idx", stem, path);
    return MAKI_OK;
}

static maki_status open_messages(maki_log *log, maki_err *err)
{
    const maki_files *files = log->env.files;
    int create = log->options.create ? O_CREAT : 0;
    log->read_only = log->options.read_only || log->options.messages_only || log->options.dry_run;
    if (!log->read_only) {
        log->messages_fd = files->open(files, log->paths.messages, O_RDWR | create, 0600);
        log->denied = log->messages_fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM);
        log->read_only = log->denied || log->options.share_index;
    }
    if (log->read_only && log->messages_fd < 0)
        log->messages_fd = files->open(files, log->paths.messages, O_RDONLY, 0);
    if (log->messages_fd < 0) return maki_fail_path(err, log->paths.messages);
    return MAKI_OK;
}

maki_status maki_log_open_events(maki_log *log, bool create, maki_err *err)
{
    const maki_files *files = log->env.files;
    int flags = log->read_only ? O_RDONLY : O_RDWR | (create ? O_CREAT : 0);
    if (log->events_fd >= 0) return MAKI_OK;
    log->events_fd = files->open(files, log->paths.events, flags, 0600);
    if (log->events_fd < 0 && errno == ENOENT && !create) return MAKI_OK; /* no events yet */
    if (log->events_fd < 0) return maki_fail_path(err, log->paths.events);
    return MAKI_OK;
}

/* ---- the header row and the parent ------------------------------------------------------------------ */

static const maki_str header_prefix = { "{\"type\":\"header\"", 16 };

static maki_status on_header_line(void *ctx, maki_str line, uint64_t offset, maki_err *err)
{
    maki_log *log = ctx;
    (void)offset, (void)err;
    maki_chain_next(log->start, line, log->start);
    log->header_len = line.len + 1;
    return MAKI_CANCELLED; /* only the first line is needed */
}

/* Read the header row, if there is one.  Its prefix is checked first, because a message may be long. */
static maki_status read_header(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    char first[16];
    size_t got = 0;
    maki_status st =
        maki_file_read_at(log->env.files, log->messages_fd, 0, first, sizeof first, &got, err);
    if (st != MAKI_OK || !maki_str_equal((maki_str){ first, got }, header_prefix)) return st;
    st = maki_lines_each(&log->env, log->messages_fd, 0, log->options.max_row_bytes, on_header_line,
                         log, &end, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}

/* Parse the first event: in a fork it has the parent's id, and the parent's last message and event before the fork. */
static maki_status on_first_event(void *ctx, maki_str line, uint64_t offset, maki_err *err)
{
    maki_log *log = ctx;
    maki_log_fork *fork = &log->fork;
    maki_str event;
    (void)offset;
    if (maki_json_check(line, &event, err) != MAKI_OK || !maki_json_field_in(event, "type", "fork"))
        return MAKI_CANCELLED;
    if (!maki_json_uint(maki_json_field(event, "seq"), &fork->seq) ||
        !maki_chain_parse(maki_json_field(event, "chain"), log->start))
        return maki_fail(err, MAKI_CORRUPT, "the fork event has no valid seq and chain");
    maki_json_text_field(event, "parent", fork->parent, sizeof fork->parent);
    fork->ev = maki_json_uint_field(event, MAKI_LIT("parentEv"));
    fork->found = true;
    return MAKI_CANCELLED;
}

static maki_status read_parent(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    if (log->events_fd < 0) return MAKI_OK;
    maki_status st =
        maki_lines_each(&log->env, log->events_fd, 0, EVENT_MAX, on_first_event, log, &end, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}

/* ---- the lock --------------------------------------------------------------------------------------------- */

maki_status maki_log_check_paths(const maki_log *log, maki_err *err)
{
    const maki_files *files = log->env.files;
    int same = maki_file_same(files, log->messages_fd, log->paths.messages);
    if (same == 1 && log->events_fd >= 0) {
        same = maki_file_same(files, log->events_fd, log->paths.events);
    }
    if (same == 1) return MAKI_OK;
    if (same < 0) return maki_fail_errno(err, "cannot check the files of the log");
    return maki_fail(err, MAKI_CORRUPT,
                     "the files of the log were removed or replaced while in use");
}

void maki_log_unlock(maki_log *log)
{
    if (log->locked) log->env.files->lock(log->env.files, log->messages_fd, LOCK_UN);
    log->locked = false;
}

maki_status maki_log_lock(maki_log *log, maki_err *err)
{
    maki_status st = maki_file_lock(&log->env, log->messages_fd, LOCK_EX, err);
    log->locked = st == MAKI_OK;
    return st;
}

static maki_status lock_checked(maki_log *log, maki_err *err)
{
    maki_status st = maki_log_lock(log, err);
    if (st == MAKI_OK) st = maki_log_check_paths(log, err);
    if (st != MAKI_OK) maki_log_unlock(log);
    return st;
}

uint64_t maki_log_published_end(const maki_log *log)
{
    return log->index.header.count ? log->index.header.end : log->header_len;
}

/* Is the open index still the file of its path, and valid?  Its header is read again. */
static bool index_is_current(maki_log *log)
{
    const maki_files *files = log->env.files;
    if (log->index.fd < 0) return false;
    if (!log->index.is_private && maki_file_same(files, log->index.fd, log->paths.index) != 1)
        return false;
    return maki_index_refresh(&log->index, NULL) == MAKI_OK &&
           maki_log_load_head(log, NULL) == MAKI_OK;
}

maki_status maki_log_refresh_events(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    maki_status st = maki_log_open_events(log, false, err);
    return st == MAKI_OK ? maki_log_read_tail(log, &end, err) : st;
}

maki_status maki_log_recover(maki_log *log, maki_recovery mode, maki_err *err)
{
    uint64_t end = 0, size = 0;
    bool with_events = mode != MAKI_RECOVER_ROWS || log->events_fd >= 0;
    assert(log->locked);
    maki_status st = mode == MAKI_RECOVER_OPEN ? maki_log_open_events(log, false, err) : MAKI_OK;
    if (st == MAKI_OK && mode == MAKI_RECOVER_OPEN) st = read_parent(log, err);
    if (st == MAKI_OK && with_events) st = maki_log_refresh_events(log, err);
    if (st == MAKI_OK) st = maki_file_get_size(&log->env, log->messages_fd, &size, err);
    if (st != MAKI_OK) return st;
    bool index_current =
        mode != MAKI_RECOVER_OPEN && index_is_current(log) && maki_log_published_end(log) == size;
    if (!with_events && (!index_current || log->index.header.events > log->ev)) {
        st = maki_log_refresh_events(log, err); /* another process has written */
    }
    if (st == MAKI_OK)
        st = index_current ? maki_log_check_events(log, err) : maki_log_open_index(log, &end, err);
    /* events first: the next event is written where a torn one is */
    if (st == MAKI_OK && log->events_fd >= 0)
        st = maki_log_truncate_tail(log, log->events_fd, log->events_end, err);
    if (st == MAKI_OK && !index_current)
        st = maki_log_truncate_tail(log, log->messages_fd, end, err);
    return st;
}

/* A process that writes makes one of the files longer, and one that replaces a file leaves ours unlinked.  Only
 * for MAKI_DURABILITY_BY_CALLER, where a group may cost no more than a few calls: a file that was renamed is still
 * written to. */
bool maki_log_is_unchanged(const maki_log *log)
{
    const maki_files *files = log->env.files;
    if (log->options.durability != MAKI_DURABILITY_BY_CALLER || log->index.fd < 0 ||
        log->events_fd < 0)
        return false;
    return maki_file_linked_size(files, log->messages_fd) == (off_t)maki_log_published_end(log) &&
           maki_file_linked_size(files, log->events_fd) == (off_t)log->events_end;
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

/* Write the header row of a new session; *header_written false: the file is not empty, or no header is wanted. */
static maki_status write_header(maki_log *log, bool *header_written, maki_err *err)
{
    const maki_files *files = log->env.files;
    uint64_t size = 0;
    *header_written = false;
    maki_status st = maki_file_get_size(&log->env, log->messages_fd, &size, err);
    if (st != MAKI_OK || log->options.header.len == 0 || size > 0) return st;
    maki_buf row = maki_buf_new(log->env.alloc, log->options.header.len + 1);
    maki_buf_add(&row, log->options.header);
    maki_buf_add_byte(&row, '\n');
    st = maki_buf_status(&row, err);
    if (st == MAKI_OK) {
        st = maki_file_write_at(files, log->messages_fd, 0, maki_buf_str(&row), err);
        if (st != MAKI_OK) (void)!files->truncate(files, log->messages_fd, 0);
        if (st == MAKI_OK && log->options.on_write)
            log->options.on_write(log->options.on_write_ctx, MAKI_LOG_MESSAGES, 0,
                                  maki_buf_str(&row));
    }
    maki_buf_free(&row);
    *header_written = st == MAKI_OK;
    return st;
}

static maki_status open_to_read(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    maki_status st = maki_log_open_events(log, false, err);
    if (st == MAKI_OK) st = read_header(log, err);
    if (st == MAKI_OK) st = read_parent(log, err);
    if (log->options.messages_only) { /* verify.c reads the events itself */
        return st == MAKI_OK || st == MAKI_CORRUPT ? maki_log_rebuild(log, &end, err) : st;
    }
    if (st == MAKI_OK) st = maki_log_read_tail(log, &end, err);
    return st == MAKI_OK ? maki_log_open_index(log, &end, err) : st;
}

static maki_status open_to_write(maki_log *log, maki_err *err)
{
    bool header_written = false;
    maki_status st = lock_checked(log, err);
    if (st == MAKI_OK) st = write_header(log, &header_written, err);
    if (st == MAKI_OK) st = read_header(log, err);
    if (st == MAKI_OK) st = maki_log_recover(log, MAKI_RECOVER_OPEN, err);
    if (st == MAKI_OK && !header_written) { /* recovery may have cut off a torn header */
        st = write_header(log, &header_written, err);
        if (st == MAKI_OK && header_written) st = read_header(log, err);
        if (st == MAKI_OK && header_written) st = maki_log_recover(log, MAKI_RECOVER_OPEN, err);
    }
    maki_log_unlock(log);
    return st;
}

static maki_status open_files(maki_log *log, const char *path, maki_err *err)
{
    maki_status st = maki_log_file_paths_of(path, &log->paths, err);
    if (st == MAKI_OK) st = open_messages(log, err);
    if (st != MAKI_OK) return st;
    return log->read_only ? open_to_read(log, err) : open_to_write(log, err);
}

maki_status maki_log_open(const maki_env *env, const char *path, const maki_log_options *options,
                          maki_log **out, maki_err *err)
{
    maki_log *log = env->alloc->resize(env->alloc, NULL, 0, sizeof *log);
    if (!log) return maki_fail_nomem(err);
    memset(log, 0, offsetof(maki_log, paths));
    log->env = *env;
    log->options = *options;
    if (log->options.max_row_bytes == 0) log->options.max_row_bytes = MAKI_ROW_MAX;
    log->messages_fd = log->events_fd = log->shared_events_fd = log->index.fd = -1;
    log->index.env = &log->env;
    log->rows = maki_buf_new(env->alloc, (size_t)log->options.max_row_bytes + BLOCK);
    log->events = maki_buf_new(env->alloc, EVENT_MAX);
    maki_status st = open_files(log, path, err);
    if (st != MAKI_OK) {
        maki_log_close(log);
        return st;
    }
    *out = log;
    return MAKI_OK;
}

void maki_log_close(maki_log *log)
{
    if (!log) return;
    const maki_files *files = log->env.files;
    const maki_alloc *alloc = log->env.alloc;
    maki_log_end_batches(log);
    if (log->options.durability == MAKI_DURABILITY_BY_CALLER && log->index.fd >= 0)
        maki_log_store_event_count(log);
    maki_log_unlock(log);
    maki_index_close(&log->index);
    maki_buf_free(&log->rows);
    maki_buf_free(&log->events);
    if (log->events_fd >= 0) files->close(files, log->events_fd);
    if (log->shared_events_fd >= 0) files->close(files, log->shared_events_fd);
    if (log->messages_fd >= 0) files->close(files, log->messages_fd);
    alloc->resize(alloc, log, sizeof *log, 0);
}

maki_status maki_log_refresh(maki_log *log, maki_err *err)
{
    uint64_t end = 0, size = 0;
    if (log->options.dry_run) return MAKI_OK; /* a dry run is of one revision */
    maki_status st = maki_log_check_paths(log, err);
    if (st == MAKI_OK) st = maki_log_open_events(log, false, err);
    if (st == MAKI_OK && !log->options.messages_only) st = maki_log_read_tail(log, &end, err);
    if (st != MAKI_OK) return st;
    if (index_is_current(log)) {
        st = maki_file_get_size(&log->env, log->messages_fd, &size, err);
        if (st != MAKI_OK) return st;
        if (size < maki_log_published_end(log)) return maki_log_fail_truncated(log, size, err);
        if (log->index.is_private) return maki_log_catch_up(log, &end, err);
        return log->read_only ? maki_log_index_new_rows(log, size, &end, err) : MAKI_OK;
    }
    if (log->read_only) return maki_log_open_index(log, &end, err);
    st = lock_checked(log, err); /* the shared index is written by one process at a time */
    if (st == MAKI_OK) st = maki_log_recover(log, MAKI_RECOVER_ALL, err);
    maki_log_unlock(log);
    return st;
}

/* log.c -- opening a log, its lock, and seeing what others have written; see log.h. */
#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "log/lines.h"
#include "log/log_internal.h"

/* ---- small questions ------------------------------------------------------------------------------ */

bool maki_log_read_only(const maki_log *log)
{
    return log->options.looks ? log->denied : log->read_only;
}

const maki_env *maki_log_env(const maki_log *log)
{
    return &log->env;
}

const char *maki_log_path(const maki_log *log)
{
    return log->path;
}

uint64_t maki_log_base(const maki_log *log)
{
    return log->base;
}

uint64_t maki_log_last(const maki_log *log)
{
    return log->base + log->index.header.count;
}

uint64_t maki_log_events(const maki_log *log)
{
    return log->ev;
}

uint64_t maki_log_tokens(const maki_log *log)
{
    return log->tokens;
}

const unsigned char *maki_log_head(const maki_log *log)
{
    return log->head;
}

bool maki_log_lazy(const maki_log *log)
{
    return log->options.durability == MAKI_LAZY;
}

maki_log_files maki_log_paths(maki_log *log)
{
    return (maki_log_files){ log->messages_fd, log->events_fd,  log->header_len,
                             log->events_path, log->index_path, &log->index };
}

/* ---- paths ---------------------------------------------------------------------------------------- */

static maki_status name_files(maki_log *log, const char *path, maki_err *err)
{
    maki_str p = maki_str_of(path), suffix = MAKI_LIT(".jsonl");
    bool jsonl = p.len > suffix.len && maki_str_is(maki_str_from(p, p.len - suffix.len), suffix);
    if (!jsonl || p.len + 40 > MAKI_PATH_MAX) {
        return maki_fail(err, MAKI_INVALID, "a messages file is a path that ends with .jsonl");
    }
    int stem = (int)(p.len - suffix.len);
    const char *slash = strrchr(path, '/');
    int directory = slash ? (int)(slash - path) + 1 : 0;
    maki_str events = MAKI_LIT(".events.jsonl");
    if (strcmp(path + directory, "events.jsonl") == 0 ||
        (p.len > events.len && maki_str_is(maki_str_from(p, p.len - events.len), events))) {
        return maki_fail(err, MAKI_INVALID,
                         "that is an events file; name the messages file beside it");
    }
    bool task = strcmp(path + directory, "messages.jsonl") == 0;
    snprintf(log->path, sizeof log->path, "%s", path);
    if (task)
        snprintf(log->events_path, sizeof log->events_path, "%.*sevents.jsonl", directory, path);
    else
        snprintf(log->events_path, sizeof log->events_path, "%.*s.events.jsonl", stem, path);
    snprintf(log->index_path, sizeof log->index_path, "%.*s.idx", stem, path);
    return MAKI_OK;
}

static maki_status open_messages(maki_log *log, maki_err *err)
{
    const maki_files *files = log->env.files;
    int create = log->options.create ? O_CREAT : 0;
    log->read_only = log->options.read_only || log->options.from_rows || log->options.rehearse;
    if (!log->read_only) {
        log->messages_fd = files->open(files, log->path, O_RDWR | create, 0600);
        log->denied = log->messages_fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM);
        log->read_only = log->denied || log->options.looks;
    }
    if (log->read_only && log->messages_fd < 0)
        log->messages_fd = files->open(files, log->path, O_RDONLY, 0);
    if (log->messages_fd < 0) return maki_fail_errno(err, "opening the messages");
    return MAKI_OK;
}

maki_status maki_log_open_events(maki_log *log, bool create, maki_err *err)
{
    const maki_files *files = log->env.files;
    int flags = log->read_only ? O_RDONLY : O_RDWR | (create ? O_CREAT : 0);
    if (log->events_fd >= 0) return MAKI_OK;
    log->events_fd = files->open(files, log->events_path, flags, 0600);
    if (log->events_fd < 0 && errno == ENOENT && !create)
        return MAKI_OK; /* nothing has happened yet */
    if (log->events_fd < 0) return maki_fail_errno(err, "opening the events");
    return MAKI_OK;
}

/* ---- the header row and the parent ------------------------------------------------------------------ */

static const maki_str header_begins = { "{\"type\":\"header\"", 16 };

static maki_status stop_after_one(void *ctx, maki_str line, uint64_t at, maki_err *err)
{
    maki_log *log = ctx;
    (void)at, (void)err;
    maki_chain_next(log->start, line, log->start);
    log->header_len = line.len + 1;
    return MAKI_CANCELLED; /* only the first line is wanted */
}

/* The first line is looked into only when it is a header: a message may be long. */
static maki_status read_header(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    char first[16];
    size_t got = 0;
    maki_status st =
        maki_file_read_at(log->env.files, log->messages_fd, 0, first, sizeof first, &got, err);
    if (st != MAKI_OK || !maki_str_is((maki_str){ first, got }, header_begins)) return st;
    st = maki_lines_each(&log->env, log->messages_fd, 0, log->options.max_row_bytes, stop_after_one,
                         log, &end, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}

/* In a fork the first event tells where the parent was left. */
static maki_status read_fork(void *ctx, maki_str line, uint64_t at, maki_err *err)
{
    maki_log *log = ctx;
    maki_str event;
    (void)at;
    if (maki_json_check(line, &event, err) != MAKI_OK || !maki_json_field_in(event, "type", "fork"))
        return MAKI_CANCELLED;
    if (maki_json_uint(maki_json_field(event, "seq"), &log->base) &&
        maki_chain_of(maki_json_field(event, "chain"), log->start))
        return MAKI_CANCELLED;
    return maki_fail(err, MAKI_CORRUPT, "the fork event does not tell where it forks");
}

static maki_status read_parent(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    if (log->events_fd < 0) return MAKI_OK;
    maki_status st =
        maki_lines_each(&log->env, log->events_fd, 0, EVENT_MAX, read_fork, log, &end, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}

/* ---- the lock --------------------------------------------------------------------------------------------- */

/* The open files are still the ones of these names. */
maki_status maki_log_check_names(const maki_log *log, maki_err *err)
{
    const maki_files *files = log->env.files;
    int same = maki_file_same(files, log->messages_fd, log->path);
    if (same == 1 && log->events_fd >= 0) {
        same = maki_file_same(files, log->events_fd, log->events_path);
    }
    if (same == 1) return MAKI_OK;
    if (same < 0) return maki_fail_errno(err, "looking at the files of the log");
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
    const maki_files *files = log->env.files;
    while (files->lock(files, log->messages_fd, LOCK_EX) < 0) {
        if (errno != EINTR) return maki_fail_errno(err, "locking the messages");
    }
    log->locked = true;
    return MAKI_OK;
}

static maki_status lock(maki_log *log, maki_err *err)
{
    maki_status st = maki_log_lock(log, err);
    if (st == MAKI_OK) st = maki_log_check_names(log, err);
    if (st != MAKI_OK) maki_log_unlock(log);
    return st;
}

/* One past the last row that is published. */
uint64_t maki_log_published_end(const maki_log *log)
{
    return log->index.header.count ? log->index.header.end : log->header_len;
}

/* The index that is open is still the one of its name and sound: its header is read again. */
static bool index_stands(maki_log *log)
{
    const maki_files *files = log->env.files;
    if (log->index.fd < 0) return false;
    if (!log->index.own && maki_file_same(files, log->index.fd, log->index_path) != 1) return false;
    return maki_index_refresh(&log->index, NULL) == MAKI_OK &&
           maki_log_load_head(log, NULL) == MAKI_OK;
}

maki_status maki_log_refresh_events(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    maki_status st = maki_log_open_events(log, false, err);
    return st == MAKI_OK ? maki_log_read_tail(log, &end, err) : st;
}

/* Under the lock: everything is taken in and nothing is torn. */
maki_status maki_log_recover(maki_log *log, maki_recovery what, maki_err *err)
{
    const maki_files *files = log->env.files;
    uint64_t end = 0;
    bool looks = what != MAKI_RECOVER_ROWS || log->events_fd >= 0;
    maki_status st = what == MAKI_RECOVER_OPEN ? maki_log_open_events(log, false, err) : MAKI_OK;
    if (st == MAKI_OK && what == MAKI_RECOVER_OPEN) st = read_parent(log, err);
    if (st == MAKI_OK && looks) st = maki_log_refresh_events(log, err);
    if (st != MAKI_OK) return st;
    off_t size = maki_file_size(files, log->messages_fd);
    if (size < 0) return maki_fail_errno(err, "asking the size of the messages");
    bool current = what != MAKI_RECOVER_OPEN && index_stands(log) &&
                   maki_log_published_end(log) == (uint64_t)size;
    if (!looks && (!current || log->index.header.events > log->ev)) {
        st = maki_log_refresh_events(log, err); /* somebody was here */
    }
    if (st == MAKI_OK)
        st = current ? maki_log_check_events(log, err) : maki_log_open_index(log, &end, err);
    /* events first: the next event is written where a torn one stands */
    if (st == MAKI_OK && log->events_fd >= 0)
        st = maki_log_cut_tail(log, log->events_fd, log->events_end, err);
    if (st == MAKI_OK && !current) st = maki_log_cut_tail(log, log->messages_fd, end, err);
    return st;
}

/* Under the lock: nobody has written since our last group, so all of it is known.  Whoever writes makes
 * one of the files longer, and whoever replaces one leaves ours without a name.  Only for MAKI_REPLY,
 * where a group may cost no more than a few calls: a file that was renamed is still written to. */
bool maki_log_untouched(const maki_log *log)
{
    const maki_files *files = log->env.files;
    if (log->options.durability != MAKI_REPLY || log->index.fd < 0 || log->events_fd < 0)
        return false;
    return maki_file_named_size(files, log->messages_fd) == (off_t)maki_log_published_end(log) &&
           maki_file_named_size(files, log->events_fd) == (off_t)log->events_end;
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

/* The header row of a new session; *wrote tells that there was none. */
static maki_status write_header(maki_log *log, bool *wrote, maki_err *err)
{
    const maki_files *files = log->env.files;
    off_t size = maki_file_size(files, log->messages_fd);
    *wrote = false;
    if (size < 0) return maki_fail_errno(err, "asking the size of the messages");
    if (log->options.header.len == 0 || size > 0) return MAKI_OK;
    maki_buf row = maki_buf_new(log->env.alloc, log->options.header.len + 1);
    maki_buf_add(&row, log->options.header);
    maki_buf_add_byte(&row, '\n');
    maki_status st = maki_buf_status(&row, err);
    if (st == MAKI_OK) {
        st = maki_file_write_at(files, log->messages_fd, 0, maki_buf_str(&row), err);
        if (st != MAKI_OK) (void)!files->truncate(files, log->messages_fd, 0);
        if (st == MAKI_OK && log->options.wrote)
            log->options.wrote(log->options.wrote_ctx, MAKI_LOG_MESSAGES, 0, maki_buf_str(&row));
    }
    maki_buf_free(&row);
    *wrote = st == MAKI_OK;
    return st;
}

static maki_status open_to_read(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    maki_status st = maki_log_open_events(log, false, err);
    if (st == MAKI_OK) st = read_header(log, err);
    if (st == MAKI_OK) st = read_parent(log, err);
    if (log->options.from_rows) { /* verify.c looks at the events itself */
        return st == MAKI_OK || st == MAKI_CORRUPT ? maki_log_rebuild(log, &end, err) : st;
    }
    if (st == MAKI_OK) st = maki_log_read_tail(log, &end, err);
    return st == MAKI_OK ? maki_log_open_index(log, &end, err) : st;
}

static maki_status open_to_write(maki_log *log, maki_err *err)
{
    bool wrote = false;
    maki_status st = lock(log, err);
    if (st == MAKI_OK) st = write_header(log, &wrote, err);
    if (st == MAKI_OK) st = read_header(log, err);
    if (st == MAKI_OK) st = maki_log_recover(log, MAKI_RECOVER_OPEN, err);
    if (st == MAKI_OK && !wrote) { /* all there was may have been half a header */
        st = write_header(log, &wrote, err);
        if (st == MAKI_OK && wrote) st = read_header(log, err);
        if (st == MAKI_OK && wrote) st = maki_log_recover(log, MAKI_RECOVER_OPEN, err);
    }
    maki_log_unlock(log);
    return st;
}

static maki_status open_all(maki_log *log, const char *path, maki_err *err)
{
    maki_status st = name_files(log, path, err);
    if (st == MAKI_OK) st = open_messages(log, err);
    if (st != MAKI_OK) return st;
    return log->read_only ? open_to_read(log, err) : open_to_write(log, err);
}

maki_status maki_log_open(const maki_env *env, const char *path, const maki_log_options *options,
                          maki_log **out, maki_err *err)
{
    maki_log *log = env->alloc->resize(env->alloc, NULL, 0, sizeof *log);
    if (!log) return maki_fail_nomem(err);
    memset(log, 0, offsetof(maki_log, path));
    log->env = *env;
    log->options = *options;
    if (log->options.max_row_bytes == 0) log->options.max_row_bytes = MAKI_ROW_MAX;
    log->messages_fd = log->events_fd = log->shared_fd = log->index.fd = -1;
    log->index.env = &log->env;
    log->rows = maki_buf_new(env->alloc, (size_t)log->options.max_row_bytes + BLOCK);
    log->events = maki_buf_new(env->alloc, EVENT_MAX);
    maki_status st = open_all(log, path, err);
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
    if (log->options.durability == MAKI_REPLY && log->index.fd >= 0) maki_log_note_events(log);
    maki_log_unlock(log);
    maki_index_close(&log->index);
    maki_buf_free(&log->rows);
    maki_buf_free(&log->events);
    if (log->events_fd >= 0) files->close(files, log->events_fd);
    if (log->shared_fd >= 0) files->close(files, log->shared_fd);
    if (log->messages_fd >= 0) files->close(files, log->messages_fd);
    alloc->resize(alloc, log, sizeof *log, 0);
}

/* Rows that were published are still there; *size is that of the file. */
static maki_status check_size(const maki_log *log, uint64_t *size, maki_err *err)
{
    off_t is = maki_file_size(log->env.files, log->messages_fd);
    if (is < 0) return maki_fail_errno(err, "asking the size of the messages");
    *size = (uint64_t)is;
    return *size < maki_log_published_end(log) ? maki_log_shorter(log, *size, err) : MAKI_OK;
}

maki_status maki_log_refresh(maki_log *log, maki_err *err)
{
    uint64_t end = 0, size = 0;
    if (log->options.rehearse) return MAKI_OK; /* it is about one moment */
    maki_status st = maki_log_check_names(log, err);
    if (st == MAKI_OK) st = maki_log_open_events(log, false, err);
    if (st == MAKI_OK && !log->options.from_rows) st = maki_log_read_tail(log, &end, err);
    if (st != MAKI_OK) return st;
    if (index_stands(log)) {
        st = check_size(log, &size, err);
        if (st != MAKI_OK) return st;
        if (log->index.own) return maki_log_catch_up(log, &end, err);
        return log->read_only ? maki_log_index_new_rows(log, size, &end, err) : MAKI_OK;
    }
    if (log->read_only) return maki_log_open_index(log, &end, err);
    st = lock(log, err); /* the shared index is written by one process at a time */
    if (st == MAKI_OK) st = maki_log_recover(log, MAKI_RECOVER_ALL, err);
    maki_log_unlock(log);
    return st;
}

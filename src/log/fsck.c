/* fsck.c -- repairing a log: what a proof has found is made right and told by damage events; see verify.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json.h"
#include "base/str.h"
#include "log/verify_internal.h"

enum { KNOWN_MAX = 1 << 24, EVENTS_AT_ONCE = 1000 };

/* ---- repairing: what there is to do ----------------------------------------------------------------------------- */

typedef struct fault {
    maki_found found;
    uint64_t seq, offset;
    unsigned char byte; /* joined, split: what stood there */
} fault;

typedef struct mending {
    const maki_env *env;
    const char *path;
    const maki_log_options *options;
    maki_finding_fn fn; /* of the caller; only the first time */
    void *ctx;
    maki_buf rows;           /* of fault: bad and changed rows */
    maki_buf breaks;         /* of fault: joined and split ones */
    bool header;             /* the header row was changed */
    bool index;              /* it is wrong */
    bool gone;               /* messages are gone */
    uint64_t lost;           /* the first event that is gone; 0: none */
    bool heads;              /* an event's head is wrong, though no row is known to be */
    uint64_t head_at;        /* the first such event was written after this message */
    uint64_t bad_ev, bad_at; /* the first bad event, and where; 0: none */
    char aside[MAKI_ASIDE_LEN];
    uint64_t aside_len;
} mending;

static maki_status note(void *ctx, const maki_finding *f, maki_err *err)
{
    mending *m = ctx;
    fault t = { .found = f->found, .seq = f->seq, .offset = f->offset };
    maki_str bytes = { (const char *)&t, sizeof t };
    switch (f->found) {
    case MAKI_FOUND_BAD:
    case MAKI_FOUND_CHANGED:
        if (f->seq == 0)
            m->header = true;
        else
            maki_buf_add(&m->rows, bytes);
        m->index = true;
        break;
    case MAKI_FOUND_JOINED:
    case MAKI_FOUND_SPLIT: maki_buf_add(&m->breaks, bytes); break;
    case MAKI_FOUND_GONE:
        m->gone = true;
        m->index = true; /* it tells of rows that are not there */
        break;
    case MAKI_FOUND_LOST:
        m->lost = f->ev;
        m->index = true;
        break;
    case MAKI_FOUND_HEAD:
        if (!m->heads || f->seq < m->head_at) m->head_at = f->seq;
        m->heads = true;
        break;
    case MAKI_FOUND_EVENT:
        if (m->bad_ev == 0) m->bad_at = f->offset;
        if (m->bad_ev == 0) m->bad_ev = f->ev;
        break;
    case MAKI_FOUND_INDEX: m->index = true; break;
    case MAKI_FOUND_TORN: break; /* opening it is enough */
    }
    maki_status st = maki_buf_status(&m->rows, err);
    if (st == MAKI_OK) st = maki_buf_status(&m->breaks, err);
    return st == MAKI_OK && m->fn ? m->fn(m->ctx, f, err) : st;
}

static maki_status look(mending *m, maki_verified *out, maki_err *err)
{
    maki_buf_clear(&m->rows);
    m->header = m->index = m->gone = m->heads = false;
    m->bad_ev = m->bad_at = m->head_at = m->lost = 0;
    maki_status st = maki_log_verify(m->env, m->path, m->options, note, m, out, err);
    m->fn = NULL;
    return st;
}

/* ---- repairing: the files ------------------------------------------------------------------------------------------ */

/* Where its files are, whatever state they are in. */
static maki_status open_rows(mending *m, maki_log **log, maki_err *err)
{
    maki_log_options rows = *m->options;
    rows.from_rows = true;
    rows.create = false;
    return maki_log_open(m->env, m->path, &rows, log, err);
}

static maki_status open_locked(const maki_env *env, const char *path, int *fd, maki_err *err)
{
    const maki_files *files = env->files;
    *fd = files->open(files, path, O_RDWR, 0);
    if (*fd < 0) return maki_fail_errno(err, "opening a file to repair it");
    while (files->lock(files, *fd, LOCK_EX) < 0) {
        if (errno != EINTR) return maki_fail_errno(err, "locking the messages");
    }
    return MAKI_OK;
}

static void close_locked(const maki_env *env, int fd)
{
    if (fd < 0) return;
    env->files->lock(env->files, fd, LOCK_UN);
    env->files->close(env->files, fd);
}

/* Put the newlines where the index has them; a damage event tells the bytes that stood there. */
static maki_status mend_breaks(mending *m, maki_err *err)
{
    const maki_files *files = m->env->files;
    int fd = -1;
    fault *breaks = (fault *)(void *)m->breaks.ptr;
    maki_status st = open_locked(m->env, m->path, &fd, err);
    for (size_t i = 0; st == MAKI_OK && i < m->breaks.len / sizeof(fault); i++) {
        fault *t = &breaks[i];
        size_t got = 0;
        maki_str byte = t->found == MAKI_FOUND_JOINED ? MAKI_LIT("\n") : MAKI_LIT(" ");
        st = maki_file_read_at(files, fd, t->offset, &t->byte, 1, &got, err);
        if (st == MAKI_OK) st = maki_file_write_at(files, fd, t->offset, byte, err);
    }
    if (st == MAKI_OK && files->sync(files, fd) < 0) st = maki_fail_errno(err, "syncing");
    close_locked(m->env, fd);
    return st;
}

/* Does the fork depend on the event that is damaged? */
static maki_status check_fork(mending *m, maki_err *err)
{
    maki_index index = { .env = m->env, .fd = -1 };
    maki_log *log = NULL;
    if (m->bad_ev != 1) return MAKI_OK;
    maki_status st = open_rows(m, &log, err);
    if (st != MAKI_OK) return st;
    bool fork = maki_log_base(log) > 0;
    if (!fork &&
        maki_index_open(&index, m->env, maki_log_paths(log).index_path, false, NULL) == MAKI_OK) {
        fork = index.header.base > 0;
    }
    maki_index_close(&index);
    maki_log_close(log);
    if (!fork) return MAKI_OK;
    return maki_fail(
        err, MAKI_CORRUPT,
        "the event that tells where this fork began is damaged; bring the file back from "
        "a copy");
}

/* Bad events and those after them go into a file of their own. */
static maki_status move_events(mending *m, maki_err *err)
{
    const maki_files *files = m->env->files;
    maki_log *log = NULL;
    int lock = -1, events = -1;
    uint64_t size = 0;
    maki_status st = open_rows(m, &log, err);
    if (st != MAKI_OK) return st;
    const char *path = maki_log_paths(log).events_path;
    st = open_locked(m->env, m->path, &lock, err);
    if (st == MAKI_OK) events = files->open(files, path, O_RDWR, 0);
    if (st == MAKI_OK && events < 0) st = maki_fail_errno(err, "opening the events");
    if (st == MAKI_OK) st = maki_file_size_of(m->env, events, &size, err);
    if (st == MAKI_OK) {
        st = maki_lines_aside(m->env, events, path, m->bad_at, size, m->aside, err);
    }
    m->aside_len = size - m->bad_at;
    if (st == MAKI_OK && files->truncate(files, events, (off_t)m->bad_at) < 0) {
        st = maki_fail_errno(err, "cutting damaged events off");
    }
    if (events >= 0) files->close(files, events);
    close_locked(m->env, lock);
    maki_log_close(log);
    return st;
}

/* The index is derived: away with it, and who needs one makes it again. */
static maki_status drop_index(mending *m, maki_err *err)
{
    const maki_files *files = m->env->files;
    maki_log *log = NULL;
    maki_status st = open_rows(m, &log, err);
    if (st != MAKI_OK) return st;
    if (files->unlink(files, maki_log_paths(log).index_path) < 0 && errno != ENOENT) {
        st = maki_fail_errno(err, "removing the old index");
    }
    maki_log_close(log);
    return st;
}

/* ---- repairing: telling it ------------------------------------------------------------------------------------------- */

static maki_status add_event(maki_log *log, maki_err *err, const char *type, const char *fields,
                             ...) MAKI_PRINTF(4, 5);
static maki_status add_event(maki_log *log, maki_err *err, const char *type, const char *fields,
                             ...)
{
    char text[500];
    va_list args;
    va_start(args, fields);
    vsnprintf(text, sizeof text, fields, args);
    va_end(args);
    return maki_log_add_event(log, type, maki_str_of(text), NULL, err);
}

static maki_status tell_events(mending *m, maki_log *log, maki_err *err)
{
    if (m->bad_ev == 0) return MAKI_OK;
    return add_event(log, err, "damage",
                     "\"what\":\"events\",\"event\":%" PRIu64 ",\"offset\":%" PRIu64
                     ",\"length\":%" PRIu64 ",\"kept\":\"%s\"",
                     m->bad_ev, m->bad_at, m->aside_len, m->aside);
}

static maki_status tell_lost(mending *m, maki_log *log, maki_err *err)
{
    if (m->lost == 0) return MAKI_OK;
    return add_event(log, err, "damage", "\"what\":\"lost\",\"events\":%" PRIu64, m->lost);
}

static maki_status tell_breaks(mending *m, maki_log *log, maki_err *err)
{
    const fault *breaks = (const fault *)(const void *)m->breaks.ptr;
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < m->breaks.len / sizeof(fault); i++) {
        st =
            add_event(log, err, "damage", "\"what\":\"newline\",\"offset\":%" PRIu64 ",\"byte\":%u",
                      breaks[i].offset, breaks[i].byte);
    }
    return st;
}

static maki_status tell_rows(mending *m, maki_log *log, maki_err *err)
{
    const fault *rows = (const fault *)(const void *)m->rows.ptr;
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < m->rows.len / sizeof(fault); i++) {
        if (i && rows[i].seq == rows[i - 1].seq) continue; /* bad and changed */
        st = add_event(log, err, "damage",
                       "\"what\":\"row\",\"seq\":%" PRIu64 ",\"from\":%" PRIu64
                       ",\"offset\":%" PRIu64,
                       rows[i].seq, rows[i].seq, rows[i].offset);
        if (st == MAKI_OK && i % EVENTS_AT_ONCE == EVENTS_AT_ONCE - 1) {
            st = maki_log_commit(log, err);
            if (st == MAKI_OK) st = maki_log_begin(log, NULL, err);
        }
    }
    return st;
}

/* The last event before the first that knew a message which is gone, and how many messages are.  What
 * was gone when it was noted earlier is not counted again. */
typedef struct before_gone {
    uint64_t last, ev, rows;
} before_gone;

static maki_status look_before(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    before_gone *b = ctx;
    maki_str event;
    uint64_t at = 0;
    (void)offset;
    (void)err;
    if (!maki_line_object(row, &event) || !maki_event_whole(event, "at", &at)) return MAKI_OK;
    if (maki_json_field_in(event, "type", "damage") && maki_json_field_in(event, "what", "gone"))
        b->rows = 0;
    if (at > b->last && at - b->last > b->rows) b->rows = at - b->last;
    if (b->rows == 0) b->ev = ev;
    return MAKI_OK;
}

static maki_status tell_gone(mending *m, maki_log *log, uint64_t indexed, maki_err *err)
{
    before_gone b = { .last = maki_log_last(log) };
    if (!m->gone) return MAKI_OK;
    maki_status st = maki_log_each_event(log, look_before, &b, err);
    if (st != MAKI_OK) return st;
    if (indexed > b.last && indexed - b.last > b.rows) b.rows = indexed - b.last;
    st = add_event(log, err, "damage", "\"what\":\"gone\",\"from\":%" PRIu64 ",\"rows\":%" PRIu64,
                   b.last + 1, b.rows);
    if (st != MAKI_OK) return st;
    /* Else what was done to the messages that are gone would be done to new ones of their numbers. */
    return add_event(log, err, "rewind", "\"to\":%" PRIu64 ",\"toEv\":%" PRIu64, b.last, b.ev);
}

static maki_status tell_heads(mending *m, maki_log *log, maki_err *err)
{
    if (!m->heads && !m->header) return MAKI_OK;
    return add_event(log, err, "damage", "\"what\":\"%s\",\"from\":%" PRIu64,
                     m->header ? "header" : "head", m->header ? 0 : m->head_at);
}

/* How far the index on disk went. */
static uint64_t last_indexed(mending *m)
{
    maki_index index = { .env = m->env, .fd = -1 };
    maki_log *log = NULL;
    uint64_t last = 0;
    if (open_rows(m, &log, NULL) != MAKI_OK) return 0;
    if (maki_index_open(&index, m->env, maki_log_paths(log).index_path, false, NULL) == MAKI_OK) {
        last = index.header.base + index.header.count;
    }
    maki_index_close(&index);
    maki_log_close(log);
    return last;
}

static maki_status tell(mending *m, uint64_t indexed, maki_err *err)
{
    maki_log_options options = *m->options;
    maki_log *log = NULL;
    options.create = options.read_only = false;
    options.repair = true;
    maki_status st = maki_log_open(m->env, m->path, &options, &log, err);
    if (st != MAKI_OK) return st;
    st = maki_log_begin(log, NULL, err);
    if (st == MAKI_OK) {
        st = tell_events(m, log, err);
        if (st == MAKI_OK) st = tell_lost(m, log, err);
        if (st == MAKI_OK) st = tell_breaks(m, log, err);
        if (st == MAKI_OK) st = tell_rows(m, log, err);
        if (st == MAKI_OK) st = tell_heads(m, log, err);
        if (st == MAKI_OK) st = tell_gone(m, log, indexed, err);
        if (st == MAKI_OK)
            st = maki_log_commit(log, err);
        else
            maki_log_abort(log);
    }
    maki_log_close(log);
    return st;
}

static maki_status mend(mending *m, maki_err *err)
{
    maki_status st = check_fork(m, err);
    if (st == MAKI_OK && m->breaks.len) {
        st = mend_breaks(m, err);
        if (st == MAKI_OK) st = look(m, NULL, err); /* the rows have their numbers again */
        if (st == MAKI_CORRUPT) st = MAKI_OK;
    }
    uint64_t indexed = m->gone ? last_indexed(m) : 0;
    if (st == MAKI_OK && m->bad_ev) st = move_events(m, err);
    if (st == MAKI_OK && m->index) st = drop_index(m, err);
    return st == MAKI_OK ? tell(m, indexed, err) : st;
}

maki_status maki_log_fsck(const maki_env *env, const char *path, const maki_log_options *options,
                          bool repair, maki_finding_fn fn, void *ctx, maki_verified *out,
                          maki_err *err)
{
    mending m = { .env = env, .path = path, .options = options, .fn = fn, .ctx = ctx };
    m.rows = maki_buf_new(env->alloc, KNOWN_MAX);
    m.breaks = maki_buf_new(env->alloc, KNOWN_MAX);
    maki_status st = look(&m, out, err);
    if (st == MAKI_CORRUPT && repair) {
        st = mend(&m, err);
        if (st == MAKI_OK) st = maki_log_verify(env, path, options, NULL, NULL, NULL, err);
    }
    maki_buf_free(&m.rows);
    maki_buf_free(&m.breaks);
    return st;
}

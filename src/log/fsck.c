/* fsck.c -- repairs a log: verify, collect the findings, repair the files, report the damage in events, verify again.
 *
 * The files are repaired in an order in which each step may be interrupted and repeated: newlines, events, index; then
 * the log is opened for writing, which rebuilds the index and cuts torn ends, and the damage events are added. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "log/verify_internal.h"

enum { FINDINGS_MAX = 1 << 24, EVENTS_PER_GROUP = 1000 };

/* ---- what to repair ----------------------------------------------------------------------------- */

typedef struct row_fault {
    maki_finding_kind kind;
    uint64_t seq, offset;
    unsigned char byte; /* joined, split: the byte that the repair replaces */
} row_fault;

typedef struct repair_state {
    const maki_env *env;
    const char *path;
    const maki_log_options *options;
    maki_finding_fn fn; /* of the caller; for the first verify only */
    void *ctx;
    maki_buf rows;    /* of row_fault: bad and changed rows */
    maki_buf breaks;  /* of row_fault: joined and split rows */
    bool header;      /* the header row was changed */
    bool index;       /* the index is wrong */
    bool gone;        /* messages are missing */
    uint64_t lost;    /* the first missing event; 0: none */
    bool heads;       /* the head of an event is wrong; which row was changed is unknown */
    uint64_t head_at; /* the message before the first such event */
    uint64_t bad_ev, bad_offset; /* the first bad event; 0: none */
    char quarantine[MAKI_QUARANTINE_NAME_LEN];
    uint64_t quarantine_len;
    maki_log_file_paths paths;
    bool fork;
    uint64_t indexed; /* the last message in the index on disk */
} repair_state;

static maki_status on_finding(void *ctx, const maki_finding *finding, maki_err *err)
{
    repair_state *state = ctx;
    row_fault fault = { .kind = finding->kind, .seq = finding->seq, .offset = finding->offset };
    maki_str bytes = { (const char *)&fault, sizeof fault };
    switch (finding->kind) {
    case MAKI_FINDING_BAD:
    case MAKI_FINDING_CHANGED:
        if (finding->seq == 0)
            state->header = true;
        else
            maki_buf_add(&state->rows, bytes);
        state->index = true;
        break;
    case MAKI_FINDING_JOINED:
    case MAKI_FINDING_SPLIT: maki_buf_add(&state->breaks, bytes); break;
    case MAKI_FINDING_GONE:
        state->gone = true;
        state->index = true; /* it has records of missing rows */
        break;
    case MAKI_FINDING_LOST:
        state->lost = finding->ev;
        state->index = true;
        break;
    case MAKI_FINDING_HEAD:
        if (!state->heads || finding->seq < state->head_at) state->head_at = finding->seq;
        state->heads = true;
        break;
    case MAKI_FINDING_EVENT:
        if (state->bad_ev == 0) state->bad_offset = finding->offset;
        if (state->bad_ev == 0) state->bad_ev = finding->ev;
        break;
    case MAKI_FINDING_INDEX: state->index = true; break;
    case MAKI_FINDING_TORN: break; /* opening the log repairs it */
    }
    maki_status st = maki_buf_status(&state->rows, err);
    if (st == MAKI_OK) st = maki_buf_status(&state->breaks, err);
    return st == MAKI_OK && state->fn ? state->fn(state->ctx, finding, err) : st;
}

/* Verify the log and collect its findings in *state. */
static maki_status verify(repair_state *state, maki_verify_result *out, maki_err *err)
{
    maki_buf_clear(&state->rows);
    state->header = state->index = state->gone = state->heads = false;
    state->bad_ev = state->bad_offset = state->head_at = state->lost = 0;
    maki_status st =
        maki_log_verify(state->env, state->path, state->options, on_finding, state, out, err);
    state->fn = NULL;
    return st;
}

/* ---- the files ------------------------------------------------------------------------------------------ */

/* Set the paths of the files, and from the old index, if it is valid, whether this is a fork and the last message. */
static maki_status read_old_index(repair_state *state, maki_err *err)
{
    maki_index index = { .env = state->env, .fd = -1 };
    maki_log_options options = *state->options;
    maki_log *log = NULL;
    options.messages_only = true;
    options.create = false;
    maki_status st = maki_log_open(state->env, state->path, &options, &log, err);
    if (st == MAKI_OK) st = maki_log_file_paths_of(state->path, &state->paths, err);
    if (st != MAKI_OK) return st;
    state->fork = maki_log_base(log) > 0;
    if (maki_index_open(&index, state->env, state->paths.index, false, NULL) == MAKI_OK) {
        state->fork = state->fork || index.header.base > 0;
        state->indexed = index.header.base + index.header.count;
    }
    maki_index_close(&index);
    maki_log_close(log);
    return MAKI_OK;
}

static maki_status open_locked(const maki_env *env, const char *path, int *fd, maki_err *err)
{
    *fd = env->files->open(env->files, path, O_RDWR, 0);
    if (*fd < 0) return maki_fail_errno(err, "cannot open a file to repair it");
    return maki_file_lock(env, *fd, LOCK_EX, err);
}

static void close_locked(const maki_env *env, int fd)
{
    if (fd < 0) return;
    env->files->lock(env->files, fd, LOCK_UN);
    env->files->close(env->files, fd);
}

/* Restore the newlines where the index has them; damage events store the replaced bytes. */
static maki_status restore_newlines(repair_state *state, maki_err *err)
{
    const maki_files *files = state->env->files;
    int fd = -1;
    row_fault *breaks = (row_fault *)(void *)state->breaks.ptr;
    maki_status st = open_locked(state->env, state->path, &fd, err);
    for (size_t i = 0; st == MAKI_OK && i < state->breaks.len / sizeof(row_fault); i++) {
        row_fault *fault = &breaks[i];
        size_t got = 0;
        maki_str byte = fault->kind == MAKI_FINDING_JOINED ? MAKI_LIT("\n") : MAKI_LIT(" ");
        st = maki_file_read_at(files, fd, fault->offset, &fault->byte, 1, &got, err);
        if (st == MAKI_OK) st = maki_file_write_at(files, fd, fault->offset, byte, err);
    }
    if (st == MAKI_OK && files->sync(files, fd) < 0) st = maki_fail_errno(err, "cannot sync");
    close_locked(state->env, fd);
    return st;
}

/* Move bad events and those after them to a quarantine file. */
static maki_status quarantine_events(repair_state *state, maki_err *err)
{
    const maki_files *files = state->env->files;
    const char *path = state->paths.events;
    int messages = -1, events = -1;
    uint64_t size = 0;
    maki_status st = open_locked(state->env, state->path, &messages, err);
    if (st == MAKI_OK) events = files->open(files, path, O_RDWR, 0);
    if (st == MAKI_OK && events < 0) st = maki_fail_errno(err, "cannot open the events");
    if (st == MAKI_OK) st = maki_file_get_size(state->env, events, &size, err);
    if (st == MAKI_OK) {
        st = maki_lines_quarantine(state->env, events, path, state->bad_offset, size,
                                   state->quarantine, err);
    }
    state->quarantine_len = size - state->bad_offset;
    if (st == MAKI_OK && files->truncate(files, events, (off_t)state->bad_offset) < 0) {
        st = maki_fail_errno(err, "cannot truncate damaged events");
    }
    if (events >= 0) files->close(files, events);
    close_locked(state->env, messages);
    return st;
}

/* The index is derived: the next writer rebuilds it. */
static maki_status remove_index(repair_state *state, maki_err *err)
{
    const maki_files *files = state->env->files;
    if (files->unlink(files, state->paths.index) == 0 || errno == ENOENT) return MAKI_OK;
    return maki_fail_errno(err, "cannot remove the old index");
}

/* ---- damage events ------------------------------------------------------------------------------------------- */

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

static maki_status add_newline_damage(repair_state *state, maki_log *log, maki_err *err)
{
    const row_fault *breaks = (const row_fault *)(const void *)state->breaks.ptr;
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < state->breaks.len / sizeof(row_fault); i++) {
        st =
            add_event(log, err, "damage", "\"what\":\"newline\",\"offset\":%" PRIu64 ",\"byte\":%u",
                      breaks[i].offset, breaks[i].byte);
    }
    return st;
}

static maki_status add_row_damage(repair_state *state, maki_log *log, maki_err *err)
{
    const row_fault *rows = (const row_fault *)(const void *)state->rows.ptr;
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < state->rows.len / sizeof(row_fault); i++) {
        if (i && rows[i].seq == rows[i - 1].seq) continue; /* both bad and changed */
        st = add_event(log, err, "damage",
                       "\"what\":\"row\",\"seq\":%" PRIu64 ",\"from\":%" PRIu64
                       ",\"offset\":%" PRIu64,
                       rows[i].seq, rows[i].seq, rows[i].offset);
        if (st == MAKI_OK && i % EVENTS_PER_GROUP == EVENTS_PER_GROUP - 1) {
            st = maki_log_commit(log, err);
            if (st == MAKI_OK) st = maki_log_begin(log, NULL, err);
        }
    }
    return st;
}

/* What a damage event about missing messages has.  Messages that an earlier one reports are not counted again. */
typedef struct gone_state {
    uint64_t last; /* the last remaining message */
    uint64_t ev;   /* the last event before the first that was written after a missing message */
    uint64_t rows; /* missing messages */
} gone_state;

static maki_status on_event_before_gone(void *ctx, uint64_t ev, maki_str row, uint64_t offset,
                                        maki_err *err)
{
    gone_state *gone = ctx;
    maki_str event;
    uint64_t at = 0;
    (void)offset, (void)err;
    if (!maki_line_parse_object(row, &event) || !maki_event_integer(event, "at", &at))
        return MAKI_OK;
    if (maki_json_field_in(event, "type", "damage") && maki_json_field_in(event, "what", "gone"))
        gone->rows = 0;
    if (at > gone->last && at - gone->last > gone->rows) gone->rows = at - gone->last;
    if (gone->rows == 0) gone->ev = ev;
    return MAKI_OK;
}

static maki_status add_gone(repair_state *state, maki_log *log, maki_err *err)
{
    gone_state gone = { .last = maki_log_last(log) };
    maki_status st = maki_log_each_event(log, on_event_before_gone, &gone, err);
    if (st != MAKI_OK) return st;
    if (state->indexed > gone.last && state->indexed - gone.last > gone.rows)
        gone.rows = state->indexed - gone.last;
    st = add_event(log, err, "damage", "\"what\":\"gone\",\"from\":%" PRIu64 ",\"rows\":%" PRIu64,
                   gone.last + 1, gone.rows);
    if (st != MAKI_OK) return st;
    /* Without it, events about the missing messages would apply to new ones with their numbers. */
    return add_event(log, err, "rewind", "\"to\":%" PRIu64 ",\"toEv\":%" PRIu64, gone.last,
                     gone.ev);
}

static maki_status add_damage(repair_state *state, maki_log *log, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (state->bad_ev)
        st = add_event(log, err, "damage",
                       "\"what\":\"events\",\"event\":%" PRIu64 ",\"offset\":%" PRIu64
                       ",\"length\":%" PRIu64 ",\"kept\":\"%s\"",
                       state->bad_ev, state->bad_offset, state->quarantine_len, state->quarantine);
    if (st == MAKI_OK && state->lost)
        st = add_event(log, err, "damage", "\"what\":\"lost\",\"events\":%" PRIu64, state->lost);
    if (st == MAKI_OK) st = add_newline_damage(state, log, err);
    if (st == MAKI_OK && state->gone)
        st = add_gone(state, log, err); /* first: its rewind ends the effect of events before it */
    if (st == MAKI_OK) st = add_row_damage(state, log, err);
    if (st == MAKI_OK && (state->heads || state->header))
        st = add_event(log, err, "damage", "\"what\":\"%s\",\"from\":%" PRIu64,
                       state->header ? "header" : "head", state->header ? 0 : state->head_at);
    return st;
}

static maki_status write_damage_events(repair_state *state, maki_err *err)
{
    maki_log_options options = *state->options;
    maki_log *log = NULL;
    options.create = options.read_only = false;
    options.repair = true;
    maki_status st = maki_log_open(state->env, state->path, &options, &log, err);
    if (st != MAKI_OK) return st;
    st = maki_log_begin(log, NULL, err);
    if (st == MAKI_OK) st = maki_log_end(log, add_damage(state, log, err), err);
    maki_log_close(log);
    return st;
}

static maki_status repair_files(repair_state *state, maki_err *err)
{
    maki_status st = read_old_index(state, err);
    if (st == MAKI_OK && state->bad_ev == 1 && state->fork)
        return maki_fail(err, MAKI_CORRUPT,
                         "the event that says where this fork began is corrupt; restore the file "
                         "from a backup");
    if (st == MAKI_OK && state->breaks.len) {
        st = restore_newlines(state, err);
        if (st == MAKI_OK) st = verify(state, NULL, err); /* the rows have their numbers again */
        if (st == MAKI_CORRUPT) st = MAKI_OK;
    }
    if (st == MAKI_OK && state->bad_ev) st = quarantine_events(state, err);
    if (st == MAKI_OK && state->index) st = remove_index(state, err);
    return st == MAKI_OK ? write_damage_events(state, err) : st;
}

maki_status maki_log_fsck(const maki_env *env, const char *path, const maki_log_options *options,
                          bool repair, maki_finding_fn fn, void *ctx, maki_verify_result *out,
                          maki_err *err)
{
    repair_state state = { .env = env, .path = path, .options = options, .fn = fn, .ctx = ctx };
    state.rows = maki_buf_new(env->alloc, FINDINGS_MAX);
    state.breaks = maki_buf_new(env->alloc, FINDINGS_MAX);
    maki_status st = verify(&state, out, err);
    if (st == MAKI_CORRUPT && repair) {
        st = repair_files(&state, err);
        if (st == MAKI_OK) st = maki_log_verify(env, path, options, NULL, NULL, NULL, err);
    }
    maki_buf_free(&state.rows);
    maki_buf_free(&state.breaks);
    return st;
}

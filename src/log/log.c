/* log.c -- opening, reading and writing a log; see log.h.
 *
 * Order of a commit: rows and events are written where the files end, synced, and only then published
 * in the index.  A process killed before that leaves rows that nobody was promised: the next writer
 * finds them after the index's end and takes them in, or cuts them off when the last is torn. */
#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "log/lines.h"
#include "log/log_inside.h"

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

maki_log_files maki_log_inside(maki_log *log)
{
    return (maki_log_files){ log->messages_fd, log->events_fd,  log->header_len,
                             log->events_path, log->index_path, &log->index };
}

/* ---- paths ---------------------------------------------------------------------------------------- */

static maki_status name_files(maki_log *log, const char *path, maki_err *err)
{
    maki_str p = maki_str_of(path), suffix = MAKI_LIT(".jsonl");
    bool jsonl = p.len > suffix.len && maki_str_is(maki_str_from(p, p.len - suffix.len), suffix);
    if (!jsonl || p.len + 40 > PATH_MOST) {
        return maki_fail(err, MAKI_INVALID, "a messages file is a path that ends with .jsonl");
    }
    int stem = (int)(p.len - suffix.len);
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    maki_str events = MAKI_LIT(".events.jsonl");
    if (strcmp(path + folder, "events.jsonl") == 0 ||
        (p.len > events.len && maki_str_is(maki_str_from(p, p.len - events.len), events))) {
        return maki_fail(err, MAKI_INVALID,
                         "that is an events file; name the messages file beside it");
    }
    bool task = strcmp(path + folder, "messages.jsonl") == 0;
    snprintf(log->path, sizeof log->path, "%s", path);
    if (task)
        snprintf(log->events_path, sizeof log->events_path, "%.*sevents.jsonl", folder, path);
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

static maki_status open_events(maki_log *log, bool create, maki_err *err)
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
    (void)at;
    maki_status st = maki_chain_next(log->start, line, log->start, err);
    if (st != MAKI_OK) return st;
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

static bool hex_chain(maki_str string, unsigned char out[MAKI_CHAIN_LEN])
{
    char text[8 + 2 * MAKI_CHAIN_LEN + 3];
    maki_str covered;
    if (string.len != 2 * MAKI_CHAIN_LEN + 2) return false;
    snprintf(text, sizeof text, ",\"sum\":%.*s}", (int)string.len, string.ptr);
    return maki_event_sum(maki_str_of(text), &covered, out);
}

/* In a fork the first event tells where the parent was left. */
static maki_status read_fork(void *ctx, maki_str line, uint64_t at, maki_err *err)
{
    maki_log *log = ctx;
    maki_str event, type, value;
    (void)at;
    if (maki_json_check(line, &event, err) != MAKI_OK) return MAKI_CANCELLED;
    if (maki_json_get(event, MAKI_LIT("type"), &type) &&
        maki_json_kind_of(type) == MAKI_JSON_STRING && maki_json_text_is(type, MAKI_LIT("fork"))) {
        if (!maki_json_get(event, MAKI_LIT("seq"), &value) || !maki_json_whole(value, &log->base) ||
            !maki_json_get(event, MAKI_LIT("chain"), &value) || !hex_chain(value, log->start)) {
            return maki_fail(err, MAKI_CORRUPT, "the fork event does not tell where it forks");
        }
    }
    return MAKI_CANCELLED;
}

static maki_status read_parent(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    if (log->events_fd < 0) return MAKI_OK;
    maki_status st =
        maki_lines_each(&log->env, log->events_fd, 0, EVENT_MAX, read_fork, log, &end, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}

/* ---- taking rows into the index --------------------------------------------------------------------- */

static maki_status publish(maki_log *log, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (log->record_count) {
        st = maki_index_add(&log->index, log->records, log->record_count, log->written_end, err);
    }
    if (st != MAKI_OK) return st;
    log->record_count = 0;
    memcpy(log->head, log->new_head, MAKI_CHAIN_LEN);
    log->tokens = log->new_tokens;
    return MAKI_OK;
}

/* The number of the row that comes next, those waiting included. */
static uint64_t next_seq(const maki_log *log)
{
    size_t waiting = log->intake ? maki_intake_rows(log->intake) : 0;
    return maki_log_last(log) + log->record_count + waiting + 1;
}

/* The record of a row that stands, or will stand, at `at`; its tokens are not in it yet. */
static maki_status make_record(maki_log *log, maki_str row, uint64_t at, const maki_facts *facts,
                               maki_row *out, maki_err *err)
{
    *out = (maki_row){ .offset = at,
                       .length = (uint32_t)row.len,
                       .ts = facts->ts,
                       .flags = facts->flags,
                       .call_seq = facts->call_seq,
                       .xxh3 = maki_row_hash(row) };
    return maki_chain_next(log->new_head, row, out->chain, err);
}

/* One by one: count it here and keep the record until the next are published. */
static maki_status add_record(maki_log *log, maki_str row, const maki_row *record,
                              const maki_hint *hint, maki_err *err)
{
    maki_row *r = &log->records[log->record_count];
    *r = *record;
    if (!(r->flags & MAKI_ROW_BAD)) {
        maki_status st =
            log->options.tokens(log->options.tokens_ctx, 0, row, hint, &r->tokens, err);
        if (st != MAKI_OK) return st;
    }
    r->tokens_so_far = log->new_tokens + r->tokens;
    memcpy(log->new_head, r->chain, MAKI_CHAIN_LEN);
    log->new_tokens = r->tokens_so_far;
    log->record_count++;
    return MAKI_OK;
}

/* ---- many rows: counted in batches ------------------------------------------------------------------- */

static maki_status publish_batch(maki_log *log, maki_batch *batch, maki_err *err)
{
    maki_row *last = &batch->rows[batch->count - 1];
    uint64_t tokens = log->tokens;
    for (size_t i = 0; i < batch->count; i++) {
        tokens += batch->rows[i].tokens;
        batch->rows[i].tokens_so_far = tokens;
    }
    maki_status st = maki_index_add(&log->index, batch->rows, batch->count,
                                    last->offset + last->length + 1, err);
    if (st != MAKI_OK) return st;
    log->tokens = log->new_tokens = tokens;
    memcpy(log->head, last->chain, MAKI_CHAIN_LEN);
    return MAKI_OK;
}

/* Hand over what has been filled, writing it when it is new; publish what has been counted, or all. */
static maki_status pass_on(maki_log *log, bool all, maki_err *err)
{
    maki_status st = MAKI_OK;
    const maki_batch *filled = maki_intake_filled(log->intake);
    bool writes = filled && log->intake_writes;
    maki_intake_pass(log->intake);
    if (writes) { /* the workers only read it */
        maki_str bytes = { filled->bytes.at, filled->len };
        st = maki_file_write_at(log->env.files, log->messages_fd, log->written_end, bytes, err);
        if (st == MAKI_OK) log->written_end += bytes.len;
    }
    while (st == MAKI_OK) {
        maki_batch *batch = NULL;
        st = maki_intake_take(log->intake, all, &batch, err);
        if (st != MAKI_OK || !batch) break;
        st = publish_batch(log, batch, err);
    }
    return st;
}

static maki_status add_to_batch(maki_log *log, maki_str row, const maki_row *record,
                                const maki_hint *hint, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (!maki_intake_fits(log->intake, record->offset, row.len)) st = pass_on(log, false, err);
    if (st == MAKI_OK) st = maki_intake_add(log->intake, row, record, hint, err);
    if (st == MAKI_OK) memcpy(log->new_head, record->chain, MAKI_CHAIN_LEN);
    return st;
}

static void end_batches(maki_log *log)
{
    maki_intake_close(log->intake);
    log->intake = NULL;
}

/* From here on rows go in batches, if there is more than one thread for it. */
static maki_status begin_batches(maki_log *log, bool writes, maki_err *err)
{
    size_t threads = log->options.threads ? log->options.threads : maki_work_cores();
    log->intake_writes = writes;
    if (threads == 1 || log->intake) return MAKI_OK;
    return maki_intake_open(log->env.alloc, threads, log->options.tokens, log->options.tokens_ctx,
                            &log->intake, err);
}

static maki_status tell(maki_log *log, uint64_t done, maki_err *err)
{
    if (!log->options.progress || log->to_tell < MAKI_MUCH || done < log->told + MAKI_MUCH)
        return MAKI_OK;
    log->told = done;
    maki_status st = log->options.progress(log->options.progress_ctx, done, log->to_tell);
    return st == MAKI_OK ? st : maki_fail(err, st, "making the index was stopped");
}

static maki_status take_line(void *ctx, maki_str line, uint64_t at, maki_err *err)
{
    maki_log *log = ctx;
    maki_facts facts = { 0 };
    maki_row record;
    maki_status st =
        log->options.facts(log->options.facts_ctx, log, next_seq(log), line, &facts, err);
    if (st == MAKI_INVALID)
        facts = (maki_facts){ .flags = MAKI_ROW_BAD };
    else if (st != MAKI_OK)
        return st;
    st = make_record(log, line, at, &facts, &record, err);
    if (st == MAKI_OK && log->intake) st = add_to_batch(log, line, &record, &facts.hint, err);
    if (st == MAKI_OK && !log->intake) {
        st = add_record(log, line, &record, &facts.hint, err);
        log->written_end = at + line.len + 1;
        if (st == MAKI_OK && log->record_count == ROWS_AT_ONCE) st = publish(log, err);
    }
    return st == MAKI_OK ? tell(log, at, err) : st;
}

/* The state after the last published record. */
maki_status maki_log_load_head(maki_log *log, maki_err *err)
{
    maki_row last;
    memcpy(log->head, log->start, MAKI_CHAIN_LEN);
    log->tokens = 0;
    log->written_end = log->header_len;
    if (log->index.header.count > 0) {
        maki_status st = maki_index_get(&log->index, log->index.header.count, &last, err);
        if (st != MAKI_OK) return st;
        if (last.offset + last.length + 1 != log->index.header.end) {
            return maki_fail(err, MAKI_CORRUPT, "the index is garbage");
        }
        memcpy(log->head, last.chain, MAKI_CHAIN_LEN);
        log->tokens = last.tokens_so_far;
        log->written_end = log->index.header.end;
    }
    memcpy(log->new_head, log->head, MAKI_CHAIN_LEN);
    log->new_tokens = log->tokens;
    log->record_count = 0;
    return MAKI_OK;
}

/* Take in what stands after the index's end; *end is one past the last whole row. */
maki_status maki_log_catch_up(maki_log *log, uint64_t *end, maki_err *err)
{
    maki_status st = maki_log_load_head(log, err);
    if (st != MAKI_OK) return st;
    off_t size = log->env.files->size(log->env.files, log->messages_fd);
    if (size < 0) return maki_fail_errno(err, "asking the size of the messages");
    log->to_tell = (uint64_t)size;
    log->told = log->written_end;
    if ((uint64_t)size > log->written_end + MAKI_MUCH) st = begin_batches(log, false, err);
    if (st == MAKI_OK) {
        st = maki_lines_each(&log->env, log->messages_fd, log->written_end,
                             log->options.max_row_bytes, take_line, log, end, err);
    }
    if (st == MAKI_OK && log->intake) {
        st = pass_on(log, true, err);
        log->written_end = *end;
    }
    end_batches(log);
    if (st == MAKI_OK) st = publish(log, err);
    return st;
}

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
static maki_status read_events_tail(maki_log *log, uint64_t *end, maki_err *err)
{
    last_event last = { .ev = log->ev };
    memcpy(last.sum, log->sum, MAKI_CHAIN_LEN);
    *end = log->events_end;
    if (log->events_fd < 0) return MAKI_OK;
    off_t size = log->env.files->size(log->env.files, log->events_fd);
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

static void forget_group(maki_log *log);
static void note_events(maki_log *log);
static maki_status finish(maki_log *log, maki_err *err);

/* ---- torn tails ------------------------------------------------------------------------------------------ */

static void add_base64(maki_buf *out, maki_str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        uint32_t group = 0;
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        for (size_t k = 0; k < 3; k++) {
            group = group << 8 | (k < n ? (unsigned char)bytes.ptr[i + k] : 0);
        }
        for (size_t k = 0; k < 4; k++) {
            maki_buf_add_byte(out, k <= n ? digits[group >> (18 - 6 * k) & 63] : '=');
        }
    }
}

/* The inside of a damage event that keeps the bytes [end, size) of a file: a few in the event itself,
 * more in a file of their own. */
static maki_status keep_tail(maki_log *log, int fd, uint64_t end, uint64_t size, maki_buf *fields,
                             maki_err *err)
{
    enum { KEPT_MAX = 1 << 16 };
    bool events = fd == log->events_fd;
    uint64_t torn = size - end;
    size_t got = 0;
    char text[400], name[MAKI_ASIDE_LEN];
    maki_status st = MAKI_OK;
    snprintf(text, sizeof text,
             "\"what\":\"torn\",\"file\":\"%s\",\"offset\":%" PRIu64 ",\"length\":%" PRIu64,
             events ? "events" : "messages", end, torn);
    maki_buf_add(fields, maki_str_of(text));
    if (torn > KEPT_MAX) {
        st = maki_lines_aside(&log->env, fd, events ? log->events_path : log->path, end, size, name,
                              err);
        snprintf(text, sizeof text, ",\"kept\":\"%s\"", name);
        maki_buf_add(fields, maki_str_of(text));
        return st == MAKI_OK ? maki_buf_status(fields, err) : st;
    }
    char *bytes = log->env.alloc->resize(log->env.alloc, NULL, 0, (size_t)torn);
    if (!bytes) return maki_fail_nomem(err);
    st = maki_file_read_at(log->env.files, fd, end, bytes, (size_t)torn, &got, err);
    maki_buf_add(fields, MAKI_LIT(",\"bytes\":\""));
    if (st == MAKI_OK) add_base64(fields, (maki_str){ bytes, got });
    maki_buf_add(fields, MAKI_LIT("\""));
    log->env.alloc->resize(log->env.alloc, bytes, (size_t)torn, 0);
    return st == MAKI_OK ? maki_buf_status(fields, err) : st;
}

/* Cut [end, size) off the file, the bytes kept by a damage event that is durable before. */
static maki_status cut_tail(maki_log *log, int fd, uint64_t end, maki_err *err)
{
    const maki_files *files = log->env.files;
    off_t size = files->size(files, fd);
    if (size < 0) return maki_fail_errno(err, "asking the size of a file");
    if ((uint64_t)size <= end) return MAKI_OK;
    bool events = fd == log->events_fd;
    maki_buf fields = maki_buf_new(log->env.alloc, EVENT_MAX);
    maki_status st = keep_tail(log, fd, end, (uint64_t)size, &fields, err);
    if (st == MAKI_OK) st = maki_log_add_event(log, "damage", maki_buf_str(&fields), NULL, err);
    maki_buf_free(&fields);
    if (st != MAKI_OK) {
        forget_group(log);
        return st;
    }
    st = finish(log, err); /* a torn event is written over */
    if (events) end = log->events_end;
    if (st == MAKI_OK && size > (off_t)end && files->truncate(files, fd, (off_t)end) < 0) {
        st = maki_fail_errno(err, "cutting a torn row off");
    }
    return st;
}

/* ---- the lock --------------------------------------------------------------------------------------------- */

/* The open files are still the ones of these names. */
static maki_status check_names(const maki_log *log, maki_err *err)
{
    const maki_files *files = log->env.files;
    int same = files->same(files, log->messages_fd, log->path);
    if (same == 1 && log->events_fd >= 0) {
        same = files->same(files, log->events_fd, log->events_path);
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

static maki_status take_lock(maki_log *log, maki_err *err)
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
    maki_status st = take_lock(log, err);
    if (st == MAKI_OK) st = check_names(log, err);
    if (st != MAKI_OK) maki_log_unlock(log);
    return st;
}

/* One past the last row that is published. */
static uint64_t published_end(const maki_log *log)
{
    return log->index.header.count ? log->index.header.end : log->header_len;
}

/* The index that is open is still the one of its name and sound: its header is read again. */
static bool index_stands(maki_log *log)
{
    const maki_files *files = log->env.files;
    if (log->index.fd < 0) return false;
    if (!log->index.own && files->same(files, log->index.fd, log->index_path) != 1) return false;
    return maki_index_refresh(&log->index, NULL) == MAKI_OK &&
           maki_log_load_head(log, NULL) == MAKI_OK;
}

maki_status maki_log_look_at_events(maki_log *log, maki_err *err)
{
    uint64_t end = 0;
    maki_status st = open_events(log, false, err);
    return st == MAKI_OK ? read_events_tail(log, &end, err) : st;
}

typedef enum settling {
    FRESH, /* nothing is known yet */
    ROWS,  /* only rows will be added: an events file that was not there is not looked for */
    ALL
} settling;

/* Under the lock: everything is taken in and nothing is torn. */
static maki_status settle(maki_log *log, settling what, maki_err *err)
{
    const maki_files *files = log->env.files;
    uint64_t end = 0;
    bool looks = what != ROWS || log->events_fd >= 0;
    maki_status st = what == FRESH ? open_events(log, false, err) : MAKI_OK;
    if (st == MAKI_OK && what == FRESH) st = read_parent(log, err);
    if (st == MAKI_OK && looks) st = maki_log_look_at_events(log, err);
    if (st != MAKI_OK) return st;
    off_t size = files->size(files, log->messages_fd);
    if (size < 0) return maki_fail_errno(err, "asking the size of the messages");
    bool current = what != FRESH && index_stands(log) && published_end(log) == (uint64_t)size;
    if (!looks && (!current || log->index.header.events > log->ev)) {
        st = maki_log_look_at_events(log, err); /* somebody was here */
    }
    if (st == MAKI_OK)
        st = current ? maki_log_check_events(log, err) : maki_log_ready_index(log, &end, err);
    /* events first: the next event is written where a torn one stands */
    if (st == MAKI_OK && log->events_fd >= 0)
        st = cut_tail(log, log->events_fd, log->events_end, err);
    if (st == MAKI_OK && !current) st = cut_tail(log, log->messages_fd, end, err);
    return st;
}

/* Under the lock: nobody has written since our last group, so all of it is known.  Whoever writes makes
 * one of the files longer, and whoever replaces one leaves ours without a name.  Only for MAKI_REPLY,
 * where a group may cost no more than a few calls: a file that was renamed is still written to. */
static bool untouched(const maki_log *log)
{
    const maki_files *files = log->env.files;
    if (log->options.durability != MAKI_REPLY || log->index.fd < 0 || log->events_fd < 0)
        return false;
    return files->named_size(files, log->messages_fd) == (off_t)published_end(log) &&
           files->named_size(files, log->events_fd) == (off_t)log->events_end;
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

/* The header row of a new session; *wrote tells that there was none. */
static maki_status write_header(maki_log *log, bool *wrote, maki_err *err)
{
    const maki_files *files = log->env.files;
    off_t size = files->size(files, log->messages_fd);
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
    maki_status st = open_events(log, false, err);
    if (st == MAKI_OK) st = read_header(log, err);
    if (st == MAKI_OK) st = read_parent(log, err);
    if (log->options.from_rows) { /* verify.c looks at the events itself */
        return st == MAKI_OK || st == MAKI_CORRUPT ? maki_log_rebuild(log, &end, err) : st;
    }
    if (st == MAKI_OK) st = read_events_tail(log, &end, err);
    return st == MAKI_OK ? maki_log_ready_index(log, &end, err) : st;
}

static maki_status open_to_write(maki_log *log, maki_err *err)
{
    bool wrote = false;
    maki_status st = lock(log, err);
    if (st == MAKI_OK) st = write_header(log, &wrote, err);
    if (st == MAKI_OK) st = read_header(log, err);
    if (st == MAKI_OK) st = settle(log, FRESH, err);
    if (st == MAKI_OK && !wrote) { /* all there was may have been half a header */
        st = write_header(log, &wrote, err);
        if (st == MAKI_OK && wrote) st = read_header(log, err);
        if (st == MAKI_OK && wrote) st = settle(log, FRESH, err);
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
    log->messages_fd = log->events_fd = log->index.fd = -1;
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
    end_batches(log);
    if (log->options.durability == MAKI_REPLY && log->index.fd >= 0) note_events(log);
    maki_log_unlock(log);
    maki_index_close(&log->index);
    maki_buf_free(&log->rows);
    maki_buf_free(&log->events);
    if (log->events_fd >= 0) files->close(files, log->events_fd);
    if (log->messages_fd >= 0) files->close(files, log->messages_fd);
    alloc->resize(alloc, log, sizeof *log, 0);
}

/* Rows that were published are still there; *size is that of the file. */
static maki_status check_size(const maki_log *log, uint64_t *size, maki_err *err)
{
    off_t is = log->env.files->size(log->env.files, log->messages_fd);
    if (is < 0) return maki_fail_errno(err, "asking the size of the messages");
    *size = (uint64_t)is;
    return *size < published_end(log) ? maki_log_shorter(log, *size, err) : MAKI_OK;
}

maki_status maki_log_refresh(maki_log *log, maki_err *err)
{
    uint64_t end = 0, size = 0;
    if (log->options.rehearse) return MAKI_OK; /* it is about one moment */
    maki_status st = check_names(log, err);
    if (st == MAKI_OK) st = open_events(log, false, err);
    if (st == MAKI_OK && !log->options.from_rows) st = read_events_tail(log, &end, err);
    if (st != MAKI_OK) return st;
    if (index_stands(log)) {
        st = check_size(log, &size, err);
        if (st != MAKI_OK) return st;
        if (log->index.own) return maki_log_catch_up(log, &end, err);
        return log->read_only ? maki_log_take_in(log, size, &end, err) : MAKI_OK;
    }
    if (log->read_only) return maki_log_ready_index(log, &end, err);
    st = lock(log, err); /* the shared index is written by one process at a time */
    if (st == MAKI_OK) st = settle(log, ALL, err);
    maki_log_unlock(log);
    return st;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void forget_group(maki_log *log)
{
    end_batches(log);
    maki_buf_clear(&log->rows);
    maki_buf_clear(&log->events);
    log->record_count = 0;
    log->rows_begun = log->seals_rows = false;
    log->events_added = 0;
    memcpy(log->new_head, log->head, MAKI_CHAIN_LEN);
    memcpy(log->new_sum, log->sum, MAKI_CHAIN_LEN);
    log->new_tokens = log->tokens;
}

static maki_status writable(const maki_log *log, maki_err *err)
{
    if (!log->read_only) return MAKI_OK;
    return maki_fail(err, MAKI_DENIED, "%s may not be written", log->path);
}

static maki_status begin(maki_log *log, settling what, const unsigned char *expect, maki_err *err)
{
    maki_status st = log->options.rehearse ? maki_log_set_apart(log, err) : writable(log, err);
    if (st == MAKI_OK && !log->options.rehearse) st = take_lock(log, err);
    if (st == MAKI_OK && log->locked && !untouched(log)) {
        st = check_names(log, err);
        if (st == MAKI_OK) st = settle(log, what, err);
    }
    if (st == MAKI_OK && expect && memcmp(expect, log->head, MAKI_CHAIN_LEN) != 0) {
        st = maki_fail(err, MAKI_CONFLICT,
                       "the conversation has grown since it was read; read it again");
    }
    if (st != MAKI_OK) {
        maki_log_unlock(log);
        return st;
    }
    forget_group(log);
    return MAKI_OK;
}

maki_status maki_log_begin(maki_log *log, const unsigned char *expect, maki_err *err)
{
    return begin(log, ALL, expect, err);
}

maki_status maki_log_begin_rows(maki_log *log, const unsigned char *expect, maki_err *err)
{
    return begin(log, ROWS, expect, err);
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
    st = publish(log, err);
    return st == MAKI_OK ? begin_batches(log, true, err) : st;
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
    maki_row record;
    const maki_batch *batch = log->intake ? maki_intake_filled(log->intake) : NULL;
    uint64_t at = log->written_end + log->rows.len + (batch ? batch->len : 0);
    maki_status st = make_record(log, row, at, facts, &record, err);
    if (st == MAKI_OK && log->intake) return add_to_batch(log, row, &record, &facts->hint, err);
    if (st == MAKI_OK) st = add_record(log, row, &record, &facts->hint, err);
    if (st != MAKI_OK || row.len >= BLOCK) return st == MAKI_OK ? write_long(log, row, err) : st;
    maki_buf_add(&log->rows, row);
    maki_buf_add_byte(&log->rows, '\n');
    return maki_buf_status(&log->rows, err);
}

maki_status maki_log_add_row(maki_log *log, maki_str row, uint64_t *seq, maki_err *err)
{
    maki_facts facts = { 0 };
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
    uint64_t number = next_seq(log);
    maki_status st = writable(log, err); /* a rehearsal is of events alone */
    if (st == MAKI_OK)
        st = log->options.facts(log->options.facts_ctx, log, number, row, &facts, err);
    if (st == MAKI_OK) st = add_line(log, row, &facts, err);
    if (st == MAKI_OK && seq) *seq = number;
    return st;
}

maki_status maki_log_add_event(maki_log *log, const char *type, maki_str fields, uint64_t *ev,
                               maki_err *err)
{
    char head[2 * MAKI_CHAIN_LEN + 1], sum[2 * MAKI_CHAIN_LEN + 1], text[200];
    uint64_t number = log->ev + log->events_added + 1;
    size_t start = log->events.len;
    maki_status st = open_events(log, true, err);
    if (st != MAKI_OK) return st;
    if (log->events_added == 0) memcpy(log->new_sum, log->sum, MAKI_CHAIN_LEN);
    if (log->record_count || log->rows_begun) log->seals_rows = true;
    maki_hex(log->new_head, MAKI_CHAIN_LEN, head);
    snprintf(text, sizeof text,
             "{\"ev\":%" PRIu64 ",\"at\":%" PRIu64 ",\"ts\":%" PRId64
             ",\"type\":\"%s\",\"head\":\"%s\"%s",
             number, next_seq(log) - 1, log->env.clock->now_ms(log->env.clock), type, head,
             fields.len ? "," : "");
    maki_buf_add(&log->events, maki_str_of(text));
    maki_buf_add(&log->events, fields);
    st = maki_buf_status(&log->events, err);
    if (st != MAKI_OK) return st;
    maki_str covered = maki_str_from(maki_buf_str(&log->events), start);
    st = maki_chain_next(log->new_sum, covered, log->new_sum, err);
    if (st != MAKI_OK) return st;
    maki_hex(log->new_sum, MAKI_CHAIN_LEN, sum);
    snprintf(text, sizeof text, ",\"sum\":\"%s\"}\n", sum);
    maki_buf_add(&log->events, maki_str_of(text));
    log->events_added++;
    if (ev) *ev = number;
    return maki_buf_status(&log->events, err);
}

static maki_status sync_file(maki_log *log, int fd, maki_err *err)
{
    if (log->options.durability != MAKI_SYNC) return MAKI_OK;
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
    if (st == MAKI_OK && new_file && log->options.durability == MAKI_SYNC) {
        st = maki_folder_sync(&log->env, log->path, err);
    }
    return st;
}

/* What was written of the group must not be taken for rows by the next writer. */
static void roll_back(maki_log *log, uint64_t end)
{
    const maki_files *files = log->env.files;
    if (log->rows_begun && files->size(files, log->messages_fd) > (off_t)end) {
        (void)!files->truncate(files, log->messages_fd, (off_t)end);
    }
    if (log->events_fd >= 0 && files->size(files, log->events_fd) > (off_t)log->events_end) {
        (void)!files->truncate(files, log->events_fd, (off_t)log->events_end);
    }
    forget_group(log);
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
    if (publish(log, NULL) == MAKI_OK) return MAKI_OK;
    maki_status st = maki_log_rebuild(log, &end, err);
    if (st == MAKI_OK) return MAKI_OK;
    maki_index_close(&log->index);
    log->index.header = header;
    log->tokens = tokens;
    memcpy(log->head, head, MAKI_CHAIN_LEN);
    return st;
}

/* In the index: how many events there are.  Fewer than there are is no harm. */
static void note_events(maki_log *log)
{
    (void)!maki_index_note_events(&log->index, log->ev, NULL);
}

/* Whoever wants to know what the group wrote; its rows began at `from`. */
static void tell_written(maki_log *log, uint64_t from)
{
    maki_log_wrote_fn fn = log->options.wrote;
    uint64_t to = published_end(log);
    if (!fn) return;
    maki_str rows = { to - from == log->rows.len ? log->rows.ptr : NULL, (size_t)(to - from) };
    if (to > from) fn(log->options.wrote_ctx, MAKI_LOG_MESSAGES, from, rows);
    if (log->events.len)
        fn(log->options.wrote_ctx, MAKI_LOG_EVENTS, log->events_end, maki_buf_str(&log->events));
}

/* Write, sync and publish the group; the lock stays. */
static maki_status finish(maki_log *log, maki_err *err)
{
    maki_status st = log->intake ? pass_on(log, true, err) : MAKI_OK;
    end_batches(log);
    uint64_t end = published_end(log);
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
        if (log->options.durability != MAKI_REPLY && !log->read_only) note_events(log);
    }
    forget_group(log);
    return MAKI_OK;
}

/* A long row came by: what it took is not kept for the next. */
static void give_back(maki_buf *buf)
{
    size_t max = buf->max;
    const maki_alloc *alloc = buf->alloc;
    if (buf->room <= KEPT) return;
    maki_buf_free(buf);
    *buf = maki_buf_new(alloc, max);
}

maki_status maki_log_commit(maki_log *log, maki_err *err)
{
    maki_status st = finish(log, err);
    maki_log_unlock(log);
    give_back(&log->rows);
    give_back(&log->events);
    return st;
}

maki_status maki_log_sync(maki_log *log, maki_err *err)
{
    const maki_files *files = log->env.files;
    if (log->events_fd >= 0 && files->sync(files, log->events_fd) < 0) {
        return maki_fail_errno(err, "syncing the events");
    }
    if (files->sync(files, log->messages_fd) < 0)
        return maki_fail_errno(err, "syncing the messages");
    return MAKI_OK;
}

void maki_log_abort(maki_log *log)
{
    if (!log->locked) return;
    roll_back(log, published_end(log));
    maki_log_unlock(log);
    give_back(&log->rows);
    give_back(&log->events);
}

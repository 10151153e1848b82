/* verify.c -- see verify.h.
 *
 * The rows are read through a maki_log that believes nothing but the messages (from_rows): it makes a
 * private index, which is then compared with the one on disk.  Chains are compared step by step, each
 * against the stored one before it, so that one changed row is one finding and not all rows after it;
 * by induction nothing is lost by that. */
#include "log/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json.h"
#include "base/str.h"
#include "log/verify_internal.h"

enum { KNOWN_MAX = 1 << 24 };

/* What a damage event says: from message `from` on, events before it cannot be proved. */
typedef struct known {
    uint64_t ev, from, seq;
} known;

maki_status maki_verify_report(checking *c, maki_found found, const char *file, uint64_t offset,
                               uint64_t seq, uint64_t ev, const char *what, maki_err *err)
{
    maki_finding finding = { found, file, offset, seq, ev, what };
    c->result.findings++;
    return c->fn ? c->fn(c->ctx, &finding, err) : MAKI_OK;
}

static const known *damage_at(const checking *c, size_t i)
{
    return (const known *)(const void *)c->damages.ptr + i;
}

static size_t damage_count(const checking *c)
{
    return c->damages.len / sizeof(known);
}

bool maki_verify_known_row(const checking *c, uint64_t seq)
{
    for (size_t i = 0; i < damage_count(c); i++) {
        if (damage_at(c, i)->seq == seq) return true;
    }
    return false;
}

/* Was what event `ev` says about message `at` lost in damage that was noted later? */
bool maki_verify_excused(const checking *c, uint64_t ev, uint64_t at)
{
    for (size_t i = 0; i < damage_count(c); i++) {
        const known *k = damage_at(c, i);
        if (k->ev > ev && k->from != UINT64_MAX && k->from <= at) return true;
    }
    return false;
}

/* ---- the moment ------------------------------------------------------------------------------------ */

maki_status maki_file_size_of(const maki_env *env, int fd, uint64_t *out, maki_err *err)
{
    off_t size = maki_file_size(env->files, fd);
    if (size < 0) return maki_fail_errno(err, "asking the size of a file");
    *out = (uint64_t)size;
    return MAKI_OK;
}

/* Open the index on disk as it is, sound or not. */
static maki_status open_stored(checking *c, maki_err *err)
{
    const maki_files *files = c->env->files;
    size_t got = 0;
    c->stored.fd = files->open(files, c->files.index_path, O_RDONLY, 0);
    if (c->stored.fd < 0 && errno == ENOENT) return MAKI_OK;
    if (c->stored.fd < 0) return maki_fail_errno(err, "opening the index");
    maki_status st = maki_file_size_of(c->env, c->stored.fd, &c->stored_size, err);
    if (st != MAKI_OK) return st;
    return maki_file_read_at(files, c->stored.fd, 0, &c->stored.header, sizeof c->stored.header,
                             &got, err);
}

/* The sizes and the index's header, all of one moment: nobody writes while we hold the lock. */
static maki_status sample(checking *c, maki_err *err)
{
    const maki_files *files = c->env->files;
    while (files->lock(files, c->files.messages_fd, LOCK_SH) < 0) {
        if (errno != EINTR) return maki_fail_errno(err, "locking the messages");
    }
    maki_status st = maki_file_size_of(c->env, c->files.messages_fd, &c->messages_size, err);
    if (st == MAKI_OK && c->files.events_fd >= 0) {
        st = maki_file_size_of(c->env, c->files.events_fd, &c->events_size, err);
    }
    if (st == MAKI_OK) st = open_stored(c, err);
    files->lock(files, c->files.messages_fd, LOCK_UN);
    return st;
}

/* ---- reading events ---------------------------------------------------------------------------------- */

bool maki_event_whole(maki_str object, const char *name, uint64_t *out)
{
    maki_str value;
    return maki_json_get(object, maki_str_of(name), &value) && maki_json_uint(value, out);
}

bool maki_line_object(maki_str row, maki_str *object)
{
    return maki_json_check(row, object, NULL) == MAKI_OK &&
           maki_json_kind_of(*object) == MAKI_JSON_OBJECT;
}

typedef struct gathering {
    checking *c;
    uint64_t ev;
} gathering;

static maki_status gather(void *ctx, maki_str row, uint64_t at, maki_err *err)
{
    gathering *g = ctx;
    maki_str event;
    known k = { .ev = ++g->ev, .from = UINT64_MAX };
    if (at >= g->c->events_size) return MAKI_CANCELLED;
    if (!maki_str_has(row, MAKI_LIT("\"damage\"")) || !maki_line_object(row, &event))
        return MAKI_OK;
    if (!maki_json_field_in(event, "type", "damage")) return MAKI_OK;
    g->c->result.damage++;
    (void)maki_event_whole(event, "seq", &k.seq);
    (void)maki_event_whole(event, "from", &k.from);
    maki_buf_add(&g->c->damages, (maki_str){ (const char *)&k, sizeof k });
    return maki_buf_status(&g->c->damages, err);
}

maki_status maki_verify_each_event(checking *c, maki_log_line_fn fn, void *ctx, uint64_t *end,
                                   maki_err *err)
{
    *end = 0;
    if (c->files.events_fd < 0) return MAKI_OK;
    maki_status st =
        maki_lines_each(c->env, c->files.events_fd, 0, MAKI_EVENT_SCAN_MAX, fn, ctx, end, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

uint64_t maki_verify_row_count(const checking *c)
{
    return c->files.index->header.count;
}

static uint64_t rows_end(const checking *c)
{
    return maki_verify_row_count(c) ? c->files.index->header.end : c->files.header_len;
}

static maki_status check_rows(checking *c, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (uint64_t n = 1; st == MAKI_OK && n <= maki_verify_row_count(c); n++) {
        maki_row row;
        st = maki_index_get(c->files.index, n, &row, err);
        if (st != MAKI_OK || !(row.flags & MAKI_ROW_BAD)) continue;
        if (maki_verify_known_row(c, maki_log_base(c->log) + n)) continue;
        st = maki_verify_report(c, MAKI_FOUND_BAD, "messages", row.offset,
                                maki_log_base(c->log) + n, 0, "this row is not a message", err);
    }
    if (st == MAKI_OK && rows_end(c) < c->messages_size) {
        st = maki_verify_report(c, MAKI_FOUND_TORN, "messages", rows_end(c), 0, 0,
                                "bytes after the last newline", err);
    }
    return st;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

/* The chain after the header row alone. */
static maki_status read_header_chain(checking *c, maki_err *err)
{
    size_t got = 0, len = (size_t)c->files.header_len;
    if (len == 0) return MAKI_OK;
    maki_buf row = maki_buf_new(c->env->alloc, len);
    char *capacity = maki_buf_reserve(&row, len);
    maki_status st = maki_buf_status(&row, err);
    if (st == MAKI_OK) {
        st = maki_file_read_at(c->env->files, c->files.messages_fd, 0, capacity, len, &got, err);
    }
    if (st == MAKI_OK) {
        maki_str text = { capacity, got ? got - 1 : 0 };
        maki_chain_next(c->header_chain, text, c->header_chain);
    }
    maki_buf_free(&row);
    return st;
}

static maki_status open_checking(checking *c, const maki_log_options *options, maki_err *err)
{
    maki_log_options rows = *options;
    rows.create = rows.repair = false;
    rows.read_only = rows.from_rows = true;
    rows.header = (maki_str){ "", 0 };
    maki_status st = maki_log_open(c->env, c->path, &rows, &c->log, err);
    if (st != MAKI_OK) return st;
    c->files = maki_log_paths(c->log);
    st = sample(c, err);
    /* rows that came between opening and the moment belong to it */
    if (st == MAKI_OK) st = maki_log_refresh(c->log, err);
    return st == MAKI_OK ? read_header_chain(c, err) : st;
}

maki_status maki_log_verify(const maki_env *env, const char *path, const maki_log_options *options,
                            maki_finding_fn fn, void *ctx, maki_verified *out, maki_err *err)
{
    checking c = {
        .env = env, .path = path, .fn = fn, .ctx = ctx, .stored = { .env = env, .fd = -1 }
    };
    gathering g = { .c = &c };
    uint64_t end = 0;
    c.damages = maki_buf_new(env->alloc, KNOWN_MAX);
    maki_status st = open_checking(&c, options, err);
    if (st == MAKI_OK) st = maki_verify_each_event(&c, gather, &g, &end, err);
    if (st == MAKI_OK) st = check_rows(&c, err);
    if (st == MAKI_OK) st = maki_verify_index(&c, options->family, err);
    if (st == MAKI_OK) st = maki_verify_events(&c, err);
    if (c.log) {
        c.result.messages = maki_verify_row_count(&c);
        memcpy(c.result.head, maki_log_head(c.log), MAKI_CHAIN_LEN);
    }
    if (out) *out = c.result;
    maki_index_close(&c.stored);
    maki_buf_free(&c.damages);
    maki_log_close(c.log);
    if (st != MAKI_OK || c.result.findings == 0) return st;
    return maki_fail(err, MAKI_CORRUPT, "%" PRIu64 " places of the log are damaged",
                     c.result.findings);
}

/* verify.c -- verifies a log: takes a snapshot of the sizes, rebuilds the index from the rows, compares.
 *
 * The rows are read through a maki_log that trusts nothing but the messages (messages_only): it builds a
 * private index, which is then compared with the one on disk (verify_index.c); then the events are checked
 * (verify_events.c).  Chains are compared link by link, each
 * against the stored one before it, so that one changed row is one finding and not all rows after it;
 * by induction nothing is missed. */
#include "log/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "log/verify_internal.h"

enum { DAMAGE_MAX = 1 << 24 };

/* A damage event: events before it, about messages from `from` on, cannot be proved; row `seq` is damaged (0: none). */
typedef struct known_damage {
    uint64_t ev, from, seq;
} known_damage;

maki_status maki_verify_report(verifier *c, maki_finding_kind kind, const char *file,
                               uint64_t offset, uint64_t seq, uint64_t ev, const char *what,
                               maki_err *err)
{
    static const char *const repairs[] = {
        [MAKI_FINDING_TORN] = "cut off; the bytes are kept in an event",
        [MAKI_FINDING_GONE] = "noted; the view is that of the last message before them",
        [MAKI_FINDING_BAD] = "hidden from views; the row stays in the file",
        [MAKI_FINDING_CHANGED] = "hidden from views; the row stays in the file",
        [MAKI_FINDING_JOINED] = "restored; the byte that was there is kept in an event",
        [MAKI_FINDING_SPLIT] = "removed",
        [MAKI_FINDING_HEAD] = "accepted as it is now; the change is noted",
        [MAKI_FINDING_EVENT] = "moved to another file, with those after it, which an event names",
        [MAKI_FINDING_LOST] = "noted",
        [MAKI_FINDING_INDEX] = "rebuilt",
    };
    const char *repair = repairs[kind == MAKI_FINDING_CHANGED && !seq ? MAKI_FINDING_HEAD : kind];
    uint64_t from = kind == MAKI_FINDING_HEAD ? c->proven + 1 : seq;
    maki_finding finding = { kind, file, offset, seq, ev, what, from, repair };
    c->result.findings++;
    return c->fn ? c->fn(c->ctx, &finding, err) : MAKI_OK;
}

static const known_damage *next_damage(const verifier *c, const known_damage *before)
{
    const known_damage *all = (const known_damage *)(const void *)c->damages.ptr;
    const known_damage *next = before ? before + 1 : all;
    return next < all + c->damages.len / sizeof *all ? next : NULL;
}

bool maki_verify_is_known_row(const verifier *c, uint64_t seq)
{
    const known_damage *k = NULL;
    while ((k = next_damage(c, k)) && k->seq != seq)
        ;
    return k != NULL;
}

bool maki_verify_is_known_event(const verifier *c, uint64_t ev, uint64_t at)
{
    const known_damage *k = NULL;
    while ((k = next_damage(c, k)) && !(k->ev > ev && k->from != UINT64_MAX && k->from <= at))
        ;
    return k != NULL;
}

/* ---- the snapshot ------------------------------------------------------------------------------------ */

/* Open the index on disk without validating it. */
static maki_status open_stored(verifier *c, maki_err *err)
{
    const maki_files *files = c->env->files;
    size_t got = 0;
    c->stored.fd = files->open(files, c->files.index_path, O_RDONLY, 0);
    if (c->stored.fd < 0 && errno == ENOENT) return MAKI_OK;
    if (c->stored.fd < 0) return maki_fail_errno(err, "cannot open the index");
    maki_status st = maki_file_get_size(c->env, c->stored.fd, &c->stored_size, err);
    if (st != MAKI_OK) return st;
    return maki_file_read_at(files, c->stored.fd, 0, &c->stored.header, sizeof c->stored.header,
                             &got, err);
}

/* The sizes and the header of the index, read under the lock, so that they belong together. */
static maki_status take_snapshot(verifier *c, maki_err *err)
{
    const maki_files *files = c->env->files;
    maki_status st = maki_file_lock(c->env, c->files.messages_fd, LOCK_SH, err);
    if (st != MAKI_OK) return st;
    st = maki_file_get_size(c->env, c->files.messages_fd, &c->messages_size, err);
    if (st == MAKI_OK && c->files.events_fd >= 0) {
        st = maki_file_get_size(c->env, c->files.events_fd, &c->events_size, err);
    }
    if (st == MAKI_OK) st = open_stored(c, err);
    files->lock(files, c->files.messages_fd, LOCK_UN);
    return st;
}

/* ---- reading events ---------------------------------------------------------------------------------- */

bool maki_event_integer(maki_str object, const char *name, uint64_t *out)
{
    maki_str value;
    return maki_json_get(object, maki_str_of(name), &value) && maki_json_uint(value, out);
}

bool maki_line_parse_object(maki_str row, maki_str *object)
{
    return maki_json_check(row, object, NULL) == MAKI_OK &&
           maki_json_kind_of(*object) == MAKI_JSON_OBJECT;
}

typedef struct damage_scan {
    verifier *c;
    uint64_t ev;
} damage_scan;

static maki_status on_damage_event(void *ctx, maki_str row, uint64_t offset, maki_err *err)
{
    damage_scan *scan = ctx;
    maki_str event;
    known_damage k = { .ev = ++scan->ev, .from = UINT64_MAX };
    if (offset >= scan->c->events_size) return MAKI_CANCELLED;
    if (!maki_str_contains(row, MAKI_LIT("\"damage\"")) || !maki_line_parse_object(row, &event))
        return MAKI_OK;
    if (!maki_json_field_in(event, "type", "damage")) return MAKI_OK;
    scan->c->result.damage++;
    (void)maki_event_integer(event, "seq", &k.seq);
    (void)maki_event_integer(event, "from", &k.from);
    maki_buf_add(&scan->c->damages, (maki_str){ (const char *)&k, sizeof k });
    return maki_buf_status(&scan->c->damages, err);
}

maki_status maki_verify_each_event(verifier *c, maki_log_line_fn fn, void *ctx, uint64_t *end,
                                   maki_err *err)
{
    *end = 0;
    if (c->files.events_fd < 0) return MAKI_OK;
    maki_status st =
        maki_lines_each(c->env, c->files.events_fd, 0, MAKI_EVENT_SCAN_MAX, fn, ctx, end, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

uint64_t maki_verify_row_count(const verifier *c)
{
    return c->files.index->header.count;
}

static uint64_t end_of_rows(const verifier *c)
{
    return maki_verify_row_count(c) ? c->files.index->header.end : c->files.header_len;
}

static maki_status check_rows(verifier *c, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (uint64_t n = 1; st == MAKI_OK && n <= maki_verify_row_count(c); n++) {
        maki_index_record row;
        st = maki_index_get(c->files.index, n, &row, err);
        if (st != MAKI_OK || !(row.flags & MAKI_ROW_NOT_MESSAGE)) continue;
        if (maki_verify_is_known_row(c, maki_log_base(c->log) + n)) continue;
        st = maki_verify_report(c, MAKI_FINDING_BAD, "messages", row.offset,
                                maki_log_base(c->log) + n, 0, "this row is not a message", err);
    }
    if (st == MAKI_OK && end_of_rows(c) < c->messages_size) {
        st = maki_verify_report(c, MAKI_FINDING_TORN, "messages", end_of_rows(c), 0, 0,
                                "bytes after the last newline", err);
    }
    return st;
}

/* ---- verifying -------------------------------------------------------------------------------------------------- */

/* The chain after the header row alone. */
static maki_status read_header_chain(verifier *c, maki_err *err)
{
    size_t got = 0, len = (size_t)c->files.header_len;
    if (len == 0) return MAKI_OK;
    maki_buf row = maki_buf_new(c->env->alloc, len);
    char *bytes = maki_buf_reserve(&row, len);
    maki_status st = maki_buf_status(&row, err);
    if (st == MAKI_OK) {
        st = maki_file_read_at(c->env->files, c->files.messages_fd, 0, bytes, len, &got, err);
    }
    if (st == MAKI_OK) {
        maki_str text = { bytes, got ? got - 1 : 0 };
        maki_chain_next(c->header_chain, text, c->header_chain);
    }
    maki_buf_free(&row);
    return st;
}

static maki_status open_verifier(verifier *c, const maki_log_options *options, maki_err *err)
{
    maki_log_options verify_options = *options;
    verify_options.create = verify_options.repair = false;
    verify_options.read_only = verify_options.messages_only = true;
    verify_options.header = (maki_str){ "", 0 };
    maki_status st = maki_log_open(c->env, c->path, &verify_options, &c->log, err);
    if (st != MAKI_OK) return st;
    c->files = maki_log_open_files(c->log);
    st = take_snapshot(c, err);
    /* include the rows that were written between opening and the snapshot */
    if (st == MAKI_OK) st = maki_log_refresh(c->log, err);
    return st == MAKI_OK ? read_header_chain(c, err) : st;
}

maki_status maki_log_verify(const maki_env *env, const char *path, const maki_log_options *options,
                            maki_finding_fn fn, void *ctx, maki_verify_result *out, maki_err *err)
{
    verifier c = {
        .env = env, .path = path, .fn = fn, .ctx = ctx, .stored = { .env = env, .fd = -1 }
    };
    damage_scan scan = { .c = &c };
    uint64_t end = 0;
    c.damages = maki_buf_new(env->alloc, DAMAGE_MAX);
    maki_status st = open_verifier(&c, options, err);
    if (st == MAKI_OK) st = maki_verify_each_event(&c, on_damage_event, &scan, &end, err);
    if (st == MAKI_OK) st = check_rows(&c, err);
    if (st == MAKI_OK) st = maki_verify_index(&c, options->encoding, err);
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

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
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json.h"
#include "base/str.h"
#include "log/lines.h"

enum { EVENT_MAX = 1 << 28, KNOWN_MAX = 1 << 24, EVENTS_AT_ONCE = 1000, PATH_MOST = 4096 };

/* What a damage event says: from message `from` on, events before it cannot be proved. */
typedef struct known {
    uint64_t ev, from, seq;
} known;

typedef struct checking {
    const maki_env *env;
    const char *path;
    maki_finding_fn fn;
    void *ctx;
    maki_verified result;

    maki_log *log; /* made from the rows */
    maki_log_files files;
    uint64_t messages_size, events_size; /* when nobody wrote */
    maki_buf damages;                    /* of known */
    unsigned char header_chain[MAKI_CHAIN_LEN];

    maki_index stored; /* the index on disk; fd -1: none */
    uint64_t stored_size;
    bool sound;      /* its header is one of ours for this log and family */
    bool same_facts; /* and of this family */
    bool shifted;    /* its rows have other numbers than the file's */
} checking;

static maki_status report(checking *c, maki_finding finding, maki_err *err)
{
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

static bool known_row(const checking *c, uint64_t seq)
{
    for (size_t i = 0; i < damage_count(c); i++) {
        if (damage_at(c, i)->seq == seq) return true;
    }
    return false;
}

/* Was what event `ev` says about message `at` lost in damage that was noted later? */
static bool excused(const checking *c, uint64_t ev, uint64_t at)
{
    for (size_t i = 0; i < damage_count(c); i++) {
        const known *k = damage_at(c, i);
        if (k->ev > ev && k->from != UINT64_MAX && k->from <= at) return true;
    }
    return false;
}

/* ---- the moment ------------------------------------------------------------------------------------ */

static maki_status size_of(const maki_env *env, int fd, uint64_t *out, maki_err *err)
{
    off_t size = env->files->size(env->files, fd);
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
    maki_status st = size_of(c->env, c->stored.fd, &c->stored_size, err);
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
    maki_status st = size_of(c->env, c->files.messages_fd, &c->messages_size, err);
    if (st == MAKI_OK && c->files.events_fd >= 0) {
        st = size_of(c->env, c->files.events_fd, &c->events_size, err);
    }
    if (st == MAKI_OK) st = open_stored(c, err);
    files->lock(files, c->files.messages_fd, LOCK_UN);
    return st;
}

/* ---- reading events ---------------------------------------------------------------------------------- */

static bool number(maki_str object, const char *name, uint64_t *out)
{
    maki_str value;
    return maki_json_get(object, maki_str_of(name), &value) && maki_json_whole(value, out);
}

static bool type_is(maki_str event, maki_str name)
{
    maki_str type;
    return maki_json_get(event, MAKI_LIT("type"), &type) &&
           maki_json_kind_of(type) == MAKI_JSON_STRING && maki_json_text_is(type, name);
}

static bool is_object(maki_str row, maki_str *object)
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
    if (!maki_str_has(row, MAKI_LIT("\"damage\"")) || !is_object(row, &event)) return MAKI_OK;
    if (!type_is(event, MAKI_LIT("damage"))) return MAKI_OK;
    g->c->result.damage++;
    (void)number(event, "seq", &k.seq);
    (void)number(event, "from", &k.from);
    maki_buf_add(&g->c->damages, (maki_str){ (const char *)&k, sizeof k });
    return maki_buf_status(&g->c->damages, err);
}

static maki_status each_event(checking *c, maki_line_fn fn, void *ctx, uint64_t *end, maki_err *err)
{
    *end = 0;
    if (c->files.events_fd < 0) return MAKI_OK;
    maki_status st = maki_lines_each(c->env, c->files.events_fd, 0, EVENT_MAX, fn, ctx, end, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

static uint64_t row_count(const checking *c)
{
    return c->files.index->header.count;
}

static uint64_t rows_end(const checking *c)
{
    return row_count(c) ? c->files.index->header.end : c->files.header_len;
}

static maki_status check_rows(checking *c, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (uint64_t n = 1; st == MAKI_OK && n <= row_count(c); n++) {
        maki_row row;
        st = maki_index_get(c->files.index, n, &row, err);
        if (st != MAKI_OK || !(row.flags & MAKI_ROW_BAD)) continue;
        if (known_row(c, maki_log_base(c->log) + n)) continue;
        st = report(c,
                    (maki_finding){ MAKI_FOUND_BAD, "messages", row.offset,
                                    maki_log_base(c->log) + n, 0, "this row is not a message" },
                    err);
    }
    if (st == MAKI_OK && rows_end(c) < c->messages_size) {
        st = report(c,
                    (maki_finding){ MAKI_FOUND_TORN, "messages", rows_end(c), 0, 0,
                                    "bytes after the last newline" },
                    err);
    }
    return st;
}

/* ---- the index: its header --------------------------------------------------------------------------------- */

static maki_status report_index(checking *c, uint64_t offset, uint64_t seq, const char *what,
                                maki_err *err)
{
    return report(c, (maki_finding){ MAKI_FOUND_INDEX, "index", offset, seq, 0, what }, err);
}

/* The header as it must be, count, end and family taken from the one on disk. */
static maki_index_header header_due(const checking *c, const unsigned char *start, uint64_t base)
{
    maki_index_header due;
    char family[MAKI_FAMILY_LEN + 1] = { 0 };
    memcpy(family, c->stored.header.family, MAKI_FAMILY_LEN);
    maki_index_header_init(&due, family, base, start);
    due.count = c->stored.header.count;
    due.end = c->stored.header.end;
    due.events = c->stored.header.events;
    due.events_check = maki_row_hash((maki_str){ (const char *)&due.events, sizeof due.events });
    return due;
}

static size_t first_difference(const void *a, const void *b, size_t n)
{
    size_t i = 0;
    while (i < n && ((const char *)a)[i] == ((const char *)b)[i])
        i++;
    return i;
}

static maki_status check_header(checking *c, const char *family, maki_err *err)
{
    const maki_index_header *is = &c->stored.header, *made = &c->files.index->header;
    if (c->stored_size < sizeof *is) return report_index(c, 0, 0, "its header is cut short", err);
    maki_index_header due = header_due(c, is->start, is->base);
    size_t at = first_difference(is, &due, sizeof due);
    if (at < sizeof due) return report_index(c, at, 0, "its header is damaged", err);
    if (is->count > (c->stored_size - sizeof *is) / sizeof(maki_row)) {
        return report_index(c, offsetof(maki_index_header, count), 0, "it is cut short", err);
    }
    if (is->base != made->base) {
        return report_index(c, offsetof(maki_index_header, base), 0,
                            "it counts from another message than the fork event", err);
    }
    c->sound = true;
    c->same_facts = strncmp(is->family, family, MAKI_FAMILY_LEN) == 0;
    if (memcmp(is->start, made->start, MAKI_CHAIN_LEN) == 0) return MAKI_OK;
    return report(c,
                  (maki_finding){ MAKI_FOUND_CHANGED, "messages", 0, 0, 0,
                                  "the header row is not what was written" },
                  err);
}

/* ---- the index: its records ----------------------------------------------------------------------------------- */

/* A row of the file beside its record on disk, and the ones before them. */
typedef struct pair {
    uint64_t n, m; /* their numbers */
    maki_row made, stored, made_before, stored_before;
} pair;

/* The chain that the stored one before leads to, with this row. */
static maki_status chain_from_stored(checking *c, const pair *p, unsigned char out[MAKI_CHAIN_LEN],
                                     maki_err *err)
{
    if (memcmp(p->made_before.chain, p->stored_before.chain, MAKI_CHAIN_LEN) == 0) {
        memcpy(out, p->made.chain, MAKI_CHAIN_LEN);
        return MAKI_OK;
    }
    maki_buf row = maki_buf_new(c->env->alloc, (size_t)p->made.length + 1);
    maki_status st = maki_log_read(c->log, maki_log_base(c->log) + p->n, &row, err);
    if (st == MAKI_OK) st = maki_chain_next(p->stored_before.chain, maki_buf_str(&row), out, err);
    maki_buf_free(&row);
    return st;
}

static bool same_facts(const checking *c, const pair *p)
{
    const maki_row *a = &p->made, *b = &p->stored;
    if (!c->same_facts) return true;
    return a->tokens == b->tokens && a->ts == b->ts && a->flags == b->flags &&
           b->tokens_so_far == p->stored_before.tokens_so_far + a->tokens &&
           (c->shifted || a->call_seq == b->call_seq);
}

static maki_status compare(checking *c, const pair *p, maki_err *err)
{
    unsigned char chain[MAKI_CHAIN_LEN];
    uint64_t seq = maki_log_base(c->log) + p->n;
    uint64_t at = sizeof(maki_index_header) + (p->m - 1) * sizeof(maki_row);
    maki_status st = chain_from_stored(c, p, chain, err);
    if (st != MAKI_OK) return st;
    bool length = p->made.length == p->stored.length;
    bool hash = p->made.xxh3 == p->stored.xxh3;
    bool chained = memcmp(chain, p->stored.chain, MAKI_CHAIN_LEN) == 0;
    if (!hash && !chained) {
        if (known_row(c, seq)) return MAKI_OK;
        return report(c,
                      (maki_finding){ MAKI_FOUND_CHANGED, "messages", p->made.offset, seq, 0,
                                      "this row is not what was written" },
                      err);
    }
    if (!hash) return report_index(c, at, seq, "the hash of this row is wrong", err);
    if (!chained) return report_index(c, at, seq, "the chain of this row is wrong", err);
    if (!length) return report_index(c, at, seq, "the length of this row is wrong", err);
    if (!same_facts(c, p)) return report_index(c, at, seq, "the facts of this row are wrong", err);
    return MAKI_OK;
}

/* Does the row that the index has stand where the index has it?  Then a newline was lost or added before
 * it; else everything from here on was moved, and no byte of the index's would fit. */
static maki_status stands_there(checking *c, const maki_row *row, bool *out, maki_err *err)
{
    size_t got = 0;
    *out = false;
    if (row->offset + row->length > c->messages_size) return MAKI_OK;
    char *bytes = c->env->alloc->resize(c->env->alloc, NULL, 0, (size_t)row->length + 1);
    if (!bytes) return maki_fail_nomem(err);
    maki_status st = maki_file_read_at(c->env->files, c->files.messages_fd, row->offset, bytes,
                                       row->length, &got, err);
    *out =
        st == MAKI_OK && got == row->length && maki_row_hash((maki_str){ bytes, got }) == row->xxh3;
    c->env->alloc->resize(c->env->alloc, bytes, (size_t)row->length + 1, 0);
    return st;
}

/* The index and the file disagree about where rows begin: follow the one that is behind. */
static maki_status compare_offset(checking *c, pair *p, maki_err *err)
{
    bool split = p->made.offset < p->stored.offset;
    uint64_t seq = maki_log_base(c->log) + p->n;
    c->shifted = true;
    if (p->stored.offset >= c->messages_size || p->stored.offset <= p->stored_before.offset) {
        p->m++;
        return report_index(c, sizeof(maki_index_header) + (p->m - 2) * sizeof(maki_row), 0,
                            "the place of this row is wrong", err);
    }
    bool there = false;
    maki_status st = stands_there(c, &p->stored, &there, err);
    if (st != MAKI_OK) return st;
    if (!there) {
        p->m = c->stored.header.count + 1; /* nothing more can be compared */
        return report(c,
                      (maki_finding){ MAKI_FOUND_GONE, "messages", p->made.offset, seq, 0,
                                      "from here on rows were taken out, put in or replaced" },
                      err);
    }
    if (split) {
        p->n++;
        return report(c,
                      (maki_finding){ MAKI_FOUND_SPLIT, "messages", p->made.offset - 1, seq, 0,
                                      "a newline where none was written" },
                      err);
    }
    p->m++;
    return report(c,
                  (maki_finding){ MAKI_FOUND_JOINED, "messages", p->stored.offset - 1, seq, 0,
                                  "the newline of this row is not there" },
                  err);
}

static maki_status check_records(checking *c, maki_err *err)
{
    uint64_t count = c->stored.header.count;
    pair p = { .n = 1, .m = 1 };
    maki_status st = MAKI_OK;
    memcpy(p.made_before.chain, c->files.index->header.start, MAKI_CHAIN_LEN);
    memcpy(p.stored_before.chain, c->stored.header.start, MAKI_CHAIN_LEN);
    while (st == MAKI_OK && p.n <= row_count(c) && p.m <= count) {
        st = maki_index_get(c->files.index, p.n, &p.made, err);
        if (st == MAKI_OK) st = maki_index_get(&c->stored, p.m, &p.stored, err);
        if (st != MAKI_OK) break;
        bool here = p.made.offset == p.stored.offset;
        bool stored = !here && p.stored.offset < p.made.offset, made = !here && !stored;
        if (here) {
            st = compare(c, &p, err);
            p.n++;
            p.m++;
        } else {
            st = compare_offset(c, &p, err);
        }
        if (here || made) p.made_before = p.made;
        if (here || stored) p.stored_before = p.stored;
    }
    return st;
}

/* Where the rows end, as the index has it. */
static maki_status check_end(checking *c, maki_err *err)
{
    const maki_index_header *is = &c->stored.header;
    maki_row last = { 0 };
    uint64_t due = 0;
    if (is->count) {
        maki_status st = maki_index_get(&c->stored, is->count, &last, err);
        if (st != MAKI_OK) return st;
        due = last.offset + last.length + 1;
    }
    if (is->end != due) {
        return report_index(c, offsetof(maki_index_header, end), 0, "its count or end is wrong",
                            err);
    }
    if (is->end <= c->messages_size) return MAKI_OK;
    return report(c,
                  (maki_finding){ MAKI_FOUND_GONE, "messages", c->messages_size,
                                  maki_log_base(c->log) + row_count(c) + 1, 0,
                                  "messages from this one on are gone" },
                  err);
}

static maki_status check_index(checking *c, const char *family, maki_err *err)
{
    if (c->stored.fd < 0) return MAKI_OK;
    maki_status st = check_header(c, family, err);
    if (st == MAKI_OK && c->sound) st = check_end(c, err);
    if (st == MAKI_OK && c->sound) st = check_records(c, err);
    return st;
}

/* ---- the events ----------------------------------------------------------------------------------------------- */

typedef struct chaining {
    checking *c;
    uint64_t ev;
    unsigned char sum[MAKI_CHAIN_LEN]; /* of the event before */
    bool broken;                       /* which is not known */
    bool gone;                         /* told already */
} chaining;

static bool head_of(maki_str event, unsigned char out[MAKI_CHAIN_LEN])
{
    char text[80];
    maki_str head, covered;
    if (!maki_json_get(event, MAKI_LIT("head"), &head) || head.len != 2 * MAKI_CHAIN_LEN + 2) {
        return false;
    }
    snprintf(text, sizeof text, ",\"sum\":%.*s}", (int)head.len, head.ptr);
    return maki_event_sum(maki_str_of(text), &covered, out);
}

/* The chain after message `at`, as the file has it or, with `stored`, the index on disk. */
static maki_status chain_at(checking *c, uint64_t at, bool stored,
                            unsigned char out[MAKI_CHAIN_LEN], maki_err *err)
{
    maki_index *index = stored ? &c->stored : c->files.index;
    uint64_t base = maki_log_base(c->log);
    maki_row row;
    memcpy(out, index->header.start, MAKI_CHAIN_LEN);
    if (at <= base) return MAKI_OK;
    maki_status st = maki_index_get(index, at - base, &row, err);
    if (st == MAKI_OK) memcpy(out, row.chain, MAKI_CHAIN_LEN);
    return st;
}

/* `head` must be the chain after message `at`. */
static maki_status check_head(chaining *ch, maki_str event, uint64_t at, const unsigned char *head,
                              uint64_t offset, maki_err *err)
{
    checking *c = ch->c;
    unsigned char due[MAKI_CHAIN_LEN];
    uint64_t last = maki_log_base(c->log) + row_count(c);
    maki_status st = MAKI_OK;
    if (excused(c, ch->ev, at)) return MAKI_OK;
    if (at > last) {
        if (ch->gone || (c->sound && c->stored.header.end > c->messages_size)) return MAKI_OK;
        ch->gone = true;
        return report(c,
                      (maki_finding){ MAKI_FOUND_GONE, "messages", c->messages_size, last + 1,
                                      ch->ev,
                                      "messages that this event was written after are gone" },
                      err);
    }
    if (ch->ev == 1 && at == 0 && type_is(event, MAKI_LIT("fork"))) {
        memcpy(due, c->header_chain, MAKI_CHAIN_LEN); /* written before there was a parent */
    } else {
        st = chain_at(c, at, false, due, err);
    }
    if (st != MAKI_OK || memcmp(head, due, MAKI_CHAIN_LEN) == 0) return st;
    if (c->sound && at - maki_log_base(c->log) <= c->stored.header.count) {
        st = chain_at(c, at, true, due, err); /* then a row before it was told already */
        if (st != MAKI_OK || memcmp(head, due, MAKI_CHAIN_LEN) == 0) return st;
    }
    return report(c,
                  (maki_finding){ MAKI_FOUND_HEAD, "events", offset, at, ch->ev,
                                  "the messages before this event are not those of then" },
                  err);
}

static maki_status check_event(void *ctx, maki_str row, uint64_t offset, maki_err *err)
{
    chaining *ch = ctx;
    unsigned char sum[MAKI_CHAIN_LEN], due[MAKI_CHAIN_LEN], head[MAKI_CHAIN_LEN];
    maki_str covered, event;
    uint64_t ev = 0, at = 0;
    if (offset >= ch->c->events_size) return MAKI_CANCELLED;
    ch->ev++;
    bool summed = maki_event_sum(row, &covered, sum);
    maki_status st = summed ? maki_chain_next(ch->sum, covered, due, err) : MAKI_OK;
    if (st != MAKI_OK) return st;
    bool right = summed && (ch->broken || memcmp(sum, due, MAKI_CHAIN_LEN) == 0) &&
                 is_object(row, &event) && number(event, "ev", &ev) && ev == ch->ev &&
                 number(event, "at", &at) && head_of(event, head);
    if (summed) memcpy(ch->sum, sum, MAKI_CHAIN_LEN);
    ch->broken = !summed;
    if (right) return check_head(ch, event, at, head, offset, err);
    return report(ch->c,
                  (maki_finding){ MAKI_FOUND_EVENT, "events", offset, 0, ch->ev,
                                  "this event is not what was written" },
                  err);
}

/* There was no events file when we opened the log: has somebody written the first event since? */
static bool made_meanwhile(const checking *c)
{
    const maki_files *files = c->env->files;
    if (c->files.events_fd >= 0) return false;
    int fd = files->open(files, c->files.events_path, O_RDONLY, 0);
    if (fd >= 0) files->close(files, fd);
    return fd >= 0;
}

static maki_status check_events(checking *c, maki_err *err)
{
    chaining ch = { .c = c };
    uint64_t end = 0;
    maki_status st = each_event(c, check_event, &ch, &end, err);
    c->result.events = ch.ev;
    if (st == MAKI_OK && end < c->events_size) {
        st = report(
            c,
            (maki_finding){ MAKI_FOUND_TORN, "events", end, 0, 0, "bytes after the last newline" },
            err);
    }
    if (st == MAKI_OK && c->sound && c->stored.header.events > ch.ev && !made_meanwhile(c)) {
        st = report(c,
                    (maki_finding){ MAKI_FOUND_LOST, "events", end, 0, ch.ev + 1,
                                    "this event and those after it are gone" },
                    err);
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
    char *room = maki_buf_room(&row, len);
    maki_status st = maki_buf_status(&row, err);
    if (st == MAKI_OK) {
        st = maki_file_read_at(c->env->files, c->files.messages_fd, 0, room, len, &got, err);
    }
    if (st == MAKI_OK) {
        maki_str text = { room, got ? got - 1 : 0 };
        st = maki_chain_next(c->header_chain, text, c->header_chain, err);
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
    c->files = maki_log_inside(c->log);
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
    if (st == MAKI_OK) st = each_event(&c, gather, &g, &end, err);
    if (st == MAKI_OK) st = check_rows(&c, err);
    if (st == MAKI_OK) st = check_index(&c, options->family, err);
    if (st == MAKI_OK) st = check_events(&c, err);
    if (c.log) {
        c.result.messages = row_count(&c);
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
        maki_index_open(&index, m->env, maki_log_inside(log).index_path, false, NULL) == MAKI_OK) {
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
    const char *path = maki_log_inside(log).events_path;
    st = open_locked(m->env, m->path, &lock, err);
    if (st == MAKI_OK) events = files->open(files, path, O_RDWR, 0);
    if (st == MAKI_OK && events < 0) st = maki_fail_errno(err, "opening the events");
    if (st == MAKI_OK) st = size_of(m->env, events, &size, err);
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
    if (files->unlink(files, maki_log_inside(log).index_path) < 0 && errno != ENOENT) {
        st = maki_fail_errno(err, "removing the old index");
    }
    maki_log_close(log);
    return st;
}

/* ---- repairing: telling it ------------------------------------------------------------------------------------------- */

static maki_status add_damage(maki_log *log, const char *fields, maki_err *err)
{
    return maki_log_add_event(log, "damage", maki_str_of(fields), NULL, err);
}

static maki_status tell_events(mending *m, maki_log *log, maki_err *err)
{
    char text[500];
    if (m->bad_ev == 0) return MAKI_OK;
    snprintf(text, sizeof text,
             "\"what\":\"events\",\"event\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"length\":%" PRIu64
             ",\"kept\":\"%s\"",
             m->bad_ev, m->bad_at, m->aside_len, m->aside);
    return add_damage(log, text, err);
}

static maki_status tell_lost(mending *m, maki_log *log, maki_err *err)
{
    char text[80];
    if (m->lost == 0) return MAKI_OK;
    snprintf(text, sizeof text, "\"what\":\"lost\",\"events\":%" PRIu64, m->lost);
    return add_damage(log, text, err);
}

static maki_status tell_breaks(mending *m, maki_log *log, maki_err *err)
{
    const fault *breaks = (const fault *)(const void *)m->breaks.ptr;
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < m->breaks.len / sizeof(fault); i++) {
        char text[200];
        snprintf(text, sizeof text, "\"what\":\"newline\",\"offset\":%" PRIu64 ",\"byte\":%u",
                 breaks[i].offset, breaks[i].byte);
        st = add_damage(log, text, err);
    }
    return st;
}

static maki_status tell_rows(mending *m, maki_log *log, maki_err *err)
{
    const fault *rows = (const fault *)(const void *)m->rows.ptr;
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < m->rows.len / sizeof(fault); i++) {
        char text[200];
        if (i && rows[i].seq == rows[i - 1].seq) continue; /* bad and changed */
        snprintf(text, sizeof text,
                 "\"what\":\"row\",\"seq\":%" PRIu64 ",\"from\":%" PRIu64 ",\"offset\":%" PRIu64,
                 rows[i].seq, rows[i].seq, rows[i].offset);
        st = add_damage(log, text, err);
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
    if (!is_object(row, &event) || !number(event, "at", &at)) return MAKI_OK;
    maki_str what;
    if (type_is(event, MAKI_LIT("damage")) && maki_json_get(event, MAKI_LIT("what"), &what) &&
        maki_json_text_is(what, MAKI_LIT("gone"))) {
        b->rows = 0;
    }
    if (at > b->last && at - b->last > b->rows) b->rows = at - b->last;
    if (b->rows == 0) b->ev = ev;
    return MAKI_OK;
}

static maki_status tell_gone(mending *m, maki_log *log, uint64_t indexed, maki_err *err)
{
    char text[200];
    before_gone b = { .last = maki_log_last(log) };
    if (!m->gone) return MAKI_OK;
    maki_status st = maki_log_each_event(log, look_before, &b, err);
    if (st != MAKI_OK) return st;
    if (indexed > b.last && indexed - b.last > b.rows) b.rows = indexed - b.last;
    snprintf(text, sizeof text, "\"what\":\"gone\",\"from\":%" PRIu64 ",\"rows\":%" PRIu64,
             b.last + 1, b.rows);
    st = add_damage(log, text, err);
    if (st != MAKI_OK) return st;
    /* Else what was done to the messages that are gone would be done to new ones of their numbers. */
    snprintf(text, sizeof text, "\"to\":%" PRIu64 ",\"toEv\":%" PRIu64, b.last, b.ev);
    return maki_log_add_event(log, "rewind", maki_str_of(text), NULL, err);
}

static maki_status tell_heads(mending *m, maki_log *log, maki_err *err)
{
    char text[200];
    if (!m->heads && !m->header) return MAKI_OK;
    snprintf(text, sizeof text, "\"what\":\"%s\",\"from\":%" PRIu64, m->header ? "header" : "head",
             m->header ? 0 : m->head_at);
    return add_damage(log, text, err);
}

/* How far the index on disk went. */
static uint64_t last_indexed(mending *m)
{
    maki_index index = { .env = m->env, .fd = -1 };
    maki_log *log = NULL;
    uint64_t last = 0;
    if (open_rows(m, &log, NULL) != MAKI_OK) return 0;
    if (maki_index_open(&index, m->env, maki_log_inside(log).index_path, false, NULL) == MAKI_OK) {
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

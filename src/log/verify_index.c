/* verify_index.c -- the index on disk against the one made from the rows; see verify.c. */
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "log/verify_internal.h"

/* ---- the index: its header --------------------------------------------------------------------------------- */

static maki_status report_index(checking *c, uint64_t offset, uint64_t seq, const char *what,
                                maki_err *err)
{
    return maki_verify_report(c, MAKI_FOUND_INDEX, "index", offset, seq, 0, what, err);
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
    return maki_verify_report(c, MAKI_FOUND_CHANGED, "messages", 0, 0, 0,
                              "the header row is not what was written", err);
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
    if (st == MAKI_OK) maki_chain_next(p->stored_before.chain, maki_buf_str(&row), out);
    maki_buf_free(&row);
    return st;
}

static bool same_facts(const checking *c, const pair *p)
{
    maki_row made = p->made;
    const maki_row *stored = &p->stored;
    bool same = true;
    if (!c->same_facts) return true;
    if (c->shifted) made.call_seq = stored->call_seq;
#define COMPARE(type, name) same = same && made.name == stored->name;
    MAKI_FACT_MAP(COMPARE)
    return same && made.tokens == stored->tokens &&
           stored->tokens_so_far == p->stored_before.tokens_so_far + made.tokens;
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
        if (maki_verify_known_row(c, seq)) return MAKI_OK;
        return maki_verify_report(c, MAKI_FOUND_CHANGED, "messages", p->made.offset, seq, 0,
                                  "this row is not what was written", err);
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
        return maki_verify_report(c, MAKI_FOUND_GONE, "messages", p->made.offset, seq, 0,
                                  "from here on rows were taken out, put in or replaced", err);
    }
    if (split) {
        p->n++;
        return maki_verify_report(c, MAKI_FOUND_SPLIT, "messages", p->made.offset - 1, seq, 0,
                                  "a newline where none was written", err);
    }
    p->m++;
    return maki_verify_report(c, MAKI_FOUND_JOINED, "messages", p->stored.offset - 1, seq, 0,
                              "the newline of this row is not there", err);
}

static maki_status check_records(checking *c, maki_err *err)
{
    uint64_t count = c->stored.header.count;
    pair p = { .n = 1, .m = 1 };
    maki_status st = MAKI_OK;
    memcpy(p.made_before.chain, c->files.index->header.start, MAKI_CHAIN_LEN);
    memcpy(p.stored_before.chain, c->stored.header.start, MAKI_CHAIN_LEN);
    while (st == MAKI_OK && p.n <= maki_verify_row_count(c) && p.m <= count) {
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
    return maki_verify_report(c, MAKI_FOUND_GONE, "messages", c->messages_size,
                              maki_log_base(c->log) + maki_verify_row_count(c) + 1, 0,
                              "messages from this one on are gone", err);
}

maki_status maki_verify_index(checking *c, const char *family, maki_err *err)
{
    if (c->stored.fd < 0) return MAKI_OK;
    maki_status st = check_header(c, family, err);
    if (st == MAKI_OK && c->sound) st = check_end(c, err);
    if (st == MAKI_OK && c->sound) st = check_records(c, err);
    return st;
}

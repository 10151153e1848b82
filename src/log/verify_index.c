/* verify_index.c -- compares the index on disk with the one rebuilt from the rows: header, records, end.
 *
 * Records are paired by offset, so that a lost or added newline shifts the numbers and is one finding. */
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "log/verify_internal.h"

/* ---- the index: its header --------------------------------------------------------------------------------- */

static maki_status report_index(verifier *c, uint64_t offset, uint64_t seq, const char *what,
                                maki_err *err)
{
    return maki_verify_report(c, MAKI_FINDING_INDEX, "index", offset, seq, 0, what, err);
}

/* The expected header; count, end, encoding and the cached tokens are those of the one on disk. */
static maki_index_header expected_header(const verifier *c, const unsigned char *start,
                                         uint64_t base)
{
    maki_index_header expected;
    char encoding[MAKI_INDEX_ENCODING_LEN + 1] = { 0 };
    memcpy(encoding, c->stored.header.encoding, MAKI_INDEX_ENCODING_LEN);
    maki_index_header_init(&expected, encoding, base, start);
    expected.count = c->stored.header.count;
    expected.end = c->stored.header.end;
    expected.events = c->stored.header.events;
    expected.events_check =
        maki_row_hash((maki_str){ (const char *)&expected.events, sizeof expected.events });
    expected.view_tokens = c->stored.header.view_tokens;
    expected.view_records = c->stored.header.view_records;
    expected.view_events = c->stored.header.view_events;
    expected.view_check = maki_index_view_check(&expected);
    return expected;
}

static size_t first_difference(const void *a, const void *b, size_t n)
{
    size_t i = 0;
    while (i < n && ((const char *)a)[i] == ((const char *)b)[i])
        i++;
    return i;
}

static maki_status check_header(verifier *c, const char *encoding, maki_err *err)
{
    const maki_index_header *stored = &c->stored.header, *rebuilt = &c->files.index->header;
    if (c->stored_size < sizeof *stored)
        return report_index(c, 0, 0, "its header is truncated", err);
    maki_index_header expected = expected_header(c, stored->start, stored->base);
    size_t at = first_difference(stored, &expected, sizeof expected);
    if (at < sizeof expected) return report_index(c, at, 0, "its header is damaged", err);
    if (stored->count > (c->stored_size - sizeof *stored) / sizeof(maki_index_record)) {
        return report_index(c, offsetof(maki_index_header, count), 0, "it is truncated", err);
    }
    if (stored->base != rebuilt->base) {
        return report_index(c, offsetof(maki_index_header, base), 0,
                            "it counts from another message than the fork event", err);
    }
    c->index_valid = true;
    c->same_facts = strncmp(stored->encoding, encoding, MAKI_INDEX_ENCODING_LEN) == 0;
    if (memcmp(stored->start, rebuilt->start, MAKI_CHAIN_LEN) == 0) return MAKI_OK;
    return maki_verify_report(c, MAKI_FINDING_CHANGED, "messages", 0, 0, 0,
                              "the header row is not what was written", err);
}

/* ---- the index: its records ----------------------------------------------------------------------------------- */

/* A record rebuilt from the file, the one on disk to compare it with, and the ones before them. */
typedef struct pair {
    uint64_t rebuilt_number, stored_number; /* in their index, from 1 */
    maki_index_record rebuilt, stored, rebuilt_before, stored_before;
} pair;

/* The chain after this row, computed from the stored chain before it. */
static maki_status chain_from_stored(verifier *c, const pair *p, unsigned char out[MAKI_CHAIN_LEN],
                                     maki_err *err)
{
    if (memcmp(p->rebuilt_before.chain, p->stored_before.chain, MAKI_CHAIN_LEN) == 0) {
        memcpy(out, p->rebuilt.chain, MAKI_CHAIN_LEN);
        return MAKI_OK;
    }
    maki_buf row = maki_buf_new(c->env->alloc, (size_t)p->rebuilt.length + 1);
    maki_status st = maki_log_read(c->log, maki_log_base(c->log) + p->rebuilt_number, &row, err);
    if (st == MAKI_OK) maki_chain_next(p->stored_before.chain, maki_buf_str(&row), out);
    maki_buf_free(&row);
    return st;
}

static bool same_facts(const verifier *c, const pair *p)
{
    maki_index_record rebuilt = p->rebuilt;
    const maki_index_record *stored = &p->stored;
    bool same = true;
    if (!c->same_facts) return true;
    if (c->shifted) rebuilt.call_seq = stored->call_seq;
#define COMPARE(type, name) same = same && rebuilt.name == stored->name;
    MAKI_ROW_FACT_MAP(COMPARE)
    return same && rebuilt.tokens == stored->tokens &&
           stored->tokens_so_far == p->stored_before.tokens_so_far + rebuilt.tokens;
}

static maki_status compare(verifier *c, const pair *p, maki_err *err)
{
    unsigned char chain[MAKI_CHAIN_LEN];
    uint64_t seq = maki_log_base(c->log) + p->rebuilt_number;
    uint64_t at = sizeof(maki_index_header) + (p->stored_number - 1) * sizeof(maki_index_record);
    maki_status st = chain_from_stored(c, p, chain, err);
    if (st != MAKI_OK) return st;
    bool same_length = p->rebuilt.length == p->stored.length;
    bool same_hash = p->rebuilt.xxh3 == p->stored.xxh3;
    bool same_chain = memcmp(chain, p->stored.chain, MAKI_CHAIN_LEN) == 0;
    if (!same_hash && !same_chain) {
        if (maki_verify_is_known_row(c, seq)) return MAKI_OK;
        return maki_verify_report(c, MAKI_FINDING_CHANGED, "messages", p->rebuilt.offset, seq, 0,
                                  "this row is not what was written", err);
    }
    if (!same_hash) return report_index(c, at, seq, "the hash of this row is wrong", err);
    if (!same_chain) return report_index(c, at, seq, "the chain of this row is wrong", err);
    if (!same_length) return report_index(c, at, seq, "the length of this row is wrong", err);
    if (!same_facts(c, p)) return report_index(c, at, seq, "the facts of this row are wrong", err);
    return MAKI_OK;
}

/* Is the row at the offset in the index the one that was indexed?  Then a newline was lost or added before
 * it; else everything from here on was moved, and no record matches any more. */
static maki_status row_matches_file(verifier *c, const maki_index_record *row, bool *matches,
                                    maki_err *err)
{
    size_t got = 0;
    *matches = false;
    if (row->offset + row->length > c->messages_size) return MAKI_OK;
    char *bytes = c->env->alloc->resize(c->env->alloc, NULL, 0, (size_t)row->length + 1);
    if (!bytes) return maki_fail_nomem(err);
    maki_status st = maki_file_read_at(c->env->files, c->files.messages_fd, row->offset, bytes,
                                       row->length, &got, err);
    *matches =
        st == MAKI_OK && got == row->length && maki_row_hash((maki_str){ bytes, got }) == row->xxh3;
    c->env->alloc->resize(c->env->alloc, bytes, (size_t)row->length + 1, 0);
    return st;
}

/* Index and file disagree about the offset of a row: advance the one that is behind. */
static maki_status compare_offset(verifier *c, pair *p, maki_err *err)
{
    bool split = p->rebuilt.offset < p->stored.offset;
    uint64_t seq = maki_log_base(c->log) + p->rebuilt_number;
    c->shifted = true;
    if (p->stored.offset >= c->messages_size || p->stored.offset <= p->stored_before.offset) {
        p->stored_number++;
        return report_index(
            c, sizeof(maki_index_header) + (p->stored_number - 2) * sizeof(maki_index_record), 0,
            "the offset of this row is wrong", err);
    }
    bool matches = false;
    maki_status st = row_matches_file(c, &p->stored, &matches, err);
    if (st != MAKI_OK) return st;
    if (!matches) {
        p->stored_number = c->stored.header.count + 1; /* nothing else can be compared */
        return maki_verify_report(c, MAKI_FINDING_GONE, "messages", p->rebuilt.offset, seq, 0,
                                  "from here on rows were removed, inserted or replaced", err);
    }
    if (split) {
        p->rebuilt_number++;
        return maki_verify_report(c, MAKI_FINDING_SPLIT, "messages", p->rebuilt.offset - 1, seq, 0,
                                  "a newline where none was written", err);
    }
    p->stored_number++;
    return maki_verify_report(c, MAKI_FINDING_JOINED, "messages", p->stored.offset - 1, seq, 0,
                              "the newline of this row is not there", err);
}

static maki_status check_records(verifier *c, maki_err *err)
{
    uint64_t count = c->stored.header.count;
    pair p = { .rebuilt_number = 1, .stored_number = 1 };
    maki_status st = MAKI_OK;
    memcpy(p.rebuilt_before.chain, c->files.index->header.start, MAKI_CHAIN_LEN);
    memcpy(p.stored_before.chain, c->stored.header.start, MAKI_CHAIN_LEN);
    while (st == MAKI_OK && p.rebuilt_number <= maki_verify_row_count(c) &&
           p.stored_number <= count) {
        st = maki_index_get(c->files.index, p.rebuilt_number, &p.rebuilt, err);
        if (st == MAKI_OK) st = maki_index_get(&c->stored, p.stored_number, &p.stored, err);
        if (st != MAKI_OK) break;
        bool same = p.rebuilt.offset == p.stored.offset;
        bool skip_stored = !same && p.stored.offset < p.rebuilt.offset,
             skip_rebuilt = !same && !skip_stored;
        if (same) {
            st = compare(c, &p, err);
            p.rebuilt_number++;
            p.stored_number++;
        } else {
            st = compare_offset(c, &p, err);
        }
        if (same || skip_rebuilt) p.rebuilt_before = p.rebuilt;
        if (same || skip_stored) p.stored_before = p.stored;
    }
    return st;
}

/* Check that the index ends where its last row ends, and that the file has all of its rows. */
static maki_status check_end(verifier *c, maki_err *err)
{
    const maki_index_header *stored = &c->stored.header;
    maki_index_record last = { 0 };
    uint64_t expected = 0;
    if (stored->count) {
        maki_status st = maki_index_get(&c->stored, stored->count, &last, err);
        if (st != MAKI_OK) return st;
        expected = last.offset + last.length + 1;
    }
    if (stored->end != expected) {
        return report_index(c, offsetof(maki_index_header, end), 0, "its count or end is wrong",
                            err);
    }
    if (stored->end <= c->messages_size) return MAKI_OK;
    return maki_verify_report(c, MAKI_FINDING_GONE, "messages", c->messages_size,
                              maki_log_base(c->log) + maki_verify_row_count(c) + 1, 0,
                              "messages from this one on are gone", err);
}

maki_status maki_verify_index(verifier *c, const char *encoding, maki_err *err)
{
    if (c->stored.fd < 0) return MAKI_OK;
    maki_status st = check_header(c, encoding, err);
    if (st == MAKI_OK && c->index_valid) st = check_end(c, err);
    if (st == MAKI_OK && c->index_valid) st = check_records(c, err);
    return st;
}

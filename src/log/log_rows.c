/* log_rows.c -- rows on their way into the index, one by one or, when there are many, in batches that are counted on all
 * cores; see log_internal.h. */
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "log/lines.h"
#include "log/log_internal.h"

/* ---- taking rows into the index --------------------------------------------------------------------- */

maki_status maki_log_publish(maki_log *log, maki_err *err)
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
uint64_t maki_log_next_seq(const maki_log *log)
{
    size_t waiting = log->intake ? maki_batch_counter_rows(log->intake) : 0;
    return maki_log_last(log) + log->record_count + waiting + 1;
}

/* The record of a row that stands, or will stand, at `at`; its tokens are not in it yet. */
maki_row maki_log_make_record(const maki_log *log, maki_str row, uint64_t at,
                              const maki_facts *facts)
{
    maki_row record = { .offset = at, .length = (uint32_t)row.len, .xxh3 = maki_row_hash(row) };
#define KEEP(type, name) record.name = facts->name;
    MAKI_FACT_MAP(KEEP)
    maki_chain_next(log->new_head, row, record.chain);
    return record;
}

/* One by one: count it here and keep the record until the next are published. */
maki_status maki_log_add_record(maki_log *log, maki_str row, const maki_row *record,
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
maki_status maki_log_flush_batches(maki_log *log, bool all, maki_err *err)
{
    maki_status st = MAKI_OK;
    const maki_batch *filled = maki_batch_counter_filled(log->intake);
    bool writes = filled && log->intake_writes;
    maki_batch_counter_pass(log->intake);
    if (writes) { /* the workers only read it */
        maki_str bytes = { filled->bytes.at, filled->len };
        st = maki_file_write_at(log->env.files, log->messages_fd, log->written_end, bytes, err);
        if (st == MAKI_OK) log->written_end += bytes.len;
    }
    while (st == MAKI_OK) {
        maki_batch *batch = NULL;
        st = maki_batch_counter_take(log->intake, all, &batch, err);
        if (st != MAKI_OK || !batch) break;
        st = publish_batch(log, batch, err);
    }
    return st;
}

maki_status maki_log_add_to_batch(maki_log *log, maki_str row, const maki_row *record,
                                  const maki_hint *hint, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (!maki_batch_counter_fits(log->intake, record->offset, row.len))
        st = maki_log_flush_batches(log, false, err);
    if (st == MAKI_OK) st = maki_batch_counter_add(log->intake, row, record, hint, err);
    if (st == MAKI_OK) memcpy(log->new_head, record->chain, MAKI_CHAIN_LEN);
    return st;
}

void maki_log_end_batches(maki_log *log)
{
    maki_batch_counter_close(log->intake);
    log->intake = NULL;
}

/* From here on rows go in batches, if there is more than one thread for it. */
maki_status maki_log_begin_batches(maki_log *log, bool writes, maki_err *err)
{
    size_t threads = log->options.threads ? log->options.threads : maki_thread_pool_cores();
    log->intake_writes = writes;
    if (threads == 1 || log->intake) return MAKI_OK;
    return maki_batch_counter_open(log->env.alloc, threads, log->options.tokens,
                                   log->options.tokens_ctx, &log->intake, err);
}

static maki_status tell(maki_log *log, uint64_t done, maki_err *err)
{
    if (!log->options.progress || log->to_tell < MAKI_THREADS_WORTHWHILE ||
        done < log->told + MAKI_THREADS_WORTHWHILE)
        return MAKI_OK;
    log->told = done;
    maki_status st = log->options.progress(log->options.progress_ctx, done, log->to_tell);
    return st == MAKI_OK ? st : maki_fail(err, st, "making the index was stopped");
}

static maki_status take_line(void *ctx, maki_str line, uint64_t at, maki_err *err)
{
    maki_log *log = ctx;
    maki_facts facts = { 0 };
    maki_status st =
        log->options.facts(log->options.facts_ctx, log, maki_log_next_seq(log), line, &facts, err);
    if (st == MAKI_INVALID)
        facts = (maki_facts){ .flags = MAKI_ROW_BAD };
    else if (st != MAKI_OK)
        return st;
    maki_row record = maki_log_make_record(log, line, at, &facts);
    if (log->intake) {
        st = maki_log_add_to_batch(log, line, &record, &facts.hint, err);
    } else {
        st = maki_log_add_record(log, line, &record, &facts.hint, err);
        log->written_end = at + line.len + 1;
        if (st == MAKI_OK && log->record_count == ROWS_AT_ONCE) st = maki_log_publish(log, err);
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
    off_t size = maki_file_size(log->env.files, log->messages_fd);
    if (size < 0) return maki_fail_errno(err, "asking the size of the messages");
    log->to_tell = (uint64_t)size;
    log->told = log->written_end;
    if ((uint64_t)size > log->written_end + MAKI_THREADS_WORTHWHILE)
        st = maki_log_begin_batches(log, false, err);
    if (st == MAKI_OK) {
        st = maki_lines_each(&log->env, log->messages_fd, log->written_end,
                             log->options.max_row_bytes, take_line, log, end, err);
    }
    if (st == MAKI_OK && log->intake) {
        st = maki_log_flush_batches(log, true, err);
        log->written_end = *end;
    }
    maki_log_end_batches(log);
    if (st == MAKI_OK) st = maki_log_publish(log, err);
    return st;
}

/* log_rows.c -- adds rows to the index: one by one or, when there are many, in batches that all cores count.
 *
 * Each row gets its facts, hash and chain in the order of the file; only counting its tokens is done in parallel.
 * Records are published in order, so `head`, `tokens` and the index always are those of the same last row. */
#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "log/lines.h"
#include "log/log_internal.h"

/* ---- one by one --------------------------------------------------------------------- */

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

uint64_t maki_log_next_seq(const maki_log *log)
{
    size_t pending = log->token_batches ? maki_token_batches_rows(log->token_batches) : 0;
    return maki_log_last(log) + log->record_count + pending + 1;
}

maki_index_record maki_log_make_record(const maki_log *log, maki_str row, uint64_t offset,
                                       const maki_row_facts *facts)
{
    maki_index_record record = { .offset = offset,
                                 .length = (uint32_t)row.len,
                                 .xxh3 = maki_row_hash(row) };
#define SET_FACT(type, name) record.name = facts->name;
    MAKI_ROW_FACT_MAP(SET_FACT)
    maki_chain_next(log->new_head, row, record.chain);
    return record;
}

maki_status maki_log_add_record(maki_log *log, maki_str row, const maki_index_record *record,
                                const maki_row_spans *spans, maki_err *err)
{
    assert(log->record_count < ROWS_MAX);
    maki_index_record *r = &log->records[log->record_count];
    *r = *record;
    if (!(r->flags & MAKI_ROW_NOT_MESSAGE)) {
        maki_status st =
            log->options.tokens(log->options.tokens_ctx, 0, row, spans, &r->tokens, err);
        if (st != MAKI_OK) return st;
    }
    r->tokens_so_far = log->new_tokens + r->tokens;
    memcpy(log->new_head, r->chain, MAKI_CHAIN_LEN);
    log->new_tokens = r->tokens_so_far;
    log->record_count++;
    return MAKI_OK;
}

/* ---- many rows: counted in batches ------------------------------------------------------------------- */

static maki_status publish_batch(maki_log *log, maki_token_batch *batch, maki_err *err)
{
    assert(batch->count && batch->rows[0].offset == maki_log_published_end(log));
    maki_index_record *last = &batch->rows[batch->count - 1];
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

maki_status maki_log_flush_batches(maki_log *log, bool all, maki_err *err)
{
    maki_status st = MAKI_OK;
    const maki_token_batch *current = maki_token_batches_current(log->token_batches);
    bool writes = current && log->counter_writes;
    maki_token_batches_submit(log->token_batches);
    if (writes) { /* still valid: the workers only read its bytes */
        maki_str bytes = { current->bytes.at, current->len };
        st = maki_file_write_at(log->env.files, log->messages_fd, log->written_end, bytes, err);
        if (st == MAKI_OK) log->written_end += bytes.len;
    }
    while (st == MAKI_OK) {
        maki_token_batch *batch = NULL;
        st = maki_token_batches_collect(log->token_batches, all, &batch, err);
        if (st != MAKI_OK || !batch) break;
        st = publish_batch(log, batch, err);
    }
    return st;
}

maki_status maki_log_add_to_batch(maki_log *log, maki_str row, const maki_index_record *record,
                                  const maki_row_spans *spans, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (!maki_token_batches_fits(log->token_batches, record->offset, row.len))
        st = maki_log_flush_batches(log, false, err);
    if (st == MAKI_OK) st = maki_token_batches_add(log->token_batches, row, record, spans, err);
    if (st == MAKI_OK) memcpy(log->new_head, record->chain, MAKI_CHAIN_LEN);
    return st;
}

void maki_log_end_batches(maki_log *log)
{
    maki_token_batches_close(log->token_batches);
    log->token_batches = NULL;
}

maki_status maki_log_begin_batches(maki_log *log, bool writes, maki_err *err)
{
    size_t threads = log->options.threads ? log->options.threads : maki_thread_pool_cores();
    log->counter_writes = writes;
    if (threads == 1 || log->token_batches) return MAKI_OK;
    return maki_token_batches_open(log->env.alloc, threads, log->options.tokens,
                                   log->options.tokens_ctx, &log->token_batches, err);
}

static maki_status report_progress(maki_log *log, uint64_t done, maki_err *err)
{
    if (!log->options.progress || log->progress_total < MAKI_THREADS_MIN_BYTES ||
        done < log->progress_done + MAKI_THREADS_MIN_BYTES)
        return MAKI_OK;
    log->progress_done = done;
    maki_status st = log->options.progress(log->options.progress_ctx, done, log->progress_total);
    return st == MAKI_OK ? st : maki_fail(err, st, "building the index was cancelled");
}

static maki_status on_row_line(void *ctx, maki_str line, uint64_t offset, maki_err *err)
{
    maki_log *log = ctx;
    maki_row_facts facts = { 0 };
    maki_status st =
        log->options.facts(log->options.facts_ctx, log, maki_log_next_seq(log), line, &facts, err);
    if (st == MAKI_INVALID)
        facts = (maki_row_facts){ .flags = MAKI_ROW_NOT_MESSAGE };
    else if (st != MAKI_OK)
        return st;
    maki_index_record record = maki_log_make_record(log, line, offset, &facts);
    if (log->token_batches) {
        st = maki_log_add_to_batch(log, line, &record, &facts.spans, err);
    } else {
        st = maki_log_add_record(log, line, &record, &facts.spans, err);
        log->written_end = offset + line.len + 1;
        if (st == MAKI_OK && log->record_count == ROWS_MAX) st = maki_log_publish(log, err);
    }
    return st == MAKI_OK ? report_progress(log, offset, err) : st;
}

maki_status maki_log_load_head(maki_log *log, maki_err *err)
{
    maki_index_record last;
    memcpy(log->head, log->start, MAKI_CHAIN_LEN);
    log->tokens = 0;
    log->written_end = log->header_len;
    if (log->index.header.count > 0) {
        maki_status st = maki_index_get(&log->index, log->index.header.count, &last, err);
        if (st != MAKI_OK) return st;
        if (last.offset + last.length + 1 != log->index.header.end) {
            return maki_fail(err, MAKI_CORRUPT, "the index is corrupt");
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

maki_status maki_log_catch_up(maki_log *log, uint64_t *end, maki_err *err)
{
    maki_status st = maki_log_load_head(log, err);
    if (st != MAKI_OK) return st;
    st = maki_file_get_size(&log->env, log->messages_fd, &log->progress_total, err);
    if (st != MAKI_OK) return st;
    log->progress_done = log->written_end;
    if (log->progress_total > log->written_end + MAKI_THREADS_MIN_BYTES)
        st = maki_log_begin_batches(log, false, err);
    if (st == MAKI_OK) {
        st = maki_lines_each(&log->env, log->messages_fd, log->written_end,
                             log->options.max_row_bytes, on_row_line, log, end, err);
    }
    if (st == MAKI_OK && log->token_batches) {
        st = maki_log_flush_batches(log, true, err);
        log->written_end = *end;
    }
    maki_log_end_batches(log);
    if (st == MAKI_OK) st = maki_log_publish(log, err);
    return st;
}

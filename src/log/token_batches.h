/* token_batches.h -- count the tokens of rows that are added to an index, in batches, on several threads.
 *
 * In:     rows one by one, their records complete except for the tokens.
 * Out:    the same rows in batches, in the same order, with their tokens.
 * Always: the result does not depend on the number of threads; memory does not grow with the log: a few batches
 *         are allocated, each about a quarter of a megabyte, or one row when that is longer.
 *
 * One thread owns it; all workers count, the owner among them. */
#ifndef MAKI_LOG_TOKEN_BATCHES_H
#define MAKI_LOG_TOKEN_BATCHES_H

#include "base/block.h"
#include "base/thread_pool.h"
#include "log/index.h"

/* Offsets and lengths of values in a row, found by maki_row_facts_fn (log/log.h) and used by maki_tokens_fn, so that the
 * row is parsed once; only those two functions interpret them.  Zeroed: none. */
typedef struct maki_row_spans {
    uint32_t values[4];
} maki_row_spans;

/* The tokens of a row that is a message.  Called by any worker; `worker` is its number, for per-worker
 * state.  The result depends on the row alone; `spans` may be NULL. */
typedef maki_status (*maki_tokens_fn)(void *ctx, size_t worker, maki_str row,
                                      const maki_row_spans *spans, uint32_t *tokens, maki_err *err);

/* In maki_index_record.flags: the row is not a message; it has no tokens. */
#define MAKI_ROW_NOT_MESSAGE 0x80000000u

enum { MAKI_BATCH_BYTES = 1 << 18, MAKI_BATCH_ROWS = 512 };

typedef struct maki_token_batches maki_token_batches;

typedef struct maki_token_batch {
    const maki_token_batches *batches;
    maki_block bytes; /* of the messages file from rows[0].offset on, newlines included */
    size_t len;
    maki_index_record rows[MAKI_BATCH_ROWS]; /* without tokens_so_far */
    maki_row_spans spans[MAKI_BATCH_ROWS];
    size_t count;
    uint64_t ticket;
    maki_status status; /* of counting */
    maki_err err;
} maki_token_batch;

/* `workers` as in maki_thread_pool_open; 1: no thread is started. */
maki_status maki_token_batches_open(const maki_alloc *alloc, size_t workers, maki_tokens_fn tokens,
                                    void *ctx, maki_token_batches **out, maki_err *err)
    MAKI_MUST_CHECK;
/* Pending rows are dropped.  Accepts NULL. */
void maki_token_batches_close(maki_token_batches *batches);

/* Does a row of `len` bytes at `offset` fit into the current batch?  If not, submit the batch first. */
bool maki_token_batches_fits(const maki_token_batches *batches, uint64_t offset, size_t len);
/* Add a row that fits, and its record. */
maki_status maki_token_batches_add(maki_token_batches *batches, maki_str row,
                                   const maki_index_record *record, const maki_row_spans *spans,
                                   maki_err *err);
/* The batch that rows are added to; NULL when it is empty. */
const maki_token_batch *maki_token_batches_current(const maki_token_batches *batches);
/* Submit it to be counted.  Before the next row is added, maki_token_batches_collect must be called until it
 * returns no batch. */
void maki_token_batches_submit(maki_token_batches *batches);
/* Wait for the oldest submitted batch and return it, counted.  *out is NULL when none is pending.  Without `all` it is
 * also NULL while another batch can be added without waiting: the ring has free slots and memory is below its limit.
 * Borrowed until the next call of a function of this file. */
maki_status maki_token_batches_collect(maki_token_batches *batches, bool all,
                                       maki_token_batch **out, maki_err *err);
/* How many rows have not been collected. */
size_t maki_token_batches_rows(const maki_token_batches *batches);

#endif

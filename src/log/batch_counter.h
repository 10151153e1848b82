/* batch_counter.h -- counts the tokens of rows on their way into an index, in batches and on several threads.
 *
 * In:     rows one by one, their records complete except for the tokens.
 * Out:    the same rows in batches, in the same order, with their tokens.
 * Always: the result does not depend on the number of threads; memory does not grow with the log: a few batches
 *         are allocated, each about a quarter of a megabyte, or one row when that is longer.
 *
 * One thread owns it; all workers count, the owner among them. */
#ifndef MAKI_LOG_BATCH_COUNTER_H
#define MAKI_LOG_BATCH_COUNTER_H

#include "base/block.h"
#include "base/thread_pool.h"
#include "log/index.h"

/* What the facts function found in a row and the tokens function can reuse, so that the row is parsed once; only
 * those two functions interpret it.  Zeroed: nothing. */
typedef struct maki_hint {
    uint32_t values[4];
} maki_hint;

/* The tokens of a row that is a message.  Called by any worker; `worker` is its number, for per-worker
 * state.  The result depends on the row alone; `hint` may be NULL. */
typedef maki_status (*maki_tokens_fn)(void *ctx, size_t worker, maki_str row, const maki_hint *hint,
                                      uint32_t *tokens, maki_err *err);

/* In maki_row.flags: the row is not a message; it has no tokens. */
#define MAKI_ROW_BAD 0x80000000u

enum { MAKI_BATCH_BYTES = 1 << 18, MAKI_BATCH_ROWS = 512 };

typedef struct maki_batch_counter maki_batch_counter;

typedef struct maki_batch {
    const maki_batch_counter *counter;
    maki_block bytes; /* of the messages file from rows[0].offset on, newlines included */
    size_t len;
    maki_row rows[MAKI_BATCH_ROWS]; /* without tokens_so_far */
    maki_hint hints[MAKI_BATCH_ROWS];
    size_t count;
    uint64_t ticket;
    maki_status status; /* of counting */
    maki_err err;
} maki_batch;

/* `workers` as in maki_thread_pool_open; 1: no thread is started. */
maki_status maki_batch_counter_open(const maki_alloc *alloc, size_t workers, maki_tokens_fn tokens,
                                    void *ctx, maki_batch_counter **out, maki_err *err)
    MAKI_MUST_CHECK;
/* Pending rows are dropped.  Accepts NULL. */
void maki_batch_counter_close(maki_batch_counter *counter);

/* Does a row of `len` bytes at `offset` fit into the current batch?  If not, submit the batch first. */
bool maki_batch_counter_fits(const maki_batch_counter *counter, uint64_t offset, size_t len);
/* Add a row that fits, and its record. */
maki_status maki_batch_counter_add(maki_batch_counter *counter, maki_str row,
                                   const maki_row *record, const maki_hint *hint, maki_err *err);
/* The batch that rows are added to; NULL when it is empty. */
const maki_batch *maki_batch_counter_current(const maki_batch_counter *counter);
/* Submit it to be counted.  Before the next row is added, maki_batch_counter_collect must be called until it
 * returns no batch. */
void maki_batch_counter_submit(maki_batch_counter *counter);
/* The oldest batch that was submitted, counted.  *out is NULL when none is pending, or, without `all`, when
 * nothing forces a wait: the ring has free slots and memory is below its limit.  Borrowed until the next call of
 * a function of this file. */
maki_status maki_batch_counter_collect(maki_batch_counter *counter, bool all, maki_batch **out,
                                       maki_err *err);
/* How many rows have not been collected. */
size_t maki_batch_counter_rows(const maki_batch_counter *counter);

#endif

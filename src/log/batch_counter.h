/* batch_counter.h -- rows on their way into an index, while their tokens are counted.
 *
 * Rows go in one by one with everything known of them but their tokens; they come out in batches, in
 * the same order, with them.  Between, batches are counted by all workers, the owner among them.  A
 * few batches are held, so memory does not grow with the log: about a quarter of a megabyte each, or
 * one row when that is longer.
 *
 * One thread owns it.  What comes out does not depend on how many workers there were. */
#ifndef MAKI_LOG_BATCH_COUNTER_H
#define MAKI_LOG_BATCH_COUNTER_H

#include "base/block.h"
#include "base/thread_pool.h"
#include "log/index.h"

/* What looking at a row told that spares counting another look: for those two to agree on.  Zeroed:
 * nothing. */
typedef struct maki_hint {
    uint32_t at[4];
} maki_hint;

/* The tokens of a row that is a message.  Called by any worker; `worker` says by which, for what each
 * keeps for itself.  The answer depends on the row alone; `hint` may be NULL. */
typedef maki_status (*maki_tokens_fn)(void *ctx, size_t worker, maki_str row, const maki_hint *hint,
                                      uint32_t *tokens, maki_err *err);

/* In maki_row.flags: the row is not a message; it has no tokens. */
#define MAKI_ROW_BAD 0x80000000u

enum { MAKI_BATCH_BYTES = 1 << 18, MAKI_BATCH_ROWS = 512 };

typedef struct maki_batch_counter maki_batch_counter;

typedef struct maki_batch {
    const maki_batch_counter *of;
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
void maki_batch_counter_close(
    maki_batch_counter *in); /* rows that have not come out are forgotten; accepts NULL */

/* Does a row of `len` bytes at `offset` go into the batch that is being filled?  Else hand that over
 * first. */
bool maki_batch_counter_fits(const maki_batch_counter *in, uint64_t offset, size_t len);
/* A row and its record, after it fitted. */
maki_status maki_batch_counter_add(maki_batch_counter *in, maki_str row, const maki_row *record,
                                   const maki_hint *hint, maki_err *err);
/* The batch being filled; NULL when it is empty. */
const maki_batch *maki_batch_counter_filled(const maki_batch_counter *in);
/* Hand it over to be counted.  At most maki_batch_counter_take can be called before the next row. */
void maki_batch_counter_pass(maki_batch_counter *in);
/* The oldest batch that was handed over, counted; NULL in *out when there is none, or, without `all`,
 * none that must make room.  Borrowed until the next call of anything here. */
maki_status maki_batch_counter_take(maki_batch_counter *in, bool all, maki_batch **out,
                                    maki_err *err);
/* How many rows have not come out. */
size_t maki_batch_counter_rows(const maki_batch_counter *in);

#endif

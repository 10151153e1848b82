/* batch_counter.c -- a ring of batches, submitted to a thread pool and collected in order.
 *
 * `pending` slots from `first` on are submitted; the one after them is being filled; the rest are free.  The ring has
 * one slot for each worker and three more: one being filled, one the owner has collected, one to wait for.  A batch stays
 * in its slot until the next call after it was collected; then its memory is used again. */
#include "log/batch_counter.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"

enum { RING_MAX = MAKI_THREADS_MAX + 3, ALLOCATED_MAX = RING_MAX * MAKI_BATCH_BYTES };

struct maki_batch_counter {
    const maki_alloc *alloc;
    maki_tokens_fn tokens;
    void *ctx;
    maki_thread_pool *pool;     /* NULL: single-threaded, the owner counts */
    maki_batch *ring[RING_MAX]; /* allocated when first needed */
    size_t size;                /* of the ring */
    size_t first, pending;      /* the oldest submitted batch, and how many are pending */
    maki_batch *collected;      /* borrowed by the owner until the next call; NULL: none */
    size_t rows;                /* not collected yet */
    size_t allocated;           /* bytes of all batches */
};

static maki_batch **current_slot(const maki_batch_counter *counter)
{
    return (maki_batch **)(uintptr_t)&counter
        ->ring[(counter->first + counter->pending) % counter->size];
}

maki_status maki_batch_counter_open(const maki_alloc *alloc, size_t workers, maki_tokens_fn tokens,
                                    void *ctx, maki_batch_counter **out, maki_err *err)
{
    maki_batch_counter *counter = alloc->resize(alloc, NULL, 0, sizeof *counter);
    if (!counter) return maki_fail_nomem(err);
    *counter = (maki_batch_counter){ .alloc = alloc, .tokens = tokens, .ctx = ctx, .size = 2 };
    if (workers != 1) {
        maki_status st = maki_thread_pool_open(alloc, workers, &counter->pool, err);
        if (st != MAKI_OK) {
            maki_batch_counter_close(counter);
            return st;
        }
        counter->size = maki_thread_pool_workers(counter->pool) + 3;
    }
    *out = counter;
    return MAKI_OK;
}

void maki_batch_counter_close(maki_batch_counter *counter)
{
    if (!counter) return;
    const maki_alloc *alloc = counter->alloc;
    maki_thread_pool_close(counter->pool);
    for (size_t i = 0; i < counter->size; i++) {
        maki_batch *batch = counter->ring[i];
        if (!batch) continue;
        maki_block_free(alloc, &batch->bytes);
        alloc->resize(alloc, batch, sizeof *batch, 0);
    }
    alloc->resize(alloc, counter, sizeof *counter, 0);
}

size_t maki_batch_counter_rows(const maki_batch_counter *counter)
{
    return counter->rows;
}

const maki_batch *maki_batch_counter_current(const maki_batch_counter *counter)
{
    const maki_batch *batch = counter->pending < counter->size ? *current_slot(counter) : NULL;
    return batch && batch != counter->collected && batch->count ? batch : NULL;
}

bool maki_batch_counter_fits(const maki_batch_counter *counter, uint64_t offset, size_t len)
{
    const maki_batch *batch = maki_batch_counter_current(counter);
    if (!batch) return true; /* an empty batch grows to fit */
    return batch->count < MAKI_BATCH_ROWS && batch->len + len + 1 <= batch->bytes.size &&
           batch->rows[0].offset + batch->len == offset;
}

/* ---- adding rows ------------------------------------------------------------------------------------ */

/* Empty the collected batch so that its slot is free; a block for one long row is released. */
static void recycle_collected(maki_batch_counter *counter)
{
    maki_batch *batch = counter->collected;
    if (!batch) return;
    batch->count = batch->len = 0;
    if (batch->bytes.size > MAKI_BATCH_BYTES) {
        counter->allocated -= batch->bytes.size;
        maki_block_free(counter->alloc, &batch->bytes);
    }
    counter->collected = NULL;
}

static maki_status reserve_bytes(maki_batch_counter *counter, maki_batch *batch, size_t len,
                                 maki_err *err)
{
    size_t size = len > MAKI_BATCH_BYTES ? len : MAKI_BATCH_BYTES;
    if (batch->bytes.size >= size) return MAKI_OK;
    counter->allocated -= batch->bytes.size;
    maki_block_free(counter->alloc, &batch->bytes);
    batch->bytes = maki_block_new(counter->alloc, size);
    if (!batch->bytes.at) {
        batch->bytes = (maki_block){ 0 };
        return maki_fail_nomem(err);
    }
    counter->allocated += size;
    return MAKI_OK;
}

maki_status maki_batch_counter_add(maki_batch_counter *counter, maki_str row,
                                   const maki_row *record, const maki_hint *hint, maki_err *err)
{
    maki_batch **slot = current_slot(counter);
    assert(counter->pending < counter->size);
    recycle_collected(counter);
    if (!*slot) {
        maki_batch *batch = counter->alloc->resize(counter->alloc, NULL, 0, sizeof *batch);
        if (!batch) return maki_fail_nomem(err);
        batch->bytes = (maki_block){ 0 };
        batch->count = batch->len = 0;
        batch->counter = counter;
        *slot = batch;
    }
    maki_batch *batch = *slot;
    if (batch->count == 0) {
        maki_status st = reserve_bytes(counter, batch, row.len + 1, err);
        if (st != MAKI_OK) return st;
    }
    memcpy(batch->bytes.at + batch->len, row.ptr, row.len);
    batch->bytes.at[batch->len + row.len] = '\n';
    batch->len += row.len + 1;
    assert(batch->count < MAKI_BATCH_ROWS && batch->len <= batch->bytes.size);
    batch->hints[batch->count] = *hint;
    batch->rows[batch->count++] = *record;
    counter->rows++;
    return MAKI_OK;
}

/* ---- counting ------------------------------------------------------------------------------------- */

static void count_batch(void *ctx, size_t worker)
{
    maki_batch *batch = ctx;
    const maki_batch_counter *counter = batch->counter;
    const char *text = batch->bytes.at;
    batch->status = MAKI_OK;
    for (size_t i = 0; batch->status == MAKI_OK && i < batch->count; i++) {
        maki_row *row = &batch->rows[i];
        maki_str bytes = { text, row->length };
        row->tokens = 0;
        text += row->length + 1;
        if (row->flags & MAKI_ROW_BAD) continue;
        batch->status = counter->tokens(counter->ctx, worker, bytes, &batch->hints[i], &row->tokens,
                                        &batch->err);
    }
}

void maki_batch_counter_submit(maki_batch_counter *counter)
{
    if (!maki_batch_counter_current(counter)) return;
    maki_batch *batch = *current_slot(counter);
    if (counter->pool)
        batch->ticket = maki_thread_pool_add(counter->pool, count_batch, batch);
    else
        count_batch(batch, 0);
    counter->pending++;
}

maki_status maki_batch_counter_collect(maki_batch_counter *counter, bool all, maki_batch **out,
                                       maki_err *err)
{
    recycle_collected(counter);
    *out = NULL;
    bool needed = all || counter->pending == counter->size || counter->allocated > ALLOCATED_MAX;
    if (counter->pending == 0 || !needed) return MAKI_OK;
    maki_batch *batch = counter->ring[counter->first];
    if (counter->pool) maki_thread_pool_wait(counter->pool, batch->ticket);
    counter->first = (counter->first + 1) % counter->size;
    counter->pending--;
    if (batch->status != MAKI_OK) {
        if (err) *err = batch->err;
        return batch->status;
    }
    counter->rows -= batch->count;
    counter->collected = batch;
    *out = batch;
    return MAKI_OK;
}

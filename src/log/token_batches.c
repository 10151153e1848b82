/* token_batches.c -- a ring buffer of batches, submitted to a thread pool and collected in order.
 *
 * `pending` slots from `first` on are submitted; the one after them is being filled; the rest are free.  The ring has
 * one slot for each worker and three more: one being filled, one the owner has collected, one to wait for.  A batch stays
 * in its slot until the next call after it was collected; then its memory is used again. */
#include "log/token_batches.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"

enum { RING_MAX = MAKI_THREADS_MAX + 3, ALLOCATED_MAX = RING_MAX * MAKI_BATCH_BYTES };

struct maki_token_batches {
    const maki_alloc *alloc;
    maki_tokens_fn tokens;
    void *ctx;
    maki_thread_pool *pool;           /* NULL: single-threaded, the owner counts */
    maki_token_batch *ring[RING_MAX]; /* allocated when first needed */
    size_t size;                      /* of the ring */
    size_t first, pending;            /* the oldest submitted batch, and how many are pending */
    maki_token_batch *collected;      /* borrowed by the owner until the next call; NULL: none */
    size_t rows;                      /* not collected yet */
    size_t allocated;                 /* bytes of all batches */
};

static maki_token_batch **current_slot(const maki_token_batches *batches)
{
    return (maki_token_batch **)(uintptr_t)&batches
        ->ring[(batches->first + batches->pending) % batches->size];
}

maki_status maki_token_batches_open(const maki_alloc *alloc, size_t workers, maki_tokens_fn tokens,
                                    void *ctx, maki_token_batches **out, maki_err *err)
{
    maki_token_batches *batches = alloc->resize(alloc, NULL, 0, sizeof *batches);
    if (!batches) return maki_fail_nomem(err);
    *batches = (maki_token_batches){ .alloc = alloc, .tokens = tokens, .ctx = ctx, .size = 2 };
    if (workers != 1) {
        maki_status st = maki_thread_pool_open(alloc, workers, &batches->pool, err);
        if (st != MAKI_OK) {
            maki_token_batches_close(batches);
            return st;
        }
        batches->size = maki_thread_pool_workers(batches->pool) + 3;
    }
    *out = batches;
    return MAKI_OK;
}

void maki_token_batches_close(maki_token_batches *batches)
{
    if (!batches) return;
    const maki_alloc *alloc = batches->alloc;
    maki_thread_pool_close(batches->pool);
    for (size_t i = 0; i < batches->size; i++) {
        maki_token_batch *batch = batches->ring[i];
        if (!batch) continue;
        maki_block_free(alloc, &batch->bytes);
        alloc->resize(alloc, batch, sizeof *batch, 0);
    }
    alloc->resize(alloc, batches, sizeof *batches, 0);
}

size_t maki_token_batches_rows(const maki_token_batches *batches)
{
    return batches->rows;
}

const maki_token_batch *maki_token_batches_current(const maki_token_batches *batches)
{
    const maki_token_batch *batch =
        batches->pending < batches->size ? *current_slot(batches) : NULL;
    return batch && batch != batches->collected && batch->count ? batch : NULL;
}

bool maki_token_batches_fits(const maki_token_batches *batches, uint64_t offset, size_t len)
{
    const maki_token_batch *batch = maki_token_batches_current(batches);
    if (!batch) return true; /* an empty batch grows to fit */
    return batch->count < MAKI_BATCH_ROWS && batch->len + len + 1 <= batch->bytes.size &&
           batch->rows[0].offset + batch->len == offset;
}

/* ---- adding rows ------------------------------------------------------------------------------------ */

/* Empty the collected batch so that its slot is free; a block for one long row is released. */
static void recycle_collected(maki_token_batches *batches)
{
    maki_token_batch *batch = batches->collected;
    if (!batch) return;
    batch->count = batch->len = 0;
    if (batch->bytes.size > MAKI_BATCH_BYTES) {
        batches->allocated -= batch->bytes.size;
        maki_block_free(batches->alloc, &batch->bytes);
    }
    batches->collected = NULL;
}

static maki_status reserve_bytes(maki_token_batches *batches, maki_token_batch *batch, size_t len,
                                 maki_err *err)
{
    size_t size = len > MAKI_BATCH_BYTES ? len : MAKI_BATCH_BYTES;
    if (batch->bytes.size >= size) return MAKI_OK;
    batches->allocated -= batch->bytes.size;
    maki_block_free(batches->alloc, &batch->bytes);
    batch->bytes = maki_block_new(batches->alloc, size);
    if (!batch->bytes.at) {
        batch->bytes = (maki_block){ 0 };
        return maki_fail_nomem(err);
    }
    batches->allocated += size;
    return MAKI_OK;
}

maki_status maki_token_batches_add(maki_token_batches *batches, maki_str row,
                                   const maki_index_record *record, const maki_row_spans *spans,
                                   maki_err *err)
{
    maki_token_batch **slot = current_slot(batches);
    assert(batches->pending < batches->size);
    recycle_collected(batches);
    if (!*slot) {
        maki_token_batch *batch = batches->alloc->resize(batches->alloc, NULL, 0, sizeof *batch);
        if (!batch) return maki_fail_nomem(err);
        batch->bytes = (maki_block){ 0 };
        batch->count = batch->len = 0;
        batch->batches = batches;
        *slot = batch;
    }
    maki_token_batch *batch = *slot;
    if (batch->count == 0) {
        maki_status st = reserve_bytes(batches, batch, row.len + 1, err);
        if (st != MAKI_OK) return st;
    }
    memcpy(batch->bytes.at + batch->len, row.ptr, row.len);
    batch->bytes.at[batch->len + row.len] = '\n';
    batch->len += row.len + 1;
    assert(batch->count < MAKI_BATCH_ROWS && batch->len <= batch->bytes.size);
    batch->spans[batch->count] = *spans;
    batch->rows[batch->count++] = *record;
    batches->rows++;
    return MAKI_OK;
}

/* ---- counting ------------------------------------------------------------------------------------- */

static void count_batch(void *ctx, size_t worker)
{
    maki_token_batch *batch = ctx;
    const maki_token_batches *batches = batch->batches;
    const char *text = batch->bytes.at;
    batch->status = MAKI_OK;
    for (size_t i = 0; batch->status == MAKI_OK && i < batch->count; i++) {
        maki_index_record *row = &batch->rows[i];
        maki_str bytes = { text, row->length };
        row->tokens = 0;
        text += row->length + 1;
        if (row->flags & MAKI_ROW_NOT_MESSAGE) continue;
        batch->status = batches->tokens(batches->ctx, worker, bytes, &batch->spans[i], &row->tokens,
                                        &batch->err);
    }
}

void maki_token_batches_submit(maki_token_batches *batches)
{
    if (!maki_token_batches_current(batches)) return;
    maki_token_batch *batch = *current_slot(batches);
    if (batches->pool)
        batch->ticket = maki_thread_pool_add(batches->pool, count_batch, batch);
    else
        count_batch(batch, 0);
    batches->pending++;
}

maki_status maki_token_batches_collect(maki_token_batches *batches, bool all,
                                       maki_token_batch **out, maki_err *err)
{
    recycle_collected(batches);
    *out = NULL;
    bool needed = all || batches->pending == batches->size || batches->allocated > ALLOCATED_MAX;
    if (batches->pending == 0 || !needed) return MAKI_OK;
    maki_token_batch *batch = batches->ring[batches->first];
    if (batches->pool) maki_thread_pool_wait(batches->pool, batch->ticket);
    batches->first = (batches->first + 1) % batches->size;
    batches->pending--;
    if (batch->status != MAKI_OK) {
        if (err) *err = batch->err;
        return batch->status;
    }
    batches->rows -= batch->count;
    batches->collected = batch;
    *out = batch;
    return MAKI_OK;
}

/* batch_counter.c -- see batch_counter.h. */
#include "log/batch_counter.h"

#include <string.h>

#include "base/err.h"

enum { RING_MAX = MAKI_THREADS_MAX + 3, HELD_MAX = RING_MAX * MAKI_BATCH_BYTES };

struct maki_batch_counter {
    const maki_alloc *alloc;
    maki_tokens_fn tokens;
    void *ctx;
    maki_thread_pool *work;     /* NULL: the owner counts */
    maki_batch *ring[RING_MAX]; /* made when first needed */
    size_t size;                /* of the ring */
    size_t first, passed;       /* the oldest that was handed over, and how many were */
    maki_batch *taken;          /* lent to the owner, to be used again */
    size_t rows;                /* that have not come out */
    size_t held;                /* bytes of all batches */
};

static maki_batch **filling(const maki_batch_counter *in)
{
    return (maki_batch **)(uintptr_t)&in->ring[(in->first + in->passed) % in->size];
}

maki_status maki_batch_counter_open(const maki_alloc *alloc, size_t workers, maki_tokens_fn tokens,
                                    void *ctx, maki_batch_counter **out, maki_err *err)
{
    maki_batch_counter *in = alloc->resize(alloc, NULL, 0, sizeof *in);
    if (!in) return maki_fail_nomem(err);
    *in = (maki_batch_counter){ .alloc = alloc, .tokens = tokens, .ctx = ctx, .size = 2 };
    if (workers != 1) {
        maki_status st = maki_thread_pool_open(alloc, workers, &in->work, err);
        if (st != MAKI_OK) {
            maki_batch_counter_close(in);
            return st;
        }
        in->size = maki_thread_pool_workers(in->work) + 3;
    }
    *out = in;
    return MAKI_OK;
}

void maki_batch_counter_close(maki_batch_counter *in)
{
    if (!in) return;
    const maki_alloc *alloc = in->alloc;
    maki_thread_pool_close(in->work);
    for (size_t i = 0; i < in->size; i++) {
        maki_batch *batch = in->ring[i];
        if (!batch) continue;
        maki_block_free(alloc, &batch->bytes);
        alloc->resize(alloc, batch, sizeof *batch, 0);
    }
    alloc->resize(alloc, in, sizeof *in, 0);
}

size_t maki_batch_counter_rows(const maki_batch_counter *in)
{
    return in->rows;
}

const maki_batch *maki_batch_counter_filled(const maki_batch_counter *in)
{
    const maki_batch *batch = in->passed < in->size ? *filling(in) : NULL;
    return batch && batch != in->taken && batch->count ? batch : NULL;
}

bool maki_batch_counter_fits(const maki_batch_counter *in, uint64_t offset, size_t len)
{
    const maki_batch *batch = maki_batch_counter_filled(in);
    if (!batch) return true; /* one that is too long for an empty batch gets a larger one */
    return batch->count < MAKI_BATCH_ROWS && batch->len + len + 1 <= batch->bytes.size &&
           batch->rows[0].offset + batch->len == offset;
}

/* ---- filling ------------------------------------------------------------------------------------ */

/* What was lent is given back; a block for one long row is not kept. */
static void give_back(maki_batch_counter *in)
{
    maki_batch *batch = in->taken;
    if (!batch) return;
    batch->count = batch->len = 0;
    if (batch->bytes.size > MAKI_BATCH_BYTES) {
        in->held -= batch->bytes.size;
        maki_block_free(in->alloc, &batch->bytes);
    }
    in->taken = NULL;
}

static maki_status make_capacity(maki_batch_counter *in, maki_batch *batch, size_t len,
                                 maki_err *err)
{
    size_t size = len > MAKI_BATCH_BYTES ? len : MAKI_BATCH_BYTES;
    if (batch->bytes.size >= size) return MAKI_OK;
    in->held -= batch->bytes.size;
    maki_block_free(in->alloc, &batch->bytes);
    batch->bytes = maki_block_new(in->alloc, size);
    if (!batch->bytes.at) {
        batch->bytes = (maki_block){ 0 };
        return maki_fail_nomem(err);
    }
    in->held += size;
    return MAKI_OK;
}

maki_status maki_batch_counter_add(maki_batch_counter *in, maki_str row, const maki_row *record,
                                   const maki_hint *hint, maki_err *err)
{
    maki_batch **place = filling(in);
    give_back(in);
    if (!*place) {
        maki_batch *batch = in->alloc->resize(in->alloc, NULL, 0, sizeof *batch);
        if (!batch) return maki_fail_nomem(err);
        batch->bytes = (maki_block){ 0 };
        batch->count = batch->len = 0;
        batch->of = in;
        *place = batch;
    }
    maki_batch *batch = *place;
    if (batch->count == 0) {
        maki_status st = make_capacity(in, batch, row.len + 1, err);
        if (st != MAKI_OK) return st;
    }
    memcpy(batch->bytes.at + batch->len, row.ptr, row.len);
    batch->bytes.at[batch->len + row.len] = '\n';
    batch->len += row.len + 1;
    batch->hints[batch->count] = *hint;
    batch->rows[batch->count++] = *record;
    in->rows++;
    return MAKI_OK;
}

/* ---- counting ------------------------------------------------------------------------------------- */

static void count(void *ctx, size_t worker)
{
    maki_batch *batch = ctx;
    const maki_batch_counter *in = batch->of;
    const char *at = batch->bytes.at;
    batch->status = MAKI_OK;
    for (size_t i = 0; batch->status == MAKI_OK && i < batch->count; i++) {
        maki_row *row = &batch->rows[i];
        maki_str text = { at, row->length };
        row->tokens = 0;
        at += row->length + 1;
        if (row->flags & MAKI_ROW_BAD) continue;
        batch->status =
            in->tokens(in->ctx, worker, text, &batch->hints[i], &row->tokens, &batch->err);
    }
}

void maki_batch_counter_pass(maki_batch_counter *in)
{
    if (!maki_batch_counter_filled(in)) return;
    maki_batch *batch = *filling(in);
    if (in->work)
        batch->ticket = maki_thread_pool_add(in->work, count, batch);
    else
        count(batch, 0);
    in->passed++;
}

maki_status maki_batch_counter_take(maki_batch_counter *in, bool all, maki_batch **out,
                                    maki_err *err)
{
    give_back(in);
    *out = NULL;
    bool must = all || in->passed == in->size || in->held > HELD_MAX;
    if (in->passed == 0 || !must) return MAKI_OK;
    maki_batch *batch = in->ring[in->first];
    if (in->work) maki_thread_pool_wait(in->work, batch->ticket);
    in->first = (in->first + 1) % in->size;
    in->passed--;
    if (batch->status != MAKI_OK) {
        if (err) *err = batch->err;
        return batch->status;
    }
    in->rows -= batch->count;
    in->taken = batch;
    *out = batch;
    return MAKI_OK;
}

/* async_writer.c -- fill one buffer while a second thread writes the other to the sink.
 *
 * At most one buffer is pending.  With two, the owner, which runs tasks while it waits (thread_pool.h), could write the
 * second before the first. */
#include "base/async_writer.h"

#include "base/err.h"

static void write_pending(void *ctx, size_t worker)
{
    maki_async_writer *a = ctx;
    (void)worker;
    a->status = a->sink.write(a->sink.ctx, a->bytes, &a->err);
}

/* Wait until the other buffer is written.  A failure is reported once: it sticks in the maki_jw. */
static maki_status wait_pending(maki_async_writer *a, maki_err *err)
{
    if (!a->pending) return MAKI_OK;
    maki_thread_pool_wait(a->pool, a->ticket);
    a->pending = false;
    if (a->status != MAKI_OK && err) *err = a->err;
    return a->status;
}

/* Start the second thread with its buffer; without either the writer stays synchronous. */
static void start_thread(maki_async_writer *a)
{
    a->async = false;
    if (maki_thread_pool_cores() < 2) return;
    a->buffers[1] = maki_block_new(a->alloc, MAKI_ASYNC_BUFFER);
    if (a->buffers[1].at && maki_thread_pool_open(a->alloc, 2, &a->pool, NULL) != MAKI_OK)
        a->pool = NULL;
}

static maki_status write_buffer(void *ctx, maki_str bytes, maki_err *err)
{
    maki_async_writer *a = ctx;
    maki_status st = wait_pending(a, err);
    if (st != MAKI_OK) return st;
    a->written += bytes.len;
    if (a->async && a->written > MAKI_ASYNC_MIN_BYTES) start_thread(a);
    bool is_buffer =
        bytes.ptr == a->buffers[a->current].at; /* else it is borrowed for this call only */
    if (!a->pool || !is_buffer) return a->sink.write(a->sink.ctx, bytes, err);
    a->bytes = bytes;
    a->err = (maki_err){ 0 };
    a->pending = true;
    a->ticket = maki_thread_pool_add(a->pool, write_pending, a);
    a->current = 1 - a->current;
    maki_jw_set_buffer(a->w, a->buffers[a->current].at, MAKI_ASYNC_BUFFER);
    return MAKI_OK;
}

maki_status maki_async_writer_begin(maki_async_writer *a, const maki_alloc *alloc, bool async,
                                    maki_sink sink, maki_jw *w, maki_err *err)
{
    *a = (maki_async_writer){ .alloc = alloc, .async = async, .sink = sink, .w = w };
    a->buffers[0] = maki_block_new(alloc, MAKI_ASYNC_BUFFER);
    if (!a->buffers[0].at) return maki_fail_nomem(err);
    maki_jw_init(w, (maki_sink){ write_buffer, a }, err);
    maki_jw_set_buffer(w, a->buffers[0].at, MAKI_ASYNC_BUFFER);
    return MAKI_OK;
}

maki_status maki_async_writer_end(maki_async_writer *a, maki_status st, maki_err *err)
{
    maki_status written = wait_pending(a, st == MAKI_OK ? err : NULL);
    maki_thread_pool_close(a->pool);
    for (size_t i = 0; i < 2; i++)
        maki_block_free(a->alloc, &a->buffers[i]);
    return st == MAKI_OK ? written : st;
}

/* async_writer.h -- an asynchronous writer: the sink of a long text is called from a second thread.
 *
 * A maki_jw fills one buffer while a second thread writes the other to the sink, mostly a file.  The thread is started
 * when a text has more than MAKI_ASYNC_MIN_BYTES bytes and the machine has a second core.  Before that, and where there is
 * no memory for the second buffer or the thread cannot start, the sink is called synchronously.  The sink is called in
 * order, one call at a time and never after maki_async_writer_end, but possibly from the second thread.
 *
 *     maki_async_writer writer;
 *     st = maki_async_writer_begin(&writer, alloc, true, sink, &w, err);
 *     if (st == MAKI_OK) {
 *         ... write with w, and end it (maki_jw_end) ...
 *         st = maki_async_writer_end(&writer, st, err); // whatever st was
 *     } */
#ifndef MAKI_BASE_ASYNC_WRITER_H
#define MAKI_BASE_ASYNC_WRITER_H

#include "base/block.h"
#include "base/json_write.h"
#include "base/thread_pool.h"

enum { MAKI_ASYNC_MIN_BYTES = 4 << 20, MAKI_ASYNC_BUFFER = 1 << 20 };

typedef struct maki_async_writer {
    const maki_alloc *alloc;
    maki_sink sink;
    maki_jw *w;
    maki_thread_pool *pool; /* NULL: no second thread */
    bool async;             /* a second thread may be started */
    uint64_t written;
    maki_block buffers[2];
    size_t current; /* the buffer that `w` fills */

    /* the other buffer: owned by the second thread while it is `pending` */
    bool pending;
    uint64_t ticket;
    maki_str bytes;
    maki_status status;
    maki_err err;
} maki_async_writer;

/* Initialises `w` too.  Not `async`: no second thread, however long the text is. */
maki_status maki_async_writer_begin(maki_async_writer *writer, const maki_alloc *alloc, bool async,
                                    maki_sink sink, maki_jw *w, maki_err *err) MAKI_MUST_CHECK;
/* Wait for the pending buffer and free everything.  Returns `st`, or when that is MAKI_OK the first failure of the
 * sink. */
maki_status maki_async_writer_end(maki_async_writer *writer, maki_status st, maki_err *err);

#endif

/* behind.c -- see behind.h.
 *
 * Never more than one room is out: with two, the owner, who helps while it waits (work.h), could write the second
 * before the first. */
#include "base/behind.h"

#include "base/err.h"

maki_status maki_behind_begin(maki_behind *b, const maki_alloc *alloc, bool alone, maki_sink sink,
                              maki_err *err)
{
    *b = (maki_behind){ .alloc = alloc, .alone = alone, .sink = sink };
    b->rooms[0] = maki_block_new(alloc, MAKI_BEHIND_ROOM);
    return b->rooms[0].at ? MAKI_OK : maki_fail_nomem(err);
}

static void write_room(void *ctx, size_t worker)
{
    maki_behind *b = ctx;
    (void)worker;
    b->status = b->sink.write(b->sink.ctx, b->bytes, &b->err);
}

/* Until the other room is back.  A failure is told once: the writer keeps it. */
static maki_status take_back(maki_behind *b, maki_err *err)
{
    if (!b->out) return MAKI_OK;
    maki_work_wait(b->work, b->ticket);
    b->out = false;
    if (b->status != MAKI_OK && err) *err = b->err;
    return b->status;
}

static maki_status start(maki_behind *b, maki_err *err)
{
    b->alone = maki_work_cores() < 2;
    if (b->alone) return MAKI_OK;
    b->rooms[1] = maki_block_new(b->alloc, MAKI_BEHIND_ROOM);
    if (!b->rooms[1].at) return maki_fail_nomem(err);
    return maki_work_open(b->alloc, 2, &b->work, err);
}

static maki_status hand_over(void *ctx, maki_str bytes, maki_err *err)
{
    maki_behind *b = ctx;
    maki_status st = take_back(b, err);
    b->passed += bytes.len;
    if (st == MAKI_OK && !b->work && !b->alone && b->passed > MAKI_BEHIND_FROM) st = start(b, err);
    if (st != MAKI_OK) return st;
    bool ours = bytes.ptr == b->rooms[b->filled].at; /* else it is borrowed for this call only */
    if (!b->work || !ours) return b->sink.write(b->sink.ctx, bytes, err);
    b->bytes = bytes;
    b->err = (maki_err){ 0 };
    b->out = true;
    b->ticket = maki_work_add(b->work, write_room, b);
    b->filled = 1 - b->filled;
    maki_jw_use(b->w, b->rooms[b->filled].at, MAKI_BEHIND_ROOM);
    return MAKI_OK;
}

void maki_behind_init(maki_behind *b, maki_jw *w, maki_err *err)
{
    b->w = w;
    maki_jw_init(w, (maki_sink){ hand_over, b }, err);
    maki_jw_use(w, b->rooms[0].at, MAKI_BEHIND_ROOM);
}

maki_status maki_behind_end(maki_behind *b, maki_status st, maki_err *err)
{
    maki_status written = take_back(b, st == MAKI_OK ? err : NULL);
    maki_work_close(b->work);
    for (size_t i = 0; i < 2; i++)
        maki_block_free(b->alloc, &b->rooms[i]);
    return st == MAKI_OK ? written : st;
}

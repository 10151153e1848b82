/* behind.h -- a long text that is written to its sink behind the back of who makes it.
 *
 * A maki_jw fills one room while a second thread hands the other to the sink: mostly a file, whose pages the kernel
 * has to find and fill.  Only a text of more than MAKI_BEHIND_FROM bytes, on a machine with a second core, gets that
 * thread; till then, and where none can be started, the sink is called as ever.  Its calls come one after the other, in
 * order, and none after maki_behind_end; but they may come from the other thread.
 *
 *     maki_behind behind;
 *     st = maki_behind_begin(&behind, alloc, false, sink, err);
 *     if (st == MAKI_OK) maki_behind_init(&behind, &w, err);
 *     ... write with w, and end it (maki_jw_end) ...
 *     st = maki_behind_end(&behind, st, err);  // whatever st was */
#ifndef MAKI_BASE_BEHIND_H
#define MAKI_BASE_BEHIND_H

#include "base/block.h"
#include "base/json_write.h"
#include "base/work.h"

enum { MAKI_BEHIND_FROM = 4 << 20, MAKI_BEHIND_ROOM = 1 << 20 };

typedef struct maki_behind {
    const maki_alloc *alloc;
    maki_sink sink;
    maki_jw *w;
    maki_work *work; /* NULL: no second thread */
    bool alone;      /* there will be none */
    uint64_t passed;
    maki_block rooms[2];
    size_t filled; /* the room in the hands of `w` */

    /* the other room: the second thread's while it is `out` */
    bool out;
    uint64_t ticket;
    maki_str bytes;
    maki_status status;
    maki_err err;
} maki_behind;

/* `alone`: no second thread, however long the text is. */
maki_status maki_behind_begin(maki_behind *behind, const maki_alloc *alloc, bool alone,
                              maki_sink sink, maki_err *err) MAKI_MUST_CHECK;
/* In place of maki_jw_init. */
void maki_behind_init(maki_behind *behind, maki_jw *w, maki_err *err);
/* Wait for what is still being written and give everything back.  `st`, or the first failure of the sink. */
maki_status maki_behind_end(maki_behind *behind, maki_status st, maki_err *err);

#endif

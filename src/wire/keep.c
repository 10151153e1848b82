/* keep.c -- see keep.h. */
#include "wire/keep.h"

void maki_note_failure(maki_failure *failure, maki_status status)
{
    if (failure->status == MAKI_OK) failure->status = status;
}

void maki_keep_add(maki_failure *failure, maki_spool *spool, maki_str bytes)
{
    if (failure->status == MAKI_OK) failure->status = maki_spool_add(spool, bytes, failure->err);
}

maki_str maki_keep_text(maki_failure *failure, maki_spool *spool)
{
    maki_str text = { "", 0 };
    if (failure->status == MAKI_OK) failure->status = maki_spool_text(spool, &text, failure->err);
    return failure->status == MAKI_OK ? text : (maki_str){ "", 0 };
}

void maki_keep_begin(maki_failure *failure, maki_sink sink, maki_jw *w)
{
    maki_jw_init(w, sink, failure->err);
    w->status = failure->status;
}

void maki_keep_end(maki_failure *failure, maki_jw *w, maki_str after)
{
    maki_jw_bytes(w, after);
    maki_note_failure(failure, maki_jw_end(w));
}

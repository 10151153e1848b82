/* sticky_error.c -- append to spools with a sticky error: each function does nothing once `status` is not MAKI_OK. */
#include "wire/sticky_error.h"

void maki_sticky_set(maki_sticky_error *failure, maki_status status)
{
    if (failure->status == MAKI_OK) failure->status = status;
}

void maki_sticky_spool_add(maki_sticky_error *failure, maki_spool *spool, maki_str bytes)
{
    if (failure->status == MAKI_OK) failure->status = maki_spool_add(spool, bytes, failure->err);
}

maki_str maki_sticky_spool_text(maki_sticky_error *failure, maki_spool *spool)
{
    maki_str text = { "", 0 };
    if (failure->status == MAKI_OK) failure->status = maki_spool_text(spool, &text, failure->err);
    return failure->status == MAKI_OK ? text : (maki_str){ "", 0 };
}

void maki_sticky_jw_begin(maki_sticky_error *failure, maki_sink sink, maki_jw *w)
{
    maki_jw_init(w, sink, failure->err);
    w->status = failure->status;
}

void maki_sticky_jw_end(maki_sticky_error *failure, maki_jw *w, maki_str after)
{
    maki_jw_bytes(w, after);
    maki_sticky_set(failure, maki_jw_end(w));
}

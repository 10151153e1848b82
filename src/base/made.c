/* made.c -- see made.h. */
#include "base/made.h"

void maki_made_begin(maki_made *made, maki_arena *arena, maki_err *err)
{
    made->buf = maki_buf_new(arena->alloc, arena->max);
    maki_jw_init(&made->w, maki_buf_sink(&made->buf), err);
}

maki_status maki_made_end(maki_made *made, maki_arena *arena, maki_str *json, maki_err *err)
{
    maki_status st = maki_jw_end(&made->w);
    if (st == MAKI_OK) return maki_buf_to_arena(&made->buf, arena, json, err);
    maki_buf_free(&made->buf);
    return st;
}

maki_status maki_made_print(maki_arena *arena, maki_str *json, maki_err *err, const char *shape,
                            ...)
{
    maki_made made;
    va_list args;
    maki_made_begin(&made, arena, err);
    va_start(args, shape);
    maki_jw_print_args(&made.w, shape, &args);
    va_end(args);
    return maki_made_end(&made, arena, json, err);
}

/* json_build.c -- see json_build.h. */
#include "base/json_build.h"

void maki_json_build_begin(maki_json_build *made, maki_arena *arena, maki_err *err)
{
    made->buf = maki_buf_new(arena->alloc, arena->max);
    maki_jw_init(&made->w, maki_buf_sink(&made->buf), err);
}

maki_status maki_json_build_end(maki_json_build *made, maki_arena *arena, maki_str *json,
                                maki_err *err)
{
    maki_status st = maki_jw_end(&made->w);
    if (st == MAKI_OK) return maki_buf_to_arena(&made->buf, arena, json, err);
    maki_buf_free(&made->buf);
    return st;
}

maki_status maki_json_build_print(maki_arena *arena, maki_str *json, maki_err *err,
                                  const char *shape, ...)
{
    maki_json_build made;
    va_list args;
    maki_json_build_begin(&made, arena, err);
    va_start(args, shape);
    maki_jw_print_args(&made.w, shape, &args);
    va_end(args);
    return maki_json_build_end(&made, arena, json, err);
}

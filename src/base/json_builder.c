/* json_builder.c -- build a small JSON value in an arena: it is written to a buffer and copied when it is complete. */
#include "base/json_builder.h"

void maki_json_builder_begin(maki_json_builder *build, maki_arena *arena, maki_err *err)
{
    build->buf = maki_buf_new(arena->alloc, arena->max);
    maki_jw_init(&build->w, maki_buf_sink(&build->buf), err);
}

maki_status maki_json_builder_end(maki_json_builder *build, maki_arena *arena, maki_str *json,
                                  maki_err *err)
{
    maki_status st = maki_jw_end(&build->w);
    if (st == MAKI_OK) return maki_buf_to_arena(&build->buf, arena, json, err);
    maki_buf_free(&build->buf);
    return st;
}

maki_status maki_json_build_print(maki_arena *arena, maki_str *json, maki_err *err,
                                  const char *format, ...)
{
    maki_json_builder build;
    va_list args;
    maki_json_builder_begin(&build, arena, err);
    va_start(args, format);
    maki_jw_print_args(&build.w, format, &args);
    va_end(args);
    return maki_json_builder_end(&build, arena, json, err);
}

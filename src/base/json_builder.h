/* json_builder.h -- build a small JSON text in an arena. */
#ifndef MAKI_BASE_JSON_BUILDER_H
#define MAKI_BASE_JSON_BUILDER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_print.h"

typedef struct maki_json_builder {
    maki_buf buf;
    maki_jw w;
} maki_json_builder;

/* Between begin and end, write to build->w.  Every begin needs its end, which frees the buffer, on failure too. */
void maki_json_builder_begin(maki_json_builder *build, maki_arena *arena, maki_err *err);
maki_status maki_json_builder_end(maki_json_builder *build, maki_arena *arena, maki_str *json,
                                  maki_err *err);
/* Build it in one call from a format (json_print.h). */
maki_status maki_json_build_print(maki_arena *arena, maki_str *json, maki_err *err,
                                  const char *format, ...);

#endif

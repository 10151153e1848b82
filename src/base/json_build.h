/* json_build.h -- small JSON made for the arena: write it, end it, have the text. */
#ifndef MAKI_BASE_JSON_BUILD_H
#define MAKI_BASE_JSON_BUILD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_print.h"

typedef struct maki_json_build {
    maki_buf buf;
    maki_jw w;
} maki_json_build;

/* Write to made->w between the two; every begin needs its end, which frees what begin took. */
void maki_json_build_begin(maki_json_build *made, maki_arena *arena, maki_err *err);
maki_status maki_json_build_end(maki_json_build *made, maki_arena *arena, maki_str *json,
                                maki_err *err);
/* The same by example (json_print.h). */
maki_status maki_json_build_print(maki_arena *arena, maki_str *json, maki_err *err,
                                  const char *shape, ...);

#endif

/* made.h -- small JSON made for the arena: write it, end it, have the text. */
#ifndef MAKI_BASE_MADE_H
#define MAKI_BASE_MADE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_print.h"

typedef struct maki_made {
    maki_buf buf;
    maki_jw w;
} maki_made;

/* Write to made->w between the two; every begin needs its end, which frees what begin took. */
void maki_made_begin(maki_made *made, maki_arena *arena, maki_err *err);
maki_status maki_made_end(maki_made *made, maki_arena *arena, maki_str *json, maki_err *err);
/* The same by example (json_print.h). */
maki_status maki_made_print(maki_arena *arena, maki_str *json, maki_err *err, const char *shape,
                            ...);

#endif

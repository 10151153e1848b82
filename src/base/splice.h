/* splice.h -- remove items of a JSON text and copy all else byte for byte.
 *
 * The text may be in a file of any size; what is copied goes through a block of MAKI_SPLICE_BLOCK bytes, so
 * memory does not grow with it. */
#ifndef MAKI_BASE_SPLICE_H
#define MAKI_BASE_SPLICE_H

#include <stdint.h>

#include <maki/env.h>

#include "base/json.h"

enum { MAKI_SPLICE_BLOCK = 1 << 20 };

/* Bytes [start, end) become `text`; start == end inserts. */
typedef struct maki_edit {
    uint64_t start;
    uint64_t end;
    maki_str text;
} maki_edit;

/* A file that is one JSON array, without its item `index` (from 1: what stands before item 0 is not a
 * comma), in one pass that also checks it.  MAKI_INVALID when it is not such an array, MAKI_NOTFOUND
 * when it has fewer items; what was written until then is worthless. */
maki_status maki_splice_item(const maki_env *env, int fd, uint64_t index, maki_sink sink,
                             maki_err *err) MAKI_MUST_CHECK;

/* Edits that take items out of a container so that it stays JSON: call for each item in order, with
 * the end of the item before it and the start of the one after it (0 where there is none), and
 * whether any item before it stays.  Returns the span to remove. */
maki_edit maki_splice_cut(uint64_t previous_end, uint64_t start, uint64_t end, uint64_t next_start,
                          bool any_kept_before);

#endif

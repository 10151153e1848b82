/* splice.h -- replace or remove spans of a text and copy all else byte for byte.
 *
 * The text may be in memory or in a file of any size; what is copied goes through a block of
 * MAKI_SPLICE_BLOCK bytes, so memory does not grow with it. */
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

/* Copy `text` to the sink with `edits` applied.  They must be in order and not overlap (touching is
 * fine) and lie inside the text: else MAKI_INVALID, and nothing has been written. */
maki_status maki_splice_text(maki_str text, const maki_edit *edits, size_t count, maki_sink sink,
                             maki_err *err) MAKI_MUST_CHECK;

/* The same for bytes [from, to) of a file; edits count from the beginning of the file.  A file that
 * ends before `to` is MAKI_CORRUPT, told after what was there has been written. */
maki_status maki_splice_file(const maki_env *env, int fd, uint64_t from, uint64_t to,
                             const maki_edit *edits, size_t count, maki_sink sink, maki_err *err)
    MAKI_MUST_CHECK;

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

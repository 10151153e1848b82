/* apply_trims.h -- write one message as a view shows it: texts that trims name are shortened, all other
 * bytes are copied.
 *
 * A text is named by its block of the content and a part of that block:
 *
 *     part 0   the block's own text: a string, or its field text or content; of a tool result with a
 *              list of blocks, the first text in it; of a block without any text, the block itself
 *     part n   the n-th item of a tool result's list, counted from 1: its text, or the item itself
 *
 * The first text of a list is part 0, never its number, so that one text has one name. */
#ifndef MAKI_HISTORY_APPLY_TRIMS_H
#define MAKI_HISTORY_APPLY_TRIMS_H

#include "base/buf.h"
#include "history/timeline.h"

/* The text (a JSON string), or the block itself (a JSON object); false: the message has no such block or part. */
bool maki_apply_trims_find(maki_str row, uint32_t block, uint32_t part, maki_str *value);

/* Add `row` to `out`, the texts that `trims` name shortened; `places` is a scratch buffer, cleared first. */
maki_status maki_apply_trims(maki_str row, const maki_trim *const *trims, size_t count,
                             maki_buf *places, maki_buf *out, maki_err *err);

#endif

/* readable_part.h -- the parts of a message as a person reads them: texts, thinking, calls, results, images.
 *
 * From any protocol's rows (wire/content_part.h).  Texts are decoded and cut at a number of characters (code points); what
 * the log holds, broken UTF-8 too, the answer is valid JSON. */
#ifndef MAKI_OPS_READABLE_PART_H
#define MAKI_OPS_READABLE_PART_H

#include "base/json_write.h"

/* The array of the parts of `row`, a message that was checked, as the next value. */
maki_status maki_put_parts(const maki_env *env, maki_jw *out, maki_str row, uint64_t chars,
                           maki_err *err);
/* The array for a row that is no valid message: one part with its bytes. */
void maki_put_damaged(maki_jw *out, maki_str bytes, uint64_t chars);

/* "text":..., and "length" when it was cut: the texts of the row alone. */
void maki_put_row_text(maki_jw *out, const char *name, maki_str row, uint64_t chars);
/* The field "role" of a row, decoded; "" if it has none. */
void maki_put_role(maki_jw *out, maki_str row);

#endif

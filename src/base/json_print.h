/* json_print.h -- JSON by example: what is written stands in the source as it will look.
 *
 *     maki_jw_print(w, "{'type':'tool_use','id':%v,'input':%v}", id, input);
 *
 * ' stands for ", and for a value
 *     %v   a maki_str, JSON as it is; when it is empty the field is left out
 *     %s   a maki_str, text to be escaped; %S the same, left out when it is empty
 *     %z   a C string, text to be escaped; left out when it is NULL or ""
 *     %q   a maki_str, what stands between the quotes of a JSON string; %Q the same, left out when it is empty
 *     %i   an int64_t or uint64_t; %I the same, left out when it is 0
 *     %f   a double               %b   an int, as true or false
 * Anything else (true, null, 1) stands for itself.  Commas are the writer's, as with maki_jw_key and its like, which
 * may stand before and after: a shape may leave containers open, close those that were, and end with a key. */
#ifndef MAKI_BASE_JSON_PRINT_H
#define MAKI_BASE_JSON_PRINT_H

#include <stdarg.h>

#include "base/json_write.h"

void maki_jw_print(maki_jw *w, const char *shape, ...);
void maki_jw_print_args(maki_jw *w, const char *shape, va_list *args);

#endif

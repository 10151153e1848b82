/* json_print.h -- printf for JSON: the format looks like the output.
 *
 *     maki_jw_print(w, "{'type':'tool_use','id':%v,'input':%v}", id, input);
 *
 * ' is written as ".  Values:
 *     %v   a maki_str, JSON, copied unchanged; omitted with its key when it is empty
 *     %s   a maki_str, text to be escaped; %S the same, omitted when it is empty
 *     %z   a C string, text to be escaped; omitted when it is NULL or ""
 *     %q   a maki_str, the escaped bytes of a JSON string without its quotes; %Q the same, omitted when it is empty
 *     %i   an int64_t or uint64_t; %I the same, omitted when it is 0
 *     %f   a double               %b   an int, as true or false
 * Anything else (true, null, 1) is copied unchanged.  Commas are added by the writer.  Calls can be mixed with those of
 * json_write.h: a format may leave containers open, close open ones, and end with a key. */
#ifndef MAKI_BASE_JSON_PRINT_H
#define MAKI_BASE_JSON_PRINT_H

#include <stdarg.h>

#include "base/json_write.h"

void maki_jw_print(maki_jw *w, const char *format, ...);
void maki_jw_print_args(maki_jw *w, const char *format, va_list *args);

#endif

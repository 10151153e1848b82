/* compact.h -- JSON in the canonical form of JavaScript's JSON.stringify(JSON.parse(...)).
 *
 * The reference systems count what JSON.stringify prints, so white space, escapes and the format of numbers must not change
 * a count: "\u00e9" is one letter, 1.50 is 1.5, 1e2 is 100.  Keys that are array indexes come first, in ascending order, as
 * in JavaScript's objects.  (A duplicate key is printed twice: JavaScript would keep the last one.)  Nothing is allocated. */
#ifndef MAKI_TOKEN_COMPACT_H
#define MAKI_TOKEN_COMPACT_H

#include <stdint.h>

#include <maki/env.h>

/* Write the canonical form of `value`, which has passed maki_json_check, to a sink. */
maki_status maki_json_compact(maki_str value, maki_sink sink, maki_err *err) MAKI_MUST_CHECK;

/* A JSON number as JavaScript prints it ("null" if it is too large for a double).  Returns its length. */
size_t maki_json_number_text(maki_str number, char out[32]);

#endif

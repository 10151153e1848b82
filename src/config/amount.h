/* amount.h -- parse flags, numbers, byte sizes and durations from a file, an environment variable or a command line;
 * format sizes and durations. */
#ifndef MAKI_CONFIG_AMOUNT_H
#define MAKI_CONFIG_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* All return false, and leave *out unchanged, unless all of `text` has the form described. */

/* 1: true, yes, on; 0: false, no, off; case is ignored */
bool maki_amount_flag(maki_str text, double *out);
/* "200000", "200_000", "-1"; up to 2^53, which a double represents exactly */
bool maki_amount_integer(maki_str text, double *out);
/* an integer as above, or a number of JSON */
bool maki_amount_number(maki_str text, double *out);
/* "64", "64k", "10m", "1g"; up to 2^50 */
bool maki_amount_bytes(maki_str text, double *out);
/* "30" and "30s" are seconds, "250ms", "5m", "2h"; up to 2^32 - 1 ms */
bool maki_amount_duration(maki_str text, double *ms);

/* Format bytes or milliseconds in the largest unit that divides them: "64k". */
maki_str maki_amount_format(double n, bool duration, maki_arena *arena);

#endif

/* amount.h -- amounts as people write them in a file, a variable or on a command line. */
#ifndef MAKI_CONFIG_AMOUNT_H
#define MAKI_CONFIG_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* All answer false, and leave *out alone, when the whole text is no such amount. */

/* 1: true, yes, on; 0: false, no, off; in capitals too */
bool maki_amount_flag(maki_str text, double *out);
/* "200000", "200_000", "-1"; up to 2^53, so that a double holds it */
bool maki_amount_integer(maki_str text, double *out);
/* a number of JSON */
bool maki_amount_number(maki_str text, double *out);
/* "64", "64k", "10m", "1g"; up to 2^50 */
bool maki_amount_bytes(maki_str text, double *out);
/* "30" and "30s" are seconds, "250ms", "5m", "2h"; up to 2^32 - 1 ms */
bool maki_amount_time(maki_str text, double *ms);

/* Bytes or milliseconds as they would be written, "64k", in the largest unit that goes. */
maki_str maki_amount_words(double n, bool time, maki_arena *arena);

#endif

/* overflow.h -- is this error of a provider "the context is too long"? */
#ifndef MAKI_WIRE_OVERFLOW_H
#define MAKI_WIRE_OVERFLOW_H

#include <stdbool.h>

#include "base/json.h"

/* What is known of the error besides its words. */
enum {
    MAKI_OVERFLOW_REFUSED = 1,   /* its status is 400, or it has none */
    MAKI_OVERFLOW_ANTHROPIC = 2, /* its type is invalid_request_error */
    MAKI_OVERFLOW_ANY = 4        /* it is an error of whoever answers */
};
/* Do these words, which are not escaped, say so where all of `known` is so? */
bool maki_overflow_says(maki_str words, unsigned known);

/* The reference operation: `error` is any JSON value, as a client library shows the provider's error.  Escaped texts
 * are decoded in the arena; check its status afterwards. */
bool maki_is_overflow(maki_str error, maki_arena *arena);

#endif

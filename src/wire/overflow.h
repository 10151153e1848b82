/* overflow.h -- the object of a provider error, and whether it means that the context is too long. */
#ifndef MAKI_WIRE_OVERFLOW_H
#define MAKI_WIRE_OVERFLOW_H

#include <stdbool.h>

#include "base/json_access.h"

/* What is known of the error besides its message. */
enum {
    MAKI_OVERFLOW_REFUSED = 1,   /* its status is 400 or unknown */
    MAKI_OVERFLOW_ANTHROPIC = 2, /* its type is invalid_request_error */
    MAKI_OVERFLOW_ANY = 4        /* any error of a provider */
};
/* Does the message (decoded) match a pattern that applies to the facts in `known`? */
bool maki_overflow_matches(maki_str message, unsigned known);

/* The object with the fields of an error, in any known format: {"error": {...}}, {"response": {"error": ...}}, an array
 * of one, or the fields alone; or its value, when that is a string. */
maki_str maki_error_object(maki_str error);
/* Its message, a JSON string; len 0: none. */
maki_str maki_error_message(maki_str error);

/* The reference operation: `error` is any JSON value, as a client library represents it.  Escaped texts
 * are decoded in the arena; check its status afterwards. */
bool maki_is_overflow(maki_str error, maki_arena *arena);

#endif

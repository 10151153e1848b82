/* overflow.h -- is this error of a provider "the context is too long"? */
#ifndef MAKI_WIRE_OVERFLOW_H
#define MAKI_WIRE_OVERFLOW_H

#include <stdbool.h>

#include "base/json.h"

/* `error` is any JSON value, as a client library shows the provider's error.  Escaped texts are
 * decoded in the arena; check its status afterwards. */
bool maki_is_overflow(maki_str error, maki_arena *arena);

#endif

/* counter.h -- the token counters of the reference systems, as an interface.
 *
 * A call counts a list of items, because a counter may round once per call: each item is a JSON string (a text) or a block
 * object.  The engine's own rules are in content.h.  Memory does not grow with what is counted. */
#ifndef MAKI_TOKEN_COUNTER_H
#define MAKI_TOKEN_COUNTER_H

#include <stdint.h>

#include <maki/token.h>

#include "base/json_access.h"

typedef struct maki_counter maki_counter;
struct maki_counter {
    maki_status (*count)(const maki_counter *self, const maki_str *items, size_t n, double *tokens,
                         maki_err *err);
    double value;              /* of the fixed counter */
    maki_tokenizer *tokenizer; /* of the o200k counter, which belongs to its thread */
};

/* ceil(UTF-16 units / 4) for each text, 0 for other blocks. */
maki_counter maki_counter_chars4(void);
/* `value` for every call. */
maki_counter maki_counter_fixed(double value);
/* The reference's counter: tokens of texts, calls and results, ceil(sqrt(length)) of an image's base64
 * data or 300, 0 for the rest; the sum times 1.5, rounded up.  The tokenizer, o200k_base in the
 * reference, is borrowed. */
maki_counter maki_counter_o200k(maki_tokenizer *tokenizer);

/* ceil(UTF-16 units / 4) of an escaped text. */
double maki_estimate_tokens(maki_str escaped);

#endif

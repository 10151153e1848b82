/* counter.h -- counting the tokens of content, by a counter handed in.
 *
 * What is counted is a list of items in one call, because a counter may round once per call: each
 * item is a JSON string (a text) or a block object.  These are the reference's rules; the engine's own
 * are in content.h.  Nothing is allocated in proportion to what is counted. */
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
    maki_tokenizer *tokenizer; /* of the o200k counter; a counter is used by its thread */
};

/* ceil(units / 4) for each text, nothing for other blocks. */
maki_counter maki_counter_chars4(void);
/* `value` for every call, whatever is counted. */
maki_counter maki_counter_fixed(double value);
/* The reference's counter: tokens of texts, calls and results, ceil(sqrt(length)) of an image's base64
 * data or 300, nothing for the rest; the sum times 1.5, rounded up.  The tokenizer, o200k_base in the
 * reference, is borrowed. */
maki_counter maki_counter_o200k(maki_tokenizer *tokenizer);

/* ceil(units / 4) of an escaped text. */
double maki_estimate_tokens(maki_str escaped);

#endif

/* delta_decoder.h -- decode the deltas of a reply from JSON to UTF-8, for the caller's callback.
 *
 * A provider may split a string anywhere, also within a surrogate pair: the first half waits for the second.
 * The callback gets only whole characters.  Memory is flat: a long delta is forwarded in several chunks. */
#ifndef MAKI_SEND_DELTA_DECODER_H
#define MAKI_SEND_DELTA_DECODER_H

#include "wire/wire.h"

typedef struct maki_delta {
    maki_delta_kind kind;
    uint32_t call; /* of CALL and INPUT: the index of the call, from 0 */
    maki_str text; /* whole characters; of CALL the name of the tool */
    maki_str id;   /* of CALL: the provider's id; len 0: it has none */
} maki_delta;

typedef maki_status (*maki_delta_fn)(void *ctx, const maki_delta *delta, maki_err *err);

typedef struct maki_delta_decoder {
    maki_delta_fn fn;
    void *ctx;
    maki_delta delta;  /* the one being decoded */
    char surrogate[6]; /* the escape of the first half of a pair */
    bool has_surrogate;
    char buffer[2048]; /* decoded, not yet emitted */
    size_t fill;
} maki_delta_decoder;

/* `fn` may be NULL: then nothing is decoded. */
maki_delta_decoder maki_delta_decoder_new(maki_delta_fn fn, void *ctx);
maki_status maki_delta_decoder_add(maki_delta_decoder *decoder, const maki_wire_delta *delta,
                                   maki_err *err);
/* The reply is over: half a pair becomes U+FFFD. */
maki_status maki_delta_decoder_end(maki_delta_decoder *decoder, maki_err *err);

#endif

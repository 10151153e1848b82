/* delta_decoder.h -- pieces of a reply as text, for who asked.
 *
 * A provider may cut anywhere, also between the two escapes of an emoji: the first waits for the second.
 * Memory is flat: a long piece is handed on in several. */
#ifndef MAKI_SEND_DELTA_DECODER_H
#define MAKI_SEND_DELTA_DECODER_H

#include "wire/wire.h"

typedef struct maki_delta {
    maki_delta_kind kind;
    uint32_t call; /* CALL, INPUT: which one, from 0 */
    maki_str text; /* whole characters; of CALL the tool's name */
    maki_str id;   /* CALL: as the provider calls it; len 0: it does not */
} maki_delta;

typedef maki_status (*maki_delta_fn)(void *ctx, const maki_delta *piece, maki_err *err);

typedef struct maki_delta_decoder {
    maki_delta_fn fn;
    void *ctx;
    maki_delta at;   /* what is being heard */
    char waiting[6]; /* the first half of a pair */
    bool waits;
    char held[2048]; /* decoded, not yet told */
    size_t fill;
} maki_delta_decoder;

/* `fn` may be NULL: then nothing is told. */
maki_delta_decoder maki_delta_decoder_new(maki_delta_fn fn, void *ctx);
maki_status maki_delta_decoder_piece(maki_delta_decoder *hear, const maki_wire_delta *piece,
                                     maki_err *err);
/* Nothing more comes: half a pair is told as U+FFFD. */
maki_status maki_delta_decoder_end(maki_delta_decoder *hear, maki_err *err);

#endif

/* decompress.h -- bodies that were packed (Content-Encoding: gzip, deflate, zstd), with a ceiling. */
#ifndef MAKI_NET_DECOMPRESS_H
#define MAKI_NET_DECOMPRESS_H

#include <maki/env.h>

typedef enum maki_coding {
    MAKI_CODING_NONE,
    MAKI_CODING_GZIP,
    MAKI_CODING_DEFLATE,
    MAKI_CODING_ZSTD,
    MAKI_CODING_UNKNOWN /* one we do not speak, or several over each other */
} maki_coding;

/* By the value of Content-Encoding. */
maki_coding maki_coding_of(maki_str value);

/* Unpack `packed` into `out`.  MAKI_TOOBIG: more than `max` bytes come out (a few bytes can become
 * gigabytes); MAKI_INVALID: it is not packed so, or not whole; MAKI_UNSUPPORTED: MAKI_CODING_UNKNOWN. */
maki_status maki_decompress(maki_coding coding, maki_str packed, uint64_t max, maki_sink out,
                            maki_err *err);

#endif

/* decompress.h -- decompress bodies (Content-Encoding: gzip, deflate, zstd), up to a limit. */
#ifndef MAKI_NET_DECOMPRESS_H
#define MAKI_NET_DECOMPRESS_H

#include <maki/env.h>

typedef enum maki_coding {
    MAKI_CODING_NONE,
    MAKI_CODING_GZIP,
    MAKI_CODING_DEFLATE,
    MAKI_CODING_ZSTD,
    MAKI_CODING_UNKNOWN /* unsupported, or several combined */
} maki_coding;

/* Parse the value of Content-Encoding. */
maki_coding maki_coding_of(maki_str value);

/* Decompress into `out`.  MAKI_TOOBIG: the result is over `max` bytes (a few bytes can become gigabytes);
 * MAKI_INVALID: corrupt or truncated; MAKI_UNSUPPORTED: MAKI_CODING_UNKNOWN. */
maki_status maki_decompress(maki_coding coding, maki_str compressed, uint64_t max, maki_sink out,
                            maki_err *err);

#endif

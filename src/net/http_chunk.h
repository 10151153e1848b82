/* http_chunk.h -- a body in chunks, as it comes: what is body and where it ends.
 *
 * Feed it bytes of any length; it answers spans of body that point into them.  Extensions are passed
 * over, trailers are read and thrown away. */
#ifndef MAKI_NET_HTTP_CHUNK_H
#define MAKI_NET_HTTP_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/status.h>
#include <maki/str.h>

enum { MAKI_CHUNK_LINE_MAX = 4096 }; /* a size with its extension, or all trailers */

/* Zeroed is at the beginning. */
typedef struct maki_chunks {
    uint64_t left; /* bytes of the present chunk that are still to come */
    uint32_t line; /* bytes of the present line, or of the trailers */
    uint8_t state;
    uint8_t digits; /* of the present size */
} maki_chunks;

/* Take from `bytes`: *used of them, of which *body is the part that is body (len 0: none).  Call again
 * with the rest until all is used or *end, after which what is left belongs to the next request.
 * MAKI_INVALID: this is not a body in chunks. */
maki_status maki_chunks_take(maki_chunks *chunks, maki_str bytes, size_t *used, maki_str *body,
                             bool *end, maki_err *err);

/* The line before a chunk of n bytes ("1a\r\n"), which is followed by CRLF; gives its length. */
size_t maki_chunk_head(uint64_t n, char out[20]);
/* What ends a body in chunks. */
#define MAKI_CHUNKS_END "0\r\n\r\n"

#endif

/* http_chunk.h -- an incremental parser of bodies with Transfer-Encoding: chunked.
 *
 * Feed it bytes of any length; it returns spans of the body that point into them.  Extensions and trailers
 * are skipped. */
#ifndef MAKI_NET_HTTP_CHUNK_H
#define MAKI_NET_HTTP_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/status.h>
#include <maki/str.h>

enum { MAKI_CHUNK_LINE_MAX = 4096 }; /* a size with its extension, or all trailers */

/* Zeroed: at the start of a body. */
typedef struct maki_chunks {
    uint64_t left; /* remaining bytes of the current chunk */
    uint32_t line; /* bytes of the current line, or of the trailers */
    uint8_t state;
    uint8_t digits; /* of the current size */
} maki_chunks;

/* Parse the start of `bytes`: *used of them were consumed, *body is the content among them (len 0: none).  Call again
 * with the rest until all is consumed or *end, after which the rest belongs to the next request.
 * MAKI_INVALID: not a chunked body. */
maki_status maki_chunks_parse(maki_chunks *chunks, maki_str bytes, size_t *used, maki_str *body,
                              bool *end, maki_err *err);

/* Write the line before a chunk of n bytes ("1a\r\n"), which is followed by CRLF; returns its length. */
size_t maki_chunk_head(uint64_t n, char out[20]);
/* The end of a chunked body. */
#define MAKI_CHUNKS_END "0\r\n\r\n"

#endif

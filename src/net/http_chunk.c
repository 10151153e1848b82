/* http_chunk.c -- parse chunked encoding: a state machine for the bytes between chunks; those of a chunk are returned
 * as one span. Lines must end with CRLF, and everything between two chunks is limited to MAKI_CHUNK_LINE_MAX bytes. */
#include "net/http_chunk.h"

#include <stdio.h>

#include "base/err.h"

enum {
    SIZE,      /* digits of the size of a chunk */
    EXTENSION, /* skipped: from ; or white space to CR */
    SIZE_LF,   /* the LF after a size or extension */
    BODY,
    BODY_CR, /* the line end after the body of a chunk */
    BODY_LF,
    TRAILER,     /* at the beginning of a line after the last chunk */
    TRAILER_ANY, /* inside a trailer line */
    TRAILER_LF,  /* the LF of a trailer line */
    LAST_LF,     /* the LF of the empty line */
    DONE
};

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static maki_status fail_invalid(maki_err *err)
{
    return maki_fail(err, MAKI_INVALID, "the body is not valid chunked encoding");
}

/* Parse a byte of the line with the size of a chunk. */
static maki_status parse_size_byte(maki_chunks *c, char byte, maki_err *err)
{
    int digit = hex_value(byte);
    if (digit >= 0) {
        if (c->digits == 15) return maki_fail(err, MAKI_TOOBIG, "a chunk of 2^60 bytes or more");
        c->left = c->left << 4 | (uint64_t)digit;
        c->digits++;
        return MAKI_OK;
    }
    if (c->digits == 0) return fail_invalid(err);
    if (byte == '\r')
        c->state = SIZE_LF;
    else if (byte == ';' || byte == ' ' || byte == '\t')
        c->state = EXTENSION;
    else
        return fail_invalid(err);
    return MAKI_OK;
}

/* Parse a byte outside of a chunk's body. */
static maki_status parse_line_byte(maki_chunks *c, char byte, maki_err *err)
{
    if (++c->line > MAKI_CHUNK_LINE_MAX) {
        return maki_fail(err, MAKI_TOOBIG, "more than %d bytes between chunks",
                         MAKI_CHUNK_LINE_MAX);
    }
    switch (c->state) {
    case SIZE: return parse_size_byte(c, byte, err);
    case EXTENSION:
        if (byte == '\n') return fail_invalid(err);
        if (byte == '\r') c->state = SIZE_LF;
        return MAKI_OK;
    case SIZE_LF:
        if (byte != '\n') return fail_invalid(err);
        c->state = c->left ? BODY : TRAILER;
        c->line = 0;
        return MAKI_OK;
    case BODY_CR:
        if (byte != '\r') return fail_invalid(err);
        c->state = BODY_LF;
        return MAKI_OK;
    case BODY_LF:
        if (byte != '\n') return fail_invalid(err);
        *c = (maki_chunks){ 0 };
        return MAKI_OK;
    case TRAILER:
        c->state = byte == '\r' ? LAST_LF : TRAILER_ANY;
        return byte == '\n' ? fail_invalid(err) : MAKI_OK;
    case TRAILER_ANY:
        if (byte == '\n') return fail_invalid(err);
        if (byte == '\r') c->state = TRAILER_LF;
        return MAKI_OK;
    case TRAILER_LF:
        if (byte != '\n') return fail_invalid(err);
        c->state = TRAILER;
        return MAKI_OK;
    default: /* LAST_LF */
        if (byte != '\n') return fail_invalid(err);
        c->state = DONE;
        return MAKI_OK;
    }
}

maki_status maki_chunks_parse(maki_chunks *c, maki_str bytes, size_t *used, maki_str *body,
                              bool *end, maki_err *err)
{
    size_t i = 0;
    *body = (maki_str){ "", 0 };
    while (i < bytes.len && c->state != DONE && c->state != BODY) {
        maki_status st = parse_line_byte(c, bytes.ptr[i++], err);
        if (st != MAKI_OK) return st;
    }
    if (c->state == BODY && i < bytes.len) {
        size_t len = bytes.len - i < c->left ? bytes.len - i : (size_t)c->left;
        *body = (maki_str){ bytes.ptr + i, len };
        i += len;
        c->left -= len;
        if (c->left == 0) c->state = BODY_CR;
    }
    *used = i;
    *end = c->state == DONE;
    return MAKI_OK;
}

size_t maki_chunk_head(uint64_t n, char out[20])
{
    return (size_t)snprintf(out, 20, "%llx\r\n", (unsigned long long)n);
}

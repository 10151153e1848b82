/* http_head.h -- the head of an HTTP/1.1 request: the line, the fields, and how long the body is.
 *
 * Strict where two programs could read one head differently, because that is how requests are smuggled:
 * a line ends with CRLF, a name has no space before its colon, no line continues another, a length is
 * said once and in one way.  Spans point into the bytes that were parsed. */
#ifndef MAKI_NET_HTTP_HEAD_H
#define MAKI_NET_HTTP_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/status.h>
#include <maki/str.h>

enum {
    MAKI_HTTP_FIELDS = 128,     /* in one head */
    MAKI_HTTP_HEAD_MAX = 65536, /* bytes of one head, unless told otherwise */
};

typedef struct maki_http_field {
    maki_str name, value; /* as sent; white space around the value is left out */
} maki_http_field;

typedef struct maki_http_head {
    maki_str method, target;
    int minor; /* HTTP/1.0 or 1.1 */
    maki_http_field fields[MAKI_HTTP_FIELDS];
    size_t field_count;
    /* what they say */
    bool keep_alive;
    bool chunked;         /* the body comes in chunks */
    bool expects;         /* the client waits for 100 Continue */
    bool has_length;      /* neither: there is no body */
    uint64_t body_length; /* with has_length */
} maki_http_head;

/* Parse a head.  MAKI_OK with *used 0: it is not all here yet.  MAKI_OK with *used: so many bytes were the
 * head.  MAKI_INVALID: it is none (answer 400 and close).  MAKI_TOOBIG: longer than `max`, or too many
 * fields (431).  MAKI_UNSUPPORTED: another version or transfer coding (505, 501). */
maki_status maki_http_head_parse(maki_str bytes, size_t max, maki_http_head *out, size_t *used,
                                 maki_err *err);

/* The value of the first field of this name, in any case; NULL when there is none. */
const maki_str *maki_http_field_named(const maki_http_head *head, maki_str name);
/* The value itself; len 0 when it is missing or empty. */
maki_str maki_http_value(const maki_http_head *head, const char *name);

/* Are these the same, ASCII letters in any case? */
bool maki_http_same(maki_str a, maki_str b);

/* Does a list value ("gzip, chunked") have this word? */
bool maki_http_list_has(maki_str list, maki_str word);

/* A field that belongs to one connection only and is never handed on: Connection and what it names,
 * Keep-Alive, Proxy-*, TE, Trailer, Transfer-Encoding, Upgrade. */
bool maki_http_hop_field(const maki_http_head *head, maki_str name);

#endif

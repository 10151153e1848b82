/* http_head.h -- parse the head of an HTTP/1.1 request: request line, fields, length of the body.
 *
 * Strict where two programs could parse one head differently, which would allow request smuggling:
 * a line ends with CRLF, a name has no space before its colon, no line continues another, the
 * length of the body is defined by one field only.  Spans point into the bytes that were parsed. */
#ifndef MAKI_NET_HTTP_HEAD_H
#define MAKI_NET_HTTP_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/status.h>
#include <maki/str.h>

enum {
    MAKI_HTTP_FIELDS = 128,     /* in one head */
    MAKI_HTTP_HEAD_MAX = 65536, /* bytes of one head, by default */
};

typedef struct maki_http_field {
    maki_str name, value; /* as sent; without white space around the value */
} maki_http_field;

typedef struct maki_http_head {
    maki_str method, target;
    int minor; /* HTTP/1.0 or 1.1 */
    maki_http_field fields[MAKI_HTTP_FIELDS];
    size_t field_count;
    /* derived from the fields */
    bool keep_alive;
    bool chunked;         /* Transfer-Encoding: chunked */
    bool expect_continue; /* the client waits for 100 Continue */
    bool has_length;      /* Content-Length; without it and `chunked` there is no body */
    uint64_t body_length; /* if has_length */
} maki_http_head;

/* Parse a head.  MAKI_OK with *used 0: incomplete.  MAKI_OK with *used: the length of the
 * head.  MAKI_INVALID: malformed (respond 400 and close).  MAKI_TOOBIG: longer than `max`, or too many
 * fields (431).  MAKI_UNSUPPORTED: another version or transfer coding (505, 501). */
maki_status maki_http_head_parse(maki_str bytes, size_t max, maki_http_head *out, size_t *used,
                                 maki_err *err);

/* The value of the first field of this name, ignoring case; NULL: none. */
const maki_str *maki_http_field_find(const maki_http_head *head, maki_str name);
/* The same as a string; len 0 when the field is missing or empty. */
maki_str maki_http_value(const maki_http_head *head, const char *name);

/* Are these equal, ignoring the case of ASCII letters? */
bool maki_http_same(maki_str a, maki_str b);

/* Is it a hop-by-hop field, which is never forwarded: Connection and the fields it names,
 * Keep-Alive, Proxy-*, TE, Trailer, Transfer-Encoding, Upgrade? */
bool maki_http_hop_field(const maki_http_head *head, maki_str name);

#endif

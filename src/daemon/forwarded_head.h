/* forwarded_head.h -- the header lines of a request to send upstream, and those of a response to send to the client. */
#ifndef MAKI_DAEMON_FORWARDED_HEAD_H
#define MAKI_DAEMON_FORWARDED_HEAD_H

#include "base/buf.h"
#include "net/http_head.h"

/* The lines of a request for upstream, in `lines` (capacity MAKI_HTTP_FIELDS): all but Host, hop-by-hop fields,
 * x-maki-* and Expect (which was answered); Accept-Encoding is set to identity, so that the response can be recorded.
 * Returns their count; they point into the head. */
size_t maki_forward_request(const maki_http_head *head, maki_str *lines);

/* The length and the type of a response's body, from its head. */
typedef struct maki_forward_response {
    bool has_length; /* and is not chunked as well */
    uint64_t length;
    maki_str type; /* Content-Type */
} maki_forward_response;
/* The lines of a response for the client, each ended by CRLF, into `out`: all but hop-by-hop fields. */
maki_forward_response maki_forward_lines(const maki_http_head *fields, maki_buf *out);

#endif

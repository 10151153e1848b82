/* fake_record.h -- record every request in a directory, for tests that compare what a client sent with what was received.
 *
 *     000001.head   the request line and the fields, unchanged, each line ended by CRLF
 *     000001.body   the body without its framing, byte for byte
 *
 * The body file exists, empty, as soon as the request begins; it is complete when the response begins. */
#ifndef MAKI_FAKE_FAKE_RECORD_H
#define MAKI_FAKE_FAKE_RECORD_H

#include "net/http_head.h"

#include <maki/env.h>

typedef struct fake_record {
    const maki_env *env;
    const char *directory; /* NULL: do not record */
    unsigned count;
} fake_record;

/* Record the head of a request.  *body_fd is open for its body, -1 when not recording. */
maki_status fake_record_head(fake_record *record, const maki_http_head *head, int *body_fd,
                             maki_err *err);
maki_status fake_record_body(fake_record *record, int body_fd, maki_str bytes, maki_err *err);
void fake_record_end(fake_record *record, int body_fd);

#endif

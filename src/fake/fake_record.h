/* fake_record.h -- keep every request in a folder, for tests that compare what was sent with what arrived.
 *
 *     000001.head   the request line and the fields, as they came, each line ended by CRLF
 *     000001.body   the body without its framing, byte for byte
 *
 * The body is there, though empty, as soon as the request was seen; it is whole when the answer begins. */
#ifndef MAKI_FAKE_FAKE_RECORD_H
#define MAKI_FAKE_FAKE_RECORD_H

#include "net/http_head.h"

#include <maki/env.h>

typedef struct fake_record {
    const maki_env *env;
    const char *directory; /* NULL: nothing is kept */
    unsigned count;
} fake_record;

/* A request began.  *body_fd is open for its body, -1 when nothing is kept. */
maki_status fake_record_head(fake_record *record, const maki_http_head *head, int *body_fd,
                             maki_err *err);
maki_status fake_record_body(fake_record *record, int body_fd, maki_str bytes, maki_err *err);
void fake_record_end(fake_record *record, int body_fd);

#endif

/* reply_dump.h -- parse a reply and print the result: shared by the tests of replies and of the canon.
 *
 * JSON in the tables is written with ' for ", which C would want escaped. */
#ifndef MAKI_TESTS_WIRE_REPLY_DUMP_H
#define MAKI_TESTS_WIRE_REPLY_DUMP_H

#include "base/buf.h"
#include "wire/wire.h"

/* A copy of `text` with ' as "; freed by the next call with the same buffer. */
maki_str quotes(maki_buf *out, const char *text);

/* How the lines of a table become the bytes of a reply. */
typedef enum reply_form {
    EVENTS, /* each line the data of a server-sent event */
    RAW,    /* the bytes of an event stream as they are */
    LINES,  /* each line a line */
    WHOLE   /* a body */
} reply_form;

/* The bytes of the reply. */
maki_str reply_bytes(maki_buf *out, reply_form form, const char *text);

/* Feed it, `step` bytes at a time, and print the rows, one per line, and a line about the rest:
 *     stop="end_turn" id=... model=... usage=input/output/cache_read/cache_write/reasoning error=... complete invalid */
maki_status reply_dump(const maki_env *env, maki_protocol protocol, reply_form form, int status,
                       maki_str bytes, size_t step, maki_buf *out, maki_err *err);

#endif

/* read.h -- reading a request: what the files of the protocols are handed, and hand back.
 *
 * read.c walks the fields of the body and the items of the field with the messages; the protocol's file
 * makes a row of each item and gives it. */
#ifndef MAKI_WIRE_READ_H
#define MAKI_WIRE_READ_H

#include "base/json.h"
#include "base/json_write.h"
#include "base/spool.h"
#include "wire/wire.h"

/* What a field of a body is. */
typedef enum maki_field {
    MAKI_FIELD_MODEL,
    MAKI_FIELD_SYSTEM,
    MAKI_FIELD_TOOLS,
    MAKI_FIELD_STREAM,
    MAKI_FIELD_MAX_TOKENS,
    MAKI_FIELD_OPTIONS, /* an object with the most tokens of the reply in it */
    MAKI_FIELD_METADATA,
    MAKI_FIELD_CLIENT_ID,
    MAKI_FIELD_REFERENCE,    /* what was said before is kept by the provider */
    MAKI_FIELD_PREVIOUS,     /* likewise, and this is the reply it ended with */
    MAKI_FIELD_CONVERSATION, /* likewise, by the name of the whole */
    MAKI_FIELD_PROMPT,
    MAKI_FIELD_IMAGES,
    MAKI_FIELDS
} maki_field;

typedef struct maki_request_reader {
    const maki_env *env;
    const maki_protocol_spec *protocol;
    maki_str body;
    maki_wire_message_fn fn;
    void *ctx;
    maki_err *err;
    maki_wire_mark mark;  /* right after the message given last */
    maki_wire_mark *told; /* the caller's; may be NULL */
    maki_spool row;       /* the row that is being made */
    maki_spool waiting;   /* Responses: items that go into the next row, each followed by a comma */
    maki_str prompt, images; /* generate's */
    bool found;              /* the field with the messages was there */
} maki_request_reader;

/* A row made with `w` instead of a span of the body. */
void maki_request_reader_begin(maki_request_reader *r, maki_jw *w);
maki_status maki_request_reader_end(maki_request_reader *r, maki_jw *w, maki_str item);
/* A row that stands in the body. */
maki_status maki_request_reader_emit(maki_request_reader *r, maki_str row);

/* Where an item stands, for errors: "messages[3]". */
maki_status maki_request_reader_fail(maki_request_reader *r, const char *why);

/* The same for one that does not stand in an array. */
maki_status maki_request_reader_wrong_type(maki_request_reader *r);

/* The last assistant message and what follows it before the mark, as the items of an array. */
maki_json_iter maki_request_reader_last_turn(const maki_request_reader *r);

/* An item of the array (or what stands there instead, `single`) that is a row as it is. */
maki_status maki_verbatim_item(maki_request_reader *r, maki_str item, bool single);

#endif

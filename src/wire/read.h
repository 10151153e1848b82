/* read.h -- parsing a request: the interface between read.c and the files of the protocols.
 *
 * read.c iterates over the fields of the body and the items of the field with the messages; the protocol's file
 * converts each item to a row and emits it. */
#ifndef MAKI_WIRE_READ_H
#define MAKI_WIRE_READ_H

#include "base/json_access.h"
#include "base/json_write.h"
#include "base/spool.h"
#include "wire/wire.h"

/* The meaning of a field of a request. */
typedef enum maki_field {
    MAKI_FIELD_MODEL,
    MAKI_FIELD_SYSTEM,
    MAKI_FIELD_TOOLS,
    MAKI_FIELD_STREAM,
    MAKI_FIELD_MAX_TOKENS,
    MAKI_FIELD_OPTIONS, /* an object with the reply's token limit */
    MAKI_FIELD_METADATA,
    MAKI_FIELD_CLIENT_ID,
    MAKI_FIELD_REFERENCE,    /* earlier messages are stored by the provider */
    MAKI_FIELD_PREVIOUS,     /* likewise, by the id of the last reply */
    MAKI_FIELD_CONVERSATION, /* likewise, by the id of the conversation */
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
    maki_wire_checkpoint checkpoint;         /* right after the last emitted message */
    maki_wire_checkpoint *caller_checkpoint; /* the caller's; may be NULL */
    maki_spool row;                          /* the row being written */
    maki_spool reasoning;    /* Responses: reasoning items of the next row, a comma after each */
    maki_str prompt, images; /* generate's */
    bool found;              /* the field with the messages was present */
} maki_request_reader;

/* Emit a row written with `w`, which was converted from the span `item` of the body (len 0: reading cannot resume after
 * it). */
void maki_request_reader_begin(maki_request_reader *r, maki_jw *w);
maki_status maki_request_reader_end(maki_request_reader *r, maki_jw *w, maki_str item);
/* Emit a row that is a span of the body. */
maki_status maki_request_reader_emit(maki_request_reader *r, maki_str row);

/* Fail with the position of the item: "messages[3] must be ...". */
maki_status maki_request_reader_fail(maki_request_reader *r, const char *why);

/* Fail because the value of the field with the messages is not an array. */
maki_status maki_request_reader_wrong_type(maki_request_reader *r);

/* The last assistant message and the messages after it, up to the checkpoint, as array items. */
maki_json_iter maki_request_reader_last_turn(const maki_request_reader *r);

/* maki_protocol_spec.read_item for items that are rows already; `single`: the value was not an array. */
maki_status maki_copy_item(maki_request_reader *r, maki_str item, bool single);

#endif

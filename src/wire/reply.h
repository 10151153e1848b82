/* reply.h -- the state of a reply being parsed, and the functions by which the protocols' files fill it.
 *
 * reply.c splits the bytes into events (or collects a whole body); the protocol's file assembles their contents and,
 * at the end, writes the rows.  No function here returns a status: the first failure sticks to the
 * reply (sticky_error.h). */
#ifndef MAKI_WIRE_REPLY_H
#define MAKI_WIRE_REPLY_H

#include "net/sse.h"
#include "wire/json_assembler.h"
#include "wire/json_row.h"
#include "wire/wire.h"

/* A block, call or item that arrives in deltas, identified by its index. */
typedef struct maki_open_part {
    uint64_t index;
    bool done;
    uint32_t call; /* its number among the reported calls, from 1; 0: not a call */
    maki_json_assembler fields;
    maki_json_assembler nested; /* chat: the function of a call */
} maki_open_part;

struct maki_wire_reply {
    const maki_env *env;
    const maki_protocol_spec *protocol;
    maki_sticky_error failure; /* nothing is assembled or reported after it */
    int http_status;
    enum { MAKI_FORM_WHOLE, MAKI_FORM_EVENTS, MAKI_FORM_LINES } form;

    maki_sse sse;
    maki_spool body; /* the whole body, or the current line */
    bool skipping;   /* an event was too long: discard up to the next empty line */
    bool line_start; /* while skipping: at the start of a line */
    bool at_end;     /* the input has ended: the last event may be truncated */

    uint64_t message_bytes;      /* bytes assembled of the message */
    uint64_t meta_bytes;         /* and of meta and usage */
    maki_json_assembler message; /* fields of the message */
    maki_open_part **parts;      /* not complete yet, in order */
    size_t part_count, part_capacity;
    maki_spool blocks;         /* complete blocks, a comma after each */
    maki_json_assembler meta;  /* model, id, stop, error: JSON values */
    maki_json_assembler usage; /* the fields of usage, latest values */
    bool complete, invalid, abandoned;

    struct {
        maki_wire_delta_fn fn; /* NULL: none */
        void *ctx;
        uint32_t call_count; /* started so far */
        bool called;         /* a delta was reported */
    } listener;

    maki_spool row_text; /* the rows */
    struct maki_row_range {
        uint64_t start, end;
    } * row_ranges;
    size_t row_count, row_capacity;
    maki_spool usage_json;
    maki_str *row_spans; /* rows, as spans */
};

/* ---- meta --------------------------------------------------------------------------------------------- */

/* Set a value unless it has len 0.  The last value wins; with _once, for values that every event repeats, the first. */
void maki_reply_set_meta(maki_wire_reply *r, maki_str name, maki_str value);
void maki_reply_set_meta_once(maki_wire_reply *r, maki_str name, maki_str string);
#define MAKI_META_MODEL MAKI_LIT("model")
#define MAKI_META_ID    MAKI_LIT("id")
#define MAKI_META_STOP  MAKI_LIT("stop")
#define MAKI_META_ERROR MAKI_LIT("error")
/* Merge the fields of a usage object: newer values replace older ones. */
void maki_reply_add_usage(maki_wire_reply *r, maki_str usage);

/* ---- parts -------------------------------------------------------------------------------------------- */

maki_open_part *maki_reply_find_part(maki_wire_reply *r, uint64_t index); /* NULL: none */
maki_open_part *maki_reply_add_part(maki_wire_reply *r, uint64_t index);  /* NULL: out of memory */
/* Turn the leading parts that are done into blocks; with `all`, every part. */
void maki_reply_flush(maki_wire_reply *r, bool all);
/* Append a complete block. */
void maki_reply_add_block(maki_wire_reply *r, maki_str value);
/* The blocks so far, as array items, a comma after each. */
maki_str maki_reply_blocks(maki_wire_reply *r);
/* An iterator over such a list. */
maki_json_iter maki_items_iter(maki_str items);

/* ---- deltas for the callback (deltas.c); empty values and values that are not strings are ignored ----------------- */

void maki_reply_emit(maki_wire_reply *r, maki_delta_kind kind, maki_str value);
/* A call starts: its number is stored in `part`; NULL when it comes complete.  Only the first name counts. */
void maki_reply_emit_call(maki_wire_reply *r, maki_open_part *part, maki_str name, maki_str id);
/* Its arguments: a part of the text, or (part NULL: of the latest call) an object. */
void maki_reply_emit_input(maki_wire_reply *r, const maki_open_part *part, maki_str value);
/* All parts of a row. */
void maki_reply_emit_row(maki_wire_reply *r, maki_str row);

/* ---- rows --------------------------------------------------------------------------------------------- */

void maki_reply_begin_row(maki_wire_reply *r, maki_jw *w);
void maki_reply_end_row(maki_wire_reply *r, maki_jw *w);
/* Append a complete row. */
void maki_reply_add_row(maki_wire_reply *r, maki_str row);

#endif

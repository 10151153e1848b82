/* reply.h -- a reply that is being put together: what the files of the protocols work on.
 *
 * Nothing here answers a status: the first failure sticks to the reply (sticky_error.h).
 *
 * reply.c takes the bytes apart into events (or keeps a whole body); the protocol's file gathers what they
 * say and, at the end, writes the rows. */
#ifndef MAKI_WIRE_REPLY_H
#define MAKI_WIRE_REPLY_H

#include "net/sse.h"
#include "wire/json_assembler.h"
#include "wire/json_row.h"
#include "wire/wire.h"

/* Something with an index of its own that comes in pieces: a block, a call, an item. */
typedef struct maki_part {
    uint64_t index;
    bool done;
    uint32_t call; /* the number under which it is heard as a call, counted from 1; 0: it is not */
    maki_json_assembler fields;
    maki_json_assembler inner; /* chat: the function of a call */
} maki_part;

struct maki_wire_reply {
    const maki_env *env;
    const maki_protocol_spec *protocol;
    maki_sticky_error failure; /* nothing is gathered or heard after it */
    int http_status;
    enum { MAKI_FORM_WHOLE, MAKI_FORM_EVENTS, MAKI_FORM_LINES } form;

    maki_sse sse;
    maki_spool body; /* the whole body, or the line at hand */
    bool skipping;   /* an event was too long: up to the next empty line */
    bool line_start; /* while skipping: right after a line's end */
    bool ending;     /* what comes now may be cut */

    uint64_t held;               /* bytes gathered of the message */
    uint64_t noted;              /* and besides it */
    maki_json_assembler message; /* fields of the message */
    maki_part **parts;           /* what is still coming, in order */
    size_t part_count, part_capacity;
    maki_spool blocks;         /* what is whole, a comma after each */
    maki_json_assembler facts; /* model, id, stop, error: as values */
    maki_json_assembler usage; /* the fields of usage, newest values */
    bool complete, garbage, given_up;

    struct {
        maki_wire_delta_fn fn; /* NULL: nobody listens */
        void *ctx;
        uint32_t calls; /* that began */
        bool any;       /* something was heard */
    } ear;

    maki_spool out; /* the rows */
    struct maki_reply_row {
        uint64_t start, end;
    } * rows;
    size_t row_count, row_capacity;
    maki_spool usage_json;
    maki_str *told; /* rows, as spans */
};

/* ---- facts -------------------------------------------------------------------------------------------- */

/* A value is noted unless it has len 0; the newest counts, or, of what every event says again, the first. */
void maki_reply_note(maki_wire_reply *r, maki_str name, maki_str value);
void maki_reply_note_first(maki_wire_reply *r, maki_str name, maki_str string);
#define MAKI_NOTE_MODEL MAKI_LIT("model")
#define MAKI_NOTE_ID    MAKI_LIT("id")
#define MAKI_NOTE_STOP  MAKI_LIT("stop")
#define MAKI_NOTE_ERROR MAKI_LIT("error")
/* The fields of an object with counts: kept, newer values over older ones. */
void maki_reply_usage(maki_wire_reply *r, maki_str usage);

/* ---- parts -------------------------------------------------------------------------------------------- */

maki_part *maki_reply_part(maki_wire_reply *r, uint64_t index);     /* NULL: there is none */
maki_part *maki_reply_new_part(maki_wire_reply *r, uint64_t index); /* NULL: no memory */
/* Those at the front that are done become blocks; with `all`, the others too. */
void maki_reply_flush(maki_wire_reply *r, bool all);
/* A block that is whole. */
void maki_reply_block(maki_wire_reply *r, maki_str value);
/* The blocks so far, as the items of an array, a comma after each. */
maki_str maki_reply_blocks(maki_wire_reply *r);
/* The same as something to walk. */
maki_json_iter maki_items_in(maki_str items);

/* ---- pieces, for who listens (deltas.c); values that are no strings or empty say nothing ----------------- */

void maki_reply_delta(maki_wire_reply *r, maki_delta_kind kind, maki_str value);
/* A call: `part` remembers it; NULL when it comes whole.  The first name counts. */
void maki_reply_delta_call(maki_wire_reply *r, maki_part *part, maki_str name, maki_str id);
/* What it is given: a piece of text, or (part NULL: of the newest call) an object. */
void maki_reply_delta_input(maki_wire_reply *r, const maki_part *part, maki_str value);
/* All that a row says. */
void maki_reply_delta_row(maki_wire_reply *r, maki_str row);

/* ---- rows --------------------------------------------------------------------------------------------- */

void maki_reply_row(maki_wire_reply *r, maki_jw *w);
void maki_reply_row_end(maki_wire_reply *r, maki_jw *w);
/* A row that is there already. */
void maki_reply_row_is(maki_wire_reply *r, maki_str row);

#endif

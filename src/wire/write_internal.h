/* write_internal.h -- between write.c, which brings rows into an order, and write_PROTOCOL.c, which say how
 * each piece looks. */
#ifndef MAKI_WIRE_WRITE_INTERNAL_H
#define MAKI_WIRE_WRITE_INTERNAL_H

#include "wire/content_part.h"
#include "wire/sticky_error.h"
#include "wire/write.h"

/* A call of the turn that is open, or was last. */
typedef struct maki_asked {
    maki_str id, name; /* as they are written: JSON strings */
    maki_str said_id;  /* by which its result names it */
    maki_str type;     /* Responses: the item's, a JSON string; len 0: function_call */
    bool answered;
    uint64_t at, len;           /* its result in `early`; len 0: it was not early */
    uint64_t call_at, call_len; /* functions: the call itself in `calls` */
} maki_asked;

typedef struct maki_shape maki_shape;
typedef struct maki_protocol_writing maki_protocol_writing; /* protocol.h */

struct maki_wire_writer {
    const maki_env *env;
    maki_wire_style style;
    const maki_protocol_writing *writing;
    const maki_shape *shape;
    maki_jw *w;
    maki_sticky_error failure; /* of what waits */
    bool any;                  /* a message was written that is not the system's */

    maki_speaker open; /* whose message is open; NOBODY: none is */
    bool lone;         /* so far it is one string, in `content` */

    maki_arena arena; /* of the turn */
    maki_asked *asked;
    size_t asked_count, asked_capacity;
    size_t next;      /* the first of them that was not written yet */
    bool calling;     /* more calls may follow: none was answered */
    uint64_t turns;   /* with calls, this one included */
    maki_spool early; /* results that came before those of earlier calls */
    maki_spool held;  /* rows that came before the results, a newline after each */
    size_t held_count;

    /* A message of calls that is being put together (chat, Ollama); items have a comma after each. */
    maki_spool content, calls, thoughts;
    size_t parts;        /* in `content` */
    bool from_string;    /* `content` is one string as it came */
    maki_str thought_as; /* the field that `thoughts` becomes */
};

/* How a protocol looks. */
struct maki_shape {
    bool merges; /* neighbours of one role are one message, begun by `begin` and ended by `end` */
    void (*begin)(maki_wire_writer *wr, maki_speaker by);
    void (*end)(maki_wire_writer *wr);
    /* All of a row but its results; its calls go through maki_writer_asked. */
    void (*say)(maki_wire_writer *wr, const maki_content_parts *row, maki_speaker by);
    /* No more calls will follow in this turn; may be NULL. */
    void (*called)(maki_wire_writer *wr);
    /* One value: the result of a call, to `w`. */
    void (*result)(maki_wire_writer *wr, maki_jw *w, const maki_asked *asked,
                   const maki_content_part *result);
    /* Right before the result of a call is written; may be NULL. */
    void (*before_result)(maki_wire_writer *wr, const maki_asked *asked);
};

/* ---- for the shapes: what a row says ------------------------------------------------------------------- */

/* The pieces of a row but for results that were written; of those that answer nothing, their content. */
typedef struct maki_turn_text {
    maki_wire_writer *wr;
    maki_content_parts row, result;
    bool inner;
} maki_turn_text;
maki_turn_text maki_turn_text_of(maki_wire_writer *wr, const maki_content_parts *row);
bool maki_turn_text_next(maki_turn_text *saying, maki_content_part *out);

/* Note a call: a result is expected.  What it has not (a name, an id) is made.  NULL: no memory, and the
 * call is not to be written. */
maki_asked *maki_writer_asked(maki_wire_writer *wr, maki_content_part *call);
/* Merging shapes: see to it that a message of this speaker is open. */
void maki_writer_begin(maki_wire_writer *wr, maki_speaker by);

/* Add to a text that is put together in a spool: the text of a string, a newline before it unless it is the first. */
void maki_writer_add_text(maki_wire_writer *wr, maki_spool *spool, bool first, maki_str string);
/* The items that a spool holds, a comma after each, as the array `name`; nothing when it holds none. */
void maki_writer_put_items(maki_wire_writer *wr, const char *name, maki_spool *spool);
/* ---- for the shapes: writing ---------------------------------------------------------------------------- */

/* A string made of escaped parts. */
void maki_put_parts(maki_jw *w, const maki_str *parts, size_t count);
/* The URL of an image or a file, "data:..." when it is bytes. */
void maki_put_url(maki_jw *w, const maki_media *media);
/* The input of a call as an object: as it is, or out of its string.  What is no object stands in the field
 * `arguments` of one. */
void maki_put_input(maki_jw *w, maki_str input);
/* The same as the text of a string. */
void maki_put_arguments(maki_jw *w, maki_str input);
/* JSON that stands in a string, if it is an object; false: nothing was written. */
bool maki_put_object_in(maki_jw *w, maki_str string);
/* The texts of a content as one string, a newline between them; an image is "[image]". */
void maki_put_text_of(maki_jw *w, maki_str content);
/* Those fields of a block that are named here, as they are.  `known`: a value in it whose end was found already; len 0:
 * none. */
void maki_put_known(maki_jw *w, maki_str block, maki_str known, const char *names);
#endif

/* message_writer_internal.h -- the interface between message_writer.c, which orders rows, and write_PROTOCOL.c, which
 * write each part in their format. */
#ifndef MAKI_WIRE_MESSAGE_WRITER_INTERNAL_H
#define MAKI_WIRE_MESSAGE_WRITER_INTERNAL_H

#include "wire/content_part.h"
#include "wire/message_writer.h"
#include "wire/sticky_error.h"

/* A call of the current or last call round. */
typedef struct maki_pending_call {
    maki_str id, name;    /* as written: JSON strings */
    maki_str original_id; /* its id in the row, by which its result refers to it */
    maki_str type;        /* Responses: the item's, a JSON string; len 0: function_call */
    bool answered;
    uint64_t early_offset, early_len; /* its result in `early`; len 0: not early */
    uint64_t call_offset, call_len;   /* functions: the call in `calls` */
} maki_pending_call;

typedef struct maki_message_format maki_message_format;
typedef struct maki_request_format maki_request_format; /* protocol.h */

struct maki_wire_writer {
    const maki_env *env;
    maki_wire_writer_options options;
    const maki_request_format *request_format;
    const maki_message_format *format;
    maki_jw *w;
    maki_sticky_error failure; /* of the spools */
    bool any_message;          /* a message other than the system's was written */

    maki_author open_author; /* author of the open message; NONE: no open message */
    bool message_is_string;  /* so far the open message is one string, in `content` */

    maki_arena arena; /* of the call round */
    maki_pending_call *pending;
    size_t pending_count, pending_capacity;
    size_t next;          /* index of the first whose result is not written */
    bool collecting;      /* more calls may follow: no result yet */
    uint64_t call_rounds; /* so far, including this one */
    maki_spool early;     /* results that came too early */
    maki_spool deferred;  /* rows that came before the results, one per line */
    size_t deferred_count;

    /* The message being collected (chat, Ollama; `images`: Ollama); items have a comma after each. */
    maki_spool content, calls, reasoning, images;
    size_t part_count;        /* in `content` */
    bool content_is_string;   /* `content` is a single string, with quotes */
    maki_str reasoning_field; /* the field for `reasoning` */
};

/* The format of a protocol. */
struct maki_message_format {
    bool merges; /* adjacent messages of one role are merged, between `begin` and `end` */
    void (*begin)(maki_wire_writer *wr, maki_author author);
    void (*end)(maki_wire_writer *wr);
    /* Write a row except its results; its calls go through maki_writer_add_call. */
    void (*write_row)(maki_wire_writer *wr, const maki_content_parts *row, maki_author author);
    /* All calls of this round were added; may be NULL. */
    void (*end_calls)(maki_wire_writer *wr);
    /* Write the result of a call to `w`, as one value. */
    void (*write_result)(maki_wire_writer *wr, maki_jw *w, const maki_pending_call *pending,
                         const maki_content_part *result);
    /* Right before the result of a call is written; may be NULL. */
    void (*before_result)(maki_wire_writer *wr, const maki_pending_call *pending);
};

/* ---- for the formats: parts of a row -------------------------------------------------------------------- */

/* The parts of a row without the results of known calls; for a result without a call, the parts of its content. */
typedef struct maki_row_parts {
    maki_wire_writer *wr;
    maki_content_parts row, result;
    bool in_result;
} maki_row_parts;
maki_row_parts maki_row_parts_of(maki_wire_writer *wr, const maki_content_parts *row);
bool maki_row_parts_next(maki_row_parts *iter, maki_content_part *out);

/* Add a call: its result is expected.  A missing name or id is filled in.  NULL: out of memory; do not write
 * the call. */
maki_pending_call *maki_writer_add_call(maki_wire_writer *wr, maki_content_part *call);
/* Formats that merge messages: ensure that a message of this author is open. */
void maki_writer_begin(maki_wire_writer *wr, maki_author author);

/* Append the text of a string to a spool, after a newline unless it is the first. */
void maki_writer_add_text(maki_wire_writer *wr, maki_spool *spool, bool first, maki_str string);
/* Write the items of a spool as the array `name`, unless it is empty; clears it. */
void maki_writer_write_items(maki_wire_writer *wr, const char *name, maki_spool *spool);
/* Clear the collected message, except its calls. */
void maki_writer_clear_message(maki_wire_writer *wr);
/* ---- for the formats: writing ---------------------------------------------------------------------------- */

/* Write a string from escaped parts. */
void maki_write_joined(maki_jw *w, const maki_str *parts, size_t count);
/* Write the URL of an image or a file, "data:..." for bytes. */
void maki_write_url(maki_jw *w, const maki_media *media);
/* Write the input of a call as an object: unchanged, or parsed from its string.  Other values go into the field
 * `arguments` of an object. */
void maki_write_input(maki_jw *w, maki_str input);
/* Write it as a string. */
void maki_write_arguments(maki_jw *w, maki_str input);
/* Write the JSON object inside a string; false: it is not one, nothing was written. */
bool maki_write_parsed_object(maki_jw *w, maki_str string);
/* Write the texts of a content as one string, separated by newlines; an image is "[image]". */
void maki_write_content_text(maki_jw *w, maki_str content);
/* Write the named fields of a block unchanged.  `known`: the span of one of its values, which is not scanned
 * again; len 0: none. */
void maki_write_fields(maki_jw *w, maki_str block, maki_str known, const char *names);
#endif

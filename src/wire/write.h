/* write.h -- rows of the log as the messages of a protocol: the other direction of wire.h.
 *
 * Rows of any shape go in one after the other; what comes out is an array of messages (or contents, or
 * items) that the protocol accepts.  What a protocol said itself is written as it was; the rest is put into
 * its shape (content_part.h has the pieces; one file write_PROTOCOL.c has the shape).
 *
 * Whatever order the rows are in, on the way out
 *   - every result stands right after its call, in the order of the calls; what stood between them follows.
 *     Calls made side by side, in one row or in several, are one turn;
 *   - a call that nobody answered gets the result "[No result: the call was interrupted]"; a second result
 *     of the same call is left out, and one whose call is not there becomes words of the user;
 *   - for Anthropic and Gemini neighbours of one role are one message, and the first is the user's (a short
 *     one is made when it is not); a system message among others is the user's, and those before all others
 *     are left to maki_wire_write_system;
 *   - messages and texts that a provider would refuse because they are empty are left out;
 *   - ids are made to fit: Anthropic takes only letters, digits, _ and -; it and Responses no id twice; OpenAI
 *     only so many characters.
 *
 * Memory does not grow with the rows: what has to wait (calls of an open turn, results that came too
 * early, rows between a call and its result) waits in spools.  A writer belongs to one thread. */
#ifndef MAKI_WIRE_WRITE_H
#define MAKI_WIRE_WRITE_H

#include "base/json_write.h"
#include "wire/request_fields.h"

typedef struct maki_wire_style {
    maki_protocol protocol; /* not NONE, not GENERATE */
    maki_reasoning reasoning;
    bool functions;  /* chat: function_call and role function instead of tool_calls and role tool */
    bool sign_calls; /* Gemini: calls made elsewhere carry the signature that stands for none */
    bool as_it_is;   /* nothing is made: no missing results, no first message */
} maki_wire_style;

typedef struct maki_wire_writer maki_wire_writer;

/* The messages go to `w`, which is inside an open array.  `env` and `w` are borrowed. */
maki_status maki_wire_writer_open(const maki_env *env, const maki_wire_style *style, maki_jw *w,
                                  maki_wire_writer **out, maki_err *err) MAKI_MUST_CHECK;
/* One row, checked JSON.  What is no message (an object with a role) is passed over. */
maki_status maki_wire_writer_add(maki_wire_writer *writer, maki_str row, maki_err *err);
/* After the last row: what is open is closed.  *any: a message was written. */
maki_status maki_wire_writer_end(maki_wire_writer *writer, bool *any, maki_err *err);
void maki_wire_writer_close(maki_wire_writer *writer); /* accepts NULL */

/* Does the protocol have the system prompt outside its messages, and in a field of what kind? */
bool maki_wire_system_apart(maki_protocol protocol);
/* A row of the system's: the texts, as items of the open array of that field. */
void maki_wire_write_system(maki_jw *w, maki_protocol protocol, maki_str row);
bool maki_wire_is_system(maki_str row);

#endif

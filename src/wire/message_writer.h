/* message_writer.h -- write rows of the log as the messages of a protocol: the inverse of wire.h.
 *
 * In:  rows of any shape, one after the other.
 * Out: an array of messages (or contents, or items) that the protocol accepts.  Messages of the protocol itself are
 *      written unchanged; others are converted (content_part.h has the parts; write_PROTOCOL.c the format).
 *
 * Whatever the order of the rows, in the output
 *   - every result is right after its call, in the order of the calls; rows between them follow.  Parallel calls,
 *     in one row or in several, are one call round;
 *   - a call without a result gets the synthetic result "[No result: the call was interrupted]"; a second result
 *     of the same call is left out, and one without a call becomes text of the user;
 *   - for Anthropic and Gemini adjacent messages of one role are merged, and the first is the user's (a short
 *     synthetic one is inserted if not); a system message among others becomes the user's, and those before all others
 *     are left to maki_wire_write_system;
 *   - empty messages and texts, which providers refuse, are left out;
 *   - ids are adapted: Anthropic accepts only letters, digits, _ and -; Anthropic and Responses require unique
 *     ids; OpenAI limits their length.
 *
 * Memory does not grow with the rows: what is deferred (calls of an open call round, results that came too early, rows
 * between a call and its result) is in spools.  A writer belongs to one thread. */
#ifndef MAKI_WIRE_MESSAGE_WRITER_H
#define MAKI_WIRE_MESSAGE_WRITER_H

#include "base/json_write.h"
#include "wire/request_fields.h"

typedef struct maki_wire_writer_options {
    maki_protocol protocol; /* not NONE, not GENERATE */
    maki_reasoning reasoning;
    bool functions;  /* chat: function_call and role function instead of tool_calls and role tool */
    bool sign_calls; /* Gemini: calls of other models get a placeholder signature */
    bool no_synthetic; /* insert no missing results and no first message */
} maki_wire_writer_options;

typedef struct maki_wire_writer maki_wire_writer;

/* The messages go to `w`, which is inside an open array.  `env` and `w` are borrowed. */
maki_status maki_wire_writer_open(const maki_env *env, const maki_wire_writer_options *options,
                                  maki_jw *w, maki_wire_writer **out, maki_err *err)
    MAKI_MUST_CHECK;
/* One row, checked JSON.  What is not a message (an object with a role) is skipped. */
maki_status maki_wire_writer_add(maki_wire_writer *writer, maki_str row, maki_err *err);
/* After the last row: close the open call round and message.  *any: a message was written. */
maki_status maki_wire_writer_end(maki_wire_writer *writer, bool *any, maki_err *err);
void maki_wire_writer_close(maki_wire_writer *writer); /* accepts NULL */

/* Is the system prompt a list outside the messages? */
bool maki_wire_system_is_separate(maki_protocol protocol);
/* Write the texts of a system message as items of that list. */
void maki_wire_write_system(maki_jw *w, maki_protocol protocol, maki_str row);
bool maki_wire_is_system(maki_str row);

#endif

/* reminder.h -- the reminders that agents insert into messages of the user: the date, the directory, a list of skills.
 *
 * An agent writes them for the model, not the user, and does not keep them with the message: when it resumes a
 * conversation, it writes today's into the first and the newest message and leaves out those of before.  So a message
 * is the same with and without them (canon.h).
 *
 * A reminder is a block between two tags of a temporary row of inserted_text.h, at the beginning of a text or after another
 * reminder.  White space after it belongs to it.  One in the middle of a text is a text: a user may quote it. */
#ifndef MAKI_WIRE_REMINDER_H
#define MAKI_WIRE_REMINDER_H

#include <stdint.h>

#include <maki/json.h>

/* How many decoded bytes of the JSON string `text` are reminders at its beginning; 0: none. */
uint64_t maki_reminders_len(maki_str text);

#endif

/* message_text.h -- a message as text that a model can read: "[role]: content".
 *
 * Calls and their results are lines of their own; images, sounds and documents a note; what the model thought
 * is left out.  Base64 and other data is never copied: a run of hundreds of its
 * characters becomes a note too.  A message of any length is written to the sink in chunks. */
#ifndef MAKI_SUMMARY_MESSAGE_TEXT_H
#define MAKI_SUMMARY_MESSAGE_TEXT_H

#include <maki/env.h>

#include "summary/summary_words.h"

/* `json` is a message that was checked, in either shape.  The letters of its texts are added to
 * *letters.  A message without text writes nothing; any other ends with an empty line. */
maki_status maki_message_text(maki_str json, maki_script_counts *letters, maki_sink out,
                              maki_err *err);

#endif

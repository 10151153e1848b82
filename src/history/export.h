/* export.h -- a conversation in the formats of other programs, streamed, in constant memory.
 *
 *     roo         api_conversation_history.json: every message that no rewind removed, summaries and
 *                 markers in their places, and the tags that name what hides a message.  Trimmed
 *                 messages are exported in full: the format has no trims
 *     lines       all rows of the log and its parents, hidden or not
 *     openai      the view, as an array of chat messages with the fields that API takes
 *     anthropic   the view, as an array of messages with the fields that API takes; with system
 *                 messages before all others, a body {"system":[...],"messages":[...]}, for they have no
 *                 place in the array
 *
 * Of an imported roo array the export is the same array (import.h).  The chat formats translate as a request
 * does (wire/message_writer.h): calls, results and images from one shape to the other, results right after their calls;
 * reasoning without a signature is left out, as is a message that becomes empty. */
#ifndef MAKI_HISTORY_EXPORT_H
#define MAKI_HISTORY_EXPORT_H

#include "history/conv.h"

typedef enum maki_export_format {
    MAKI_EXPORT_ROO,
    MAKI_EXPORT_LINES,
    MAKI_EXPORT_OPENAI,
    MAKI_EXPORT_ANTHROPIC
} maki_export_format;

/* MAKI_UNSUPPORTED: unknown; the message lists the formats. */
maki_status maki_export_format_parse(maki_str name, maki_export_format *out, maki_err *err);

/* Write the conversation at a revision, which is given as to maki_conv_view. */
maki_status maki_export(maki_conv *conv, uint64_t seq, uint64_t ev, maki_export_format format,
                        maki_sink sink, maki_err *err) MAKI_MUST_CHECK;

/* Roo's UI messages: the imported ones unchanged, and one for every condense and truncation
 * since (say condense_context, sliding_window_truncation). */
maki_status maki_export_ui(maki_conv *conv, uint64_t seq, uint64_t ev, maki_sink sink,
                           maki_err *err) MAKI_MUST_CHECK;

/* export_chat.c */
maki_status maki_export_chat(maki_conv *conv, const maki_view *view, bool anthropic, maki_sink sink,
                             maki_err *err);

#endif

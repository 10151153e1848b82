/* request.h -- write the body of a request: the messages of a view, the system prompt, tools and options.
 *
 * For any protocol with a writer (wire/protocol.h): OpenAI chat completions and Responses, Anthropic messages,
 * Ollama chat, Gemini generateContent.  Messages are copied from the log, and converted only where the formats differ;
 * wire/message_writer.h defines how their order, unanswered calls and empty messages are handled.  The body is written
 * to a sink in chunks, in constant memory; the same input gives the same bytes.
 *
 *     {"model", options..., system, "messages": [...], "tools": [...], "tool_choice"}
 *
 * What a protocol does not allow is not sent; whether a model supports an option is not checked. */
#ifndef MAKI_ASSEMBLE_REQUEST_H
#define MAKI_ASSEMBLE_REQUEST_H

#include "history/render.h"
#include "wire/request_fields.h"

/* MAKI_UNSUPPORTED: no writer for this protocol; the error lists the supported protocols. */
maki_status maki_request_protocol_parse(maki_str name, maki_protocol *out, maki_err *err);

/* MAKI_REFUSED NOTHING_TO_SEND: the view has only system messages; what was written so far is incomplete.  The view
 * must be the conversation's current one (maki_conv_view). */
maki_status maki_request_write(maki_conv *conv, const maki_view *view, const maki_request *request,
                               maki_sink sink, maki_err *err) MAKI_MUST_CHECK;
/* The same without a conversation: the messages are request->extra_messages. */
maki_status maki_request_write_rows(const maki_env *env, const maki_request *request,
                                    maki_sink sink, maki_err *err) MAKI_MUST_CHECK;

#endif

/* request.h -- the whole body of a request: a view of a conversation, and what is sent along with it.
 *
 * In any protocol that has a writer (wire/protocol.h): OpenAI chat completions and Responses, Anthropic messages,
 * Ollama's chat, Gemini's generateContent.  Messages are copied out of the log, and translated only where the shapes differ;
 * what is done about their order, unanswered calls and empty messages stands in wire/write.h.  The body is
 * written to a sink as it is made, in constant memory; the same input gives the same bytes.
 *
 *     {"model", options..., system, "messages": [...], "tools": [...], "tool_choice"}
 *
 * Messages stand before the tools, as the task files have them.  What a provider refuses is not sent, but it
 * is not checked whether a model can do what is asked of it. */
#ifndef MAKI_ASSEMBLE_REQUEST_H
#define MAKI_ASSEMBLE_REQUEST_H

#include "history/render.h"
#include "wire/request_fields.h"

/* MAKI_UNSUPPORTED: a request cannot be written in it; names those there are. */
maki_status maki_request_protocol(maki_str name, maki_protocol *out, maki_err *err);

/* MAKI_REFUSED NOTHING_TO_SEND when the view has no message but the system's: what was written till then is
 * no request.  The view must be the conversation's current one (maki_conv_view). */
maki_status maki_request_write(maki_conv *conv, const maki_view *view, const maki_request *request,
                               maki_sink sink, maki_err *err) MAKI_MUST_CHECK;
/* The same with no conversation: the messages are those of `before`. */
maki_status maki_request_write_rows(const maki_env *env, const maki_request *request,
                                    maki_sink sink, maki_err *err) MAKI_MUST_CHECK;

#endif

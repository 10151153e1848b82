/* fake_reply.h -- format answers and errors in each protocol: one file per protocol.
 *
 * Each writes the complete body of the reply: JSON, or the events of a stream one after the other, as the real
 * providers send them.  Ids are derived from the request and the time is fixed: the same request gives the same
 * bytes. */
#ifndef MAKI_FAKE_FAKE_REPLY_H
#define MAKI_FAKE_FAKE_REPLY_H

#include "base/buf.h"
#include "fake/fake_answer.h"

#define FAKE_CREATED ((int64_t)1760000000) /* the time in every reply */

void fake_reply_chat(maki_buf *out, const fake_request *request, const fake_answer *answer);
void fake_reply_responses(maki_buf *out, const fake_request *request, const fake_answer *answer);
void fake_reply_messages(maki_buf *out, const fake_request *request, const fake_answer *answer);
void fake_reply_ollama(maki_buf *out, const fake_request *request, const fake_answer *answer);
void fake_reply_gemini(maki_buf *out, const fake_request *request, const fake_answer *answer);

/* Other endpoints: models, embeddings, token counts.  Returns the HTTP status; 0: unknown path. */
int fake_reply_other(maki_buf *out, maki_str method, maki_str path, maki_str body);

/* An error, one of the actions from FAKE_RATE_LIMIT to FAKE_BAD_REQUEST, as the provider of that path sends it.
 * Returns the HTTP status.  `message`, unless "", replaces the provider's own; `delay`, unless empty, is the retryDelay
 * in Gemini's details. */
int fake_reply_error(maki_buf *out, maki_str path, fake_action error, const char *message,
                     maki_str delay);

/* The provider's message for a request over its context window. */
void fake_overflow_message(maki_str path, uint64_t tokens, uint64_t window, char *out,
                           size_t capacity);

#endif

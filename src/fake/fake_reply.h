/* fake_reply.h -- an answer in the words of each protocol: one file a protocol.
 *
 * Each writes the whole body of the reply: JSON, or the events of a stream one after the other, as the real
 * providers send them.  Ids come from the request and the time is fixed: the same request gives the same
 * bytes. */
#ifndef MAKI_FAKE_FAKE_REPLY_H
#define MAKI_FAKE_FAKE_REPLY_H

#include "base/buf.h"
#include "fake/fake_answer.h"

#define FAKE_CREATED ((int64_t)1760000000) /* the time on every answer */

void fake_reply_chat(maki_buf *out, const fake_request *request, const fake_answer *answer);
void fake_reply_responses(maki_buf *out, const fake_request *request, const fake_answer *answer);
void fake_reply_messages(maki_buf *out, const fake_request *request, const fake_answer *answer);
void fake_reply_ollama(maki_buf *out, const fake_request *request, const fake_answer *answer);
void fake_reply_gemini(maki_buf *out, const fake_request *request, const fake_answer *answer);

/* What is no conversation: lists of models, embeddings, counts.  0: there is no such path; else the HTTP
 * status of what was written. */
int fake_reply_other(maki_buf *out, maki_str method, maki_str path, maki_str body);

/* An error, one of the deeds from FAKE_RATE_LIMIT to FAKE_BAD_REQUEST, as the provider of that path words it. */
/* Returns the HTTP status.  `words`, unless "", stand for the provider's own; `delay`, unless empty, is in Gemini's
 * details when to try again. */
int fake_reply_error(maki_buf *out, maki_str path, fake_action error, const char *words,
                     maki_str delay);

/* How that provider says that a request is longer than its window. */
void fake_overflow_message(maki_str path, uint64_t tokens, uint64_t window, char *out,
                           size_t capacity);

#endif

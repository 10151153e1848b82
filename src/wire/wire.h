/* wire.h -- what the requests and replies of each provider's protocol mean.
 *
 * One file a protocol (anthropic.c, openai_chat.c, openai_responses.c, ollama.c, gemini.c); this is what they have in
 * common.  Readers work on the bytes as they are: they point into them, pass over what they do not know,
 * and never change anything.  No sockets, no files, no clock.
 *
 * A row is a message in the shape in which the log keeps it: Anthropic's and OpenAI's chat messages are
 * kept verbatim, what other protocols say is put into one of these two shapes, with the fields that have no place
 * there kept beside (so that what was said can be written again in its own protocol). */
#ifndef MAKI_WIRE_WIRE_H
#define MAKI_WIRE_WIRE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/spool.h"

typedef enum maki_protocol {
    MAKI_WIRE_NONE,
    MAKI_WIRE_ANTHROPIC, /* /v1/messages */
    MAKI_WIRE_CHAT,      /* /v1/chat/completions */
    MAKI_WIRE_RESPONSES, /* /v1/responses */
    MAKI_WIRE_OLLAMA,    /* /api/chat */
    MAKI_WIRE_GENERATE,  /* Ollama's /api/generate */
    MAKI_WIRE_GEMINI     /* :generateContent, :streamGenerateContent */
} maki_protocol;

/* "anthropic", "openai", "responses", "ollama", "generate", "gemini"; "none". */
const char *maki_protocol_name(maki_protocol protocol);

/* ---- requests ---------------------------------------------------------------------------------------- */

/* One message of a request.  Spans are valid during the call. */
typedef struct maki_wire_message {
    maki_str row;  /* a JSON object with a role, in the shape of the log */
    bool verbatim; /* it is a span of the body */
    bool
        system; /* a system or developer message before any other: no part of a conversation's identity */
    size_t
        end; /* offset in the body right after it: reading may go on from here (maki_wire_mark) */
} maki_wire_message;
typedef maki_status (*maki_wire_message_fn)(void *ctx, const maki_wire_message *message,
                                            maki_err *err);

/* What a request says besides its messages: JSON values in the body, len 0 for what is not there. */
typedef struct maki_wire_request {
    maki_str model;
    maki_str system; /* the field outside the messages: system, instructions, systemInstruction */
    maki_str tools;
    maki_str
        client_id; /* a string by which the client itself names the conversation (prompt_cache_key, the session
                         * in metadata.user_id ...) */
    bool stream;
    bool by_reference;   /* previous_response_id or the like: the messages are not all here */
    uint64_t max_tokens; /* 0: not said */
    uint64_t messages;   /* those before `from` included */
} maki_wire_request;

/* A place in a body from which reading may go on, in another body that begins with the same `at` bytes:
 * plain data, to be kept and compared. */
typedef struct maki_wire_mark {
    size_t at;         /* the bytes before it were checked */
    uint64_t messages; /* before it */
    /* what was said before it, as offsets */
    struct {
        size_t at, len;
    } model, system, tools, client_id;
    uint64_t max_tokens;
    bool stream, by_reference,
        began; /* began: a message that is not a system message stands before it */
} maki_wire_mark;

/* Read a request: `fn` gets each message in order (after `from`, which may be NULL).  MAKI_INVALID: this is not
 * a request of that protocol.  `mark_of` in the message callback: what to keep to go on after this message. */
maki_status maki_wire_read(maki_protocol protocol, maki_str body, const maki_wire_mark *from,
                           const maki_alloc *alloc, maki_wire_message_fn fn, void *ctx,
                           maki_wire_request *out, maki_wire_mark *mark, maki_err *err);
/* `mark` (may be NULL) is kept up to date while reading: inside `fn` it is the place right after the message. */

/* ---- replies ----------------------------------------------------------------------------------------- */

typedef struct maki_wire_usage {
    bool known;
    uint64_t input, output, cache_read, cache_write, reasoning;
} maki_wire_usage;

/* What came of a reply.  Borrowed from the reader until it is closed. */
typedef struct maki_wire_said {
    const maki_str *rows; /* messages for the log; usually one */
    size_t row_count;
    maki_wire_usage usage;
    maki_str usage_json;      /* as the provider said it; len 0: not */
    maki_str model, id, stop; /* JSON strings; len 0: not said.  stop: the provider's own word */
    maki_str error;           /* a JSON value: the reply, or an event in its stream, was an error */
    bool complete;            /* the protocol's own end was there: not cut */
    bool garbage;             /* something in it could not be read; what could is here */
} maki_wire_said;

/* Puts a reply together while it passes.  Memory: what was not written to a file of our own (spool.h). */
typedef struct maki_wire_reply maki_wire_reply;

/* `type` is the Content-Type; `http_status` the reply's. */
maki_status maki_wire_reply_open(const maki_env *env, maki_protocol protocol, int http_status,
                                 maki_str type, maki_wire_reply **out, maki_err *err)
    MAKI_MUST_CHECK;
/* Bytes of any length, cut anywhere.  What cannot be understood is noted, not an error: only memory and
 * files fail. */
maki_status maki_wire_reply_add(maki_wire_reply *reply, maki_str bytes, maki_err *err);
maki_status maki_wire_reply_end(maki_wire_reply *reply, maki_wire_said *out, maki_err *err);
void maki_wire_reply_close(maki_wire_reply *reply); /* accepts NULL */

#endif

/* wire.h -- what the requests and replies of each provider's protocol mean.
 *
 * One file a protocol (anthropic.c, openai_chat.c, openai_responses.c, ollama.c, gemini.c) with its descriptor
 * (protocol.h); this is what they have in common.  Readers work on the bytes as they are: they point into them, pass over what they
 * do not know, and never change anything.  No sockets, no clock.
 *
 * A row is a message in the shape in which the log keeps it: Anthropic's and OpenAI's chat messages are
 * kept verbatim, what other protocols say is put into one of these two shapes.  What has no place there is
 * kept beside, in a field `original`, so that what was said can be written again in its own protocol.
 * Calls that come without an id get one that follows from the message alone ("call_NAME_0"), so the
 * reply and the client's rendition of it agree. */
#ifndef MAKI_WIRE_WIRE_H
#define MAKI_WIRE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

/* A row for each; its descriptor is maki_NAME_protocol (protocol.h). */
#define MAKI_PROTOCOL_MAP(X)                             \
    X(ANTHROPIC, anthropic) /* /v1/messages */           \
    X(CHAT, chat)           /* /v1/chat/completions */   \
    X(RESPONSES, responses) /* /v1/responses */          \
    X(OLLAMA, ollama)       /* /api/chat */              \
    X(GENERATE, generate)   /* Ollama's /api/generate */ \
    X(GEMINI, gemini)       /* :generateContent, :streamGenerateContent */

typedef enum maki_protocol {
    MAKI_WIRE_NONE,
#define MAKI_PROTOCOL_ENUM(NAME, name) MAKI_WIRE_##NAME,
    MAKI_PROTOCOL_MAP(MAKI_PROTOCOL_ENUM)
#undef MAKI_PROTOCOL_ENUM
} maki_protocol;
typedef struct maki_protocol_spec maki_protocol_spec; /* protocol.h */

/* "anthropic", "openai", "responses", "ollama", "generate", "gemini"; "none". */
const char *maki_protocol_name(maki_protocol protocol);

/* ---- requests ---------------------------------------------------------------------------------------- */

/* One message of a request.  Spans are valid during the call. */
typedef struct maki_wire_message {
    maki_str row;  /* a JSON object with a role, in the shape of the log, on one line */
    bool verbatim; /* it is a span of the body */
    /* a system or developer message before any other: no part of a conversation's identity */
    bool system;
    size_t end; /* offset in the body right after it */
} maki_wire_message;

/* Not MAKI_OK stops. */
typedef maki_status (*maki_wire_message_fn)(void *ctx, const maki_wire_message *message,
                                            maki_err *err);

/* What a request says besides its messages: JSON values in the body, len 0 for what is not there. */
typedef struct maki_wire_request {
    maki_str model;  /* a string */
    maki_str system; /* the field outside the messages: system, instructions, systemInstruction */
    maki_str tools;
    /* by which the client itself names the conversation (prompt_cache_key, the session
                         * in metadata.user_id ...): the escaped text, without quotes */
    maki_str client_id;
    bool stream;
    bool by_reference; /* previous_response_id or the like: the messages are not all here */
    /* the id of the reply that it goes on from, a string; len 0: none is named */
    maki_str reference;
    /* the id of the one that the provider keeps and that it goes on with, a string */
    maki_str conversation;
    uint64_t max_tokens; /* 0: not said */
    uint64_t messages;   /* those before `from` included */
} maki_wire_request;

/* A place in a body from which reading may go on, in another body that begins with the same `at` bytes:
 * plain data, to be kept and compared. */
typedef struct maki_wire_mark {
    size_t at;         /* the bytes before it were checked; 0: begin at the beginning */
    uint64_t messages; /* before it */
    size_t turn;       /* where the last assistant message before it begins; 0: there is none */
    struct {
        size_t at, len;
    } model, system, tools, client_id, reference,
        conversation; /* what was said before it, as offsets */
    uint64_t max_tokens;
    bool stream, by_reference;
    bool began; /* a message that is not a system message stands before it */
} maki_wire_mark;

/* Read a request: `fn` gets each message in order (those after `from`, which may be NULL).  MAKI_INVALID:
 * this is not a request of that protocol.  The bytes before from->at are not looked at again, but for the
 * last assistant message and what follows it where a result has to find its call.
 *
 * `mark` (may be NULL) is kept up to date: inside `fn` it is the place right after the message, if reading
 * can go on there, else an earlier place (mark->messages tells). */
maki_status maki_wire_read(const maki_env *env, maki_protocol protocol, maki_str body,
                           const maki_wire_mark *from, maki_wire_message_fn fn, void *ctx,
                           maki_wire_request *out, maki_wire_mark *mark, maki_err *err)
    MAKI_MUST_CHECK;

/* ---- tokens ------------------------------------------------------------------------------------------ */

typedef struct maki_wire_tokens {
    uint64_t system, tools, messages; /* with what the model's family puts around them */
    uint64_t all;                     /* the sum, and the beginning of the reply */
} maki_wire_tokens;

/* The tokens of a request, in the vocabulary of its model.  `model` names it where the body does not
 * (Gemini: it is in the path); len 0: the body does.  A body of count_tokens is read like the request
 * it is about. */
maki_status maki_wire_count(const maki_env *env, maki_protocol protocol, maki_str body,
                            maki_str model, maki_wire_tokens *out, maki_err *err) MAKI_MUST_CHECK;

enum { MAKI_WIRE_COUNTED = 64 };
/* The answer to count_tokens in the protocol's form; returns its length. */
size_t maki_wire_counted(maki_protocol protocol, uint64_t tokens, char out[MAKI_WIRE_COUNTED]);

/* ---- replies ----------------------------------------------------------------------------------------- */

typedef struct maki_wire_usage {
    bool known;
    uint64_t input;                   /* all that was read, from a cache or not */
    uint64_t output;                  /* all that was written, reasoning included */
    uint64_t cache_read, cache_write; /* parts of input */
    uint64_t reasoning;               /* part of output, where the provider says so */
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
    bool garbage;             /* something in it could not be read or kept; what could is here */
} maki_wire_said;

enum { MAKI_WIRE_ROW_MAX = 512 << 20 }; /* a reply that makes more is given up: garbage, no rows */

/* Puts a reply together while it passes.  Long texts wait in files of our own (base/spool.h), so a stream
 * needs a few kilobytes of memory whatever its length. */
typedef struct maki_wire_reply maki_wire_reply;

/* `type` is the Content-Type; `http_status` the reply's.  `env` is borrowed. */
maki_status maki_wire_reply_open(const maki_env *env, maki_protocol protocol, int http_status,
                                 maki_str type, maki_wire_reply **out, maki_err *err)
    MAKI_MUST_CHECK;

/* What a reply says, piece by piece, as soon as it says it. */
typedef enum maki_delta_kind {
    MAKI_DELTA_TEXT,      /* of the answer */
    MAKI_DELTA_REASONING, /* of what the model thinks, or of a summary of that */
    MAKI_DELTA_CALL,      /* a call begins */
    MAKI_DELTA_INPUT      /* of what a call is given */
} maki_delta_kind;

typedef struct maki_wire_delta {
    maki_delta_kind kind;
    uint32_t call; /* CALL, INPUT: which one, from 0 in the order in which they began */
    /* a JSON string: the text, the call's name; INPUT may come as an object, then it is whole */
    maki_str value;
    maki_str id; /* CALL: a JSON string; len 0: the provider gives none */
} maki_wire_delta;

/* Spans are valid during the call.  Not MAKI_OK stops: maki_wire_reply_add and _end answer it. */
typedef maki_status (*maki_wire_delta_fn)(void *ctx, const maki_wire_delta *piece, maki_err *err);
/* Hear the pieces, from the next bytes on.  A reply that is no stream says them when it ends. */
void maki_wire_reply_on_delta(maki_wire_reply *reply, maki_wire_delta_fn fn, void *ctx);

/* Bytes of any length, cut anywhere.  What cannot be understood is noted, not an error: only memory, files
 * and listeners fail, and then the reply can only be closed. */
maki_status maki_wire_reply_add(maki_wire_reply *reply, maki_str bytes, maki_err *err);
maki_status maki_wire_reply_end(maki_wire_reply *reply, maki_wire_said *out, maki_err *err);
/* Has a stream's own end come?  The connection may still be open. */
bool maki_wire_reply_is_complete(const maki_wire_reply *reply);
void maki_wire_reply_close(maki_wire_reply *reply); /* accepts NULL */

#endif

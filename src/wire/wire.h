/* wire.h -- parse the requests and replies of each provider's protocol.
 *
 * In:    the body of a request, or the bytes of a reply as they arrive.
 * Out:   rows (messages as the log stores them), the fields of the request, usage, deltas.
 * Never: changes the bytes, opens a socket, reads the clock.  Spans point into the input; unknown fields are skipped.
 *
 * Each protocol has one file (anthropic.c, openai_chat.c, openai_responses.c, ollama.c, gemini.c) with its descriptor
 * (protocol.h); this header is what they have in common.
 *
 * A row is a message in the shape in which the log stores it: Anthropic's and OpenAI's chat messages are
 * stored verbatim, messages of other protocols are converted to one of these two shapes.  Fields without a place there
 * go into a field `original`, so that the message can be written again in its own protocol.
 * A call without an id gets a synthetic one derived from the message alone ("call_NAME_0"), so that the reply and
 * the copy the client sends back have the same ids. */
#ifndef MAKI_WIRE_WIRE_H
#define MAKI_WIRE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

/* One row per protocol; its descriptor is maki_NAME_protocol (protocol.h). */
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
    bool verbatim; /* it is a span of the body, unchanged */
    /* a system or developer message before any other: not part of the conversation's identity */
    bool system;
    size_t end; /* offset in the body right after it */
} maki_wire_message;

/* Called for each message.  Any status but MAKI_OK stops reading. */
typedef maki_status (*maki_wire_message_fn)(void *ctx, const maki_wire_message *message,
                                            maki_err *err);

/* The fields of a request besides its messages: JSON values in the body, len 0 when missing. */
typedef struct maki_wire_request {
    maki_str model;  /* a string */
    maki_str system; /* the field outside the messages: system, instructions, systemInstruction */
    maki_str tools;
    /* the client's own id of the conversation (prompt_cache_key, the session in metadata.user_id ...): the escaped
     * text, without quotes */
    maki_str client_id;
    bool stream;
    bool
        by_reference; /* previous_response_id or the like: earlier messages are stored by the provider */
    /* the id of the reply that it continues, a string; len 0: none */
    maki_str reference;
    /* the id of the conversation that the provider stores, a string */
    maki_str conversation;
    uint64_t max_tokens; /* 0: not given */
    uint64_t messages;   /* including those before `from` */
} maki_wire_request;

/* An offset in a body at which reading can resume, in another body that begins with the same `at` bytes:
 * plain data, can be stored and compared. */
typedef struct maki_wire_checkpoint {
    size_t at;         /* offset; the bytes before it were validated; 0: the start */
    uint64_t messages; /* before it */
    size_t turn;       /* offset of the last assistant message before it; 0: none */
    struct {
        size_t at, len;
    } model, system, tools, client_id, reference, conversation; /* fields before it, as offsets */
    uint64_t max_tokens;
    bool stream, by_reference;
    bool began; /* a message that is not a system message comes before it */
} maki_wire_checkpoint;

/* Read a request: `fn` gets each message in order (those after `from`, which may be NULL).  MAKI_INVALID:
 * not a request of that protocol.  The bytes before from->at are not read again, except the last assistant
 * message and what follows it, when a result has to find its call.
 *
 * `checkpoint` (may be NULL) is updated as reading goes: inside `fn` it is right after the message, if reading can
 * resume there, else earlier (compare checkpoint->messages). */
maki_status maki_wire_read(const maki_env *env, maki_protocol protocol, maki_str body,
                           const maki_wire_checkpoint *from, maki_wire_message_fn fn, void *ctx,
                           maki_wire_request *out, maki_wire_checkpoint *checkpoint, maki_err *err)
    MAKI_MUST_CHECK;

/* ---- tokens ------------------------------------------------------------------------------------------ */

typedef struct maki_wire_tokens {
    uint64_t system, tools, messages; /* including the overhead of the model's family */
    uint64_t all;                     /* the sum, plus the start of the reply */
} maki_wire_tokens;

/* Count the tokens of a request with the encoding of its model.  `model`: its name when the body has none (Gemini:
 * it is in the path); len 0: read it from the body.  The body may also be one of count_tokens. */
maki_status maki_wire_count(const maki_env *env, maki_protocol protocol, maki_str body,
                            maki_str model, maki_wire_tokens *out, maki_err *err) MAKI_MUST_CHECK;

enum { MAKI_WIRE_COUNT_MAX = 64 };
/* Write the protocol's response to count_tokens; returns its length. */
size_t maki_wire_print_count(maki_protocol protocol, uint64_t tokens,
                             char out[MAKI_WIRE_COUNT_MAX]);

/* ---- replies ----------------------------------------------------------------------------------------- */

typedef struct maki_wire_usage {
    bool known;
    uint64_t input;                   /* all input tokens, cached or not */
    uint64_t output;                  /* all output tokens, including reasoning */
    uint64_t cache_read, cache_write; /* parts of input */
    uint64_t reasoning;               /* part of output, when the provider reports it */
} maki_wire_usage;

/* The parsed reply.  Borrowed from the reader until it is closed. */
typedef struct maki_wire_result {
    const maki_str *rows; /* messages for the log; usually one */
    size_t row_count;
    maki_wire_usage usage;
    maki_str usage_json; /* the provider's own JSON; len 0: none */
    maki_str model, id,
        stop;       /* JSON strings; len 0: missing.  stop: the provider's own stop reason */
    maki_str error; /* a JSON value; len 0: neither the reply nor an event was an error */
    bool complete;  /* the protocol's end marker came: not truncated */
    bool invalid;   /* part of it was not valid or too large; the rest is here */
} maki_wire_result;

enum {
    MAKI_WIRE_ROW_MAX = 512 << 20
}; /* bytes of rows; a larger reply is abandoned: invalid, no rows */

/* Parses a reply while it is forwarded.  Long texts are spooled to unlinked files (base/spool.h), so a stream
 * needs a few kilobytes of memory whatever its length. */
typedef struct maki_wire_reply maki_wire_reply;

/* `type` is the Content-Type; `http_status` the reply's.  `env` is borrowed. */
maki_status maki_wire_reply_open(const maki_env *env, maki_protocol protocol, int http_status,
                                 maki_str type, maki_wire_reply **out, maki_err *err)
    MAKI_MUST_CHECK;

/* The deltas of a reply, as soon as they arrive. */
typedef enum maki_delta_kind {
    MAKI_DELTA_TEXT,      /* of the answer */
    MAKI_DELTA_REASONING, /* of the model's reasoning, or of its summary */
    MAKI_DELTA_CALL,      /* a call begins */
    MAKI_DELTA_INPUT      /* of the arguments of a call */
} maki_delta_kind;

typedef struct maki_wire_delta {
    maki_delta_kind kind;
    uint32_t call; /* CALL, INPUT: index of the call, from 0 in order of start */
    /* a JSON string: the text, or the call's name; INPUT may be an object, which is then complete */
    maki_str value;
    maki_str id; /* CALL: a JSON string; len 0: none */
} maki_wire_delta;

/* Spans are valid during the call.  Any status but MAKI_OK stops: maki_wire_reply_add and _end return it. */
typedef maki_status (*maki_wire_delta_fn)(void *ctx, const maki_wire_delta *delta, maki_err *err);
/* Report deltas to `fn`, from the next bytes on.  A reply that is not a stream reports them when it ends. */
void maki_wire_reply_on_delta(maki_wire_reply *reply, maki_wire_delta_fn fn, void *ctx);

/* Bytes of any length, cut anywhere.  Invalid input is recorded in the result, not an error: only memory, files
 * and callbacks fail, and then the reply can only be closed. */
maki_status maki_wire_reply_add(maki_wire_reply *reply, maki_str bytes, maki_err *err);
maki_status maki_wire_reply_end(maki_wire_reply *reply, maki_wire_result *out, maki_err *err);
/* Has the stream's end marker come?  The connection may still be open. */
bool maki_wire_reply_is_complete(const maki_wire_reply *reply);
void maki_wire_reply_close(maki_wire_reply *reply); /* accepts NULL */

#endif

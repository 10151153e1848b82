/* request.h -- the whole body of a request: a view of a conversation, and what is sent along with it.
 *
 * One writer for each protocol: OpenAI chat completions and Responses, Anthropic messages, Ollama's chat,
 * Gemini's generateContent.  Messages are copied out of the log, and translated only where the shapes differ;
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

/* How much the model thinks before it answers; what each provider makes of it: docs/internals/request.md. */
typedef enum maki_thinking {
    MAKI_THINKING_UNSET, /* nothing is said about it */
    MAKI_THINKING_OFF,
    MAKI_THINKING_MINIMAL,
    MAKI_THINKING_LOW,
    MAKI_THINKING_MEDIUM,
    MAKI_THINKING_HIGH
} maki_thinking;

/* All texts are UTF-8, not escaped, and borrowed; len 0 is none. */
typedef struct maki_request {
    maki_protocol protocol; /* not NONE, not GENERATE */
    maki_str
        provider; /* "openai", "deepseek", "zai" ...: decides what becomes of reasoning; len 0: the model does */
    maki_str model; /* Gemini has it in the path, and only its spelling follows from it */
    uint64_t
        max_tokens;  /* of the answer; 0: the provider's own limit (Anthropic wants one: 8192) */
    uint64_t window; /* Ollama: num_ctx, which it would else cut to a few thousand; 0: not said */
    bool stream;     /* Gemini has it in the path */
    const maki_str *system; /* texts, one after the other; system messages of the log follow */
    size_t system_count;
    maki_render_extra before; /* found memories: right before the newest message of the user */
    maki_str
        tools; /* JSON, an array of {name, description, input_schema}, or in any provider's shape; a tool that
                     * only another provider runs (its web search) is left out */
    maki_str tool_choice; /* "auto", "none", "required" or the name of a tool */
    bool functions;       /* chat: the older form, "functions" and "function_call" */
    maki_thinking thinking;
    bool has_temperature;
    double temperature;
    bool
        behind; /* the sink may be called from a second thread (base/behind.h): a long body is written faster */
} maki_request;

/* MAKI_INVALID: no such level; names those there are. */
maki_status maki_thinking_named(maki_str name, maki_thinking *out, maki_err *err);
/* MAKI_UNSUPPORTED: a request cannot be written in it; names those there are. */
maki_status maki_request_protocol(maki_str name, maki_protocol *out, maki_err *err);

/* MAKI_REFUSED NOTHING_TO_SEND when the view has no message but the system's: what was written till then is
 * no request.  The view must be the conversation's current one (maki_conv_view). */
maki_status maki_request_write(maki_conv *conv, const maki_view *view, const maki_request *request,
                               maki_sink sink, maki_err *err) MAKI_MUST_CHECK;
/* The same with no conversation: the messages are those of `before`. */
maki_status maki_request_write_rows(const maki_env *env, const maki_request *request,
                                    maki_sink sink, maki_err *err) MAKI_MUST_CHECK;
/* Its exact length, without keeping a byte of it: Content-Length before the first byte goes out. */
maki_status maki_request_size(maki_conv *conv, const maki_view *view, const maki_request *request,
                              uint64_t *size, maki_err *err) MAKI_MUST_CHECK;

#endif

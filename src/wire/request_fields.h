/* request_fields.h -- the fields of a request to write, independent of the protocol (assemble/request.h writes it), and
 * values derived from them: the level of thinking, how earlier reasoning is sent, the choice of tools. */
#ifndef MAKI_WIRE_REQUEST_FIELDS_H
#define MAKI_WIRE_REQUEST_FIELDS_H

#include "wire/wire.h"

/* How much the model reasons before it answers; how each provider is asked: docs/internals/request.md. */
typedef enum maki_thinking {
    MAKI_THINKING_UNSET, /* the field is left out */
    MAKI_THINKING_OFF,
    MAKI_THINKING_MINIMAL,
    MAKI_THINKING_LOW,
    MAKI_THINKING_MEDIUM,
    MAKI_THINKING_HIGH
} maki_thinking;

/* What a chat completions server accepts of earlier reasoning. */
typedef enum maki_reasoning {
    MAKI_REASONING_UNCHANGED, /* fields are sent back unchanged, blocks left out */
    MAKI_REASONING_CONTENT,   /* blocks become reasoning_content: DeepSeek, Z.ai */
    MAKI_REASONING_REFUSED    /* none may be sent: OpenAI */
} maki_reasoning;

/* Messages that are not in the log and go right before the newest message of the user (not counting results), or at
 * the end when there is none.  They are near the end so that the start of the request stays cacheable. */
typedef struct maki_render_extra {
    const maki_str *rows; /* JSON objects with a role, checked */
    size_t count;
} maki_render_extra;

/* All strings are UTF-8, not escaped, and borrowed; len 0: none. */
typedef struct maki_request {
    maki_protocol protocol; /* one that can be written: not NONE, not GENERATE */
    /* "openai", "deepseek", "zai" ...: decides how reasoning is sent; len 0: the model's name decides */
    maki_str provider;
    maki_str model; /* Gemini has it in the path */
    /* of the reply; 0: the provider's default (Anthropic requires one: 8192) */
    uint64_t max_tokens;
    uint64_t window;        /* Ollama: num_ctx, by default only a few thousand; 0: not sent */
    bool stream;            /* Gemini has it in the path */
    const maki_str *system; /* strings in order; system messages of the log follow */
    size_t system_count;
    maki_render_extra extra_messages; /* recalled memories, for example */
    /* JSON, an array of definitions in any provider's shape (token/tool_list.h); a tool that only another
     * provider runs (its web search) is left out */
    maki_str tools;
    maki_str tool_choice; /* "auto", "none", "required" or the name of a tool */
    bool functions;       /* chat: the older form, "functions" and "function_call" */
    maki_thinking thinking;
    bool has_temperature;
    double temperature;
    /* the sink may be called from a second thread (base/async_writer.h), which is faster for a long body */
    bool async;
} maki_request;

/* MAKI_INVALID: unknown level; the error lists the known ones. */
maki_status maki_thinking_parse(maki_str name, maki_thinking *out, maki_err *err);

/* ---- for the files of the protocols ---------------------------------------------------------------------- */

maki_str maki_thinking_level(
    const maki_request *request); /* "low" ..., as most providers name it */
/* The same for providers without "minimal". */
maki_str maki_thinking_level_low(const maki_request *request);
bool maki_request_thinks(const maki_request *request);
/* How earlier reasoning is sent. */
maki_reasoning maki_request_reasoning(const maki_request *request);

bool maki_tool_choice_is(const maki_request *request,
                         const char *word);                 /* is this the tool_choice? */
bool maki_tool_choice_is_name(const maki_request *request); /* it is the name of a tool, or empty */
/* Must the model call a tool? */
bool maki_request_requires_tool(const maki_request *request);

#endif

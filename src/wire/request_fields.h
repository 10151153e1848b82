/* request_fields.h -- what a request says, whatever the protocol it is written in (assemble/request.h writes it). */
#ifndef MAKI_WIRE_REQUEST_FIELDS_H
#define MAKI_WIRE_REQUEST_FIELDS_H

#include "wire/wire.h"

/* How much the model thinks before it answers; what each provider makes of it: docs/internals/request.md. */
typedef enum maki_thinking {
    MAKI_THINKING_UNSET, /* nothing is said about it */
    MAKI_THINKING_OFF,
    MAKI_THINKING_MINIMAL,
    MAKI_THINKING_LOW,
    MAKI_THINKING_MEDIUM,
    MAKI_THINKING_HIGH
} maki_thinking;

/* What a chat completions server does with the thoughts of earlier turns. */
typedef enum maki_reasoning {
    MAKI_REASONING_AS_IT_CAME, /* fields go back as they came, blocks are left out */
    MAKI_REASONING_CONTENT,    /* blocks become reasoning_content: DeepSeek, Z.ai */
    MAKI_REASONING_REFUSED     /* nothing of the kind may be sent: OpenAI */
} maki_reasoning;

/* Messages that are not in the log and stand right before the newest one of the user, results apart; at the
 * end when there is none.  They are near the end so that the beginning of the request stays the same. */
typedef struct maki_render_extra {
    const maki_str *rows; /* JSON objects with a role, checked */
    size_t count;
} maki_render_extra;

/* All texts are UTF-8, not escaped, and borrowed; len 0 is none. */
typedef struct maki_request {
    maki_protocol protocol; /* one that can be written: not NONE, not GENERATE */
    /* "openai", "deepseek", "zai" ...: decides what becomes of reasoning; len 0: the model does */
    maki_str provider;
    maki_str model; /* Gemini has it in the path, and only its spelling follows from it */
    /* of the answer; 0: the provider's own limit (Anthropic wants one: 8192) */
    uint64_t max_tokens;
    uint64_t window; /* Ollama: num_ctx, which it would else cut to a few thousand; 0: not said */
    bool stream;     /* Gemini has it in the path */
    const maki_str *system; /* texts, one after the other; system messages of the log follow */
    size_t system_count;
    maki_render_extra before; /* found memories: right before the newest message of the user */
    /* JSON, an array of definitions in any provider's shape (token/tool_list.h); a tool that
                     * only another provider runs (its web search) is left out */
    maki_str tools;
    maki_str tool_choice; /* "auto", "none", "required" or the name of a tool */
    bool functions;       /* chat: the older form, "functions" and "function_call" */
    maki_thinking thinking;
    bool has_temperature;
    double temperature;
    /* the sink may be called from a second thread (base/async_writer.h), which is faster for a long body */
    bool async;
} maki_request;

/* MAKI_INVALID: no such level; names those there are. */
maki_status maki_thinking_named(maki_str name, maki_thinking *out, maki_err *err);

/* ---- for the files of the protocols ---------------------------------------------------------------------- */

maki_str maki_thinking_level(const maki_request *request); /* "low", as most providers call it */
/* The same where the lowest level has no name of its own. */
maki_str maki_thinking_level_low(const maki_request *request);
bool maki_request_thinks(const maki_request *request);
/* What becomes of earlier thoughts. */
maki_reasoning maki_request_reasoning(const maki_request *request);

bool maki_chooses(const maki_request *request, const char *word); /* is it the choice of tools? */
bool maki_chooses_tool(const maki_request *request);              /* by its name, or not at all */
/* Must the model call a tool? */
bool maki_request_forces(const maki_request *request);

#endif

/* fake_request.h -- a parsed request to the fake provider, independent of its protocol.
 *
 * Only what an answer depends on: the user's last text, the tool result after it, whether to stream.  Spans point
 * into the body or into the arena, and are valid as long as both. */
#ifndef MAKI_FAKE_FAKE_REQUEST_H
#define MAKI_FAKE_FAKE_REQUEST_H

#include <stdbool.h>

#include "base/arena.h"
#include "wire/protocol.h"

typedef struct fake_request {
    maki_protocol protocol;
    maki_str body; /* a JSON object */
    maki_str model;
    maki_str user_text; /* the last text of the user's last message */
    maki_str result;    /* the tool result after that */
    bool has_result;
    bool stream;
    bool array;       /* Gemini without alt=sse: the stream is one JSON array */
    bool wants_usage; /* chat: end the stream with a usage chunk */
    bool wants_json;  /* the answer must be JSON */
    bool thinks;      /* reasoning was requested */
    uint64_t seed;    /* for ids: depends on the body alone */
} fake_request;

/* Parse a request.  `target`: its path and query; Gemini has model and streaming there.
 * MAKI_INVALID: the body is not a JSON object. */
maki_status fake_request_parse(const maki_env *env, maki_protocol protocol, maki_str target,
                               maki_str body, maki_arena *arena, fake_request *out, maki_err *err);

/* Find the definition of a tool by name; false: none. */
bool fake_request_find_tool(const fake_request *request, maki_str name, maki_str *definition);
/* Does a tool's definition have a parameter of that name? */
bool fake_tool_has_parameter(maki_str definition, maki_str parameter);

#endif

/* fake_request.h -- what a request asks of the fake provider, whichever protocol it is written in.
 *
 * Only as much of a request is read as an answer depends on: the last thing the user said, whether a
 * tool has answered since, whether a stream is wanted.  Spans point into the body or into the arena, and
 * live as long as both. */
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
    maki_str result;    /* what a tool answered after that */
    bool has_result;
    bool stream;
    bool array;       /* Gemini without alt=sse: the stream is one JSON array */
    bool wants_usage; /* chat: a chunk with the usage at the end */
    bool wants_json;  /* the answer has to be JSON */
    bool thinks;      /* reasoning was asked for */
    uint64_t seed;    /* of ids: the same request gives the same answer */
} fake_request;

/* Read a request.  `target` has its path and query; model and streaming stand there in Gemini's.
 * MAKI_INVALID: the body is no JSON object. */
maki_status fake_request_parse(const maki_env *env, maki_protocol protocol, maki_str target,
                               maki_str body, maki_arena *arena, fake_request *out, maki_err *err);

/* The definition of a tool that was offered; false when there is none of that name. */
bool fake_request_find_tool(const fake_request *request, maki_str name, maki_str *definition);
/* Does a tool's definition have a parameter of that name? */
bool fake_tool_has_parameter(maki_str definition, maki_str parameter);

#endif

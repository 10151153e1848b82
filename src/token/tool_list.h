/* tool_list.h -- iterate over tool definitions in the shape of any provider.
 *
 *     {name, description, input_schema}                      Anthropic
 *     {type: "function", function: {name, ...parameters}}    OpenAI's chat, Ollama
 *     {type: "function", name, parameters}                   OpenAI's Responses
 *     {name, description, parameters}                        OpenAI's legacy `functions`
 *     {functionDeclarations: [{name, ...parameters}]}        Gemini: each declaration is one
 *     {name, description, inputSchema}                       MCP
 *
 * In: `tools` or `functions` of a request.  Out: each definition in order; counting, listing and writing tools use it. */
#ifndef MAKI_TOKEN_TOOL_LIST_H
#define MAKI_TOKEN_TOOL_LIST_H

#include <stdbool.h>

#include <maki/json.h>

/* A definition: spans of the JSON, len 0 if missing. */
typedef struct maki_tool {
    maki_str json; /* the definition as given */
    maki_str
        body; /* the object with the name: `json` or its `function`; len 0: neither is an object */
    maki_str name;        /* a JSON string */
    maki_str description; /* a JSON string */
    maki_str schema;      /* of its arguments, an object */
    maki_str type;        /* a JSON string */
    maki_str strict;      /* a JSON value */
    bool
        in_gemini_list; /* an element of functionDeclarations, whose schemas have a dialect of their own */
} maki_tool;

typedef struct maki_tool_list {
    maki_json_iter outer, inner;
} maki_tool_list;

maki_tool_list maki_tool_list_of(maki_str tools); /* any JSON: only an array has tools */
bool maki_tool_list_next(maki_tool_list *list, maki_tool *out);

/* Its schema, or one without arguments. */
maki_str maki_tool_schema(const maki_tool *tool);
/* Is it a function, which the caller runs, and not a tool that the provider runs? */
bool maki_tool_is_function(const maki_tool *tool);
/* Is it one of Gemini's own tools, like {"googleSearch": {}}, which has no definition? */
bool maki_tool_is_provider_defined(const maki_tool *tool);

#endif

/* tool_list.h -- the definitions of tools, whichever provider's shape they are in.
 *
 *     {name, description, input_schema}                      Anthropic
 *     {type: "function", function: {name, ...parameters}}    OpenAI's chat, Ollama
 *     {type: "function", name, parameters}                   OpenAI's Responses
 *     {name, description, parameters}                        OpenAI's older form
 *     {functionDeclarations: [{name, ...parameters}]}        Gemini: each declaration is one
 *     {name, description, inputSchema}                       MCP
 *
 * Whoever counts, names or writes tools walks them here. */
#ifndef MAKI_TOKEN_TOOL_LIST_H
#define MAKI_TOKEN_TOOL_LIST_H

#include <stdbool.h>

#include <maki/json.h>

/* A definition: spans of it, len 0 for what is not there. */
typedef struct maki_tool {
    maki_str given;  /* the value as it stands */
    maki_str body;   /* the object with the name: `given`, or its function; len 0: there is none */
    maki_str name;   /* a JSON string */
    maki_str about;  /* a JSON string */
    maki_str schema; /* of its arguments, an object */
    maki_str type;   /* a JSON string */
    maki_str strict; /* a JSON value */
    bool declared;   /* it stood in functionDeclarations, whose schemas are of their own kind */
} maki_tool;

typedef struct maki_tool_list {
    maki_json_iter outer, inner;
} maki_tool_list;

maki_tool_list maki_tools_of(maki_str tools); /* any JSON; what is no array has none */
bool maki_tools_next(maki_tool_list *list, maki_tool *out);

/* Its schema, or one for no arguments. */
maki_str maki_tool_schema(const maki_tool *tool);
/* Does the caller run it?  Else the provider does. */
bool maki_tool_is_function(const maki_tool *tool);
/* Is it one of Gemini's own, like {"googleSearch": {}}, which is no definition? */
bool maki_tool_is_provider_defined(const maki_tool *tool);

#endif

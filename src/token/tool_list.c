/* tool_list.c -- iterate over tool definitions.
 *
 * In:     the `tools` or `functions` of a request, JSON that passed maki_json_check.
 * Out:    each definition in order, the elements of Gemini's lists one by one. */
#include "token/tool_list.h"

#include "base/json_access.h"
#include "base/str_util.h"

static maki_tool read_tool(maki_str json)
{
    maki_str body = maki_json_first_field(json, "function", MAKI_JSON_OBJECT);
    if (!body.len && maki_json_kind_of(json) == MAKI_JSON_OBJECT) body = json;
    maki_tool tool = { .json = json, .body = body };
    tool.name = maki_json_string(body, "name");
    tool.description = maki_json_string(body, "description");
    tool.schema = maki_json_first_field(
        body, "input_schema|parameters|parametersJsonSchema|inputSchema", MAKI_JSON_OBJECT);
    tool.type = maki_json_string(json, "type");
    tool.strict = maki_json_field(body, "strict");
    if (maki_json_kind_of(tool.strict) == MAKI_JSON_NULL) tool.strict.len = 0;
    return tool;
}

maki_tool_list maki_tool_list_of(maki_str tools)
{
    maki_tool_list list = { 0 };
    if (tools.len && maki_json_kind_of(tools) == MAKI_JSON_ARRAY)
        list.outer = maki_json_items(tools);
    return list;
}

bool maki_tool_list_next(maki_tool_list *list, maki_tool *out)
{
    maki_json_item item;
    for (;;) {
        if (maki_json_next(&list->inner, &item)) {
            *out = read_tool(item.value);
            out->in_gemini_list = true;
            return true;
        }
        if (!maki_json_next(&list->outer, &item)) return false;
        maki_str inner = maki_json_first_field(
            item.value, "functionDeclarations|function_declarations", MAKI_JSON_ARRAY);
        *out = read_tool(item.value);
        if (!inner.len) return true;
        list->inner = maki_json_items(inner);
    }
}

bool maki_tool_is_function(const maki_tool *tool)
{
    bool function = tool->type.len == 0 || maki_json_text_is(tool->type, MAKI_LIT("function"));
    return tool->name.len > 2 && (tool->schema.len > 0 || function);
}

maki_str maki_tool_schema(const maki_tool *tool)
{
    return tool->schema.len ? tool->schema : MAKI_LIT("{\"type\":\"object\",\"properties\":{}}");
}

bool maki_tool_is_provider_defined(const maki_tool *tool)
{
    return tool->body.len && !maki_json_field(tool->body, "name").len && !tool->type.len &&
           !tool->schema.len;
}

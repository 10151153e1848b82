/* tool_list.c -- see tool_list.h. */
#include "token/tool_list.h"

#include "base/json_access.h"
#include "base/str_util.h"

static maki_tool read_tool(maki_str given)
{
    maki_str body = maki_json_first(given, "function", MAKI_JSON_OBJECT);
    if (!body.len && maki_json_kind_of(given) == MAKI_JSON_OBJECT) body = given;
    maki_tool tool = { .given = given, .body = body };
    tool.name = maki_json_string(body, "name");
    tool.about = maki_json_string(body, "description");
    tool.schema = maki_json_first(body, "input_schema|parameters|parametersJsonSchema|inputSchema",
                                  MAKI_JSON_OBJECT);
    tool.type = maki_json_string(given, "type");
    tool.strict = maki_json_field(body, "strict");
    if (maki_json_kind_of(tool.strict) == MAKI_JSON_NULL) tool.strict.len = 0;
    return tool;
}

maki_tool_list maki_tools_of(maki_str tools)
{
    maki_tool_list list = { 0 };
    if (tools.len && maki_json_kind_of(tools) == MAKI_JSON_ARRAY)
        list.outer = maki_json_items(tools);
    return list;
}

bool maki_tools_next(maki_tool_list *list, maki_tool *out)
{
    maki_json_item item;
    for (;;) {
        if (maki_json_next(&list->inner, &item)) {
            *out = read_tool(item.value);
            out->declared = true;
            return true;
        }
        if (!maki_json_next(&list->outer, &item)) return false;
        maki_str declared = maki_json_first(
            item.value, "functionDeclarations|function_declarations", MAKI_JSON_ARRAY);
        *out = read_tool(item.value);
        if (!declared.len) return true;
        list->inner = maki_json_items(declared);
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

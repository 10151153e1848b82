/* tool_list.c -- see tool_list.h. */
#include "token/tool_list.h"

#include "base/json.h"
#include "base/str.h"

/* A field of that kind; len 0: there is none. */
static maki_str field(maki_str object, maki_str name, maki_json_kind kind)
{
    maki_str value;
    bool there = maki_json_kind_of(object) == MAKI_JSON_OBJECT &&
                 maki_json_get(object, name, &value) && maki_json_kind_of(value) == kind;
    return there ? value : (maki_str){ "", 0 };
}

static maki_str first_field(maki_str object, const maki_str *names, size_t count,
                            maki_json_kind kind)
{
    maki_str value = { "", 0 };
    for (size_t i = 0; value.len == 0 && i < count; i++)
        value = field(object, names[i], kind);
    return value;
}

static maki_tool read_tool(maki_str given)
{
    static const maki_str schemas[] = { { "input_schema", 12 },
                                        { "parameters", 10 },
                                        { "parametersJsonSchema", 20 },
                                        { "inputSchema", 11 } };
    maki_str body = field(given, MAKI_LIT("function"), MAKI_JSON_OBJECT);
    if (!body.len && maki_json_kind_of(given) == MAKI_JSON_OBJECT) body = given;
    maki_tool tool = { .given = given, .body = body };
    tool.name = field(body, MAKI_LIT("name"), MAKI_JSON_STRING);
    tool.about = field(body, MAKI_LIT("description"), MAKI_JSON_STRING);
    tool.schema = first_field(body, schemas, 4, MAKI_JSON_OBJECT);
    tool.type = field(given, MAKI_LIT("type"), MAKI_JSON_STRING);
    if (!body.len || !maki_json_get(body, MAKI_LIT("strict"), &tool.strict) ||
        maki_json_kind_of(tool.strict) == MAKI_JSON_NULL)
        tool.strict.len = 0;
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
    static const maki_str lists[] = { { "functionDeclarations", 20 },
                                      { "function_declarations", 21 } };
    maki_json_item item;
    for (;;) {
        if (maki_json_next(&list->inner, &item)) {
            *out = read_tool(item.value);
            out->declared = true;
            return true;
        }
        if (!maki_json_next(&list->outer, &item)) return false;
        maki_str declared = first_field(item.value, lists, 2, MAKI_JSON_ARRAY);
        *out = read_tool(item.value);
        if (!declared.len) return true;
        list->inner = maki_json_items(declared);
    }
}

bool maki_tool_is_ours(const maki_tool *tool)
{
    bool function = tool->type.len == 0 || maki_json_text_is(tool->type, MAKI_LIT("function"));
    return tool->name.len > 2 && (tool->schema.len > 0 || function);
}

maki_str maki_tool_schema(const maki_tool *tool)
{
    return tool->schema.len ? tool->schema : MAKI_LIT("{\"type\":\"object\",\"properties\":{}}");
}

bool maki_tool_is_hosted(const maki_tool *tool)
{
    maki_str name;
    return tool->body.len && !maki_json_get(tool->body, MAKI_LIT("name"), &name) &&
           !tool->type.len && !tool->schema.len;
}

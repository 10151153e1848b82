/* tools_count.c -- the tokens of tool definitions, by the rule of a family.
 *
 * In:     tools as JSON that passed maki_json_check, in any shape.
 * Out:    their tokens in the prompt; 0 without tools. */
#include "token/tools_count.h"

#include "base/json_access.h"
#include "base/str_util.h"
#include "token/text_count.h"
#include "token/tool_list.h"

enum {
    PROPERTIES = 3, /* tokens of a list of arguments */
    PROPERTY = 3,
    ENUM = -3, /* an argument with enum values */
    ENUM_ITEM = 3,
    END = 12, /* after the last function */
    DEPTH_MAX = 16
};

typedef struct counting {
    maki_tokenizer *t;
    int64_t tokens;
    maki_err *err;
} counting;

/* A text without the period at its end; empty if it is no string. */
static maki_str without_period(maki_str string)
{
    if (maki_json_kind_of(string) != MAKI_JSON_STRING) return (maki_str){ "", 0 };
    maki_str text = maki_json_strip_quotes(string);
    if (text.len && text.ptr[text.len - 1] == '.') text.len--;
    return text;
}

static void add_value(maki_text_count *c, maki_str value)
{
    if (maki_json_kind_of(value) == MAKI_JSON_STRING)
        maki_text_count_json_text(c, value);
    else if (value.len)
        maki_text_count_compact(c, value);
}

static maki_status end_line(counting *s, maki_text_count *c)
{
    uint64_t tokens = 0;
    maki_status st = maki_text_count_end(c, &tokens);
    s->tokens += (int64_t)tokens;
    return st;
}

static maki_status add_json(counting *s, maki_str value)
{
    maki_text_count c;
    maki_text_count_begin(&c, s->t, s->err);
    add_value(&c, value);
    return end_line(s, &c);
}

/* name:description, or name:type:description */
static maki_status add_line(counting *s, maki_str name, maki_str type, maki_str description)
{
    maki_text_count c;
    maki_text_count_begin(&c, s->t, s->err);
    maki_text_count_json_text(&c, name);
    maki_text_count_bytes(&c, MAKI_LIT(":"));
    if (type.len) {
        add_value(&c, type);
        maki_text_count_bytes(&c, MAKI_LIT(":"));
    }
    maki_text_count_json_text(&c, without_period(description));
    return end_line(s, &c);
}

static maki_status add_enum(counting *s, maki_str values)
{
    maki_json_iter iter = maki_json_items(values);
    maki_json_item item;
    maki_status st = MAKI_OK;
    s->tokens += ENUM;
    while (st == MAKI_OK && maki_json_next(&iter, &item)) {
        s->tokens += ENUM_ITEM;
        st = add_json(s, item.value);
    }
    return st;
}

static maki_status add_schema(counting *s, maki_str schema, unsigned depth);

static maki_status add_property(counting *s, const maki_json_item *property, unsigned depth)
{
    maki_str schema = property->value, values = maki_json_field(schema, "enum");
    s->tokens += PROPERTY;
    maki_status st = add_line(s, property->key, maki_json_field(schema, "type"),
                              maki_json_field(schema, "description"));
    if (st == MAKI_OK && values.len) st = add_enum(s, values);
    if (st == MAKI_OK) st = add_schema(s, schema, depth + 1);
    if (st == MAKI_OK) st = add_schema(s, maki_json_field(schema, "items"), depth + 1);
    return st;
}

static maki_status add_schema(counting *s, maki_str schema, unsigned depth)
{
    maki_str properties = maki_json_field(schema, "properties");
    maki_json_iter iter = maki_json_items(properties);
    maki_json_item item;
    maki_status st = MAKI_OK;
    bool any = false;
    while (st == MAKI_OK && iter.object && depth < DEPTH_MAX && maki_json_next(&iter, &item)) {
        if (!any) s->tokens += PROPERTIES;
        any = true;
        st = add_property(s, &item, depth);
    }
    return st;
}

static maki_status add_lines(counting *s, const maki_tool *tool, int64_t per_function)
{
    s->tokens += per_function;
    maki_status st = add_line(s, tool->name.len ? tool->name : MAKI_LIT("\"\""),
                              (maki_str){ "", 0 }, tool->description);
    return st == MAKI_OK && tool->schema.len ? add_schema(s, tool->schema, 0) : st;
}

maki_status maki_count_tools(maki_tokenizer *t, const maki_family *family, maki_str tools,
                             uint64_t *tokens, maki_err *err)
{
    counting s = { .t = t, .err = err };
    maki_tool_list list = maki_tool_list_of(tools);
    maki_tool tool;
    maki_status st = MAKI_OK;
    bool as_lines = family->tools != MAKI_TOOLS_JSON, any = false;
    while (st == MAKI_OK && maki_tool_list_next(&list, &tool)) {
        if (!tool.body.len || maki_tool_is_provider_defined(&tool)) continue;
        any = true;
        st = as_lines ? add_lines(&s, &tool, family->tools == MAKI_TOOLS_LINES_7 ? 7 : 10)
                      : add_json(&s, tool.body);
    }
    if (any) s.tokens += as_lines ? END : family->per_tools;
    *tokens = s.tokens > 0 ? (uint64_t)s.tokens : 0;
    return st;
}

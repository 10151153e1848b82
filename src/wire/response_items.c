/* response_items.c -- convert an item of the Responses protocol to a message row.
 *
 * In:    the item's JSON, and the reasoning before it as blocks, each followed by a comma.  Out: a row, to a JSON writer.
 * A call or an output is recognised by the suffix of its type (_call, _output) and its call_id, so future tools are
 * converted too.  Fields that a row does not have go into its `original`. */
#include "wire/response_items.h"

#include "base/json_print.h"
#include "wire/json_row.h"

/* ---- kinds -------------------------------------------------------------------------------------------- */

static maki_str type_of(maki_str item)
{
    return maki_json_string(item, "type");
}

static bool ends_with(maki_str string, maki_str suffix)
{
    return maki_str_ends(maki_is_string(string) ? maki_json_strip_quotes(string) : string, suffix);
}

static bool is_message(maki_str item)
{
    maki_str type = type_of(item);
    return type.len ? maki_json_text_is(type, MAKI_LIT("message"))
                    : maki_json_string(item, "role").len > 0;
}

static bool has_call_id(maki_str item)
{
    return maki_json_string(item, "call_id").len > 0;
}

static bool is_call(maki_str item)
{
    return ends_with(type_of(item), MAKI_LIT("_call")) && has_call_id(item);
}

static bool is_output(maki_str item)
{
    return ends_with(type_of(item), MAKI_LIT("_output")) && has_call_id(item);
}

bool maki_item_is_reasoning(maki_str item)
{
    return maki_is_text(type_of(item), MAKI_LIT("reasoning"));
}

bool maki_item_is_reference(maki_str item)
{
    return maki_is_text(type_of(item), MAKI_LIT("item_reference"));
}

bool maki_item_is_assistant(maki_str item)
{
    maki_str role = maki_json_string(item, "role"), type = type_of(item);
    if (role.len) return maki_json_text_is(role, MAKI_LIT("assistant"));
    return !ends_with(type, MAKI_LIT("_output")) && !ends_with(type, MAKI_LIT("_response"));
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

static bool is_empty(maki_str value)
{
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    return maki_json_kind_of(value) == MAKI_JSON_NULL ||
           (maki_is_array(value) && !maki_json_next(&iter, &item));
}

/* A text block; other fields (annotations) go into `original` unless they are empty. */
static void write_text(maki_jw *w, maki_str block, maki_str text)
{
    bool has_other_fields = false;
    MAKI_JSON_EACH_WHILE(!has_other_fields, item, maki_json_items(block)) {
        has_other_fields = !maki_key_in(item.key, "type text") && !is_empty(item.value);
    }
    maki_jw_print(w, "{'type':'text','text':%v", text);
    if (has_other_fields) maki_write_original(w, block, "type text");
    maki_jw_end_object(w);
}

static void write_image(maki_jw *w, maki_str block, maki_str url)
{
    maki_jw_print(w, "{'type':'image_url','image_url':{'url':%v,'detail':%v}", url,
                  maki_json_string(block, "detail"));
    maki_write_original(w, block, "type image_url detail");
    maki_jw_end_object(w);
}

static void write_block(maki_jw *w, maki_str block)
{
    maki_str text = maki_json_string(block, "text");
    maki_str url = maki_json_string(block, "image_url");
    bool is_text = ends_with(type_of(block), MAKI_LIT("text"));
    if (text.len && is_text)
        write_text(w, block, text);
    else if (url.len)
        write_image(w, block, url);
    else
        maki_jw_raw(w, block);
}

/* The reasoning, then the content: a string, blocks, one block, or nothing. */
static void write_content(maki_jw *w, maki_str content, maki_str reasoning)
{
    maki_jw_key(w, MAKI_LIT("content"));
    if (reasoning.len == 0 && maki_is_string(content)) {
        maki_jw_raw(w, content);
        return;
    }
    maki_jw_begin_array(w);
    if (reasoning.len)
        maki_jw_raw(w,
                    maki_str_prefix(reasoning, reasoning.len - 1)); /* without the trailing comma */
    if (maki_is_string(content)) {
        write_text(w, MAKI_LIT("{}"), content);
    } else if (maki_is_object(content)) {
        write_block(w, content);
    } else {
        MAKI_JSON_EACH(item, maki_json_items(content))
            write_block(w, item.value);
    }
    maki_jw_end_array(w);
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static void write_message(maki_jw *w, maki_str item, maki_str reasoning)
{
    maki_str role = maki_json_string(item, "role");
    maki_jw_print(w, "{'role':%v", role.len ? role : MAKI_LIT("\"user\""));
    write_content(w, maki_member(item, MAKI_LIT("content")), reasoning);
    maki_write_original(w, item, "role content");
    maki_jw_end_object(w);
}

static void write_call(maki_jw *w, maki_str item, maki_str reasoning)
{
    /* the arguments are in the first of these fields that is present */
    static const char *const used_fields[] = { "arguments call_id name", "input call_id name",
                                               "action call_id name", "operation call_id name" };
    enum { FIELD_SETS = sizeof used_fields / sizeof used_fields[0] };
    maki_str value = { "", 0 }, name = maki_json_string(item, "name");
    size_t i = 0;
    for (; i < FIELD_SETS && !value.len; i++) {
        maki_str fields = maki_str_of(used_fields[i]);
        value = maki_member(item, maki_str_cut(&fields, ' '));
    }
    maki_jw_print(w, "{'role':'assistant'");
    if (reasoning.len)
        write_content(w, (maki_str){ "", 0 }, reasoning);
    else
        maki_jw_print(w, "'content':null");
    maki_jw_print(w, "'tool_calls':[{'id':%v,'type':'function','function':{'name':%v,'arguments':",
                  maki_member(item, MAKI_LIT("call_id")), name.len ? name : type_of(item));
    maki_write_quoted(w, value.len ? value : MAKI_LIT("\"{}\""));
    maki_jw_print(w, "}}]");
    maki_write_original(w, item, value.len ? used_fields[i - 1] : used_fields[0]);
    maki_jw_end_object(w);
}

static void write_output(maki_jw *w, maki_str item)
{
    maki_str output = maki_member(item, MAKI_LIT("output"));
    maki_jw_print(w, "{'role':'tool','tool_call_id':%v", maki_member(item, MAKI_LIT("call_id")));
    write_content(w, output.len ? output : MAKI_LIT("\"\""), (maki_str){ "", 0 });
    maki_write_original(w, item, "call_id output");
    maki_jw_end_object(w);
}

static void write_blocks(maki_jw *w, maki_str role, maki_str reasoning, maki_str item)
{
    if (reasoning.len) reasoning.len--; /* without the trailing comma */
    maki_jw_print(w, "{'role':%v,'content':[%v,%v]}", role, reasoning, item);
}

void maki_item_write_reasoning(maki_jw *w, maki_str reasoning)
{
    write_blocks(w, MAKI_LIT("\"assistant\""), reasoning, (maki_str){ "", 0 });
}

/* Any other item: Codex, for example, sends its tools in an item of role developer. */
static void write_other(maki_jw *w, maki_str item, maki_str reasoning)
{
    maki_str role = maki_json_string(item, "role");
    if (role.len == 0) {
        role = maki_item_is_assistant(item) ? MAKI_LIT("\"assistant\"") : MAKI_LIT("\"user\"");
    }
    write_blocks(w, role, reasoning, item);
}

void maki_item_write_row(maki_jw *w, maki_str item, maki_str reasoning)
{
    if (is_message(item))
        write_message(w, item, reasoning);
    else if (is_call(item))
        write_call(w, item, reasoning);
    else if (is_output(item))
        write_output(w, item);
    else
        write_other(w, item, reasoning);
}

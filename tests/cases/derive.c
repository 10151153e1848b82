/* derive.c -- compute the values that some cases expect from an answer (derive.h): counts, flags and excerpts. */
#include "derive.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_access.h"
#include "base/json_write.h"
#include "base/str_util.h"

static maki_str get(maki_str object, const char *name)
{
    maki_str value;
    if (maki_json_kind_of(object) == MAKI_JSON_OBJECT &&
        maki_json_get(object, maki_str_of(name), &value)) {
        return value;
    }
    return MAKI_LIT("null");
}

static bool is(maki_str string, const char *text)
{
    return maki_json_kind_of(string) == MAKI_JSON_STRING &&
           maki_json_text_is(string, maki_str_of(text));
}

/* The texts of content, still escaped, joined by newlines. */
static void add_text(maki_buf *out, maki_str content)
{
    maki_json_iter iter = maki_json_items(content);
    maki_json_item block;
    bool first = true;
    if (maki_json_kind_of(content) == MAKI_JSON_STRING)
        maki_buf_add(out, maki_json_strip_quotes(content));
    while (maki_json_next(&iter, &block)) {
        maki_str text = get(block.value, "text");
        if (!first) maki_buf_add(out, MAKI_LIT("\\n"));
        first = false;
        if (maki_json_kind_of(text) == MAKI_JSON_STRING)
            maki_buf_add(out, maki_json_strip_quotes(text));
    }
}

/* Is there a tool message in the input with exactly this text? */
static bool known_result(maki_str messages, maki_str text)
{
    maki_json_iter iter = maki_json_items(messages);
    maki_json_item item;
    maki_env env = maki_env_system();
    bool found = false;
    while (maki_json_next(&iter, &item)) {
        maki_buf own = maki_buf_new(env.alloc, 1 << 20);
        if (is(get(item.value, "role"), "tool")) {
            add_text(&own, get(item.value, "content"));
            found |= maki_str_equal(maki_buf_str(&own), text);
        }
        maki_buf_free(&own);
    }
    return found;
}

static void sequence_entry(maki_buf *out, maki_str message, maki_str before)
{
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, 1 << 20);
    maki_json_iter calls = maki_json_items(get(message, "tool_calls"));
    maki_json_item call;
    bool any = false;
    add_text(&text, get(message, "content"));
    maki_buf_add(out, MAKI_LIT("\""));
    maki_buf_add(out, maki_json_strip_quotes(get(message, "role")));
    maki_buf_add(out, MAKI_LIT(":"));
    if (is(get(message, "role"), "tool")) {
        maki_buf_add(out, maki_json_strip_quotes(get(message, "tool_call_id")));
        maki_buf_add(out, MAKI_LIT(":"));
        bool known = known_result(before, maki_buf_str(&text));
        maki_buf_add(out, known ? maki_buf_str(&text) : MAKI_LIT("synthetic"));
    } else {
        while (maki_json_next(&calls, &call)) {
            if (any) maki_buf_add(out, MAKI_LIT("+"));
            maki_buf_add(out, maki_json_strip_quotes(get(call.value, "id")));
            any = true;
        }
        if (!any) maki_buf_add(out, maki_buf_str(&text));
    }
    maki_buf_add(out, MAKI_LIT("\""));
    maki_buf_free(&text);
}

static void derive_pairs(maki_str input, maki_str answer, maki_buf *out)
{
    maki_json_iter iter = maki_json_items(get(answer, "messages"));
    maki_json_item item;
    bool first = true;
    maki_buf_add(out, MAKI_LIT("{\"sequence\":["));
    while (maki_json_next(&iter, &item)) {
        if (!first) maki_buf_add(out, MAKI_LIT(","));
        first = false;
        sequence_entry(out, item.value, get(input, "messages"));
    }
    maki_buf_add(out, MAKI_LIT("]}"));
}

static void derive_pruned(maki_str input, maki_str answer, maki_buf *out)
{
    maki_json_iter before = maki_json_items(get(input, "messages"));
    maki_json_iter after = maki_json_items(get(answer, "messages"));
    maki_json_item was, is_now;
    maki_str hard = get(get(get(input, "settings"), "hardClear"), "placeholder");
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(out), NULL);
    maki_jw_begin_object(&w);
    maki_jw_key(&w, MAKI_LIT("changed"));
    maki_jw_begin_array(&w);
    for (int64_t i = 0; maki_json_next(&before, &was) && maki_json_next(&after, &is_now); i++) {
        if (maki_str_equal(was.value, is_now.value)) continue;
        maki_env env = maki_env_system();
        maki_buf text = maki_buf_new(env.alloc, 1 << 20);
        add_text(&text, get(is_now.value, "content"));
        bool cleared = maki_str_equal(maki_buf_str(&text), maki_json_strip_quotes(hard));
        maki_jw_begin_object(&w);
        maki_jw_key(&w, MAKI_LIT("index"));
        maki_jw_int(&w, i);
        maki_jw_key(&w, MAKI_LIT("action"));
        maki_jw_string(&w, cleared ? MAKI_LIT("hard_clear") : MAKI_LIT("soft_trim"));
        maki_jw_key(&w, MAKI_LIT("text"));
        maki_jw_begin_value(&w);
        maki_jw_bytes(&w, MAKI_LIT("\""));
        maki_jw_bytes(&w, maki_buf_str(&text));
        maki_jw_bytes(&w, MAKI_LIT("\""));
        maki_jw_end_object(&w);
        maki_buf_free(&text);
    }
    maki_jw_end_array(&w);
    maki_jw_end_object(&w);
    if (maki_jw_end(&w) != MAKI_OK) abort();
}

static void derive_tools(maki_str answer, maki_buf *out)
{
    maki_json_iter iter = maki_json_items(get(answer, "tools"));
    maki_json_item tool, property;
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(out), NULL);
    maki_jw_begin_object(&w);
    maki_jw_key(&w, MAKI_LIT("names"));
    maki_jw_begin_array(&w);
    while (maki_json_next(&iter, &tool))
        maki_jw_raw(&w, get(tool.value, "name"));
    maki_jw_end_array(&w);
    maki_jw_key(&w, MAKI_LIT("enums"));
    maki_jw_begin_object(&w);
    iter = maki_json_items(get(answer, "tools"));
    while (maki_json_next(&iter, &tool)) {
        maki_str properties = get(get(tool.value, "parameters"), "properties");
        maki_json_iter each = maki_json_items(properties);
        while (maki_json_next(&each, &property)) {
            maki_str values = get(property.value, "enum");
            if (maki_json_kind_of(values) != MAKI_JSON_ARRAY) continue;
            maki_jw_begin_value(&w);
            maki_jw_bytes(&w, MAKI_LIT("\""));
            maki_jw_bytes(&w, maki_json_strip_quotes(get(tool.value, "name")));
            maki_jw_bytes(&w, MAKI_LIT("."));
            maki_jw_bytes(&w, property.key);
            maki_jw_bytes(&w, MAKI_LIT("\":"));
            w.after_key = true;
            maki_jw_raw(&w, values);
        }
    }
    maki_jw_end_object(&w);
    maki_jw_end_object(&w);
    if (maki_jw_end(&w) != MAKI_OK) abort();
}

bool derive_answer(const char *op, maki_str input, maki_str answer, maki_buf *out)
{
    if (maki_json_kind_of(get(answer, "error")) == MAKI_JSON_OBJECT) return false;
    if (strcmp(op, "history.repair_pairs") == 0) {
        derive_pairs(input, answer, out);
    } else if (strcmp(op, "prune.tools") == 0) {
        derive_pruned(input, answer, out);
    } else if (strcmp(op, "tools.project") == 0) {
        derive_tools(answer, out);
    } else {
        return false;
    }
    return true;
}

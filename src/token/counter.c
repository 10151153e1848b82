/* counter.c -- the counters of the reference systems.
 *
 * In:     content items as JSON.
 * Out:    the count that the reference's code returns for them, its rounding and its `undefined` included: recorded cases
 *         depend on it. */
#include "token/counter.h"

#include <math.h>
#include <stdbool.h>

#include "base/str_util.h"
#include "token/text_count.h"

static const double fudge_factor = 1.5;    /* the reference's margin for another tokenizer */
static const double unknown_image = 300.0; /* an image without data */

double maki_estimate_tokens(maki_str escaped)
{
    return (double)((maki_json_utf16_len(escaped) + 3) / 4);
}

/* The escaped text of a text block; empty for other blocks. */
static maki_str text_of(maki_str item)
{
    maki_str text = item;
    if (maki_json_kind_of(item) != MAKI_JSON_STRING)
        text = maki_json_field_in(item, "type", "text") ? maki_json_string(item, "text")
                                                        : (maki_str){ "", 0 };
    return text.len ? maki_json_strip_quotes(text) : text;
}

static maki_status count_chars4(const maki_counter *self, const maki_str *items, size_t n,
                                double *tokens, maki_err *err)
{
    (void)self;
    (void)err;
    *tokens = 0;
    for (size_t i = 0; i < n; i++)
        *tokens += maki_estimate_tokens(text_of(items[i]));
    return MAKI_OK;
}

static maki_status count_fixed(const maki_counter *self, const maki_str *items, size_t n,
                               double *tokens, maki_err *err)
{
    (void)items;
    (void)n;
    (void)err;
    *tokens = self->value;
    return MAKI_OK;
}

/* ---- the reference's counter ------------------------------------------------------------------------- */

static double image_tokens(maki_str block)
{
    maki_str data = maki_json_string(maki_json_field(block, "source"), "data");
    if (!data.len) return unknown_image;
    return ceil(sqrt((double)maki_json_utf16_len(maki_json_strip_quotes(data))));
}

/* A value inside a template string: `${block[name]}`. */
static void add_template_value(maki_text_count *c, maki_str block, const char *name)
{
    maki_str value = maki_json_field(block, name);
    if (!value.len)
        maki_text_count_bytes(c, MAKI_LIT("undefined"));
    else if (maki_json_kind_of(value) == MAKI_JSON_STRING)
        maki_text_count_json_text(c, value);
    else
        maki_text_count_compact(c, value);
}

static bool is_truthy(maki_str value)
{
    switch (maki_json_kind_of(value)) {
    case MAKI_JSON_NULL: return false;
    case MAKI_JSON_BOOL: return maki_json_true(value);
    case MAKI_JSON_NUMBER: return maki_json_double(value) != 0;
    case MAKI_JSON_STRING: return value.len > 2;
    default: return true;
    }
}

static void add_tool_use(maki_text_count *c, maki_str block)
{
    maki_str input = maki_json_field(block, "input");
    maki_text_count_bytes(c, MAKI_LIT("Tool: "));
    add_template_value(c, block, "name");
    if (!input.len) return;
    maki_text_count_bytes(c, MAKI_LIT("\nArguments: "));
    maki_text_count_compact(c, input);
}

/* One line of a result: an item of its content. */
static void add_result_item(maki_text_count *c, maki_str item)
{
    maki_text_count_bytes(c, MAKI_LIT("\n"));
    if (maki_json_field_in(item, "type", "text")) {
        maki_text_count_json_text(c, text_of(item));
    } else if (maki_json_field_in(item, "type", "image")) {
        maki_text_count_bytes(c, MAKI_LIT("[Image content]"));
    } else {
        maki_text_count_bytes(c, MAKI_LIT("[Unsupported content block: "));
        add_template_value(c, item, "type");
        maki_text_count_bytes(c, MAKI_LIT("]"));
    }
}

static void add_tool_result(maki_text_count *c, maki_str block)
{
    maki_str content = maki_json_field(block, "content");
    maki_text_count_bytes(c, MAKI_LIT("Tool Result ("));
    add_template_value(c, block, "tool_use_id");
    maki_text_count_bytes(c, MAKI_LIT(")"));
    if (is_truthy(maki_json_field(block, "is_error")))
        maki_text_count_bytes(c, MAKI_LIT("\n[Error]"));
    if (maki_json_kind_of(content) == MAKI_JSON_STRING) {
        maki_text_count_bytes(c, MAKI_LIT("\n"));
        maki_text_count_json_text(c, content);
    } else if (maki_json_kind_of(content) == MAKI_JSON_ARRAY) {
        maki_json_iter iter = maki_json_items(content);
        maki_json_item item;
        while (maki_json_next(&iter, &item))
            add_result_item(c, item.value);
    }
}

static maki_status count_item(maki_tokenizer *t, maki_str item, double *tokens, maki_err *err)
{
    uint64_t counted = 0;
    maki_text_count c;
    maki_str type = maki_json_string(item, "type");
    if (type.len && maki_json_text_in(type, "image")) {
        *tokens += image_tokens(item);
        return MAKI_OK;
    }
    maki_text_count_begin(&c, t, err);
    if (type.len && maki_json_text_in(type, "tool_use"))
        add_tool_use(&c, item);
    else if (type.len && maki_json_text_in(type, "tool_result"))
        add_tool_result(&c, item);
    else
        maki_text_count_json_text(&c, text_of(item));
    maki_status st = maki_text_count_end(&c, &counted);
    *tokens += (double)counted;
    return st;
}

static maki_status count_o200k(const maki_counter *self, const maki_str *items, size_t n,
                               double *tokens, maki_err *err)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        maki_status st = count_item(self->tokenizer, items[i], &sum, err);
        if (st != MAKI_OK) return st;
    }
    *tokens = ceil(sum * fudge_factor);
    return MAKI_OK;
}

maki_counter maki_counter_chars4(void)
{
    return (maki_counter){ .count = count_chars4 };
}

maki_counter maki_counter_fixed(double value)
{
    return (maki_counter){ .count = count_fixed, .value = value };
}

maki_counter maki_counter_o200k(maki_tokenizer *tokenizer)
{
    return (maki_counter){ .count = count_o200k, .tokenizer = tokenizer };
}

/* counter.c -- see counter.h. */
#include "token/counter.h"

#include <math.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

static const double fudge_factor = 1.5;    /* the reference's allowance for a wrong tokenizer */
static const double unknown_image = 300.0; /* an image whose data is not here */

double maki_estimate_tokens(maki_str escaped)
{
    return (double)((maki_json_units(escaped) + 3) / 4);
}

/* The type of a block; a bare string is a text. */
static bool is_type(maki_str item, maki_str type)
{
    maki_str value;
    return maki_json_get(item, MAKI_LIT("type"), &value) &&
           maki_json_kind_of(value) == MAKI_JSON_STRING && maki_json_text_is(value, type);
}

static maki_str text_of(maki_str item)
{
    maki_str text = item;
    if (maki_json_kind_of(item) != MAKI_JSON_STRING) {
        if (!is_type(item, MAKI_LIT("text")) || !maki_json_get(item, MAKI_LIT("text"), &text)) {
            return (maki_str){ "", 0 };
        }
    }
    return maki_json_kind_of(text) == MAKI_JSON_STRING ? maki_json_inside(text)
                                                       : (maki_str){ "", 0 };
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

static double image_tokens(maki_str block)
{
    maki_str source, data;
    if (!maki_json_get(block, MAKI_LIT("source"), &source) ||
        !maki_json_get(source, MAKI_LIT("data"), &data) ||
        maki_json_kind_of(data) != MAKI_JSON_STRING) {
        return unknown_image;
    }
    return ceil(sqrt((double)maki_json_units(maki_json_inside(data))));
}

static maki_status count_o200k(const maki_counter *self, const maki_str *items, size_t n,
                               double *tokens, maki_err *err)
{
    double sum = 0;
    (void)self;
    for (size_t i = 0; i < n; i++) {
        bool spoken = text_of(items[i]).len > 0 || is_type(items[i], MAKI_LIT("tool_use")) ||
                      is_type(items[i], MAKI_LIT("tool_result"));
        if (spoken) {
            return maki_fail(err, MAKI_UNSUPPORTED,
                             "this build has no o200k_base tokenizer; use the counter chars4");
        }
        if (is_type(items[i], MAKI_LIT("image"))) sum += image_tokens(items[i]);
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

maki_counter maki_counter_o200k(void)
{
    return (maki_counter){ .count = count_o200k };
}

/* usage.c -- see usage.h. */
#include "reference/usage.h"

#include "base/str.h"

static double number(maki_str object, maki_str name)
{
    maki_str value;
    if (!maki_json_get(object, name, &value)) return 0;
    return maki_json_kind_of(value) == MAKI_JSON_NUMBER ? maki_json_double(value) : 0;
}

static bool says(maki_str event, maki_str what)
{
    maki_str type, said;
    if (maki_block_string(event, MAKI_LIT("type"), &type) &&
        !maki_json_text_is(type, MAKI_LIT("say"))) {
        return false;
    }
    return maki_block_string(event, MAKI_LIT("say"), &said) && maki_json_text_is(said, what);
}

/* What a request used stands as JSON inside the event's text. */
static maki_status add_request(maki_str event, maki_arena *arena, maki_usage *sum, maki_err *err)
{
    maki_str text, used;
    if (!maki_block_string(event, MAKI_LIT("text"), &text)) return MAKI_OK;
    maki_str json = maki_json_text(text, arena);
    maki_status st = maki_arena_status(arena, err);
    if (st != MAKI_OK) return st;
    if (maki_json_check(json, &used, NULL) != MAKI_OK) return MAKI_OK;
    double tokens = number(used, MAKI_LIT("tokensIn")) + number(used, MAKI_LIT("tokensOut"));
    if (tokens != 0) sum->context_tokens = tokens;
    sum->total_cost += number(used, MAKI_LIT("cost"));
    return MAKI_OK;
}

static void add_condense(maki_str event, maki_usage *sum)
{
    maki_str context;
    if (!maki_json_get(event, MAKI_LIT("contextCondense"), &context)) return;
    double tokens = number(context, MAKI_LIT("newContextTokens"));
    if (tokens != 0) sum->context_tokens = tokens;
    sum->total_cost += number(context, MAKI_LIT("cost"));
}

maki_status maki_usage_of(maki_str events, maki_arena *arena, maki_usage *out, maki_err *err)
{
    maki_json_iter iter = maki_json_items(events);
    maki_json_item item;
    maki_usage sum = { 0 };
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_json_next(&iter, &item)) { /* later ones replace earlier ones */
        if (says(item.value, MAKI_LIT("api_req_started"))) {
            st = add_request(item.value, arena, &sum, err);
        } else if (says(item.value, MAKI_LIT("condense_context"))) {
            add_condense(item.value, &sum);
        }
    }
    *out = sum;
    return st;
}

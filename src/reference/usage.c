/* usage.c -- read the events once: the last request or condense sets the context size, costs are summed.  Events that
 * cannot be parsed are skipped. */
#include "reference/usage.h"

/* Is the field `say` of the event this, and its type `say` or missing? */
static bool is_event(maki_str event, const char *say)
{
    return (!maki_json_string(event, "type").len || maki_json_field_in(event, "type", "say")) &&
           maki_json_field_in(event, "say", say);
}

/* The usage of a request is JSON inside the text of the event. */
static maki_status add_request(maki_str event, maki_arena *arena, maki_usage *sum, maki_err *err)
{
    maki_str text, usage;
    if (!maki_json_string_field(event, "text", &text)) return MAKI_OK;
    maki_str json = maki_json_text(text, arena);
    maki_status st = maki_arena_status(arena, err);
    if (st != MAKI_OK) return st;
    if (maki_json_check(json, &usage, NULL) != MAKI_OK) return MAKI_OK;
    double tokens =
        maki_json_number(usage, "tokensIn", 0) + maki_json_number(usage, "tokensOut", 0);
    if (tokens != 0) sum->context_tokens = tokens;
    sum->total_cost += maki_json_number(usage, "cost", 0);
    return MAKI_OK;
}

static void add_condense(maki_str event, maki_usage *sum)
{
    maki_str context = maki_json_field(event, "contextCondense");
    double tokens = maki_json_number(context, "newContextTokens", 0);
    if (tokens != 0) sum->context_tokens = tokens;
    sum->total_cost += maki_json_number(context, "cost", 0);
}

maki_status maki_usage_of(maki_str events, maki_arena *arena, maki_usage *out, maki_err *err)
{
    maki_usage sum = { 0 };
    maki_status st = MAKI_OK;
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(events)) { /* the last counts */
        if (is_event(item.value, "api_req_started")) {
            st = add_request(item.value, arena, &sum, err);
        } else if (is_event(item.value, "condense_context")) {
            add_condense(item.value, &sum);
        }
    }
    *out = sum;
    return st;
}

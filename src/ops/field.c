/* field.c -- reading the input of an operation; errors name the field and its byte. */
#include <math.h>

#include "base/err.h"
#include "base/str.h"
#include "ops/op.h"

static size_t position(const maki_call *call, maki_str value)
{
    return (size_t)(value.ptr - call->base);
}

bool maki_field(maki_str object, const char *name, maki_str *value)
{
    return maki_json_get(object, maki_str_of(name), value) &&
           maki_json_kind_of(*value) != MAKI_JSON_NULL;
}

double maki_field_number(maki_str object, const char *name, double otherwise)
{
    maki_str value;
    return maki_field(object, name, &value) ? maki_json_double(value) : otherwise;
}

bool maki_field_bool(maki_str object, const char *name, bool otherwise)
{
    maki_str value;
    return maki_field(object, name, &value) ? maki_json_true(value) : otherwise;
}

maki_str maki_field_string(maki_str object, const char *name)
{
    maki_str value;
    return maki_field(object, name, &value) ? value : MAKI_LIT("\"\"");
}

/* Is it there, be it null? */
static bool present(const maki_call *call, maki_str name, maki_str *value)
{
    bool found = false;
    for (size_t i = 0; i < call->item_count; i++) { /* of two the last counts */
        if (!maki_json_key_is(call->items[i].key, name)) continue;
        *value = call->items[i].value;
        found = true;
    }
    return found;
}

bool maki_in(const maki_call *call, const char *name, maki_str *value)
{
    return present(call, maki_str_of(name), value) && maki_json_kind_of(*value) != MAKI_JSON_NULL;
}

double maki_in_number(const maki_call *call, const char *name, double otherwise)
{
    maki_str value;
    return maki_in(call, name, &value) ? maki_json_double(value) : otherwise;
}

bool maki_in_bool(const maki_call *call, const char *name, bool otherwise)
{
    maki_str value;
    return maki_in(call, name, &value) ? maki_json_true(value) : otherwise;
}

maki_str maki_in_string(const maki_call *call, const char *name)
{
    maki_str value;
    return maki_in(call, name, &value) ? value : MAKI_LIT("\"\"");
}

/* Walk the input once: it may hold a whole history, and operations ask for many fields. */
maki_status maki_fields_note(maki_call *call, maki_err *err)
{
    maki_json_iter iter = maki_json_items(call->input);
    size_t room = 0;
    maki_json_item *items = NULL, item;
    if (call->noted == call->input.ptr) return MAKI_OK;
    call->items = NULL;
    call->item_count = 0;
    while (maki_json_next(&iter, &item)) {
        items = maki_arena_grow(call->arena, items, call->item_count, &room, sizeof item);
        if (!items) return maki_arena_status(call->arena, err);
        items[call->item_count++] = item;
    }
    call->items = items;
    call->noted = call->input.ptr;
    return MAKI_OK;
}

double maki_field_now(const maki_call *call)
{
    const maki_clock *clock = call->m->env.clock;
    maki_str value;
    if (maki_in(call, "now", &value) ||
        (call->outer.len && maki_field(call->outer, "now", &value))) {
        return maki_json_double(value);
    }
    return (double)clock->now_ms(clock);
}

maki_status maki_field_messages(const maki_call *call, const char *name, maki_msgs *out,
                                maki_err *err)
{
    maki_str value;
    *out = (maki_msgs){ 0 };
    if (!maki_in(call, name, &value)) return MAKI_OK;
    return maki_msgs_read(value, (maki_where){ name, call->base }, call->arena, out, err);
}

maki_status maki_field_want(const maki_call *call, maki_str value, const char *name,
                            maki_json_kind kind, maki_err *err)
{
    maki_json_kind is = maki_json_kind_of(value);
    if (is == kind && (kind != MAKI_JSON_NUMBER || isfinite(maki_json_double(value)))) {
        return MAKI_OK;
    }
    return maki_fail(
        err, MAKI_INVALID, "%s must be %s, not %s, at byte %zu", name, maki_json_kind_name(kind),
        is == kind ? "one this large" : maki_json_kind_name(is), position(call, value));
}

maki_status maki_field_nested(const maki_call *call, maki_str object, const char *outer,
                              const char *name, double *number, maki_err *err)
{
    maki_str value;
    if (!maki_field(object, name, &value)) return MAKI_OK;
    maki_str full = maki_arena_print(call->arena, "%s.%s", outer, name);
    maki_status st = maki_arena_status(call->arena, err);
    if (st == MAKI_OK) st = maki_field_want(call, value, full.ptr, MAKI_JSON_NUMBER, err);
    if (st == MAKI_OK) *number = maki_json_double(value);
    return st;
}

/* ---- the types of a row ---------------------------------------------------------------------- */

static const struct type_row {
    const char *name;
    maki_json_kind kind;
} types[] = {
    { "messages", MAKI_JSON_ARRAY }, { "array", MAKI_JSON_ARRAY },
    { "object", MAKI_JSON_OBJECT },  { "string", MAKI_JSON_STRING },
    { "number", MAKI_JSON_NUMBER },  { "count", MAKI_JSON_NUMBER },
    { "boolean", MAKI_JSON_BOOL },   { "message", MAKI_JSON_OBJECT },
};

static maki_status check_type(const maki_call *call, const maki_op_field *field, maki_str value,
                              maki_err *err)
{
    maki_str type = maki_str_of(field->type);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!maki_str_is(type, maki_str_of(types[i].name))) continue;
        maki_status st = maki_field_want(call, value, field->name, types[i].kind, err);
        if (st != MAKI_OK || !maki_str_is(type, MAKI_LIT("count"))) return st;
        double count = maki_json_double(value);
        if (count >= 0 && count == floor(count) && count <= 9007199254740992.0) return MAKI_OK;
        return maki_fail(err, MAKI_INVALID, "%s must be a whole number of at least 0, at byte %zu",
                         field->name, position(call, value));
    }
    return MAKI_OK; /* "any" */
}

maki_status maki_fields_check(maki_call *call, const maki_op_row *row, const char *skip,
                              maki_err *err)
{
    if (maki_json_kind_of(call->input) != MAKI_JSON_OBJECT) {
        return maki_fail(err, MAKI_INVALID, "the input of %s must be an object, at byte %zu",
                         row->info.name, position(call, call->input));
    }
    maki_status noted = maki_fields_note(call, err);
    if (noted != MAKI_OK) return noted;
    bool conversation = skip && maki_str_is(maki_str_of(skip), MAKI_LIT("conversation"));
    for (const maki_op_field *field = row->info.input; field->name; field++) {
        maki_str value;
        maki_str name = maki_str_of(field->name);
        if (skip && maki_str_is(name, maki_str_of(skip))) continue;
        bool there = present(call, name, &value);
        bool any = maki_str_is(maki_str_of(field->type), MAKI_LIT("any"));
        if (there && !any && maki_json_kind_of(value) == MAKI_JSON_NULL) there = false;
        if (!there && field->required && !conversation) {
            return maki_fail(err, MAKI_INVALID,
                             "%s is missing from the input at byte %zu; see maki "
                             "op %s --help",
                             field->name, position(call, call->input), row->info.name);
        }
        if (!there) continue;
        maki_status st = check_type(call, field, value, err);
        if (st != MAKI_OK) return st;
    }
    for (const maki_op_field *field = maki_conversation_fields; conversation && field->name;
         field++) {
        maki_str value;
        if (!maki_in(call, field->name, &value)) continue;
        maki_status st = check_type(call, field, value, err);
        if (st != MAKI_OK) return st;
    }
    return MAKI_OK;
}

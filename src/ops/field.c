/* field.c -- read the input of an operation: index its fields, check them against the row, convert their values.
 *
 * The input has passed maki_json_check.  It may contain a whole history, so its fields are indexed in one pass and
 * looked up in that index afterwards.  Errors name the field and its byte, counted from the start of what the caller
 * sent. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/str_util.h"
#include "base/suggest.h"
#include "base/text.h"
#include "ops/operation.h"
#include "store/session.h"

static size_t position(const maki_op_call *call, maki_str value)
{
    return (size_t)(value.ptr - call->input_start);
}

bool maki_field(maki_str object, const char *name, maki_str *value)
{
    return maki_json_get(object, maki_str_of(name), value) &&
           maki_json_kind_of(*value) != MAKI_JSON_NULL;
}

/* The value of a field, which may be null. */
static bool find_value(const maki_op_call *call, maki_str name, maki_str *value)
{
    bool found = false;
    for (size_t i = 0; i < call->item_count; i++) { /* of duplicates the last wins */
        if (!maki_json_key_is(call->items[i].key, name)) continue;
        *value = call->items[i].value;
        found = true;
    }
    return found;
}

bool maki_input_value(const maki_op_call *call, const char *name, maki_str *value)
{
    return find_value(call, maki_str_of(name), value) &&
           maki_json_kind_of(*value) != MAKI_JSON_NULL;
}

double maki_input_number(const maki_op_call *call, const char *name, double fallback)
{
    maki_str value;
    return maki_input_value(call, name, &value) ? maki_json_double(value) : fallback;
}

bool maki_input_bool(const maki_op_call *call, const char *name, bool fallback)
{
    maki_str value;
    return maki_input_value(call, name, &value) ? maki_json_true(value) : fallback;
}

maki_str maki_input_string(const maki_op_call *call, const char *name)
{
    maki_str value;
    return maki_input_value(call, name, &value) ? value : MAKI_LIT("\"\"");
}

maki_str maki_input_text(const maki_op_call *call, const char *name)
{
    return maki_json_text(maki_input_string(call, name), call->arena);
}

maki_status maki_input_cstring(const maki_op_call *call, const char *name, char *out,
                               size_t capacity, maki_err *err)
{
    maki_str value = maki_input_string(call, name), text = maki_json_text(value, call->arena);
    maki_status st = maki_arena_status(call->arena, err);
    if (st != MAKI_OK) return st;
    if (text.len >= capacity || memchr(text.ptr, '\0', text.len))
        return maki_field_invalid(call, value, err,
                                  "%s is longer than %zu bytes, or contains a NUL character", name,
                                  capacity - 1);
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return MAKI_OK;
}

maki_status maki_fields_index(maki_op_call *call, maki_err *err)
{
    size_t capacity = 0;
    maki_json_item *items = NULL;
    if (call->indexed == call->input.ptr) return MAKI_OK;
    call->items = NULL;
    call->item_count = 0;
    MAKI_JSON_EACH(item, maki_json_items(call->input)) {
        items = maki_arena_grow(call->arena, items, call->item_count, &capacity, sizeof item);
        if (!items) return maki_arena_status(call->arena, err);
        items[call->item_count++] = item;
    }
    call->items = items;
    call->indexed = call->input.ptr;
    return MAKI_OK;
}

double maki_field_now(const maki_op_call *call)
{
    const maki_clock *clock = call->m->env.clock;
    maki_str value;
    if (maki_input_value(call, "now", &value) ||
        (call->outer.len && maki_field(call->outer, "now", &value))) {
        return maki_json_double(value);
    }
    return (double)clock->now_ms(clock);
}

maki_status maki_field_messages(const maki_op_call *call, const char *name, maki_msgs *out,
                                maki_err *err)
{
    maki_str value;
    *out = (maki_msgs){ 0 };
    if (!maki_input_value(call, name, &value)) return MAKI_OK;
    return maki_msgs_read(value, (maki_where){ name, call->input_start }, call->arena, out, err);
}

maki_status maki_field_rows(const maki_op_call *call, const char *name, const maki_str **rows,
                            size_t *count, maki_err *err)
{
    maki_msgs list;
    maki_status st = maki_field_messages(call, name, &list, err);
    if (st != MAKI_OK) return st;
    maki_str *out = maki_arena_array(call->arena, list.count, sizeof *out);
    for (*count = 0; out && *count < list.count; ++*count)
        out[*count] = list.at[*count]->raw;
    *rows = out;
    return maki_arena_status(call->arena, err);
}

maki_status maki_field_invalid(const maki_op_call *call, maki_str value, maki_err *err,
                               const char *fmt, ...)
{
    char reason[sizeof err->msg];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    return maki_fail(err, MAKI_INVALID, "%s, at byte %zu", reason, position(call, value));
}

maki_status maki_field_check_kind(const maki_op_call *call, maki_str value, const char *name,
                                  maki_json_kind wanted, maki_err *err)
{
    maki_json_kind kind = maki_json_kind_of(value);
    bool same = kind == wanted;
    if (same && (kind != MAKI_JSON_NUMBER || isfinite(maki_json_double(value)))) return MAKI_OK;
    return maki_field_invalid(call, value, err, "%s must be %s, not %s", name,
                              maki_json_kind_name(wanted),
                              same ? "one this large" : maki_json_kind_name(kind));
}

static void store(maki_str value, const maki_nested_field *field, void *out)
{
    void *destination = (char *)out + field->offset;
    if (field->kind == MAKI_JSON_NUMBER)
        *(double *)destination = maki_json_double(value);
    else if (field->kind == MAKI_JSON_BOOL)
        *(bool *)destination = maki_json_true(value);
    else
        *(maki_str *)destination = value;
}

maki_status maki_field_nested(const maki_op_call *call, maki_str object, const char *outer,
                              const maki_nested_field *fields, void *out, maki_err *err)
{
    maki_str value;
    for (; fields->name; fields++) {
        if (!maki_field(object, fields->name, &value)) continue;
        maki_str full = maki_arena_print(call->arena, "%s.%s", outer, fields->name);
        maki_status st = maki_arena_status(call->arena, err);
        if (st == MAKI_OK) st = maki_field_check_kind(call, value, full.ptr, fields->kind, err);
        if (st != MAKI_OK) return st;
        store(value, fields, out);
    }
    return MAKI_OK;
}

/* ---- the types of a row ---------------------------------------------------------------------- */

static const struct type_row {
    const char *name;
    maki_json_kind kind;
} types[] = {
    { "messages", MAKI_JSON_ARRAY },  { "array", MAKI_JSON_ARRAY },
    { "object", MAKI_JSON_OBJECT },   { "message", MAKI_JSON_OBJECT },
    { "revision", MAKI_JSON_OBJECT }, { "string", MAKI_JSON_STRING },
    { "path", MAKI_JSON_STRING },     { "conversation", MAKI_JSON_STRING },
    { "number", MAKI_JSON_NUMBER },   { "count", MAKI_JSON_NUMBER },
    { "boolean", MAKI_JSON_BOOL },
};

static bool is_type(const maki_op_field *field, maki_str type)
{
    return maki_str_equal(type, maki_str_of(field->type));
}

static maki_status check_type(const maki_op_call *call, const maki_op_field *field, maki_str value,
                              maki_err *err)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!is_type(field, maki_str_of(types[i].name))) continue;
        maki_status st = maki_field_check_kind(call, value, field->name, types[i].kind, err);
        if (st != MAKI_OK || !is_type(field, MAKI_LIT("count"))) return st;
        double count = maki_json_double(value);
        if (count >= 0 && count == floor(count) && count <= 9007199254740992.0) return MAKI_OK;
        return maki_field_invalid(call, value, err, "%s must be an integer of at least 0",
                                  field->name);
    }
    return MAKI_OK; /* "any" */
}

/* maki_deny_paths: a bare name is a path, too, when it exists in the working directory. */
static maki_status check_path(const maki_op_call *call, const maki_op_field *field, maki_str value,
                              maki_err *err)
{
    char name[MAKI_ID_MAX];
    bool path = is_type(field, MAKI_LIT("path"));
    if (!call->m->paths_denied || (!path && !is_type(field, MAKI_LIT("conversation"))))
        return MAKI_OK;
    if (!path) {
        size_t n = maki_json_copy_text(value, name, sizeof name - 1);
        name[n] = '\0';
        path = n == sizeof name - 1 || strlen(name) != n || name[0] == '.' || strchr(name, '/') ||
               strstr(name, ".jsonl") || maki_file_exists(call->m->env.files, name);
    }
    return path ? maki_fail(err, MAKI_DENIED,
                            "%s names a file: here a conversation is named by its session id or "
                            "key, never by a path",
                            field->name)
                : MAKI_OK;
}

static const maki_op_field *find_field(const maki_op_field *fields, maki_str key)
{
    while (fields->name && !maki_json_key_is(key, maki_str_of(fields->name)))
        fields++;
    return fields->name ? fields : NULL;
}

static maki_status refuse_unknown(const maki_op_call *call, const char *op,
                                  const maki_op_field *fields, maki_str key, maki_err *err)
{
    maki_suggest nearest = maki_suggest_for(key);
    for (; fields->name; fields++)
        maki_suggest_candidate(&nearest, maki_str_of(fields->name));
    int len = (int)maki_utf8_truncate(key, 60).len;
    if (nearest.found.len)
        return maki_fail(err, MAKI_INVALID,
                         "unknown field `%.*s`: did you mean `%s`? (at byte %zu)", len, key.ptr,
                         nearest.found.ptr, position(call, key) - 1);
    return maki_fail(err, MAKI_INVALID, "unknown field `%.*s` at byte %zu; see maki op %s --help",
                     len, key.ptr, position(call, key) - 1, op);
}

maki_status maki_fields_check(maki_op_call *call, const char *op, const maki_op_field *fields,
                              maki_err *err)
{
    bool step = call->outer.len > 0;
    maki_status st = maki_fields_index(call, err);
    for (size_t i = 0; st == MAKI_OK && i < call->item_count; i++) {
        const maki_json_item *item = &call->items[i];
        const maki_op_field *field = find_field(fields, item->key);
        bool null = maki_json_kind_of(item->value) == MAKI_JSON_NULL;
        if (!field && !(step && maki_json_key_is(item->key, MAKI_LIT("op"))))
            st = refuse_unknown(call, op, fields, item->key, err);
        if (st == MAKI_OK && field && !null) st = check_type(call, field, item->value, err);
        if (st == MAKI_OK && field && !null) st = check_path(call, field, item->value, err);
    }
    for (const maki_op_field *field = fields; st == MAKI_OK && field->name; field++) {
        maki_str value, name = maki_str_of(field->name);
        bool is_any = is_type(field, MAKI_LIT("any")); /* which may be null */
        bool present =
            is_any ? find_value(call, name, &value) : maki_input_value(call, field->name, &value);
        if (present || !field->required || (step && maki_str_equal(name, MAKI_LIT("messages"))))
            continue;
        st = maki_fail(err, MAKI_INVALID,
                       "%s is missing from the input at byte %zu; see maki op %s --help",
                       field->name, position(call, call->input), op);
    }
    return st;
}

maki_status maki_form_select(maki_op_call *call, const maki_op_row *row, size_t *form,
                             maki_err *err)
{
    const maki_op_info *op = &row->info;
    maki_str value;
    *form = 0;
    if (maki_json_kind_of(call->input) != MAKI_JSON_OBJECT) {
        return maki_field_invalid(call, call->input, err, "the input of %s must be an object",
                                  op->name);
    }
    maki_status st = maki_fields_index(call, err);
    if (st != MAKI_OK || op->form_count < 2) return st;
    const char *a = op->forms[0].chosen_by, *b = op->forms[1].chosen_by;
    bool has_a = maki_input_value(call, a, &value), has_b = maki_input_value(call, b, &value);
    *form = has_b;
    if (has_a != has_b) return MAKI_OK;
    if (has_a) return maki_field_invalid(call, call->input, err, "give %s or %s, not both", a, b);
    return maki_fail(err, MAKI_INVALID,
                     "%s is missing from the input at byte %zu, or %s; see maki op %s --help", a,
                     position(call, call->input), b, op->name);
}

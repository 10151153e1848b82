/* value.c -- parse and check the value of a setting.
 *
 * In:     a string with its variables expanded, the row of its setting.
 * Out:    the value, or an error message with the expected form and, where possible, a suggestion. */
#include "config/value.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "base/suggest.h"
#include "config/amount.h"

enum { QUOTED_MAX = 40 /* characters of an invalid value in an error */ };

static const maki_str no_error = { "", 0 };

static const struct type_row {
    const char *name;
    bool (*parse)(maki_str text, double *out); /* of numeric types */
} types[] = {
    [MAKI_CONFIG_FLAG] = { "true or false", maki_amount_flag },
    [MAKI_CONFIG_INTEGER] = { "an integer", maki_amount_integer },
    [MAKI_CONFIG_NUMBER] = { "a number", maki_amount_number },
    [MAKI_CONFIG_STRING] = { "a string", NULL },
    [MAKI_CONFIG_SECRET] = { "a string, a secret", NULL },
    [MAKI_CONFIG_CHOICE] = { "one of", NULL },
    [MAKI_CONFIG_LIST] = { "a list of strings", NULL },
    [MAKI_CONFIG_BYTES] = { "an amount of bytes (64k, 10m, 1g)", maki_amount_bytes },
    [MAKI_CONFIG_DURATION] = { "a duration (250ms, 30s, 5m)", maki_amount_duration },
    [MAKI_CONFIG_URL] = { "a URL that begins with http:// or https://", NULL },
    [MAKI_CONFIG_ADDRESSES] = { "ADDRESS:PORT, or a list of those", NULL },
    [MAKI_CONFIG_POLICY] = { "the name of a policy, or a list of steps", NULL },
    [MAKI_CONFIG_ALIAS] = { "an alias", NULL },
};

bool maki_value_is_list(const maki_config_setting *row)
{
    return row->type == MAKI_CONFIG_LIST || row->type == MAKI_CONFIG_ADDRESSES;
}

/* ---- what a row expects ------------------------------------------------------------------------ */

static maki_str format_amount(maki_config_type type, double n, maki_arena *arena)
{
    if (type == MAKI_CONFIG_NUMBER) return maki_arena_print(arena, "%g", n);
    if (type == MAKI_CONFIG_INTEGER) return maki_arena_print(arena, "%.0f", n);
    return maki_amount_format(n, type == MAKI_CONFIG_DURATION, arena);
}

static maki_str format_choices(const char *choices, maki_arena *arena)
{
    maki_str name = { "", 0 }, choice;
    while (maki_words_next(&choices, &choice))
        name = maki_arena_print(arena, "%.*s%s%.*s", MAKI_PRINTED(name), name.len ? ", " : "",
                                MAKI_PRINTED(choice));
    return name;
}

maki_str maki_value_expected(const maki_config_setting *row, maki_arena *arena)
{
    const char *type = types[row->type].name;
    if (row->type == MAKI_CONFIG_CHOICE) {
        maki_str choices = format_choices(row->choices, arena);
        return maki_arena_print(arena, "%s %.*s", type, MAKI_PRINTED(choices));
    }
    if (row->min == 0 && row->max == 0) return maki_arena_print(arena, "%s", type);
    maki_str low = format_amount(row->type, row->min, arena);
    maki_str high = format_amount(row->type, row->max, arena);
    if (row->type == MAKI_CONFIG_INTEGER && row->max >= 1e9) {
        return maki_arena_print(arena, "%s of at least %.*s", type, MAKI_PRINTED(low));
    }
    return maki_arena_print(arena, "%s from %.*s to %.*s%s", type, MAKI_PRINTED(low),
                            MAKI_PRINTED(high), row->inherits ? ", or -1" : "");
}

size_t maki_config_expected(const maki_config_setting *setting, char *out, size_t capacity)
{
    maki_env env = maki_env_system();
    maki_arena arena = maki_arena_new(env.alloc, 1 << 16);
    maki_str name = maki_value_expected(setting, &arena);
    int n = snprintf(out, capacity, "%.*s", MAKI_PRINTED(name));
    maki_arena_free(&arena);
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity - 1;
}

/* The error: must be EXPECTED, not "TEXT", and a hint. */
static maki_str error_of(const maki_config_setting *row, maki_str text, const char *hint,
                         maki_arena *arena)
{
    maki_str expected = maki_value_expected(row, arena);
    maki_str shown = maki_problem_quote(arena, text, QUOTED_MAX);
    return maki_arena_print(arena, "must be %.*s, not \"%.*s\"%s", MAKI_PRINTED(expected),
                            MAKI_PRINTED(shown), hint);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static maki_str read_choice(maki_value *value, maki_str text, maki_arena *arena)
{
    const char *choices = value->row->choices;
    maki_suggest nearest = maki_suggest_for(text);
    maki_str choice;
    if (maki_str_in(text, choices)) return no_error;
    while (maki_words_next(&choices, &choice))
        maki_suggest_candidate(&nearest, choice);
    if (!nearest.found.len) return error_of(value->row, text, "", arena);
    maki_str hint = maki_arena_print(arena, "; did you mean %.*s?", MAKI_PRINTED(nearest.found));
    return error_of(value->row, text, hint.ptr, arena);
}

static bool is_url(maki_str text)
{
    size_t scheme = maki_str_starts(text, MAKI_LIT("http://"))    ? 7
                    : maki_str_starts(text, MAKI_LIT("https://")) ? 8
                                                                  : 0;
    if (scheme == 0 || text.len == scheme || text.ptr[scheme] == '/') return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f || strchr("\"<>\\^`{|}", text.ptr[i])) {
            return false;
        }
    }
    return true;
}

/* "127.0.0.1:4747", "[::1]:0", "localhost:80" */
static bool is_address(maki_str text)
{
    const char *colon = maki_str_last(text, ':');
    if (!colon || colon == text.ptr) return false;
    maki_str host = maki_str_prefix(text, (size_t)(colon - text.ptr));
    maki_str port = maki_str_skip(text, host.len + 1);
    double n = 0;
    bool ipv6 = host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
    if (!ipv6 && memchr(host.ptr, ':', host.len)) return false;
    return maki_amount_integer(port, &n) && n >= 0 && n <= 65535;
}

maki_str maki_value_check_item(const maki_config_setting *row, maki_str item, maki_arena *arena)
{
    if (row->type != MAKI_CONFIG_ADDRESSES || is_address(item)) return no_error;
    return error_of(row, item, "; for example 127.0.0.1:4747 or [::1]:4747", arena);
}

/* A hint for a ratio given as a percentage, or vice versa. */
static const char *percent_hint(const maki_config_setting *row, double n, maki_arena *arena)
{
    if (row->max <= 1 && n > 1 && n <= 100) {
        return maki_arena_print(arena, "; %g %% is written %g", n, n / 100).ptr;
    }
    if (row->max == 100 && n > 0 && n < 1) {
        return maki_arena_print(arena, "; %g %% is written %g", n * 100, n * 100).ptr;
    }
    return "";
}

/* A hint for a number with a unit. */
static const char *unit_hint(maki_str text)
{
    char last = text.len > 1 ? text.ptr[text.len - 1] : '0';
    if (last == '%') return "; remove the %";
    if (strchr("kKmM", last) && text.ptr[0] >= '0' && text.ptr[0] <= '9')
        return "; write it without a unit";
    return "";
}

static maki_str read_amount(maki_value *value, maki_str text, maki_value_form form,
                            maki_arena *arena)
{
    const maki_config_setting *row = value->row;
    bool flag = row->type == MAKI_CONFIG_FLAG;
    bool number = row->type == MAKI_CONFIG_INTEGER || row->type == MAKI_CONFIG_NUMBER;
    if (flag && form == MAKI_VALUE_VARIABLE && text.len == 1 && strchr("01", text.ptr[0])) {
        value->number = text.ptr[0] == '1';
        return no_error;
    }
    if (!types[row->type].parse(text, &value->number))
        return error_of(row, text, number ? unit_hint(text) : "", arena);
    if ((flag || number) && form == MAKI_VALUE_QUOTED)
        return error_of(row, text, " in quotes, which make it a string; remove them", arena);
    bool has_range = row->min != 0 || row->max != 0;
    if (row->inherits || !has_range) return no_error; /* rules.c checks it */
    if (value->number >= row->min && value->number <= row->max) return no_error;
    return error_of(row, text, percent_hint(row, value->number, arena), arena);
}

static maki_str read_one_item(maki_value *value, maki_str text, maki_arena *arena)
{
    maki_str *item = maki_arena_get(arena, sizeof *item);
    maki_str error = maki_value_check_item(value->row, text, arena);
    if (!item || error.len) return error;
    *item = text;
    value->items = item;
    value->count = 1;
    return no_error;
}

maki_str maki_value_read(maki_value *value, maki_str text, maki_value_form form, maki_arena *arena)
{
    value->text = text;
    if (text.len && memchr(text.ptr, '\0', text.len)) {
        return MAKI_LIT("must not contain a NUL character");
    }
    if (types[value->row->type].parse) return read_amount(value, text, form, arena);
    switch (value->row->type) {
    case MAKI_CONFIG_CHOICE: return read_choice(value, text, arena);
    case MAKI_CONFIG_URL: return is_url(text) ? no_error : error_of(value->row, text, "", arena);
    case MAKI_CONFIG_LIST:
    case MAKI_CONFIG_ADDRESSES: return read_one_item(value, text, arena);
    default: return no_error; /* any string */
    }
}

bool maki_value_same(const maki_value *a, const maki_value *b)
{
    if (a->row != b->row || a->count != b->count || a->number != b->number) return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!maki_str_equal(a->items[i], b->items[i])) return false;
    }
    bool by_number = a->row->type == MAKI_CONFIG_FLAG || a->row->max != 0 || a->row->min != 0;
    return a->count || by_number || maki_str_equal(a->text, b->text);
}

/* amount.c -- parse and format the scalar values of settings: flags, integers, numbers, byte sizes, durations.
 *
 * In:     any text; to format, a number of bytes or milliseconds.
 * Out:    a double, exact for integers; false for invalid text.  Parsing what was formatted gives the same number. */
#include "config/amount.h"

#include <math.h>
#include <strings.h>

#include "base/str_util.h"

#include <maki/json.h>

bool maki_amount_flag(maki_str text, double *out)
{
    const char *words = "true|false|yes|no|on|off";
    maki_str word;
    for (size_t i = 0; maki_words_next(&words, &word); i++) {
        if (text.len != word.len || strncasecmp(text.ptr, word.ptr, word.len) != 0) continue;
        *out = i % 2 == 0;
        return true;
    }
    return false;
}

/* Parse the digits at the start, with single _ between them; *rest is the text after them. */
static bool parse_digits(maki_str text, double max, double *out, maki_str *rest)
{
    double n = 0;
    size_t i = 0;
    for (; i < text.len; i++) {
        char c = text.ptr[i];
        bool separator = c == '_' && i > 0 && text.ptr[i - 1] != '_' && i + 1 < text.len;
        if (separator) continue;
        if (c < '0' || c > '9') break;
        n = n * 10 + (c - '0');
        if (n > max) return false;
    }
    if (i == 0 || text.ptr[i - 1] == '_') return false;
    *out = n;
    *rest = maki_str_skip(text, i);
    return true;
}

bool maki_amount_integer(maki_str text, double *out)
{
    double n = 0;
    bool negative = text.len && text.ptr[0] == '-';
    maki_str rest;
    if (!parse_digits(maki_str_skip(text, negative), 9007199254740992.0, &n, &rest) || rest.len) {
        return false;
    }
    *out = negative ? -n : n;
    return true;
}

bool maki_amount_number(maki_str text, double *out)
{
    maki_str value;
    if (maki_amount_integer(text, out)) return true;
    if (maki_json_check(text, &value, NULL) != MAKI_OK || value.len != text.len ||
        maki_json_kind_of(value) != MAKI_JSON_NUMBER) {
        return false;
    }
    double n = maki_json_double(value);
    if (!isfinite(n)) return false;
    *out = n;
    return true;
}

/* The units of each kind, largest first; the one without a name applies to a number without a unit. */
static const struct unit {
    bool duration;
    const char *name;
    double size; /* bytes, milliseconds */
} units[] = {
    { false, "g", 1073741824 }, { false, "m", 1048576 }, { false, "k", 1024 },
    { false, "", 1 },           { true, "h", 3600000 },  { true, "m", 60000 },
    { true, "s", 1000 },        { true, "ms", 1 },       { true, "", 1000 },
};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

static bool parse_with_unit(maki_str text, bool duration, double max, double *out)
{
    double n = 0;
    maki_str rest;
    if (!parse_digits(text, max, &n, &rest)) return false;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        const struct unit *u = &units[i];
        if (u->duration != duration || rest.len != strlen(u->name)) continue;
        if (duration ? memcmp(rest.ptr, u->name, rest.len)
                     : strncasecmp(rest.ptr, u->name, rest.len))
            continue;
        if (n * u->size > max) return false;
        *out = n * u->size;
        return true;
    }
    return false;
}

bool maki_amount_bytes(maki_str text, double *out)
{
    return parse_with_unit(text, false, 1125899906842624.0, out); /* 2^50 */
}

bool maki_amount_duration(maki_str text, double *ms)
{
    return parse_with_unit(text, true, 4294967295.0, ms);
}

maki_str maki_amount_format(double n, bool duration, maki_arena *arena)
{
    size_t i = 0;
    while (units[i].duration != duration || n < units[i].size || fmod(n, units[i].size) != 0) {
        if (++i == UNIT_COUNT) return maki_arena_print(arena, "%.0f", n);
    }
    return maki_arena_print(arena, "%.0f%s", n / units[i].size, units[i].name);
}

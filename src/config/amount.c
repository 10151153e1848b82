/* amount.c -- see amount.h. */
#include "config/amount.h"

#include <math.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/str_util.h"

#include <maki/json.h>

bool maki_amount_flag(maki_str text, double *out)
{
    char low[8];
    maki_str word = { low, text.len };
    if (text.len > sizeof low) return false;
    for (size_t i = 0; i < text.len; i++)
        low[i] = maki_lower(text.ptr[i]);
    bool yes = maki_str_in(word, "true|yes|on");
    if (!yes && !maki_str_in(word, "false|no|off")) return false;
    *out = yes;
    return true;
}

/* The digits at the start, single _ between them; what follows is left in *rest. */
static bool read_digits(maki_str text, double most, double *out, maki_str *rest)
{
    double n = 0;
    size_t i = 0;
    for (; i < text.len; i++) {
        char c = text.ptr[i];
        bool between = c == '_' && i > 0 && text.ptr[i - 1] != '_' && i + 1 < text.len;
        if (between) continue;
        if (c < '0' || c > '9') break;
        n = n * 10 + (c - '0');
        if (n > most) return false;
    }
    if (i == 0 || text.ptr[i - 1] == '_') return false;
    *out = n;
    *rest = maki_str_from(text, i);
    return true;
}

bool maki_amount_integer(maki_str text, double *out)
{
    double n = 0;
    bool minus = text.len && text.ptr[0] == '-';
    maki_str rest;
    if (!read_digits(maki_str_from(text, minus), 9007199254740992.0, &n, &rest) || rest.len) {
        return false;
    }
    *out = minus ? -n : n;
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

/* Of each kind the largest first; without a name: what a number alone means. */
static const struct unit {
    bool time;
    const char *name;
    double size; /* bytes, milliseconds */
} units[] = {
    { false, "g", 1073741824 }, { false, "m", 1048576 }, { false, "k", 1024 },
    { false, "", 1 },           { true, "h", 3600000 },  { true, "m", 60000 },
    { true, "s", 1000 },        { true, "ms", 1 },       { true, "", 1000 },
};
enum { UNITS = sizeof units / sizeof units[0] };

static bool read_units(maki_str text, bool time, double most, double *out)
{
    double n = 0;
    maki_str rest;
    if (!read_digits(text, most, &n, &rest)) return false;
    for (size_t i = 0; i < UNITS; i++) {
        const struct unit *u = &units[i];
        if (u->time != time || rest.len != strlen(u->name)) continue;
        if (time ? memcmp(rest.ptr, u->name, rest.len) : strncasecmp(rest.ptr, u->name, rest.len))
            continue;
        if (n * u->size > most) return false;
        *out = n * u->size;
        return true;
    }
    return false;
}

bool maki_amount_bytes(maki_str text, double *out)
{
    return read_units(text, false, 1125899906842624.0, out); /* 2^50 */
}

bool maki_amount_time(maki_str text, double *ms)
{
    return read_units(text, true, 4294967295.0, ms);
}

maki_str maki_amount_words(double n, bool time, maki_arena *arena)
{
    size_t i = 0;
    while (units[i].time != time || n < units[i].size || fmod(n, units[i].size) != 0) {
        if (++i == UNITS) return maki_arena_print(arena, "%.0f", n);
    }
    return maki_arena_print(arena, "%.0f%s", n / units[i].size, units[i].name);
}

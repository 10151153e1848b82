/* amount.c -- see amount.h. */
#include "config/amount.h"

#include <math.h>
#include <strings.h>

#include "base/str.h"

#include <maki/json.h>

bool maki_amount_flag(maki_str text, bool *out)
{
    static const struct flag_word {
        maki_str word;
        bool value;
    } words[] = {
        { { "true", 4 }, true },   { { "yes", 3 }, true }, { { "on", 2 }, true },
        { { "false", 5 }, false }, { { "no", 2 }, false }, { { "off", 3 }, false },
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        maki_str word = words[i].word;
        if (text.len != word.len || strncasecmp(text.ptr, word.ptr, word.len) != 0) continue;
        *out = words[i].value;
        return true;
    }
    return false;
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

bool maki_amount_bytes(maki_str text, uint64_t *out)
{
    static const char units[] = "kmg";
    const double most = 1125899906842624.0; /* 2^50 */
    double n = 0;
    maki_str rest;
    if (!read_digits(text, most, &n, &rest) || rest.len > 1) return false;
    if (rest.len) {
        const char *unit = strchr(units, rest.ptr[0] | 0x20);
        if (!unit || rest.ptr[0] < 'A') return false;
        n = ldexp(n, 10 * (int)(unit - units + 1));
    }
    if (n > most) return false;
    *out = (uint64_t)n;
    return true;
}

bool maki_amount_time(maki_str text, uint64_t *ms)
{
    static const struct time_unit {
        maki_str name;
        double ms;
    } units[] = { { { "", 0 }, 1000 },
                  { { "s", 1 }, 1000 },
                  { { "ms", 2 }, 1 },
                  { { "m", 1 }, 60000 },
                  { { "h", 1 }, 3600000 } };
    double n = 0;
    maki_str rest;
    if (!read_digits(text, 4294967295.0, &n, &rest)) return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!maki_str_is(rest, units[i].name)) continue;
        if (n * units[i].ms > 4294967295.0) return false;
        *ms = (uint64_t)(n * units[i].ms);
        return true;
    }
    return false;
}

/* backoff.c -- see backoff.h. */
#include "send/backoff.h"

#include <curl/curl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"

maki_status maki_backoff_random(const maki_random *random, unsigned nth, uint32_t *ms,
                                maki_err *err)
{
    uint32_t most = MAKI_BACKOFF_FIRST, chance;
    while (nth-- > 0 && most < MAKI_BACKOFF_MAX)
        most *= 2;
    if (most > MAKI_BACKOFF_MAX) most = MAKI_BACKOFF_MAX;
    maki_status st = random->fill(random, &chance, sizeof chance, err);
    if (st == MAKI_OK) *ms = (uint32_t)((uint64_t)chance * most >> 32);
    return st;
}

/* A number of `unit` milliseconds; below 0: it is none. */
static int64_t amount(const char *text, double unit)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || end[strspn(end, " ")] || !isfinite(value) || value < 0) return -1;
    return value * unit < 1e15 ? (int64_t)ceil(value * unit) : (int64_t)1e15;
}

int64_t maki_backoff_retry_after(maki_str after, maki_str after_ms, int64_t now_ms)
{
    char text[64];
    int64_t ms = -1;
    if (maki_str_copy(after_ms, text, sizeof text)) ms = amount(text, 1);
    if (ms >= 0 || !maki_str_copy(after, text, sizeof text)) return ms;
    ms = amount(text, 1000);
    if (ms >= 0) return ms;
    time_t date = curl_getdate(text, NULL);
    if (date < 0) return -1;
    ms = (int64_t)date * 1000 - now_ms;
    return ms > 0 ? ms : 0;
}

/* ---- spans ------------------------------------------------------------------------------------------------- */

static bool is_digit(maki_str text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/* 12 or 12.5 at the beginning of `text`; how many bytes it has, 0: it is none. */
static size_t take_number(maki_str text, double *out)
{
    size_t n = 0;
    double value = 0, place = 1;
    for (; is_digit(text, n); n++)
        value = value * 10 + (text.ptr[n] - '0');
    if (n && n < text.len && text.ptr[n] == '.' && is_digit(text, n + 1)) {
        for (n++; is_digit(text, n); n++)
            value += (text.ptr[n] - '0') * (place /= 10);
    }
    *out = value;
    return n;
}

/* The word behind a number, in ms; 0: it is no unit. */
static double take_unit(maki_str *rest)
{
    static const struct {
        const char *word;
        double ms;
    } units[] = { { "ms", 1 },         { "milliseconds", 1 }, { "s", 1000 },
                  { "second", 1000 },  { "seconds", 1000 },   { "m", 60000 },
                  { "minute", 60000 }, { "minutes", 60000 },  { "h", 3600000 },
                  { "hour", 3600000 }, { "hours", 3600000 } };
    size_t n = 0;
    if (rest->len && rest->ptr[0] == ' ') *rest = maki_str_from(*rest, 1);
    while (n < rest->len && rest->ptr[n] >= 'a' && rest->ptr[n] <= 'z')
        n++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!maki_str_is(maki_str_to(*rest, n), maki_str_of(units[i].word))) continue;
        *rest = maki_str_from(*rest, n);
        return units[i].ms;
    }
    return 0;
}

int64_t maki_backoff_span(maki_str text)
{
    double ms = -1, value;
    size_t n;
    while ((n = take_number(text, &value)) > 0) {
        text = maki_str_from(text, n);
        double unit = take_unit(&text);
        if (unit == 0) break;
        ms = (ms < 0 ? 0 : ms) + value * unit;
    }
    if (ms < 0) return -1;
    return ms < 1e15 ? (int64_t)ceil(ms - 1e-6) : (int64_t)1e15;
}

int64_t maki_backoff_reset(maki_str text, int64_t now_ms)
{
    char number[64];
    int64_t span = maki_backoff_span(text);
    if (span >= 0 || !maki_str_copy(text, number, sizeof number)) return span;
    int64_t value = amount(number, 1);
    if (value < 1000000000) return value < 0 ? -1 : value * 1000;
    if (value < 1000000000000) value *= 1000;
    return value > now_ms ? value - now_ms : 0;
}

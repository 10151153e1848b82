/* backoff.c -- compute a random backoff; parse the retry delays of headers and errors, which may have any bytes.
 *
 * No clock, no sleeping: the caller passes the time and waits. */
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
    uint32_t max = MAKI_BACKOFF_FIRST, random_bits;
    while (nth-- > 0 && max < MAKI_BACKOFF_MAX)
        max *= 2;
    if (max > MAKI_BACKOFF_MAX) max = MAKI_BACKOFF_MAX;
    maki_status st = random->fill(random, &random_bits, sizeof random_bits, err);
    if (st == MAKI_OK) *ms = (uint32_t)((uint64_t)random_bits * max >> 32);
    return st;
}

/* Parse a number of units of `unit` ms; returns ms, below 0: not a number. */
static int64_t parse_ms(const char *text, double unit)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || end[strspn(end, " ")] || !isfinite(value) || value < 0) return -1;
    return value * unit < 1e15 ? (int64_t)ceil(value * unit) : (int64_t)1e15;
}

int64_t maki_backoff_parse_retry_after(maki_str after, maki_str after_ms, int64_t now_ms)
{
    char text[64];
    int64_t ms = -1;
    if (maki_str_copy(after_ms, text, sizeof text)) ms = parse_ms(text, 1);
    if (ms >= 0 || !maki_str_copy(after, text, sizeof text)) return ms;
    ms = parse_ms(text, 1000);
    if (ms >= 0) return ms;
    time_t date = curl_getdate(text, NULL);
    if (date < 0) return -1;
    ms = (int64_t)date * 1000 - now_ms;
    return ms > 0 ? ms : 0;
}

/* ---- durations ------------------------------------------------------------------------------------------------- */

static bool is_digit(maki_str text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/* Parse 12 or 12.5 at the beginning of `text`; returns its length in bytes, 0: not a number. */
static size_t parse_number(maki_str text, double *out)
{
    size_t n = 0;
    double value = 0, decimal_place = 1;
    for (; is_digit(text, n); n++)
        value = value * 10 + (text.ptr[n] - '0');
    if (n && n < text.len && text.ptr[n] == '.' && is_digit(text, n + 1)) {
        for (n++; is_digit(text, n); n++)
            value += (text.ptr[n] - '0') * (decimal_place /= 10);
    }
    *out = value;
    return n;
}

/* Parse the unit after a number and skip it; returns it in ms, 0: not a unit. */
static double parse_unit(maki_str *rest)
{
    static const struct {
        const char *word;
        double ms;
    } units[] = { { "ms", 1 },         { "milliseconds", 1 }, { "s", 1000 },
                  { "second", 1000 },  { "seconds", 1000 },   { "m", 60000 },
                  { "minute", 60000 }, { "minutes", 60000 },  { "h", 3600000 },
                  { "hour", 3600000 }, { "hours", 3600000 } };
    size_t n = 0;
    if (rest->len && rest->ptr[0] == ' ') *rest = maki_str_skip(*rest, 1);
    while (n < rest->len && rest->ptr[n] >= 'a' && rest->ptr[n] <= 'z')
        n++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!maki_str_equal(maki_str_prefix(*rest, n), maki_str_of(units[i].word))) continue;
        *rest = maki_str_skip(*rest, n);
        return units[i].ms;
    }
    return 0;
}

int64_t maki_backoff_parse_duration(maki_str text)
{
    double ms = -1, value;
    size_t n;
    while ((n = parse_number(text, &value)) > 0) {
        text = maki_str_skip(text, n);
        double unit = parse_unit(&text);
        if (unit == 0) break;
        ms = (ms < 0 ? 0 : ms) + value * unit;
    }
    if (ms < 0) return -1;
    return ms < 1e15 ? (int64_t)ceil(ms - 1e-6) : (int64_t)1e15;
}

int64_t maki_backoff_parse_reset(maki_str text, int64_t now_ms)
{
    char number[64];
    int64_t duration = maki_backoff_parse_duration(text);
    if (duration >= 0 || !maki_str_copy(text, number, sizeof number)) return duration;
    int64_t value = parse_ms(number, 1);
    if (value < 1000000000) return value < 0 ? -1 : value * 1000;
    if (value < 1000000000000) value *= 1000;
    return value > now_ms ? value - now_ms : 0;
}

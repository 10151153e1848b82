/* pause.c -- see pause.h. */
#include "send/pause.h"

#include <curl/curl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

maki_status maki_pause_random(const maki_random *random, unsigned nth, uint32_t *ms, maki_err *err)
{
    uint32_t most = MAKI_PAUSE_FIRST, chance;
    while (nth-- > 0 && most < MAKI_PAUSE_MOST)
        most *= 2;
    if (most > MAKI_PAUSE_MOST) most = MAKI_PAUSE_MOST;
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

/* As a string that ends with NUL; one too long is none. */
static bool copy(maki_str text, char *out, size_t room)
{
    if (text.len == 0 || text.len >= room) return false;
    snprintf(out, room, "%.*s", (int)text.len, text.ptr);
    return true;
}

int64_t maki_pause_asked(maki_str after, maki_str after_ms, int64_t now_ms)
{
    char text[64];
    int64_t ms = -1;
    if (copy(after_ms, text, sizeof text)) ms = amount(text, 1);
    if (ms >= 0 || !copy(after, text, sizeof text)) return ms;
    ms = amount(text, 1000);
    if (ms >= 0) return ms;
    time_t date = curl_getdate(text, NULL);
    if (date < 0) return -1;
    ms = (int64_t)date * 1000 - now_ms;
    return ms > 0 ? ms : 0;
}

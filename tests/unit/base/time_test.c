/* time_test.c -- ISO 8601 times, against timegm. */
#include "base/time.h"

#include <stdio.h>
#include <time.h>

#include "base/str_util.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* clang-format off */
static const struct good_row { const char *name; maki_str text; double ms; } good_rows[] = {
    { "the beginning",                   S("1970-01-01"),                    0 },
    { "a day",                           S("2026-01-27"),                    1769472000000 },
    { "with milliseconds, UTC",          S("2026-01-27T09:30:00.125Z"),      1769506200125 },
    { "with an offset",                  S("2026-01-27T18:30+09:00"),        1769506200000 },
    { "with an offset without a colon",  S("2026-01-27T18:30:00+0900"),      1769506200000 },
    { "with an offset to the west",      S("2026-01-27T04:00:00-05:30"),     1769506200000 },
    { "without an offset it is UTC",     S("2026-01-27T09:30:00"),           1769506200000 },
    { "without seconds",                 S("2026-01-27T09:30Z"),             1769506200000 },
    { "a space instead of T",            S("2026-01-27 09:30:00Z"),          1769506200000 },
    { "one digit of a fraction",         S("1970-01-01T00:00:00.5Z"),        500 },
    { "more digits than milliseconds",   S("1970-01-01T00:00:00.0625Z"),     62.5 },
    { "before 1970",                     S("1969-12-31T23:59:59.999Z"),      -1 },
    { "a leap day",                      S("2024-02-29"),                    1709164800000 },
    { "a leap day of a century",         S("2000-02-29"),                    951782400000 },
    { "the end of a day",                S("1970-01-01T24:00:00Z"),          86400000 },
    { "an offset into the day before",   S("1970-01-01T00:00:00+00:01"),     -60000 },
    { "the last day of four digits",     S("9999-12-31T23:59:59.999Z"),      253402300799999 },
    { "the year 0",                      S("0000-01-01T00:00:00Z"),          -62167219200000 },
};

static const struct bad_row { const char *name; maki_str text; } bad_rows[] = {
    { "nothing",                      S("") },
    { "a word",                       S("yesterday") },
    { "a Japanese date",              S("2026年1月27日") },
    { "full-width digits",            S("２０２６-01-27") },
    { "Arabic digits",                S("٢٠٢٦-01-27") },
    { "only a year",                  S("2026") },
    { "only a month",                 S("2026-01") },
    { "one digit where two must be",  S("2026-1-27") },
    { "slashes",                      S("2026/01/27") },
    { "month 0",                      S("2026-00-10") },
    { "month 13",                     S("2026-13-10") },
    { "day 0",                        S("2026-01-00") },
    { "day 32",                       S("2026-01-32") },
    { "a 31st of April",              S("2026-04-31") },
    { "no leap day that year",        S("2026-02-29") },
    { "no leap day in 1900",          S("1900-02-29") },
    { "T without a time",             S("2026-01-27T") },
    { "hours alone",                  S("2026-01-27T09") },
    { "hour 25",                      S("2026-01-27T25:00Z") },
    { "a time after the end of a day", S("2026-01-27T24:30Z") },
    { "minute 60",                    S("2026-01-27T09:60Z") },
    { "second 61",                    S("2026-01-27T09:30:61Z") },
    { "a point without digits",       S("2026-01-27T09:30:00.Z") },
    { "a fraction of a minute",       S("2026-01-27T09:30.5Z") },
    { "an unknown zone",              S("2026-01-27T09:30:00 JST") },
    { "an offset of a day",           S("2026-01-27T09:30:00+24:00") },
    { "an offset of 60 minutes",      S("2026-01-27T09:30:00+00:60") },
    { "an offset that is cut",        S("2026-01-27T09:30:00+09:") },
    { "two offsets",                  S("2026-01-27T09:30:00Z+09:00") },
    { "something after it",           S("2026-01-27T09:30:00Z ") },
    { "something before it",          S(" 2026-01-27") },
    { "a sign",                       S("+2026-01-27") },
    { "NUL after it",                 S("2026-01-27\0") },
};
/* clang-format on */

static void test_rows(void)
{
    for (size_t i = 0; i < COUNT(good_rows); i++) {
        double ms = 12345;
        tap_row("valid: %s", good_rows[i].name);
        CHECK(maki_time_parse(good_rows[i].text, &ms));
        CHECK_DOUBLE(ms, good_rows[i].ms);
    }
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        double ms = 12345;
        tap_row("invalid: %s", bad_rows[i].name);
        CHECK(!maki_time_parse(bad_rows[i].text, &ms));
        CHECK_DOUBLE(ms, 12345); /* untouched */
    }
}

/* Every day of seven times 400 years, after which the calendar repeats, as timegm counts them. */
static void test_days(void)
{
    static const int lengths[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    tap_row("every day from year 0 to 2799 is a day after the one before it");
    struct tm first = { .tm_year = -1900, .tm_mon = 0, .tm_mday = 1 };
    double want = (double)timegm(&first) * 1000;
    for (int year = 0; year < 2800; year++) {
        for (int month = 1; month <= 12; month++) {
            for (int day = 1; day <= lengths[month - 1]; day++) {
                char text[32];
                double ms = 0;
                bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                bool exists = leap || month != 2 || day != 29;
                snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
                CHECK(maki_time_parse(maki_str_of(text), &ms) == exists);
                if (!exists) continue;
                CHECK_DOUBLE(ms, want);
                want += 86400000;
            }
        }
    }
    struct tm last = { .tm_year = 2800 - 1900, .tm_mon = 0, .tm_mday = 1 };
    CHECK_DOUBLE(want, (double)timegm(&last) * 1000);
}

static void test_minutes(void)
{
    tap_row("every minute and every second of a day");
    for (int second = 0; second < 86400; second++) {
        char text[32];
        double ms = 0;
        snprintf(text, sizeof text, "1970-01-01T%02d:%02d:%02dZ", second / 3600, second / 60 % 60,
                 second % 60);
        CHECK(maki_time_parse(maki_str_of(text), &ms));
        CHECK_DOUBLE(ms, second * 1000.0);
    }
}

int main(void)
{
    test_rows();
    test_days();
    test_minutes();
    return tap_end();
}

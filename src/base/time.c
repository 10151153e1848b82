/* time.c -- parse ISO 8601 times.  Each parse_ function removes what it has parsed from the front of *text. */
#include "base/time.h"

#include "base/str_util.h"

/* Parse exactly `digits` digits. */
static bool parse_digits(maki_str *text, size_t digits, long *value)
{
    uint64_t n;
    if (text->len < digits || !maki_str_number(maki_str_prefix(*text, digits), &n)) return false;
    *text = maki_str_skip(*text, digits);
    *value = (long)n;
    return true;
}

static bool parse_char(maki_str *text, char c)
{
    if (text->len == 0 || text->ptr[0] != c) return false;
    *text = maki_str_skip(*text, 1);
    return true;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar. */
static long days_since_1970(long year, long month, long day)
{
    year +=
        400 -
        (month <=
         2); /* one era of 400 years is added, and subtracted below, so that nothing is negative */
    long era = year / 400, year_of_era = year % 400;
    long day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468 - 146097;
}

static bool parse_fraction(maki_str *text, double *ms)
{
    double scale = 100;
    long digit = 0;
    if (!parse_char(text, '.')) return true;
    if (!parse_digits(text, 1, &digit)) return false;
    do {
        *ms += (double)digit * scale;
        scale /= 10;
    } while (parse_digits(text, 1, &digit));
    return true;
}

static bool parse_offset(maki_str *text, long *minutes)
{
    long hours = 0, offset_minutes = 0;
    if (text->len == 0 || parse_char(text, 'Z')) return true;
    long sign = text->ptr[0] == '-' ? -1 : 1;
    if (!parse_char(text, '+') && !parse_char(text, '-')) return false;
    if (!parse_digits(text, 2, &hours)) return false;
    parse_char(text, ':');
    if (!parse_digits(text, 2, &offset_minutes) || hours > 23 || offset_minutes > 59) return false;
    *minutes = sign * (hours * 60 + offset_minutes);
    return true;
}

bool maki_time_parse(maki_str text, double *ms)
{
    static const long month_days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    long year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offset = 0;
    double fraction = 0;
    if (!parse_digits(&text, 4, &year) || !parse_char(&text, '-') ||
        !parse_digits(&text, 2, &month) || !parse_char(&text, '-') ||
        !parse_digits(&text, 2, &day)) {
        return false;
    }
    if (month < 1 || month > 12 || day < 1) return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (day > month_days[month - 1] + (month == 2 && leap)) return false;
    if (text.len && (parse_char(&text, 'T') || parse_char(&text, ' '))) {
        if (!parse_digits(&text, 2, &hour) || !parse_char(&text, ':') ||
            !parse_digits(&text, 2, &minute)) {
            return false;
        }
        if (parse_char(&text, ':') &&
            (!parse_digits(&text, 2, &second) || !parse_fraction(&text, &fraction))) {
            return false;
        }
        if (!parse_offset(&text, &offset)) return false;
    }
    if (hour == 24 && (minute > 0 || second > 0 || fraction > 0)) return false;
    if (text.len || hour > 24 || minute > 59 || second > 60) return false;
    long days = days_since_1970(year, month, day);
    *ms = ((double)days * 86400 + (double)((hour * 60 + minute - offset) * 60 + second)) * 1000 +
          fraction;
    return true;
}

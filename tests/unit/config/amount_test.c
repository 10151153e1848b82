/* amount_test.c -- amounts as people write them. */
#include "config/amount.h"

#include "base/str_util.h"
#include "tap.h"

/* clang-format off */
enum { NO = -12345 };
static const struct amount_row { const char *text; double flag, integer, number, bytes, time; } rows[] = {
    /*                 flag  integer  number  bytes       time */
    { "",              NO,   NO,      NO,     NO,         NO },
    { "true",          1,    NO,      NO,     NO,         NO },
    { "Yes",           1,    NO,      NO,     NO,         NO },
    { "ON",            1,    NO,      NO,     NO,         NO },
    { "false",         0,    NO,      NO,     NO,         NO },
    { "no",            0,    NO,      NO,     NO,         NO },
    { "off",           0,    NO,      NO,     NO,         NO },
    { "tru",           NO,   NO,      NO,     NO,         NO },
    { "0",             NO,   0,       0,      0,          0 },
    { "30",            NO,   30,      30,     30,         30000 },
    { "-1",            NO,   -1,      -1,     NO,         NO },
    { "-",             NO,   NO,      NO,     NO,         NO },
    { "200_000",       NO,   200000,  200000, 200000,     200000000 },
    { "_1",            NO,   NO,      NO,     NO,         NO },
    { "1_",            NO,   NO,      NO,     NO,         NO },
    { "1__0",          NO,   NO,      NO,     NO,         NO },
    { "0.75",          NO,   NO,      0.75,   NO,         NO },
    { "7e1",           NO,   NO,      70,     NO,         NO },
    { "1e999",         NO,   NO,      NO,     NO,         NO },
    { "nan",           NO,   NO,      NO,     NO,         NO },
    { "0x10",          NO,   NO,      NO,     NO,         NO },
    { " 1",            NO,   NO,      NO,     NO,         NO },
    { "1 ",            NO,   NO,      NO,     NO,         NO },
    { "64k",           NO,   NO,      NO,     65536,      NO },
    { "10M",           NO,   NO,      NO,     10485760,   NO },
    { "1g",            NO,   NO,      NO,     1073741824, NO },
    { "1kb",           NO,   NO,      NO,     NO,         NO },
    { "1048577g",      NO,   NO,      NO,     NO,         NO },
    { "250ms",         NO,   NO,      NO,     NO,         250 },
    { "30s",           NO,   NO,      NO,     NO,         30000 },
    { "5m",            NO,   NO,      NO,     5242880,    300000 },
    { "2h",            NO,   NO,      NO,     NO,         7200000 },
    { "2d",            NO,   NO,      NO,     NO,         NO },
    { "４",            NO,   NO,      NO,     NO,         NO },
    { "99999999999999999999", NO, NO, 1e20,   NO,         NO },
};
/* clang-format on */

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_str text = maki_str_of(rows[i].text);
        double n = 0;
        tap_row("\"%s\"", rows[i].text);
        CHECK_DOUBLE(maki_amount_flag(text, &n) ? n : NO, rows[i].flag);
        CHECK_DOUBLE(maki_amount_integer(text, &n) ? n : NO, rows[i].integer);
        CHECK_DOUBLE(maki_amount_number(text, &n) ? n : NO, rows[i].number);
        CHECK_DOUBLE(maki_amount_bytes(text, &n) ? n : NO, rows[i].bytes);
        CHECK_DOUBLE(maki_amount_time(text, &n) ? n : NO, rows[i].time);
    }
    return tap_end();
}

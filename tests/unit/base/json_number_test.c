/* json_number_test.c -- the nearest double to any JSON number, as exactly as strtod finds it.
 *
 * strtod of glibc rounds correctly for input of any length; the tests run in the C locale. */
#include "base/json_access.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

static void check_number(const char *text)
{
    char label[100];
    snprintf(label, sizeof label, "%.50s%s (%zu bytes)", text, strlen(text) > 50 ? "..." : "",
             strlen(text));
    tap_check_double(maki_json_double(maki_str_of(text)), strtod(text, NULL), __FILE__, __LINE__,
                     label);
}

/* clang-format off */
static const struct number_row { const char *text; double value; } number_rows[] = {
    { "0", 0.0 }, { "-0", -0.0 }, { "-0.0", -0.0 }, { "-0e10", -0.0 }, { "0e999999999999", 0.0 },
    { "1", 1.0 }, { "-1", -1.0 }, { "1.5", 1.5 }, { "0.1", 0.1 }, { "0.75", 0.75 },
    { "1e0", 1.0 }, { "1E+2", 100.0 }, { "1e-2", 0.01 }, { "100e-2", 1.0 }, { "0.001e3", 1.0 },
    { "123456789", 123456789.0 }, { "3.141592653589793", 3.141592653589793 },
    { "562949953421311", 562949953421311.0 },   /* 2^49 - 1: where the short way ends */
    { "5629499534213119", 5629499534213119.0 },
    { "9007199254740991", 9007199254740991.0 }, /* 2^53 - 1 */
    { "9007199254740993", 9007199254740992.0 }, /* a tie, to even */
    { "9007199254740995", 9007199254740996.0 }, /* a tie, to even */
    { "9007199254740993.00000000000000000000000000000000000000000000000000000000000001", 9007199254740994.0 },
    { "18446744073709551616", 18446744073709551616.0 },
    { "0.0000000000000000000001", 1e-22 }, { "0.00000000000000000000001", 1e-23 },
    { "1.7976931348623157e308", DBL_MAX }, { "1.7976931348623159e308", INFINITY },
    { "-1e400", -INFINITY }, { "1e99999999999999999999", INFINITY },
    { "2.2250738585072014e-308", DBL_MIN }, { "2.2250738585072011e-308", 2.2250738585072011e-308 },
    { "5e-324", 5e-324 }, { "4.9406564584124654e-324", 5e-324 }, { "2.4e-324", 0.0 },
    { "2.5e-324", 5e-324 }, { "-1e-400", -0.0 }, { "1e-99999999999999999999", 0.0 },
    { "1e00000000000000000000000000000000000000001", 10.0 },
};
/* clang-format on */

static void test_rows(void)
{
    for (size_t i = 0; i < COUNT(number_rows); i++) {
        tap_row("%s", number_rows[i].text);
        CHECK_DOUBLE(maki_json_double(maki_str_of(number_rows[i].text)), number_rows[i].value);
        check_number(number_rows[i].text);
    }
    tap_row("a number is read only to its end");
    CHECK_DOUBLE(maki_json_double((maki_str){ "12345", 2 }), 12.0);
    CHECK_DOUBLE(maki_json_double((maki_str){ "1.5e3", 3 }), 1.5);
}

static char *random_digits(tap_random *random, char *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *out++ = (char)('0' + tap_below(random, 10));
    return out;
}

/* A random spelling: [-] digits [. digits] [e [sign] digits]. */
static void random_number(tap_random *random, char *out, size_t digits)
{
    static const char *const exponents[] = { "e", "E", "e+", "E+", "e-", "E-" };
    if (tap_below(random, 2)) *out++ = '-';
    size_t whole = tap_below(random, digits + 1), part = tap_below(random, digits + 1);
    if (whole == 0) {
        *out++ = '0';
    } else {
        *out++ = (char)('1' + tap_below(random, 9));
        out = random_digits(random, out, whole - 1);
    }
    if (part) {
        *out++ = '.';
        for (size_t zeros = tap_below(random, 4) ? 0 : tap_below(random, 30); zeros; zeros--)
            *out++ = '0';
        out = random_digits(random, out, part);
    }
    if (tap_below(random, 2)) {
        out += sprintf(out, "%s%zu", exponents[tap_below(random, 6)], tap_below(random, 400));
    }
    *out = '\0';
}

static void test_random(void)
{
    static const size_t lengths[] = { 3, 8, 12, 17, 25, 70, 500 };
    tap_random random = { 1234567 };
    for (size_t i = 0; i < COUNT(lengths); i++) {
        tap_row("random spellings with up to %zu digits on each side of the point", lengths[i]);
        for (int round = 0; round < 3000; round++) {
            char text[1200];
            random_number(&random, text, lengths[i]);
            check_number(text);
        }
    }
}

static double random_double(tap_random *random)
{
    double value;
    do {
        uint64_t bits = tap_next(random);
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

static void test_round_trip(void)
{
    tap_random random = { 77 };
    tap_row("random doubles, written with 17 digits, come back the same");
    for (int round = 0; round < 20000; round++) {
        char text[64];
        double value = random_double(&random);
        if (round % 4 == 0) value = ldexp(value, -1074 - ilogb(value) + round % 60); /* subnormal */
        snprintf(text, sizeof text, round % 3 ? "%.17g" : "%.17e", value);
        CHECK_DOUBLE(maki_json_double(maki_str_of(text)), value);
    }
}

/* The point halfway between two doubles, which a long double holds exactly, written out in full:
 * up to 767 digits that all count, for one digit more or less decides the rounding. */
static void test_halfway(void)
{
    tap_random random = { 4242 };
    tap_row("numbers halfway between two doubles, exactly, just below and just above");
    for (int round = 0; round < 2000; round++) {
        char text[1200], exponent[32];
        double value = fabs(random_double(&random));
        if (round % 4 == 0) value = ldexp(1 + round / 2000.0, -1022 - round % 50);
        double next = nextafter(value, INFINITY);
        if (!isfinite(next)) continue;
        long double half = ((long double)value + (long double)next) / 2;
        snprintf(text, sizeof text, "%.800Le", half);
        check_number(text);

        char *e = strchr(text, 'e');
        snprintf(exponent, sizeof exponent, "%s", e);
        snprintf(e, 64, "1%s", exponent); /* a little above */
        check_number(text);
        while (e > text + 2 && e[-1] == '0')
            e--; /* e[-1] is the last digit that counts */
        if (e[-1] == '.') continue;
        e[-1]--;
        snprintf(e, 64, "99%s", exponent); /* a little below */
        check_number(text);
    }
}

static void test_long(void)
{
    enum { ZEROS = 1000000 };
    char *text = malloc(ZEROS + 100);
    tap_row("a million zeros behind the point, undone by the exponent");
    memset(text, '0', ZEROS + 2);
    text[1] = '.';
    strcpy(text + ZEROS + 2, "1e1000001");
    CHECK_DOUBLE(maki_json_double(maki_str_of(text)), 1.0);
    tap_row("a million zeros before the end, undone by the exponent");
    memset(text, '0', ZEROS);
    text[0] = '7';
    strcpy(text + ZEROS, "e-1000000");
    CHECK_DOUBLE(maki_json_double(maki_str_of(text)), 0.7);
    free(text);
}

static void test_uint(void)
{
    static const struct uint_row {
        const char *text;
        bool good;
        uint64_t value;
    } rows[] = {
        { "0", true, 0 },
        { "7", true, 7 },
        { "7.9", true, 7 },
        { "1e3", true, 1000 },
        { "8999999999999999", true, 8999999999999999 },
        { "9e15", false, 0 },
        { "18446744073709551616", false, 0 },
        { "1e999", false, 0 },
        { "-1", false, 0 },
        { "\"7\"", false, 0 },
        { "null", false, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t got = 4711;
        tap_row("%s as a count", rows[i].text);
        CHECK_EQ(maki_json_uint(maki_str_of(rows[i].text), &got), rows[i].good);
        CHECK_EQ(got, rows[i].good ? rows[i].value : 4711);
    }
    tap_row("counts of an object");
    maki_str object = MAKI_LIT("{\"a\":12,\"b\":-1,\"数\":3}");
    CHECK_EQ(maki_json_uint_field(object, MAKI_LIT("a")), 12);
    CHECK_EQ(maki_json_uint_field(object, MAKI_LIT("b")), 0);
    CHECK_EQ(maki_json_uint_field(object, MAKI_LIT("数")), 3);
    CHECK_EQ(maki_json_uint_field(object, MAKI_LIT("c")), 0);
}

int main(void)
{
    test_rows();
    test_uint();
    test_random();
    test_round_trip();
    test_halfway();
    test_long();
    return tap_end();
}

/* status_status_bar_test.c -- how full the window is, in one line. */
#include "chat/status_bar.h"

#include "base/str_util.h"
#include "tap.h"

/* clang-format off */
static const struct bar_row { maki_status_bar bar; const char *text, *colour; } rows[] = {
    { { 0, 200000, 0, "m", true },            "░░░░░░░░ 0 / 200,000 tokens (0 %) · 0 messages · m",             "\033[32m" },
    { { 999, 1000000, 1, "海苔-1", true },    "░░░░░░░░ 999 / 1,000,000 tokens (0 %) · 1 message · 海苔-1",     "\033[32m" },
    { { 100000, 200000, 42, "m", true },      "████░░░░ 100,000 / 200,000 tokens (50 %) · 42 messages · m",     "\033[32m" },
    { { 600, 1000, 2, "m", true },            "█████░░░ 600 / 1,000 tokens (60 %) · 2 messages · m",            "\033[33m" },
    { { 850, 1000, 2, "", true },             "███████░ 850 / 1,000 tokens (85 %) · 2 messages",                "\033[31m" },
    { { 3000, 1000, 2, "m", true },           "████████ 3,000 / 1,000 tokens (300 %) · 2 messages · m",         "\033[31m" },
    { { 1234567, 0, 2, "m", true },           "1,234,567 tokens · 2 messages · m",                              "\033[32m" },
};
/* clang-format on */

int main(void)
{
    char out[MAKI_STATUS_BAR_MAX], longest[400];
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s", rows[i].text);
        CHECK_TEXT(maki_status_bar_text(&rows[i].bar, out), maki_str_of(rows[i].text));
        CHECK_CSTR(maki_status_bar_colour(&rows[i].bar), rows[i].colour);
    }
    tap_row("a model with a very long name");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    maki_status_bar bar = { 1e300, 1e-300, 1e15, longest, true };
    CHECK(maki_status_bar_text(&bar, out).len < MAKI_STATUS_BAR_MAX);
    return tap_end();
}

/* backoff_test.c -- what Retry-After asks for, and pauses by chance. */
#include "send/backoff.h"

#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

enum { NOW_S = 1700000000 }; /* Tue, 14 Nov 2023 22:13:20 GMT */

/* clang-format off */
static const struct asked_row { const char *after, *after_ms; int64_t want; } asked[] = {
    { "",    "",      -1 },
    { "1",   "",      1000 },
    { "0",   "",      0 },
    { " 3 ", "",      3000 },
    { "1.5", "",      1500 },
    { "1",   "250",   250 },
    { "",    "0.2",   1 },
    { "7",   "soon",  7000 },
    { "-1",  "",      -1 },
    { "nan", "",      -1 },
    { "inf", "",      -1 },
    { "1e99", "",     (int64_t)1e15 },
    { "soon", "",     -1 },
    { "3 s", "",      -1 },
    { "Tue, 14 Nov 2023 22:13:25 GMT",  "", 5000 },
    { "Tuesday, 14-Nov-23 22:13:25 GMT", "", 5000 },
    { "Tue Nov 14 22:13:25 2023",        "", 5000 },
    { "Tue, 14 Nov 2023 22:13:00 GMT",  "", 0 },
    { "Fri, 31 Dec 9999 23:59:59 GMT and a great deal more of it than a date has", "", -1 },
};
/* clang-format on */

/* clang-format off */
static const struct span_row { const char *text; int64_t want; } spans[] = {
    { "7s",             7000 },
    { "7.3s",           7300 },
    { "0s",             0 },
    { "350ms",          350 },
    { "6m0s",           360000 },
    { "1h2m3.5s",       3723500 },
    { "1.898s. Visit",  1898 },
    { "1s.",            1000 },
    { "20 seconds",     20000 },
    { "2 minutes",      120000 },
    { "7",              -1 },
    { "",               -1 },
    { "s",              -1 },
    { "-7s",            -1 },
    { "1e9s",           -1 },
    { "soon",           -1 },
    { "999999999999999999999s", (int64_t)1e15 },
};
static const struct span_row resets[] = {
    { "1700000030",     30000 },  /* a time, in seconds ... */
    { "1700000030500",  30500 },  /* ... and in milliseconds */
    { "1600000000",     0 },      /* that has gone by */
    { "12",             12000 },
    { "12s",            12000 },
    { "nan",            -1 },
    { "",               -1 },
};
/* clang-format on */

static void run_spans(void)
{
    for (size_t i = 0; i < COUNT(spans); i++) {
        tap_row("a span '%s'", spans[i].text);
        CHECK_EQ(maki_backoff_parse_duration(maki_str_of(spans[i].text)), spans[i].want);
    }
    for (size_t i = 0; i < COUNT(resets); i++) {
        tap_row("x-ratelimit-reset '%s'", resets[i].text);
        CHECK_EQ(maki_backoff_parse_reset(maki_str_of(resets[i].text), (int64_t)NOW_S * 1000),
                 resets[i].want);
    }
}

static void run_asked(void)
{
    for (size_t i = 0; i < COUNT(asked); i++) {
        tap_row("Retry-After '%s', ms '%s'", asked[i].after, asked[i].after_ms);
        CHECK_EQ(maki_backoff_parse_retry_after(maki_str_of(asked[i].after),
                                                maki_str_of(asked[i].after_ms),
                                                (int64_t)NOW_S * 1000),
                 asked[i].want);
    }
}

static void run_random(void)
{
    static const uint32_t most[] = { 500, 1000, 2000, 4000, 8000, 8000, 8000 };
    fake_env fe;
    maki_err err;
    uint32_t ms = 0;
    fake_env_init(&fe);
    fake_random_seed(&fe, 7);
    for (unsigned nth = 0; nth < COUNT(most); nth++) {
        uint32_t least = UINT32_MAX, longest = 0;
        tap_row("pauses before retry %u", nth);
        for (int i = 0; i < 1000; i++) {
            CHECK_STATUS(maki_backoff_random(fe.env.random, nth, &ms, &err), MAKI_OK, &err);
            if (ms < least) least = ms;
            if (ms > longest) longest = ms;
        }
        CHECK(longest < most[nth] && longest > most[nth] - most[nth] / 20);
        CHECK(least < most[nth] / 20);
    }
    tap_row("without chance there is no pause");
    fake_random_fail_at(&fe, 1);
    CHECK_STATUS(maki_backoff_random(fe.env.random, 0, &ms, &err), MAKI_IO, &err);
    tap_row("a million retries later it is the same");
    CHECK_STATUS(maki_backoff_random(fe.env.random, 1000000, &ms, &err), MAKI_OK, &err);
    CHECK(ms < MAKI_BACKOFF_MAX);
}

int main(void)
{
    run_asked();
    run_spans();
    run_random();
    return tap_end();
}

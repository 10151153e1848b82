/* scenario_test.c -- parsing the scenarios of the fake provider. */
#include "fake/scenario.h"

#include "base/str_util.h"
#include "tap.h"

static const struct good_row {
    const char *words;
    fake_scenario scenario;
} good_rows[] = {
    { "text", { .action = FAKE_TEXT } },
    { "429", { .action = FAKE_RATE_LIMIT } },
    { "think,slow:20,cut:5", { .think = true, .slow_ms = 20, .has_cut = true, .cut = 5 } },
    { "huge:1000000000 and more words", { .huge = 1000000000 } },
    { "slow:99999999", { .slow_ms = 3600000 } },
    { "agent /tmp/a.txt.", { .action = FAKE_AGENT, .arguments = MAKI_LIT("/tmp/a.txt.") } },
    { "agent /tmp/海苔\" quoted", { .action = FAKE_AGENT, .arguments = MAKI_LIT("/tmp/海苔") } },
    { "tool:read", { .action = FAKE_TOOL, .tool = MAKI_LIT("read"), .arguments = MAKI_LIT("{}") } },
    { "say:%E6%B5%B7,tool:read {\"a\":\"}\\\"{\"} and so on",
      { .action = FAKE_TOOL,
        .say = MAKI_LIT("%E6%B5%B7"),
        .tool = MAKI_LIT("read"),
        .arguments = MAKI_LIT("{\"a\":\"}\\\"{\"}") } },
    { "busy,first:2,after:Wed%2C,afterms:300",
      { .action = FAKE_BUSY,
        .first = 2,
        .retry_after = MAKI_LIT("Wed%2C"),
        .retry_after_ms = MAKI_LIT("300") } },
    { "fail:0,chunk:1", { .has_fail = true, .chunk = 1 } },
    { "think,hold:2,first:1", { .think = true, .has_hold = true, .hold = 2, .first = 1 } },
    { "tool:read {\"a\":1},slow:1",
      { .action = FAKE_TOOL,
        .slow_ms = 1,
        .tool = MAKI_LIT("read"),
        .arguments = MAKI_LIT("{\"a\":1}") } },
};

static const struct bad_row {
    const char *words, *unknown;
} bad_rows[] = {
    { "sulky", "sulky" },
    { "text,sulky", "sulky" },
    { "slow:", "slow:" },
    { "slow:fast", "slow:fast" },
    { "cut:-1", "cut:-1" },
    { "tool:", "tool:" },
    { "", "" },
    { "tool:a {\"b\":", "tool:a" },
    { "tool:a {b}", "tool:a" },
    { "say:", "say:" },
    { "first:", "first:" },
    { "after:", "after:" },
    { "huge:9999999999999999999", "huge:9999999999999999999" },
};

static bool same(const fake_scenario *a, const fake_scenario *b)
{
    return a->action == b->action && a->think == b->think && a->slow_ms == b->slow_ms &&
           a->has_cut == b->has_cut && a->cut == b->cut && a->huge == b->huge &&
           a->chunk == b->chunk && a->has_fail == b->has_fail && a->fail == b->fail &&
           a->has_hold == b->has_hold && a->hold == b->hold && a->first == b->first &&
           maki_str_equal(a->retry_after, b->retry_after) &&
           maki_str_equal(a->retry_after_ms, b->retry_after_ms) && maki_str_equal(a->say, b->say) &&
           maki_str_equal(a->tool, b->tool) && maki_str_equal(a->arguments, b->arguments);
}

int main(void)
{
    maki_str unknown;
    for (size_t i = 0; i < COUNT(good_rows); i++) {
        fake_scenario scenario;
        tap_row("%s", good_rows[i].words);
        CHECK(fake_scenario_read(maki_str_of(good_rows[i].words), &scenario, &unknown) &&
              same(&scenario, &good_rows[i].scenario));
    }
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        fake_scenario scenario;
        tap_row("unknown: %s", bad_rows[i].words);
        CHECK(!fake_scenario_read(maki_str_of(bad_rows[i].words), &scenario, &unknown));
        CHECK(maki_str_equal(unknown, maki_str_of(bad_rows[i].unknown)));
    }

    tap_row("a scenario in the user's text");
    CHECK(fake_scenario_find(MAKI_LIT("何もない")).len == 0);
    CHECK_STR(fake_scenario_find(MAKI_LIT("読んで fake:429")), "429");
    CHECK_STR(fake_scenario_find(MAKI_LIT("Fake:text x")), "text x");
    return tap_end();
}

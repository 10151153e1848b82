/* scenario_test.c -- words that tell the fake provider what to do. */
#include "fake/scenario.h"

#include "base/str.h"
#include "tap.h"

static const struct good_row {
    const char *words;
    fake_scenario scenario;
} good_rows[] = {
    { "text", { .deed = FAKE_SAY } },
    { "429", { .deed = FAKE_LIMIT } },
    { "think,slow:20,cut:5", { .think = true, .slow_ms = 20, .cuts = true, .cut = 5 } },
    { "huge:1000000000 and more words", { .huge = 1000000000 } },
    { "slow:99999999", { .slow_ms = 3600000 } },
    { "agent /tmp/a.txt.", { .deed = FAKE_AGENT, .arguments = MAKI_LIT("/tmp/a.txt.") } },
    { "agent /tmp/海苔\" quoted", { .deed = FAKE_AGENT, .arguments = MAKI_LIT("/tmp/海苔") } },
    { "tool:read", { .deed = FAKE_TOOL, .tool = MAKI_LIT("read"), .arguments = MAKI_LIT("{}") } },
    { "say:%E6%B5%B7,tool:read {\"a\":\"}\\\"{\"} and so on",
      { .deed = FAKE_TOOL,
        .say = MAKI_LIT("%E6%B5%B7"),
        .tool = MAKI_LIT("read"),
        .arguments = MAKI_LIT("{\"a\":\"}\\\"{\"}") } },
    { "busy,first:2,after:Wed%2C,afterms:300",
      { .deed = FAKE_BUSY, .first = 2, .after = MAKI_LIT("Wed%2C"), .after_ms = MAKI_LIT("300") } },
    { "fail:0,chunk:1", { .fails = true, .chunk = 1 } },
    { "think,hold:2,first:1", { .think = true, .holds = true, .hold = 2, .first = 1 } },
    { "tool:read {\"a\":1},slow:1",
      { .deed = FAKE_TOOL,
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
    return a->deed == b->deed && a->think == b->think && a->slow_ms == b->slow_ms &&
           a->cuts == b->cuts && a->cut == b->cut && a->huge == b->huge && a->chunk == b->chunk &&
           a->fails == b->fails && a->fail == b->fail && a->holds == b->holds &&
           a->hold == b->hold && a->first == b->first && maki_str_is(a->after, b->after) &&
           maki_str_is(a->after_ms, b->after_ms) && maki_str_is(a->say, b->say) &&
           maki_str_is(a->tool, b->tool) && maki_str_is(a->arguments, b->arguments);
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
        tap_row("no mood: %s", bad_rows[i].words);
        CHECK(!fake_scenario_read(maki_str_of(bad_rows[i].words), &scenario, &unknown));
        CHECK(maki_str_is(unknown, maki_str_of(bad_rows[i].unknown)));
    }

    tap_row("a mood stands in what was said");
    CHECK(fake_scenario_in(MAKI_LIT("何もない")).len == 0);
    CHECK_STR(fake_scenario_in(MAKI_LIT("読んで fake:429")), "429");
    CHECK_STR(fake_scenario_in(MAKI_LIT("Fake:text x")), "text x");
    return tap_end();
}

/* limit_test.c -- turn limits: which limit is effective, and what stays in view. */
#include <stdio.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "store/limit.h"
#include "store_kit.h"
#include "tap.h"

static const struct least_row {
    const char *name;
    maki_turn_limits limits; /* global, provider, user, agent */
    bool channel;
    uint64_t limit;
} least_rows[] = {
    { "the seed's: the user's is the least", { 100, 50, 30, 0 }, true, 30 },
    { "the provider's", { 100, 20, 30, 0 }, true, 20 },
    { "the agent's", { 100, 50, 30, 10 }, true, 10 },
    { "0 is none", { 100, 0, 0, 0 }, true, 100 },
    { "all 0", { 0, 0, 0, 0 }, true, 0 },
    { "not from a channel: none", { 100, 50, 30, 0 }, false, 0 },
    { "not from a channel, but the agent has one", { 100, 50, 30, 50 }, false, 50 },
};

static const struct channel_row {
    const char *agent, *key, *channel;
    bool is;
} channel_rows[] = {
    { "default", "agent:default:global", "telegram", true },
    { "default", "agent:default:telegram:1", "", true },
    { "default", "agent:default:global", "", false },
    { "default", "", "", false },
    { "proxy", "agent:proxy:a:b", "", false },
    { "work", "agent:other:telegram:1", "", false },
};

static void test_which(void)
{
    for (size_t i = 0; i < COUNT(least_rows); i++) {
        tap_row("the smallest limit is effective: %s", least_rows[i].name);
        CHECK_EQ(maki_turn_limit(&least_rows[i].limits, least_rows[i].channel),
                 least_rows[i].limit);
    }
    tap_row("which sessions come from a channel");
    for (size_t i = 0; i < COUNT(channel_rows); i++) {
        maki_session s = { 0 };
        snprintf(s.agent, sizeof s.agent, "%s", channel_rows[i].agent);
        snprintf(s.key, sizeof s.key, "%s", channel_rows[i].key);
        snprintf(s.channel, sizeof s.channel, "%s", channel_rows[i].channel);
        CHECK_EQ(maki_session_from_channel(&s), channel_rows[i].is);
    }
}

/* ---- what stays in view ------------------------------------------------------------------------------ */

/* A turn: a question, perhaps calls with their results, an answer. */
static void add_turn(maki_conv *conv, tap_random *random, int n)
{
    char rows[12][200];
    maki_str list[12];
    size_t count = 0, calls = tap_below(random, 4);
    maki_change change;
    maki_err err = { 0 };
    snprintf(rows[count++], sizeof rows[0], "{\"role\":\"user\",\"content\":\"質問 %d\"}", n);
    for (size_t i = 0; i < calls; i++) {
        snprintf(
            rows[count++], sizeof rows[0],
            "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c%d-%zu\",\"name\":\"run\",\"input\":{}}]}",
            n, i);
        snprintf(
            rows[count++], sizeof rows[0],
            "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c%d-%zu\",\"content\":\"ok\"}]}",
            n, i);
    }
    snprintf(rows[count++], sizeof rows[0], "{\"role\":\"assistant\",\"content\":\"答え %d\"}", n);
    for (size_t i = 0; i < count; i++)
        list[i] = maki_str_of(rows[i]);
    CHECK_STATUS(maki_conv_append(conv, NULL, list, count, &change, &err), MAKI_OK, &err);
}

typedef struct seen {
    int turns, markers, results_alone;
    bool call_before, first, pinned;
    uint64_t pin;
} seen;

static maki_status inspect_message(void *ctx, const maki_view_message *m, maki_err *err)
{
    seen *s = ctx;
    bool result = maki_str_contains(m->json, MAKI_LIT("tool_result"));
    (void)err;
    if (m->seq == 0) s->markers++;
    if (m->seq && m->seq == s->pin) s->pinned = true;
    if (m->seq > 1 && m->seq != s->pin && !result &&
        maki_str_contains(m->json, MAKI_LIT("\"role\":\"user\"")))
        s->turns++;
    if (m->seq == 1) s->first = true;
    if (result && !s->call_before) s->results_alone++;
    s->call_before = maki_str_contains(m->json, MAKI_LIT("tool_use\""));
    return MAKI_OK;
}

static seen inspect_view(maki_conv *conv, uint64_t pin)
{
    seen s = { .pin = pin };
    const maki_view *view;
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_each(conv, view, inspect_message, &s, &err), MAKI_OK, &err);
    return s;
}

/* Append turns and apply the limit after each. */
static void run_limit(kit *k, uint64_t limit, uint64_t seed)
{
    char path[400];
    tap_random random = { seed };
    maki_conv *conv = NULL;
    maki_conv_options how = { .create = true, .durability = MAKI_DURABILITY_AT_END, .threads = 1 };
    maki_err err = { 0 };
    maki_change change;
    int cuts = 0, last_cut = 0;
    uint64_t pin = 0;
    tap_row(
        "200 turns with a limit of %d: pairs stay together, first and pinned messages in view, few truncations",
        (int)limit);
    snprintf(path, sizeof path, "%s/l%d.jsonl", k->sessions, (int)limit);
    CHECK_STATUS(maki_conv_open(&k->fe.env, path, &how, &conv, &err), MAKI_OK, &err);
    for (int n = 1; n <= 200; n++) {
        maki_turn_limit_report limited;
        add_turn(conv, &random, n);
        if (n == 7) {
            pin = maki_log_last(maki_conv_log(conv));
            CHECK_STATUS(maki_conv_pin(conv, NULL, pin, true, &change, &err), MAKI_OK, &err);
        }
        maki_status st = maki_conv_limit_turns(conv, limit, false, &limited, &err);
        seen s = inspect_view(conv, pin);
        bool good = CHECK_STATUS(st, MAKI_OK, &err) && CHECK((uint64_t)s.turns <= limit) &&
                    CHECK_EQ(s.results_alone, 0) && CHECK(s.first && (pin == 0 || s.pinned)) &&
                    CHECK(s.markers <= 1) && CHECK_EQ(limited.left, s.turns);
        if (limited.change.event) {
            cuts++;
            good = CHECK((uint64_t)(n - last_cut) >= (limit + 4) / 5) && good; /* not every turn */
            last_cut = n;
        }
        if (!good) break;
    }
    CHECK((uint64_t)cuts <= 200 / ((limit + 4) / 5) + 1);
    maki_conv_close(conv);
}

static void test_undo(kit *k)
{
    char path[400];
    tap_random random = { 5 };
    maki_conv *conv = NULL;
    maki_conv_options how = { .create = true, .durability = MAKI_DURABILITY_AT_END, .threads = 1 };
    maki_err err = { 0 };
    maki_turn_limit_report limited;
    maki_change change;
    snprintf(path, sizeof path, "%s/undo.jsonl", k->sessions);
    CHECK_STATUS(maki_conv_open(&k->fe.env, path, &how, &conv, &err), MAKI_OK, &err);
    for (int n = 1; n <= 12; n++)
        add_turn(conv, &random, n);
    tap_row("a preview hides nothing");
    CHECK_STATUS(maki_conv_limit_turns(conv, 10, true, &limited, &err), MAKI_OK, &err);
    CHECK(limited.turns == 11 && limited.left == 8 && limited.change.event == 0);
    CHECK_EQ(inspect_view(conv, 0).turns, 11);
    tap_row("a truncation hides a fifth of the limit at once, deletes nothing and can be undone");
    CHECK_STATUS(maki_conv_limit_turns(conv, 10, false, &limited, &err), MAKI_OK, &err);
    CHECK(limited.left == 8 && limited.change.event > 0);
    CHECK_EQ(inspect_view(conv, 0).turns, 8);
    CHECK_STATUS(maki_conv_undo(conv, NULL, limited.change.event, &change, &err), MAKI_OK, &err);
    CHECK_EQ(inspect_view(conv, 0).turns, 11);
    CHECK_EQ(inspect_view(conv, 0).markers, 0);
    tap_row("0 is no limit");
    CHECK_STATUS(maki_conv_limit_turns(conv, 0, false, &limited, &err), MAKI_OK, &err);
    CHECK_EQ(limited.change.event, 0);
    maki_conv_close(conv);
}

int main(void)
{
    kit k;
    test_which();
    kit_open(&k);
    static const uint64_t limits[] = { 1, 2, 5, 30, 50 };
    for (size_t i = 0; i < COUNT(limits); i++)
        run_limit(&k, limits[i], 3 + i);
    test_undo(&k);
    kit_close(&k);
    return tap_end();
}

/* policy_config_test.c -- every setting of policies has an effect: a run with it differs from one without. */
#include "manage/policy_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../config/config_kit.h"
#include "base/str_util.h"
#include "talk_kit.h"
#include "tap.h"

/* Tool output in two shapes, a file read twice, code, and enough messages after them to make them old. */
static void write_conversation(talk_kit *t)
{
    talk_say(t, "system", "あなたは助手です");
    talk_say(t, "user", "最初の依頼: src/a.c を直してください");
    for (unsigned i = 0; i < 5; i++)
        talk_call(t, "bash", "{\"command\":\"make\"}", talk_prose(14000, i));
    talk_call_openai(t, "read_file", "{\"path\":\"src/a.c\"}", talk_prose(3000, 20));
    talk_call_openai(t, "read_file", "{\"path\":\"src/a.c\"}", talk_prose(3000, 21));
    talk_say(t, "assistant", talk_code("c src/a.c", 60));
    for (unsigned i = 0; i < 5; i++) {
        talk_say(t, "user", talk_prose(300, 30 + i));
        talk_say(t, "assistant", talk_prose(300, 40 + i));
    }
}

/* The steps of a run with this configuration, as text. */
static char *steps_of_run(config_kit *kit, const char *yaml, double usage)
{
    talk_kit t;
    maki_policy policy = { 0 };
    maki_err err = { 0 };
    char *out = NULL;
    maki_arena arena = maki_arena_new(maki_env_system().alloc, 1 << 20);
    if (!CHECK_STATUS(config_text(kit, yaml), MAKI_OK, &kit->err)) return strdup("");
    maki_status st =
        maki_policy_from_config(kit->config, MAKI_LIT("ours"), "maki", &arena, &policy, &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    talk_open(&t);
    write_conversation(&t);
    maki_manage_report r = talk_manage(&t, &policy, (double)talk_tokens(&t) / usage);
    CHECK_EQ(talk_tokens(&t), talk_recounted(&t));
    CHECK(talk_valid(&t, (const uint64_t[]){ 1, 2, 0 }));
    int n = asprintf(&out, "steps: %s\nhidden: %d\nafter: %d %%\n%s", talk_steps(&r),
                     (int)r.effect.hidden, (int)(100 * r.tokens_after / r.tokens_before),
                     talk_view(&t));
    CHECK(n > 0);
    talk_close(&t);
    maki_arena_free(&arena);
    return out;
}

#define MINE(step)   "policy: mine\npolicies: {mine: [{" step "}]}\n"
#define TWO(a, b)    "policy: mine\npolicies: {mine: [{" a "}, {" b "}]}\n"
#define PRUNING(...) "agents: {ours: {pruning: {enabled: true" __VA_ARGS__ "}}}\n"

static const struct row {
    const char *setting;
    const char *without, *with;
    double usage;      /* of the window */
    const char *shows; /* what only the run with it shows */
} rows[] = {
    { "policy", "", "policy: clawdbot\n", 0.4, "steps: soft_trim\n" },
    { "policy", "", "policy: [{step: window, keep: 4}]\n", 0.8, "steps: window\n" },
    { "agents.*.policy", "policy: roo\n", "policy: roo\nagents: {ours: {policy: files}}\n", 0.72,
      "steps: condense\n" },
    { "agents.*.policy", "", "agents: {ours: {policy: [{step: window, keep: 4}]}}\n", 0.8,
      "steps: window\n" },
    { "agents.*.pruning.enabled", "", PRUNING(), 0.4, "steps: soft_trim\n" },
    { "agents.*.pruning.softTrimThreshold", PRUNING(), PRUNING(", softTrimThreshold: 0.2"), 0.25,
      "steps: soft_trim\n" },
    { "agents.*.pruning.hardClearThreshold", PRUNING(), PRUNING(", hardClearThreshold: 0.4"), 0.45,
      "steps: hard_clear\n" },
    { "agents.*.pruning.keepLastMessages", PRUNING(), PRUNING(", keepLastMessages: 8"), 0.6,
      "hidden: 17\n" },
    { "policies.*.#.step", MINE("step: window"), MINE("step: truncate"), 0.8, "steps: truncate\n" },
    { "policies.*.#.when", MINE("step: window, target: 0.9"),
      MINE("step: window, target: 0.9, when: always"), 0.8, "steps: window\n" },
    { "policies.*.#.when", MINE("step: window, when: over_allowed"), MINE("step: window"), 0.8,
      "steps: window\n" },
    { "policies.*.#.when", TWO("step: condense", "step: window, when: failed"),
      TWO("step: condense, min_saving: 0.99", "step: window, when: failed"), 0.8,
      "steps: condense- window\n" },
    { "policies.*.#.when", TWO("step: condense, min_saving: 0.99", "step: window, when: failed"),
      TWO("step: condense, min_saving: 0.99", "step: window, when: failed_over_allowed"), 0.8,
      "steps: condense-\n" },
    { "policies.*.#.from", MINE("step: window, when: always"),
      MINE("step: window, when: always, from: 0.3"), 0.4, "steps: window\n" },
    { "policies.*.#.from", TWO("step: window", "step: last"),
      TWO("step: window, from: 0.9", "step: last"), 0.8, "steps: last\n" },
    { "policies.*.#.below", MINE("step: window"), MINE("step: window, below: 0.79"), 0.8,
      "steps: \n" },
    { "policies.*.#.target", MINE("step: window"), MINE("step: window, target: 0.85"), 0.8,
      "steps: \n" },
    { "policies.*.#.target", MINE("step: prune_tools, min_prunable_chars: 0"),
      MINE("step: prune_tools, min_prunable_chars: 0, target: 0.2"), 0.8,
      "[Old tool result content cleared]" },
    { "policies.*.#.keep", MINE("step: window"), MINE("step: window, keep: 4"), 0.8,
      "hidden: 21\n" },
    { "policies.*.#.keep", MINE("step: prune_tools"), MINE("step: prune_tools, keep: 11"), 0.8,
      "steps: prune_tools\nhidden: 0\nafter: 79 %\n" },
    { "policies.*.#.min_messages", MINE("step: window"), MINE("step: window, min_messages: 50"),
      0.8, "steps: window:NOT_ENOUGH_MESSAGES\n" },
    { "policies.*.#.min_saving", MINE("step: window"), MINE("step: window, min_saving: 0.95"), 0.8,
      "steps: window-\n" },
    { "policies.*.#.min_window", MINE("step: window"), MINE("step: window, min_window: 1_000_000"),
      0.8, "steps: window:WINDOW_TOO_SMALL\n" },
    { "policies.*.#.share", MINE("step: truncate"), MINE("step: truncate, share: 0.2"), 0.8,
      "hidden: 4\n" },
    { "policies.*.#.must_reach", MINE("step: prune_tools, target: 0.2"),
      MINE("step: prune_tools, target: 0.2, must_reach: true"), 0.8, "steps: prune_tools-\n" },
    { "policies.*.#.max_chars", MINE("step: prune_tools, hard_clear: false"),
      MINE("step: prune_tools, hard_clear: false, max_chars: 10_000_000"), 0.8,
      "steps: prune_tools:NOTHING_TO_DO\n" },
    { "policies.*.#.head_chars", MINE("step: prune_tools, hard_clear: false"),
      MINE("step: prune_tools, hard_clear: false, head_chars: 0"), 0.8,
      "\"content\":\"\\n\\n[... " },
    { "policies.*.#.tail_chars", MINE("step: prune_tools, hard_clear: false"),
      MINE("step: prune_tools, hard_clear: false, tail_chars: 0"), 0.8,
      " shows them ...]\\n\\n\"}" },
    { "policies.*.#.min_prunable_chars", MINE("step: prune_tools, target: 0.2"),
      MINE("step: prune_tools, target: 0.2, min_prunable_chars: 100"), 0.8,
      "[Old tool result content cleared]" },
    { "policies.*.#.placeholder", MINE("step: prune_tools, target: 0.2, min_prunable_chars: 100"),
      MINE("step: prune_tools, target: 0.2, min_prunable_chars: 100, placeholder: 古い結果"), 0.8,
      "\"content\":\"古い結果\"" },
    { "policies.*.#.hard_clear",
      MINE("step: prune_tools, target: 0.2, min_prunable_chars: 100, hard_clear: false"),
      MINE("step: prune_tools, target: 0.2, min_prunable_chars: 100, hard_clear: true"), 0.8,
      "[Old tool result content cleared]" },
    { "policies.*.#.allow", MINE("step: prune_tools"), MINE("step: prune_tools, allow: read_*"),
      0.8, "steps: prune_tools:NOTHING_TO_DO\n" },
    { "policies.*.#.deny", MINE("step: prune_tools"), MINE("step: prune_tools, deny: [ba*, x]"),
      0.8, "steps: prune_tools:NOTHING_TO_DO\n" },
    { "context_storage.compression_threshold", "policy: files\n",
      "policy: files\ncontext_storage: {compression_threshold: 0.5}\n", 0.6, "steps: condense\n" },
    { "context_storage.keep_recent_messages", "policy: files\n",
      "policy: files\ncontext_storage: {keep_recent_messages: 9}\n", 0.8, "hidden: 16\n" },
    { "context_storage.min_messages_to_summarize", "policy: files\n",
      "policy: files\ncontext_storage: {min_messages_to_summarize: 99}\n", 0.8,
      "steps: condense:NOT_ENOUGH_MESSAGES\n" },
};

static void check_rows(void)
{
    config_kit kit;
    config_kit_open(&kit);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        tap_row("%s has an effect", row->setting);
        char *without = steps_of_run(&kit, row->without, row->usage);
        char *with = steps_of_run(&kit, row->with, row->usage);
        bool shown = strstr(with, row->shows) && !strstr(without, row->shows);
        if (!CHECK(shown))
            printf("# shows %s\n# without %.150s\n# with %.150s\n", row->shows, without, with);
        free(without);
        free(with);
    }
    config_kit_close(&kit);
}

/* Every setting of policies has a row in the test. */
static void check_all_tested(void)
{
    tap_row("every setting of policies has a row here");
    for (size_t p = 0; maki_config_section_at(p); p++) {
        const maki_config_section *part = maki_config_section_at(p);
        for (size_t i = 0; i < part->count; i++) {
            const char *path = part->settings[i].path;
            bool ours = strncmp(path, "polic", 5) == 0 || strstr(path, ".pruning.") ||
                        strstr(path, "*.policy");
            bool found = !ours;
            for (size_t k = 0; k < COUNT(rows); k++)
                found = found || strcmp(rows[k].setting, path) == 0;
            if (!CHECK(found)) printf("# %s\n", path);
        }
    }
}

/* ---- presets and names ------------------------------------------------------------------------------- */

static maki_status named(config_kit *kit, const char *name, maki_policy *out, maki_err *err)
{
    maki_arena arena = maki_arena_new(maki_env_system().alloc, 1 << 20);
    maki_status st = maki_policy_configured(kit->config, maki_str_of(name), &arena, out, err);
    maki_arena_free(&arena);
    return st;
}

static void check_names(void)
{
    config_kit kit;
    maki_policy policy = { 0 };
    maki_err err = { 0 };
    char yaml[200];
    config_kit_open(&kit);
    for (size_t i = 0; maki_policy_at(i); i++) {
        tap_row("the preset %s is found by name", maki_policy_at(i)->name);
        snprintf(yaml, sizeof yaml, "policy: %s\n", maki_policy_at(i)->name);
        CHECK_STATUS(config_text(&kit, yaml), MAKI_OK, &kit.err);
        CHECK_STATUS(named(&kit, maki_policy_at(i)->name, &policy, &err), MAKI_OK, &err);
        CHECK_EQ(policy.step_count, maki_policy_at(i)->step_count);
    }
    tap_row("a file can replace a preset");
    CHECK_STATUS(config_text(&kit, "policies: {maki: [{step: window}, {step: last}]}\n"), MAKI_OK,
                 &kit.err);
    CHECK_STATUS(named(&kit, "maki", &policy, &err), MAKI_OK, &err);
    CHECK(policy.step_count == 2 && policy.steps[0].kind == MAKI_STEP_WINDOW);

    tap_row("a policy of the agent overrides its pruning settings");
    maki_arena arena = maki_arena_new(maki_env_system().alloc, 1 << 20);
    CHECK_STATUS(config_text(&kit, "policy: roo\nagents: {ours: {pruning: {enabled: true}}}\n"),
                 MAKI_OK, &kit.err);
    CHECK_STATUS(
        maki_policy_from_config(kit.config, MAKI_LIT("ours"), "maki", &arena, &policy, &err),
        MAKI_OK, &err);
    CHECK_CSTR(policy.name, "roo");

    tap_row("nothing configured: the defaults");
    CHECK_STATUS(maki_policy_from_config(NULL, MAKI_LIT(""), "files", &arena, &policy, &err),
                 MAKI_OK, &err);
    CHECK_CSTR(policy.name, "files");
    maki_arena_free(&arena);
    config_kit_close(&kit);
}

static void check_errors(void)
{
    config_kit kit;
    maki_policy policy = { 0 };
    maki_err err = { 0 };
    char yaml[4000] = "policies: {mine: [";
    config_kit_open(&kit);
    tap_row("an unknown name is an error that suggests the nearest");
    CHECK_STATUS(config_text(&kit, "policy: clawdbt\n"), MAKI_INVALID, NULL);
    CHECK(strstr(kit.problems, "did you mean clawdbot?"));
    CHECK_STATUS(config_text(&kit, ""), MAKI_OK, &kit.err);
    CHECK_STATUS(named(&kit, "mine", &policy, &err), MAKI_NOTFOUND, NULL);
    CHECK(strstr(err.msg, "unknown policy \"mine\""));

    tap_row("a step without its name is reported");
    CHECK_STATUS(config_text(&kit, "policies: {mine: [{keep: 3}]}\n"), MAKI_INVALID, NULL);
    CHECK(strstr(kit.problems, "add step: NAME"));

    tap_row("a step that can never be taken is an error");
    CHECK_STATUS(config_text(&kit, "policies: {mine: [{step: window, from: 0.5, below: 0.4}]}\n"),
                 MAKI_OK, &kit.err);
    CHECK_STATUS(named(&kit, "mine", &policy, &err), MAKI_INVALID, NULL);
    CHECK(strstr(err.msg, "from (0.5) must be less than below (0.4)"));

    tap_row("too many steps are an error");
    for (int i = 0; i <= MAKI_STEPS_MAX; i++)
        strcat(yaml, "{step: window},");
    strcat(yaml, "]}\n");
    CHECK_STATUS(config_text(&kit, yaml), MAKI_OK, &kit.err);
    CHECK_STATUS(named(&kit, "mine", &policy, &err), MAKI_INVALID, NULL);
    CHECK(strstr(err.msg, "more than 16 steps"));

    tap_row("a placeholder that is too long is an error");
    snprintf(yaml, sizeof yaml,
             "policies: {mine: [{step: prune_tools, placeholder: \"%0600d\"}]}\n", 1);
    CHECK_STATUS(config_text(&kit, yaml), MAKI_OK, &kit.err);
    CHECK_STATUS(named(&kit, "mine", &policy, &err), MAKI_INVALID, NULL);
    CHECK(strstr(err.msg, "500 at most"));
    config_kit_close(&kit);
}

int main(void)
{
    check_rows();
    check_all_tested();
    check_names();
    check_errors();
    return tap_end();
}

/* policy.c -- the table of step kinds, and the preset policies: our own and those of the reference systems.
 *
 * Kinds come from config/policy_steps.h; a preset is a row of `presets`. */
#include "manage/policy.h"

#include "base/str_util.h"

static const struct kind_row {
    const char *name;
    unsigned needs;
    size_t keep;
    double share;
} kinds[MAKI_STEP_KINDS] = {
#define ROW(kind, name, fn, needs, keep, share, help) \
    [MAKI_STEP_##kind] = { #name, needs, keep, share },
    [MAKI_STEP_NONE] = { .name = "none" }, [MAKI_STEP_TRIM] = { .name = "trim" }, MAKI_STEP_MAP(ROW)
#undef ROW
};

#define ALWAYS 0
#define NEEDED MAKI_WHEN_NEEDED
#define FAILED MAKI_WHEN_FAILED
#define OVER   MAKI_WHEN_OVER
#define PRUNE_CHARS                                                                            \
    .max_chars = MAKI_PRUNE_MAX, .head_chars = MAKI_PRUNE_HEAD, .tail_chars = MAKI_PRUNE_TAIL, \
    .min_prunable_chars = MAKI_PRUNE_MIN, .hard_clear = true,                                  \
    .placeholder = { MAKI_PRUNE_PLACEHOLDER, sizeof MAKI_PRUNE_PLACEHOLDER - 1 }

/* In `maki` a prune that does not reach the target is undone before the condense.  The summary replaces the
 * pruned messages anyway, so the prune would save nothing; and the summarizer reads the view, where the pruned
 * output is missing.  A prune now and a condense a few turns later would also change the prefix twice, and
 * lose the provider's cache twice. */
/* clang-format off */
static const maki_policy presets[] = {
    { .name = "maki", .step_count = 7, .steps = {
        { MAKI_STEP_PRUNE_REPEATS, NEEDED, .keep = 3, .must_reach = true },
        { MAKI_STEP_PRUNE_TOOLS,   NEEDED, .keep = 3, .must_reach = true, PRUNE_CHARS },
        { MAKI_STEP_SHRINK_CODE,   NEEDED, .keep = 3, .must_reach = true },
        { MAKI_STEP_CONDENSE,      NEEDED, .min_saving = 0.2, .min_window = 8000 },
        { MAKI_STEP_WINDOW,        FAILED, .keep = 20 },
        { MAKI_STEP_TRUNCATE,      OVER,   .share = 0.5 },
        { MAKI_STEP_LAST_RESORT,          OVER,   .keep = 1 } } },
    { .name = "roo", .flags = MAKI_POLICY_KEEP_THREE, .step_count = 2, .steps = {
        { .kind = MAKI_STEP_CONDENSE, .when = ALWAYS },
        { MAKI_STEP_TRUNCATE,      FAILED | OVER, .share = 0.5 } } },
    { .name = "clawdbot", .from = MAKI_PRUNE_SOFT_FROM, .step_count = 2, .steps = {
        { MAKI_STEP_SOFT_TRIM,     ALWAYS, .from = MAKI_PRUNE_SOFT_FROM, .below = MAKI_PRUNE_HARD_FROM,
                                           .target = MAKI_PRUNE_TARGET, .keep = 3 },
        { MAKI_STEP_HARD_CLEAR,    ALWAYS, .from = MAKI_PRUNE_HARD_FROM, .keep = 3 } } },
    { .name = "files", .flags = MAKI_POLICY_TASKS, .from = 0.7, .over = true, .step_count = 1, .steps = {
        { MAKI_STEP_CONDENSE,      ALWAYS, .keep = 5, .min_messages = 10 } } },
};
/* clang-format on */

const maki_policy *maki_policy_at(size_t i)
{
    return i < sizeof presets / sizeof presets[0] ? &presets[i] : NULL;
}

const maki_policy *maki_policy_find(maki_str name)
{
    return MAKI_TABLE_FIND(presets, name);
}

double maki_policy_threshold(const maki_policy *policy, double general)
{
    return policy->from > 0 ? 100 * policy->from : general;
}

const char *maki_step_name(maki_step_kind kind)
{
    return kinds[kind].name;
}

unsigned maki_step_needs(maki_step_kind kind)
{
    return kinds[kind].needs;
}

bool maki_step_kind_parse(maki_str name, maki_step_kind *kind)
{
    for (size_t i = MAKI_STEP_NONE + 1; i < MAKI_STEP_TRIM; i++) {
        if (!maki_str_equal(name, maki_str_of(kinds[i].name))) continue;
        *kind = (maki_step_kind)i;
        return true;
    }
    return false;
}

maki_step maki_step_of(maki_step_kind kind)
{
    return (maki_step){ kind, NEEDED, PRUNE_CHARS, .keep = kinds[kind].keep,
                        .share = kinds[kind].share };
}

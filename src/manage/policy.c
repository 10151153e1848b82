/* policy.c -- see policy.h.  The presets are those of the reference systems, and our own. */
#include "manage/policy.h"

#include "base/str.h"

/* clang-format off */
static const maki_policy presets[] = {
    { "maki", 8000, 4, {
        /* what                when              keep  share  at least saved */
        { MAKI_STEP_CONDENSE, MAKI_WHEN_DUE,    3,    0,     0.2 },
        { MAKI_STEP_WINDOW,   MAKI_WHEN_FAILED, 20,   0,     0   },
        { MAKI_STEP_TRUNCATE, MAKI_WHEN_OVER,   0,    0.5,   0   },
        { MAKI_STEP_WINDOW,   MAKI_WHEN_OVER,   1,    0,     0   } } },
    { "roo", 0, 2, {
        { MAKI_STEP_CONDENSE, MAKI_WHEN_DUE,    3,    0,     0   },
        { MAKI_STEP_TRUNCATE, MAKI_WHEN_OVER,   0,    0.5,   0   } } },
    { "files", 0, 1, {
        { MAKI_STEP_CONDENSE, MAKI_WHEN_DUE,    5,    0,     0   } } },
};
/* clang-format on */

const maki_policy *maki_policy_at(size_t i)
{
    return i < sizeof presets / sizeof presets[0] ? &presets[i] : NULL;
}

const maki_policy *maki_policy_named(maki_str name)
{
    for (size_t i = 0; maki_policy_at(i); i++) {
        if (maki_str_is(name, maki_str_of(presets[i].name))) return &presets[i];
    }
    return NULL;
}

const char *maki_step_name(maki_step_kind kind)
{
    static const char *const names[] = { "condense", "window", "truncate" };
    return names[kind];
}

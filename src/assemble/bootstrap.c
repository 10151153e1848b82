/* bootstrap.c -- see bootstrap.h. */
#include "assemble/bootstrap.h"

#include <math.h>

#include "base/json.h"
#include "base/str.h"

const maki_bootstrap_file maki_bootstrap_files[] = {
    { "AGENTS.md", 20000 }, { "SOUL.md", 20000 },   { "TOOLS.md", 20000 }, { "IDENTITY.md", 5000 },
    { "USER.md", 10000 },   { "README.md", 10000 }, { NULL, 0 },
};

const maki_bootstrap_file *maki_bootstrap_find(maki_str name)
{
    for (const maki_bootstrap_file *f = maki_bootstrap_files; f->name; f++) {
        if (maki_str_is(name, maki_str_of(f->name))) return f;
    }
    return NULL;
}

void maki_truncate_file(maki_jw *w, maki_str escaped, uint64_t max_units)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    if (maki_json_units(escaped) <= max_units) {
        maki_jw_bytes(w, escaped);
    } else {
        maki_jw_bytes(w, maki_json_head(escaped, (uint64_t)floor((double)max_units * 0.7)));
        maki_jw_bytes(w, MAKI_LIT("\\n\\n[...truncated...]\\n\\n"));
        maki_jw_bytes(w, maki_json_tail(escaped, (uint64_t)floor((double)max_units * 0.2)));
    }
    maki_jw_bytes(w, MAKI_LIT("\""));
}

const maki_prompt_section maki_prompt_sections[MAKI_SECTION_COUNT] = {
    { "identity", true, true },      { "persona", false, false },
    { "instructions", true, false }, { "guidelines", false, false },
    { "tooling", true, false },      { "toolPolicies", false, false },
    { "skills", false, false },      { "skillTriggers", false, false },
    { "memory", false, false },      { "memoryContext", false, false },
    { "workspace", false, false },   { "projectContext", false, false },
    { "sandbox", false, false },     { "permissions", false, false },
    { "runtime", false, false },     { "model", false, false },
    { "thinking", false, false },    { "channel", false, false },
    { "chatContext", false, false }, { "user", false, false },
    { "timestamp", false, false },
};

bool maki_section_in(const maki_prompt_section *section, maki_prompt_mode mode)
{
    if (mode == MAKI_PROMPT_MINIMAL) return section->minimal;
    if (mode == MAKI_PROMPT_NONE) return section->none;
    return true;
}

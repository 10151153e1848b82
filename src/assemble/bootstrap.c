/* bootstrap.c -- the tables of bootstrap files and of prompt sections, and the truncation of a file that is too long. */
#include "assemble/bootstrap.h"

#include <math.h>

#include "base/json_access.h"
#include "base/str_util.h"

/* README.md is the project's, not the agent's: the prompt does not say that it is missing. */
const maki_bootstrap_file maki_bootstrap_files[MAKI_BOOTSTRAP_COUNT + 1] = {
    { "AGENTS.md", 20000, MAKI_SECTION_INSTRUCTIONS, true },
    { "SOUL.md", 20000, MAKI_SECTION_PERSONA, true },
    { "TOOLS.md", 20000, MAKI_SECTION_TOOL_POLICIES, true },
    { "IDENTITY.md", 5000, MAKI_SECTION_IDENTITY, true },
    { "USER.md", 10000, MAKI_SECTION_USER, true },
    { "README.md", 10000, MAKI_SECTION_PROJECT_CONTEXT, false },
};

const maki_bootstrap_file *maki_bootstrap_find(maki_str name)
{
    return maki_table_find(maki_bootstrap_files, MAKI_BOOTSTRAP_COUNT, sizeof *maki_bootstrap_files,
                           name);
}

bool maki_bootstrap_section(const maki_bootstrap_file *file, maki_prompt_mode mode,
                            maki_section_id *out)
{
    bool policies = file->section == MAKI_SECTION_TOOL_POLICIES;
    *out = policies && mode == MAKI_PROMPT_MINIMAL ? MAKI_SECTION_TOOLING : file->section;
    return maki_section_in(&maki_prompt_sections[*out], mode);
}

uint64_t maki_truncate_head(uint64_t max_units)
{
    return (uint64_t)floor((double)max_units * 0.7);
}

uint64_t maki_truncate_tail(uint64_t max_units)
{
    return (uint64_t)floor((double)max_units * 0.2);
}

void maki_truncate_file(maki_jw *w, maki_str escaped, uint64_t max_units)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    if (maki_json_utf16_len(escaped) <= max_units) {
        maki_jw_bytes(w, escaped);
    } else {
        maki_jw_bytes(w, maki_json_head(escaped, maki_truncate_head(max_units)));
        maki_jw_bytes(w, MAKI_LIT("\\n\\n" MAKI_TRUNCATED "\\n\\n"));
        maki_jw_bytes(w, maki_json_tail(escaped, maki_truncate_tail(max_units)));
    }
    maki_jw_bytes(w, MAKI_LIT("\""));
}

const maki_prompt_section maki_prompt_sections[MAKI_SECTION_COUNT] = {
    [MAKI_SECTION_IDENTITY] = { "identity", true, true, "Identity" },
    [MAKI_SECTION_PERSONA] = { "persona", false, false, "Persona" },
    [MAKI_SECTION_INSTRUCTIONS] = { "instructions", true, false, "Instructions" },
    [MAKI_SECTION_GUIDELINES] = { "guidelines", false, false, "Guidelines" },
    [MAKI_SECTION_TOOLING] = { "tooling", true, false, "Tools" },
    [MAKI_SECTION_TOOL_POLICIES] = { "toolPolicies", false, false, "Use of tools" },
    [MAKI_SECTION_SKILLS] = { "skills", false, false, "Skills" },
    [MAKI_SECTION_SKILL_TRIGGERS] = { "skillTriggers", false, false, "When to use skills" },
    [MAKI_SECTION_MEMORY] = { "memory", false, false, "Memory" },
    [MAKI_SECTION_MEMORY_CONTEXT] = { "memoryContext", false, false, "Remembered" },
    [MAKI_SECTION_WORKSPACE] = { "workspace", false, false, "Workspace" },
    [MAKI_SECTION_PROJECT_CONTEXT] = { "projectContext", false, false, "Project" },
    [MAKI_SECTION_SANDBOX] = { "sandbox", false, false, "Sandbox" },
    [MAKI_SECTION_PERMISSIONS] = { "permissions", false, false, "Permissions" },
    [MAKI_SECTION_RUNTIME] = { "runtime", false, false, "Runtime" },
    [MAKI_SECTION_MODEL] = { "model", false, false, "Model" },
    [MAKI_SECTION_THINKING] = { "thinking", false, false, "Thinking" },
    [MAKI_SECTION_CHANNEL] = { "channel", false, false, "Channel" },
    [MAKI_SECTION_CHAT_CONTEXT] = { "chatContext", false, false, "Chat" },
    [MAKI_SECTION_USER] = { "user", false, false, "User" },
    [MAKI_SECTION_TIMESTAMP] = { "timestamp", false, false, "Date" },
};

bool maki_section_in(const maki_prompt_section *section, maki_prompt_mode mode)
{
    if (mode == MAKI_PROMPT_MINIMAL) return section->minimal;
    if (mode == MAKI_PROMPT_NONE) return section->none;
    return true;
}

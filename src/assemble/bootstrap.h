/* bootstrap.h -- the bootstrap files of an agent (AGENTS.md, SOUL.md ...), and the sections of its system prompt. */
#ifndef MAKI_ASSEMBLE_BOOTSTRAP_H
#define MAKI_ASSEMBLE_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_write.h"

/* The sections of a system prompt, in their order. */
typedef enum maki_section_id {
    MAKI_SECTION_IDENTITY,
    MAKI_SECTION_PERSONA,
    MAKI_SECTION_INSTRUCTIONS,
    MAKI_SECTION_GUIDELINES,
    MAKI_SECTION_TOOLING,
    MAKI_SECTION_TOOL_POLICIES,
    MAKI_SECTION_SKILLS,
    MAKI_SECTION_SKILL_TRIGGERS,
    MAKI_SECTION_MEMORY,
    MAKI_SECTION_MEMORY_CONTEXT,
    MAKI_SECTION_WORKSPACE,
    MAKI_SECTION_PROJECT_CONTEXT,
    MAKI_SECTION_SANDBOX,
    MAKI_SECTION_PERMISSIONS,
    MAKI_SECTION_RUNTIME,
    MAKI_SECTION_MODEL,
    MAKI_SECTION_THINKING,
    MAKI_SECTION_CHANNEL,
    MAKI_SECTION_CHAT_CONTEXT,
    MAKI_SECTION_USER,
    MAKI_SECTION_TIMESTAMP,
    MAKI_SECTION_COUNT
} maki_section_id;

typedef enum maki_prompt_mode {
    MAKI_PROMPT_FULL,    /* every section */
    MAKI_PROMPT_MINIMAL, /* for sub-agents */
    MAKI_PROMPT_NONE     /* only the identity */
} maki_prompt_mode;

typedef struct maki_prompt_section {
    const char *name;
    bool minimal;      /* also in mode minimal */
    bool none;         /* also in mode none */
    const char *title; /* its heading */
} maki_prompt_section;

extern const maki_prompt_section maki_prompt_sections[MAKI_SECTION_COUNT];
bool maki_section_in(const maki_prompt_section *section, maki_prompt_mode mode);

typedef struct maki_bootstrap_file {
    const char *name;
    uint64_t max_units;
    maki_section_id section; /* of its text */
    bool expected;           /* the prompt reports it when it is missing */
} maki_bootstrap_file;

#define MAKI_BOOTSTRAP_COUNT 6
/* In the order in which they are read; the last has no name. */
extern const maki_bootstrap_file maki_bootstrap_files[MAKI_BOOTSTRAP_COUNT + 1];
/* NULL: not a bootstrap file. */
const maki_bootstrap_file *maki_bootstrap_find(maki_str name);
/* The section of a file in this mode.  A sub-agent has no section for policies, and gets TOOLS.md in that of its tools.
 * False: the mode does not use the file. */
bool maki_bootstrap_section(const maki_bootstrap_file *file, maki_prompt_mode mode,
                            maki_section_id *out);

/* A file that is too long is truncated to this many units of its head and of its tail, with a marker between. */
#define MAKI_TRUNCATED "[...truncated...]"
uint64_t maki_truncate_head(uint64_t max_units);
uint64_t maki_truncate_tail(uint64_t max_units);

/* Write `escaped` (the inside of a JSON string) as a JSON string of at most about max_units: 70 % of
 * them from its head, 20 % from its tail, and a marker between.  No character is split. */
void maki_truncate_file(maki_jw *w, maki_str escaped, uint64_t max_units);

#endif

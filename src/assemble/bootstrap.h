/* bootstrap.h -- the files that tell an agent who it is, and the sections of its system prompt. */
#ifndef MAKI_ASSEMBLE_BOOTSTRAP_H
#define MAKI_ASSEMBLE_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_write.h"

typedef struct maki_bootstrap_file {
    const char *name;
    uint64_t max_units;
} maki_bootstrap_file;

/* In the order in which they are read; the last has no name. */
extern const maki_bootstrap_file maki_bootstrap_files[];
/* NULL when it is none of them. */
const maki_bootstrap_file *maki_bootstrap_find(maki_str name);

/* Write `escaped` (the inside of a JSON string) as a JSON string of at most about max_units: 70 % of
 * them from its head, 20 % from its tail, and a marker between.  No character is cut in two. */
void maki_truncate_file(maki_jw *w, maki_str escaped, uint64_t max_units);

typedef enum maki_prompt_mode {
    MAKI_PROMPT_FULL,    /* every section */
    MAKI_PROMPT_MINIMAL, /* for sub-agents */
    MAKI_PROMPT_NONE     /* only who it is */
} maki_prompt_mode;

typedef struct maki_prompt_section {
    const char *name;
    bool minimal; /* also in mode minimal */
    bool none;    /* also in mode none */
} maki_prompt_section;

#define MAKI_SECTION_COUNT 21
extern const maki_prompt_section maki_prompt_sections[MAKI_SECTION_COUNT];
bool maki_section_in(const maki_prompt_section *section, maki_prompt_mode mode);

#endif

/* prompt.h -- the system prompt: sections under headings, in the order of maki_prompt_sections.
 *
 * Providers keep what they have read of a prompt as long as it begins with the same bytes.  So the same sections
 * give the same text, and what changes by itself, the time, stands apart: it comes last, behind everything else that
 * the request says to the model. */
#ifndef MAKI_ASSEMBLE_PROMPT_H
#define MAKI_ASSEMBLE_PROMPT_H

#include "assemble/bootstrap.h"
#include "base/arena.h"

typedef struct maki_prompt_part {
    maki_str text;    /* valid UTF-8; len 0: the section is left out */
    const char *file; /* that it came from; NULL: none */
} maki_prompt_part;

typedef struct maki_prompt_parts {
    maki_prompt_mode mode; /* parts that it does not have are left out */
    maki_prompt_part parts[MAKI_SECTION_COUNT];
} maki_prompt_parts;

/* MAKI_INVALID: no such mode; names those there are. */
maki_status maki_prompt_mode_named(maki_str name, maki_prompt_mode *out, maki_err *err);

/* Both in the arena; len 0: nothing of it.  `moment` is the section of the time, `text` all others. */
maki_status maki_prompt_build(const maki_prompt_parts *in, maki_arena *arena, maki_str *text,
                              maki_str *moment, maki_err *err) MAKI_MUST_CHECK;

/* The names of tools in any provider's shape, a line each, in the arena. */
maki_status maki_prompt_tools(maki_str tools, maki_arena *arena, maki_str *text, maki_err *err)
    MAKI_MUST_CHECK;

typedef enum maki_timestamp_mode {
    MAKI_TIMESTAMP_OFF,
    MAKI_TIMESTAMP_DATE,
    MAKI_TIMESTAMP_TIME
} maki_timestamp_mode;
/* "2026-01-27 (UTC+09:00)", by the time zone of this process; "" for MAKI_TIMESTAMP_OFF. */
enum { MAKI_TIMESTAMP_MAX = 40 };
void maki_prompt_timestamp(int64_t now_ms, maki_timestamp_mode how, char out[MAKI_TIMESTAMP_MAX]);

#endif

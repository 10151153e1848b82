/* prompt.h -- the system prompt: sections under headings, in the order of maki_prompt_sections.
 *
 * Providers cache a prompt by its prefix.  So the same sections give the same bytes, and the timestamp, which changes by
 * itself, is separate: it comes last, after all other texts of the request. */
#ifndef MAKI_ASSEMBLE_PROMPT_H
#define MAKI_ASSEMBLE_PROMPT_H

#include "assemble/bootstrap.h"
#include "base/arena.h"

typedef struct maki_prompt_part {
    maki_str text;    /* valid UTF-8; len 0: no such section */
    const char *file; /* its source; NULL: none */
} maki_prompt_part;

typedef struct maki_prompt_parts {
    maki_prompt_mode mode; /* parts that it does not use are left out */
    maki_prompt_part parts[MAKI_SECTION_COUNT];
} maki_prompt_parts;

/* MAKI_INVALID: unknown mode; the error lists the known ones. */
maki_status maki_prompt_mode_parse(maki_str name, maki_prompt_mode *out, maki_err *err);

/* Both in the arena; len 0: empty.  `timestamp` is the timestamp section, `text` all others. */
maki_status maki_prompt_build(const maki_prompt_parts *in, maki_arena *arena, maki_str *text,
                              maki_str *timestamp, maki_err *err) MAKI_MUST_CHECK;

/* A list of the names of tools in any provider's format, one on a line, in the arena. */
maki_status maki_prompt_tools(maki_str tools, maki_arena *arena, maki_str *text, maki_err *err)
    MAKI_MUST_CHECK;

typedef enum maki_timestamp_mode {
    MAKI_TIMESTAMP_OFF,
    MAKI_TIMESTAMP_DATE,
    MAKI_TIMESTAMP_TIME
} maki_timestamp_mode;
/* "2026-01-27 (UTC+09:00)", by the time zone of this process; "" for MAKI_TIMESTAMP_OFF. */
enum { MAKI_TIMESTAMP_MAX = 40 };
void maki_prompt_timestamp(int64_t now_ms, maki_timestamp_mode mode, char out[MAKI_TIMESTAMP_MAX]);

#endif

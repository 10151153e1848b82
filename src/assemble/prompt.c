/* prompt.c -- build the system prompt from its parts: sections in table order, the list of tools, the timestamp. */
#include "assemble/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "token/tool_list.h"

enum { PROMPT_MAX = 32 << 20, TOOL_LIST_BYTES_MAX = 1 << 20 };

maki_status maki_prompt_mode_parse(maki_str name, maki_prompt_mode *out, maki_err *err)
{
    size_t mode = maki_str_index(name, "full|minimal|none");
    if (mode != SIZE_MAX) *out = (maki_prompt_mode)mode;
    if (mode != SIZE_MAX) return MAKI_OK;
    return maki_fail(err, MAKI_INVALID,
                     "unknown prompt mode '%.*s': expected full, minimal or none",
                     name.len < 60 ? (int)name.len : 60, name.ptr);
}

/* ---- sections -------------------------------------------------------------------------------------------------- */

static void add_section(maki_buf *out, const maki_prompt_section *section,
                        const maki_prompt_part *part)
{
    maki_buf_print(out, "%s## %s", out->len ? "\n\n" : "", section->title);
    if (part->file) maki_buf_print(out, " (%s)", part->file);
    maki_buf_add(out, MAKI_LIT("\n\n"));
    maki_buf_add(out, part->text);
}

/* Build the text of the sections [from, to). */
static maki_status build_sections(const maki_prompt_parts *in, size_t from, size_t to,
                                  maki_arena *arena, maki_str *text, maki_err *err)
{
    maki_buf out = maki_buf_new(arena->alloc, PROMPT_MAX);
    for (size_t i = from; i < to; i++) {
        const maki_prompt_section *section = &maki_prompt_sections[i];
        if (in->parts[i].text.len && maki_section_in(section, in->mode))
            add_section(&out, section, &in->parts[i]);
    }
    return maki_buf_to_arena(&out, arena, text, err);
}

maki_status maki_prompt_build(const maki_prompt_parts *in, maki_arena *arena, maki_str *text,
                              maki_str *timestamp, maki_err *err)
{
    maki_status st = build_sections(in, 0, MAKI_SECTION_TIMESTAMP, arena, text, err);
    if (st != MAKI_OK) return st;
    return build_sections(in, MAKI_SECTION_TIMESTAMP, MAKI_SECTION_COUNT, arena, timestamp, err);
}

/* ---- tools ------------------------------------------------------------------------------------------------------ */

static void add_tool_name(maki_buf *out, maki_str name)
{
    if (name.len <= 2) return; /* a provider-defined tool may have no name */
    maki_buf_add(out, out->len ? MAKI_LIT("\n- ") : MAKI_LIT("- "));
    (void)maki_json_unescape_to(maki_json_strip_quotes(name), maki_buf_sink(out), NULL);
}

maki_status maki_prompt_tools(maki_str tools, maki_arena *arena, maki_str *text, maki_err *err)
{
    maki_buf out = maki_buf_new(arena->alloc, TOOL_LIST_BYTES_MAX);
    maki_tool_list list = maki_tool_list_of(tools);
    for (maki_tool tool; maki_tool_list_next(&list, &tool);)
        add_tool_name(&out, tool.name);
    return maki_buf_to_arena(&out, arena, text, err);
}

/* ---- timestamp --------------------------------------------------------------------------------------------------- */

void maki_prompt_timestamp(int64_t now_ms, maki_timestamp_mode mode, char out[MAKI_TIMESTAMP_MAX])
{
    time_t seconds = (time_t)(now_ms / 1000);
    struct tm tm;
    char zone[16] = "";
    out[0] = '\0';
    if (mode == MAKI_TIMESTAMP_OFF || !localtime_r(&seconds, &tm)) return;
    long minutes = tm.tm_gmtoff / 60;
    if (minutes)
        snprintf(zone, sizeof zone, "%c%02ld:%02ld", minutes < 0 ? '-' : '+',
                 labs(minutes) / 60 % 100, labs(minutes) % 60);
    size_t n = strftime(out, MAKI_TIMESTAMP_MAX,
                        mode == MAKI_TIMESTAMP_DATE ? "%Y-%m-%d" : "%Y-%m-%d %H:%M", &tm);
    snprintf(out + n, MAKI_TIMESTAMP_MAX - n, " (UTC%s)", zone);
}

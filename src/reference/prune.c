/* prune.c -- shorten old tool results, then clear them, oldest first, until the list is small enough.
 *
 * The order is: the range that may be changed, all sizes, soft trims at soft_ratio, clears at hard_ratio.  Sizes are
 * computed on escaped text, so nothing is decoded; a cut never splits an escape or a surrogate pair. */
#include "reference/prune.h"

#include "base/json_builder.h"
#include "base/str_util.h"
#include "manage/policy.h"

enum { CHARS_PER_TOKEN = 4, IMAGE_CHARS = 8000, OTHER_CHARS = 256 };

const maki_prune_settings maki_prune_defaults = {
    .keep_last_assistants = 3,
    .soft_ratio = 0.3,
    .hard_ratio = 0.5,
    .min_prunable_chars = MAKI_PRUNE_MIN,
    .soft_max_chars = MAKI_PRUNE_MAX,
    .soft_head_chars = MAKI_PRUNE_HEAD,
    .soft_tail_chars = MAKI_PRUNE_TAIL,
    .hard_clear = true,
    .placeholder = { "\"" MAKI_PRUNE_PLACEHOLDER "\"", sizeof MAKI_PRUNE_PLACEHOLDER + 1 },
};

maki_prune_level maki_prune_level_of(double tokens, double window)
{
    double usage = tokens / window;
    if (usage < MAKI_PRUNE_SOFT_FROM) return MAKI_PRUNE_NONE;
    return usage < MAKI_PRUNE_HARD_FROM ? MAKI_PRUNE_SOFT : MAKI_PRUNE_HARD;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static uint64_t string_units(maki_str object, const char *name)
{
    maki_str value = maki_json_string(object, name);
    return value.len ? maki_json_utf16_len(maki_json_strip_quotes(value)) : 0;
}

/* The text of a block: a string itself, or a text block's; false for others. */
static bool block_text(maki_str block, maki_str *escaped)
{
    maki_str text = block;
    bool plain = maki_json_kind_of(block) == MAKI_JSON_STRING;
    if (!plain && (!maki_json_field_in(block, "type", "text") ||
                   !maki_json_string_field(block, "text", &text))) {
        return false;
    }
    *escaped = maki_json_strip_quotes(text);
    return true;
}

static uint64_t content_units(const maki_msg *m)
{
    maki_blocks blocks = maki_msg_blocks(m);
    maki_str block, text;
    uint64_t units = 0;
    while (maki_blocks_next(&blocks, &block)) {
        if (block_text(block, &text)) {
            units += maki_json_utf16_len(text);
        } else if (maki_json_field_in(block, "type", "image")) {
            units += IMAGE_CHARS;
        } else if (maki_json_field_in(block, "type", "thinking")) {
            units += string_units(block, "thinking");
        }
    }
    return units;
}

static uint64_t call_units(const maki_msg *m)
{
    uint64_t units = 0;
    MAKI_JSON_EACH(call, maki_msg_calls(m))
        units += string_units(maki_json_field(call.value, "function"), "arguments");
    return units;
}

static double size_of(const maki_msg *m)
{
    if (m->role == MAKI_ROLE_USER || m->role == MAKI_ROLE_TOOL) return (double)content_units(m);
    if (m->role == MAKI_ROLE_ASSISTANT) return (double)(content_units(m) + call_units(m));
    return OTHER_CHARS;
}

/* ---- selecting results --------------------------------------------------------------------------- */

/* Does the name match a pattern?  Blank patterns are ignored; without any the answer is `fallback`. */
static bool matches(maki_str patterns, maki_str name, bool fallback, maki_arena *arena)
{
    bool matched = fallback;
    MAKI_JSON_EACH(item, maki_json_items(patterns)) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_STRING) continue;
        maki_str pattern = maki_str_trim(maki_json_text(item.value, arena));
        if (!pattern.len) continue;
        if (maki_str_glob(pattern, name, true)) return true;
        matched = false;
    }
    return matched;
}

/* The tool of the result at `index`: by its own field, else by the call of its id before it. */
static maki_str tool_name(maki_msgs list, size_t index, maki_arena *arena)
{
    maki_str name = maki_json_first_field(list.at[index]->raw, "tool_name|name", MAKI_JSON_STRING);
    maki_str id = maki_json_string(list.at[index]->raw, "tool_call_id");
    for (size_t i = index; !name.len && id.len && i > 0; i--) {
        MAKI_JSON_EACH_WHILE(!name.len, call, maki_msg_calls(list.at[i - 1])) {
            maki_str call_id = maki_json_string(call.value, "id");
            if (call_id.len && maki_json_same_text(call_id, id))
                name = maki_json_string(maki_json_field(call.value, "function"), "name");
        }
    }
    return name.len ? maki_str_trim(maki_json_text(name, arena)) : name;
}

static bool is_prunable(maki_msgs list, size_t at, const maki_prune_settings *s, maki_arena *arena)
{
    const maki_msg *m = list.at[at];
    if (m->role != MAKI_ROLE_TOOL || m->content.len == 0) return false;
    if (maki_msg_has_block(m, "image")) return false;
    if (s->allow.len == 0 && s->deny.len == 0) return true;
    maki_str name = tool_name(list, at, arena);
    return !matches(s->deny, name, false, arena) && matches(s->allow, name, true, arena);
}

/* ---- changing results --------------------------------------------------------------------------- */

/* Replace the text of `m`; an array of blocks becomes one text block. */
static maki_status set_text(maki_msg *m, maki_str json_string, maki_arena *arena, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (m->content.ptr[0] == '[')
        st = maki_json_build_print(arena, &json_string, err, "[{'type':'text','text':%v}]",
                                   json_string);
    if (st == MAKI_OK) maki_msg_set_content(m, json_string);
    return st;
}

/* The length of the texts of `m` joined by newlines. */
static uint64_t joined_units(const maki_msg *m)
{
    maki_blocks blocks = maki_msg_blocks(m);
    maki_str block, text;
    uint64_t units = 0, parts = 0;
    while (maki_blocks_next(&blocks, &block)) {
        if (block_text(block, &text)) units += maki_json_utf16_len(text) + (parts++ > 0);
    }
    return units;
}

/* Write the units [from, to) of the joined text. */
static void write_range(maki_jw *w, const maki_msg *m, uint64_t from, uint64_t to)
{
    maki_blocks blocks = maki_msg_blocks(m);
    maki_str block, text;
    uint64_t at = 0;
    bool first = true;
    while (maki_blocks_next(&blocks, &block)) {
        if (!block_text(block, &text)) continue;
        if (!first) {
            if (at >= from && at < to) maki_jw_bytes(w, MAKI_LIT("\\n"));
            at++;
        }
        first = false;
        uint64_t units = maki_json_utf16_len(text), end = at + units;
        if (end > from && at < to) {
            maki_str part = from > at ? maki_json_tail(text, end - from) : text;
            if (end > to) part = maki_json_head(part, to - (from > at ? from : at));
            maki_jw_bytes(w, part);
        }
        at = end;
    }
}

static maki_status soft_trim(maki_msg *m, const maki_prune_settings *s, maki_arena *arena,
                             bool *trimmed, maki_err *err)
{
    uint64_t units = joined_units(m);
    uint64_t head = (uint64_t)s->soft_head_chars, tail = (uint64_t)s->soft_tail_chars;
    maki_json_builder build;
    maki_str text, note;
    *trimmed = (double)units > s->soft_max_chars && head + tail < units;
    if (!*trimmed) return MAKI_OK;
    note = maki_arena_print(arena,
                            "\\n\\n[Tool result trimmed: kept first %llu chars and last %llu chars "
                            "of %llu chars.]\"",
                            (unsigned long long)head, (unsigned long long)tail,
                            (unsigned long long)units);
    maki_json_builder_begin(&build, arena, err);
    maki_jw_begin_value(&build.w);
    maki_jw_bytes(&build.w, MAKI_LIT("\""));
    write_range(&build.w, m, 0, head);
    maki_jw_bytes(&build.w, MAKI_LIT("\\n...\\n"));
    write_range(&build.w, m, units - tail, units);
    maki_jw_bytes(&build.w, note);
    maki_status st = maki_json_builder_end(&build, arena, &text, err);
    if (st == MAKI_OK) st = set_text(m, text, arena, err);
    return st;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* The messages that may be changed: [from, to). */
static void prunable_range(maki_msgs list, double keep_assistants, size_t *from, size_t *to)
{
    double remaining = keep_assistants;
    *from = 0;
    *to = list.count;
    while (remaining > 0 && *to > 0) {
        if (list.at[--*to]->role == MAKI_ROLE_ASSISTANT) remaining--;
    }
    if (remaining > 0) *to = 0; /* fewer assistant messages: everything is recent */
    while (*from < list.count && list.at[*from]->role != MAKI_ROLE_USER)
        (*from)++;
}

static maki_status hard_clear(maki_msgs list, const bool *prunable, size_t from, size_t to,
                              const maki_prune_settings *s, double total, double chars,
                              maki_arena *arena, maki_err *err)
{
    for (size_t i = from; i < to && total / chars >= s->hard_ratio; i++) {
        if (!prunable[i]) continue;
        total -= size_of(list.at[i]);
        maki_status st = set_text(list.at[i], s->placeholder, arena, err);
        if (st != MAKI_OK) return st;
        total += size_of(list.at[i]);
    }
    return MAKI_OK;
}

maki_status maki_prune_tool_results(maki_msgs list, double window_tokens,
                                    const maki_prune_settings *s, maki_arena *arena,
                                    size_t *changed, maki_err *err)
{
    double chars = window_tokens * CHARS_PER_TOKEN, total = 0, prunable_chars = 0;
    size_t from = 0, to = 0;
    maki_status st = MAKI_OK;
    *changed = 0;
    prunable_range(list, s->keep_last_assistants, &from, &to);
    if (!(chars > 0) || from >= to) return MAKI_OK;
    for (size_t i = 0; i < list.count; i++)
        total += size_of(list.at[i]);
    if (total / chars < s->soft_ratio) return MAKI_OK;

    bool *prunable = maki_arena_array(arena, list.count, sizeof *prunable);
    if (!prunable) return maki_arena_status(arena, err);
    for (size_t i = from; st == MAKI_OK && i < to; i++) {
        bool trimmed = false;
        prunable[i] = is_prunable(list, i, s, arena);
        if (!prunable[i]) continue;
        total -= size_of(list.at[i]);
        st = soft_trim(list.at[i], s, arena, &trimmed, err);
        total += size_of(list.at[i]);
        prunable_chars += size_of(list.at[i]);
    }
    bool hard =
        s->hard_clear && total / chars >= s->hard_ratio && prunable_chars >= s->min_prunable_chars;
    if (st == MAKI_OK && hard)
        st = hard_clear(list, prunable, from, to, s, total, chars, arena, err);
    for (size_t i = from; i < to; i++)
        *changed += list.at[i]->old_content != NULL;
    return st == MAKI_OK ? maki_arena_status(arena, err) : st;
}

/* apply_trims.c -- write one message with the trims of a view applied.
 *
 * In:    the bytes of a checked message, and its trims (event_list.h) in the order of block and part.
 * Out:   the same bytes, but for the texts that are trimmed: head, note and tail, or the cuts replaced.
 * Never: changes a byte outside of those texts; a trim whose block is missing is ignored. */
#include "history/apply_trims.h"

#include <inttypes.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "history/blocks.h"

/* ---- finding a text ------------------------------------------------------------------------------ */

static bool own_text(maki_str block, maki_str *string)
{
    *string = block;
    if (maki_json_kind_of(block) == MAKI_JSON_STRING) return true;
    return maki_json_string_field(block, "text", string) ||
           maki_json_string_field(block, "content", string);
}

/* Item `n` of a tool result's list, from 1; with 0, the first that has a text. */
static bool find_part(maki_str block, uint32_t n, maki_str *value)
{
    maki_blocks items = maki_content_blocks(maki_json_field(block, "content"));
    maki_str item;
    for (uint32_t i = 1; maki_blocks_next(&items, &item); i++) {
        bool text = own_text(item, value);
        if (n == 0 && text) return true;
        if (n != i) continue;
        if (!text) *value = item;
        return true;
    }
    return false;
}

bool maki_apply_trims_find(maki_str row, uint32_t n, uint32_t part, maki_str *value)
{
    maki_blocks blocks = maki_content_blocks(maki_json_field(row, "content"));
    maki_str block;
    for (uint32_t i = 0; maki_blocks_next(&blocks, &block); i++) {
        if (i != n) continue;
        if (part) return find_part(block, part, value);
        if (own_text(block, value) || find_part(block, 0, value)) return true;
        *value = block;
        return true;
    }
    return false;
}

/* ---- shortening a text ------------------------------------------------------------------------------ */

/* The escaped text that a cut removes, by its UTF-16 units; empty when the cut is out of range. */
static maki_str span_of_cut(maki_str text, uint64_t units, uint64_t from, uint64_t to)
{
    if (from > to || to > units) return (maki_str){ text.ptr + text.len, 0 };
    size_t begin = maki_json_head(text, from).len;
    size_t end = text.len - maki_json_tail(text, units - to).len;
    return (maki_str){ text.ptr + begin, end > begin ? end - begin : 0 };
}

static void write_cuts(maki_str text, const maki_trim *trim, maki_buf *out)
{
    uint64_t units = maki_json_utf16_len(text);
    size_t copied = 0;
    for (size_t i = 0; i < trim->cut_count; i++) {
        const maki_cut *cut = &trim->cuts[i];
        maki_str removed = span_of_cut(text, units, cut->from, cut->to);
        size_t at = (size_t)(removed.ptr - text.ptr);
        if (removed.len == 0 || at < copied) continue;
        maki_buf_add(out, (maki_str){ text.ptr + copied, at - copied });
        maki_buf_add(out, maki_json_strip_quotes(cut->text));
        copied = at + removed.len;
    }
    maki_buf_add(out, maki_str_skip(text, copied));
}

static void write_ends(maki_str text, const maki_trim *trim, maki_buf *out)
{
    uint64_t units = maki_json_utf16_len(text), kept = (uint64_t)trim->head + trim->tail;
    maki_buf_add(out, maki_json_head(text, trim->head));
    maki_buf_print(out, "\\n\\n[... %" PRIu64 " of %" PRIu64 " characters trimmed ...]\\n\\n",
                   kept < units ? units - kept : 0, units);
    maki_buf_add(out, maki_json_tail(text, trim->tail));
}

/* Write what replaces `value`: the shortened string, or a text block in place of a block without text. */
static void write_replacement(maki_str value, const maki_trim *trim, maki_buf *out)
{
    if (maki_json_kind_of(value) == MAKI_JSON_STRING) {
        maki_buf_add_byte(out, '"');
        if (trim->cut_count)
            write_cuts(maki_json_strip_quotes(value), trim, out);
        else
            write_ends(maki_json_strip_quotes(value), trim, out);
        maki_buf_add_byte(out, '"');
    } else if (trim->cut_count) {
        maki_buf_add(out, MAKI_LIT("{\"type\":\"text\",\"text\":"));
        maki_buf_add(out, trim->cuts[0].text);
        maki_buf_add_byte(out, '}');
    } else {
        maki_buf_add(out, value);
    }
}

typedef struct replacement {
    size_t offset, len; /* of the text, in the row */
    const maki_trim *trim;
} replacement;

/* Insertion sort by position: trims come nearly in the order of the bytes. */
static void insert_replacement(maki_buf *places, replacement one)
{
    replacement *slot = (replacement *)(void *)maki_buf_reserve(places, sizeof one);
    if (!slot) return;
    replacement *first = (replacement *)(void *)places->ptr;
    while (slot > first && slot[-1].offset > one.offset) {
        *slot = slot[-1];
        slot--;
    }
    *slot = one;
    places->len += sizeof one;
}

maki_status maki_apply_trims(maki_str row, const maki_trim *const *trims, size_t count,
                             maki_buf *places, maki_buf *out, maki_err *err)
{
    maki_str value;
    size_t copied = 0;
    maki_buf_clear(places);
    for (size_t i = 0; i < count; i++) {
        if (trims[i]->restores ||
            !maki_apply_trims_find(row, trims[i]->block, trims[i]->part, &value))
            continue;
        insert_replacement(places,
                           (replacement){ (size_t)(value.ptr - row.ptr), value.len, trims[i] });
    }
    maki_status st = maki_buf_status(places, err);
    if (st != MAKI_OK) return st;
    const replacement *sorted = (const replacement *)(const void *)places->ptr;
    for (size_t i = 0; i < places->len / sizeof(replacement); i++) {
        if (sorted[i].offset < copied)
            continue; /* overlaps the text before it: no writer does that */
        maki_buf_add(out, (maki_str){ row.ptr + copied, sorted[i].offset - copied });
        write_replacement((maki_str){ row.ptr + sorted[i].offset, sorted[i].len }, sorted[i].trim,
                          out);
        copied = sorted[i].offset + sorted[i].len;
    }
    maki_buf_add(out, maki_str_skip(row, copied));
    return maki_buf_status(out, err);
}

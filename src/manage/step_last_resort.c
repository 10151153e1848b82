/* step_last_resort.c -- the last resort: hide all but the newest messages, then trim the largest texts in view.
 *
 * In:    a run whose steps were not enough.
 * Out:   trims, each of the text that is the largest in view, until it fits or all texts are short.
 * The first message, which says what the conversation is about, is trimmed after all others.  Pinned and system
 * messages are never trimmed: when they alone are too much, the report says `within: false`. */
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json_access.h"
#include "history/apply_trims.h"
#include "history/facts.h"
#include "manage/pruning.h"

enum {
    BLOCKS_MAX = 64, /* of a message that are considered */
    UNITS_MIN = 400  /* minimum length: shorter texts are not trimmed */
};

/* The message with the most tokens in view of those that were not tried before. */
typedef struct largest {
    const maki_view *view;
    uint64_t prefix; /* messages at the front that are skipped */
    uint64_t seq, tokens;
    uint64_t below; /* only messages with fewer tokens than this */
} largest;

/* The tokens of a message with its trims. */
static uint64_t shown_tokens(const maki_view *view, uint64_t seq, uint64_t tokens)
{
    for (size_t i = maki_view_trims_from(view, seq);
         i < view->trim_count && view->trims[i]->seq == seq; i++) {
        uint64_t saved = view->trims[i]->tokens;
        tokens -= saved < tokens ? saved : tokens;
    }
    return tokens;
}

static void update_largest(largest *l, uint64_t seq, const maki_index_record *row)
{
    uint64_t tokens = shown_tokens(l->view, seq, row->tokens);
    if (tokens <= l->tokens || tokens >= l->below) return;
    if ((row->flags & MAKI_ROW_ROLE) == MAKI_ROLE_SYSTEM || (row->flags & MAKI_ROW_NOT_MESSAGE))
        return;
    if (maki_view_pinned(l->view, seq)) return;
    l->seq = seq;
    l->tokens = tokens;
}

/* Find the largest message; reads only the index. */
static maki_status find_largest(largest *l, maki_err *err)
{
    uint64_t at = 0;
    maki_status st = MAKI_OK;
    for (size_t i = 0; i < l->view->count; i++) {
        const maki_view_item *item = &l->view->items[i];
        if (item->from == 0) at++;
        for (uint64_t seq = item->from; seq && seq <= item->to && st == MAKI_OK; seq++, at++) {
            maki_index_record row;
            st = maki_log_row(item->log, seq, &row, err);
            if (st == MAKI_OK && at >= l->prefix) update_largest(l, seq, &row);
        }
    }
    return st;
}

/* The longest text of a row, measured with its trims. */
static bool longest_text(const maki_view *view, uint64_t seq, maki_str row, uint32_t *block,
                         uint64_t *units)
{
    maki_str string;
    *units = 0;
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        if (!maki_apply_trims_find(row, i, 0, &string) ||
            maki_json_kind_of(string) != MAKI_JSON_STRING)
            continue;
        uint64_t n = maki_pruning_shown_units(maki_view_trim(view, seq, i, 0),
                                              maki_json_utf16_len(maki_json_strip_quotes(string)));
        if (n <= *units) continue;
        *units = n;
        *block = i;
    }
    return *units > UNITS_MIN;
}

/* Keep the head of a text and a shorter tail. */
static maki_status cut_middle(maki_manage_state *r, uint64_t seq, uint32_t block, maki_str row,
                              uint64_t remaining, maki_change *change, maki_err *err)
{
    char note[120];
    maki_str string = { "", 0 };
    (void)maki_apply_trims_find(row, block, 0, &string);
    uint64_t length = maki_json_utf16_len(maki_json_strip_quotes(string));
    maki_cut cut = { remaining * 3 / 4, length - remaining / 4, { note, 0 } };
    maki_trim edit = { .seq = seq, .block = block, .cuts = &cut, .cut_count = 1 };
    if (cut.from >= cut.to) return maki_refuse(err, "NOTHING_TO_DO", "it is already as short");
    cut.text.len =
        (size_t)snprintf(note, sizeof note,
                         "\"\\n\\n[... %" PRIu64 " of %" PRIu64 " characters trimmed ...]\\n\\n\"",
                         cut.to - cut.from, length);
    maki_status st = maki_conv_prune_savings(r->conv, row, &edit, err);
    return st == MAKI_OK ? maki_conv_prune(r->conv, NULL, &edit, 1, change, err) : st;
}

/* Trim one message by the excess, and a little more. */
static maki_status trim_message(maki_manage_state *r, const largest *l, maki_buf *row,
                                maki_step_effect *effect, maki_err *err)
{
    maki_change change;
    uint32_t block = 0;
    uint64_t units = 0;
    maki_log *log = maki_conv_log(r->conv);
    for (size_t i = 0; i < l->view->count; i++) {
        const maki_view_item *item = &l->view->items[i];
        if (item->from && l->seq >= item->from && l->seq <= item->to) log = item->log;
    }
    maki_buf_clear(row);
    maki_status st = maki_log_read(log, l->seq, row, err);
    if (st != MAKI_OK || !longest_text(l->view, l->seq, maki_buf_str(row), &block, &units))
        return st;
    double share = (r->report->tokens_after - r->report->allowed) / (double)l->tokens;
    uint64_t remaining = share < 0.9 ? (uint64_t)((double)units * (0.95 - share)) : UNITS_MIN;
    if (remaining < UNITS_MIN) remaining = UNITS_MIN;
    st = cut_middle(r, l->seq, block, maki_buf_str(row), remaining, &change, err);
    if (st == MAKI_REFUSED) return MAKI_OK; /* this one cannot be trimmed */
    if (st != MAKI_OK) return st;
    if (effect) maki_step_effect_event(effect, &change);
    r->report->action = MAKI_STEP_TRIM;
    return maki_manage_count(r, &r->report->tokens_after, err);
}

static maki_status trim_largest(maki_manage_state *r, bool include_prefix, maki_step_effect *effect,
                                maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t below = UINT64_MAX;
    maki_buf row = maki_buf_new(maki_log_env(maki_conv_log(r->conv))->alloc, (size_t)MAKI_ROW_MAX);
    while (st == MAKI_OK && maki_manage_is_over_limit(r)) {
        largest l = { .below = below };
        st = maki_conv_view(r->conv, MAKI_NEWEST, MAKI_NEWEST, &l.view, err);
        if (st == MAKI_OK && !include_prefix) st = maki_view_fixed_prefix(l.view, &l.prefix, err);
        if (st == MAKI_OK) st = find_largest(&l, err);
        if (st != MAKI_OK || l.seq == 0) break;
        below = l.tokens; /* each is tried once */
        st = trim_message(r, &l, &row, effect, err);
    }
    maki_buf_free(&row);
    return st;
}

static maki_status trim_until(maki_manage_state *r, maki_step_effect *effect, maki_err *err)
{
    maki_status st = trim_largest(r, false, effect, err);
    return st == MAKI_OK ? trim_largest(r, true, effect, err) : st;
}

maki_status maki_manage_trim(maki_manage_state *r, maki_err *err)
{
    return trim_until(r, NULL, err);
}

maki_status maki_step_last_resort(maki_manage_state *r, const maki_step *step,
                                  maki_step_effect *effect, maki_err *err)
{
    maki_change change;
    maki_status st =
        maki_conv_keep_newest(r->conv, NULL, step->keep ? step->keep : 1, &change, err);
    if (st == MAKI_OK) {
        maki_step_effect_event(effect, &change);
        r->report->action = step->kind;
    }
    if (st == MAKI_OK || st == MAKI_REFUSED) /* refused: trimming may still help */
        st = maki_manage_count(r, &r->report->tokens_after, err);
    return st == MAKI_OK ? trim_until(r, effect, err) : st;
}

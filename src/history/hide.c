/* hide.c -- select which messages of a view a condense or truncation hides.
 *
 * In:    a view, and the positions [from, to) to hide.
 * Out:   the spans of messages and the synthetic messages in between, with their tokens; where the new message stands.
 * Must stay true: system and pinned messages are never selected, nor a call without its results or the reverse. */
#include "history/hide.h"

#include <inttypes.h>

/* ---- positions in a view ------------------------------------------------------------------------------ */

/* Find the message at position n: the index of its item, and its seq (0: synthetic).  False: n is past the end. */
static bool locate(const maki_view *view, uint64_t n, size_t *item, uint64_t *seq)
{
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *candidate = &view->items[i];
        uint64_t length = candidate->from ? candidate->to - candidate->from + 1 : 1;
        if (n < length) {
            *item = i;
            *seq = candidate->from ? candidate->from + n : 0;
            return true;
        }
        n -= length;
    }
    return false;
}

enum { SYNTHETIC = 1u << 30 }; /* the flags of a synthetic message, which has no row */

static maki_status flags_at(const maki_view *view, uint64_t n, uint32_t *flags, maki_err *err)
{
    size_t item = 0;
    uint64_t seq = 0;
    maki_index_record row;
    *flags = SYNTHETIC;
    if (!locate(view, n, &item, &seq) || seq == 0) return MAKI_OK;
    maki_status st = maki_log_row(view->items[item].log, seq, &row, err);
    if (st == MAKI_OK) *flags = row.flags;
    return st;
}

maki_status maki_view_fixed_prefix(const maki_view *view, uint64_t *prefix, maki_err *err)
{
    bool found = false; /* the first message that is not the system's */
    uint64_t messages = maki_view_count(view);
    maki_status st = MAKI_OK;
    for (*prefix = 0; *prefix < messages; ++*prefix) {
        uint32_t flags = 0;
        st = flags_at(view, *prefix, &flags, err);
        if (st != MAKI_OK) break;
        if (found && !(flags & MAKI_ROW_ANSWERS)) break;
        if (flags != SYNTHETIC && (flags & MAKI_ROW_ROLE) != MAKI_ROLE_SYSTEM) found = true;
    }
    return st;
}

maki_status maki_hiding_adjust_end(const maki_view *view, uint64_t messages, uint64_t min,
                                   uint64_t *n, maki_err *err)
{
    uint32_t flags = 0;
    maki_status st = MAKI_OK;
    if (*n == messages && *n > min) {
        st = flags_at(view, *n - 1, &flags, err);
        if (flags & (MAKI_ROW_CALLS | MAKI_ROW_ANSWERS)) --*n;
    }
    while (st == MAKI_OK && *n > min) {
        uint32_t before = 0;
        st = flags_at(view, *n, &flags, err);
        if (st == MAKI_OK) st = flags_at(view, *n - 1, &before, err);
        bool cannot_end =
            (flags & (MAKI_ROW_ANSWERS | SYNTHETIC)) || (flags & before & MAKI_ROW_CALLS);
        if (*n == messages || !cannot_end) break;
        --*n;
    }
    return st;
}

/* ---- what is hidden ------------------------------------------------------------------------ */

static maki_status hide_row(maki_conv *conv, maki_hiding *s, const maki_view *view, uint64_t seq,
                            const maki_index_record *row, maki_err *err)
{
    s->rows++;
    s->tokens += row->tokens;
    for (size_t i = maki_view_trims_from(view, seq);
         i < view->trim_count && view->trims[i]->seq == seq; i++) {
        int64_t saved = 0;
        maki_status st = maki_conv_trim_tokens(conv, view->trims[i], &saved, err);
        if (st != MAKI_OK) return st;
        if (saved > 0 && (uint64_t)saved > s->tokens) saved = (int64_t)s->tokens;
        s->tokens -= (uint64_t)saved;
    }
    if (s->count && s->spans[s->count - 1].to + 1 == seq) {
        s->spans[s->count - 1].to = seq;
        return MAKI_OK;
    }
    maki_span64 one = { seq, seq };
    return maki_arena_add(&conv->arena, &s->spans, &s->count, &s->capacity, &one, sizeof one, err);
}

static maki_status hide_synthetic(maki_conv *conv, maki_hiding *s, const maki_view_item *item,
                                  maki_err *err)
{
    const maki_span64 hidden = { item->up, item->synthetic->ev };
    uint64_t tokens = 0;
    maki_status st = maki_conv_synthetic_tokens(conv, item, &tokens, err);
    if (st != MAKI_OK) return st;
    s->tokens += tokens;
    return maki_arena_add(&conv->arena, &s->synthetic, &s->synthetic_count, &s->synthetic_capacity,
                          &hidden, sizeof hidden, err);
}

/* A call and its results, which follow each other in the view, stay or are hidden together. */
typedef struct group {
    bool open;
    bool answered; /* its results have begun: another call is another group */
    bool stays;
} group;

/* Must the message at position n stay?  System and pinned ones do, and the calls and results of a group with a pinned
 * one. */
static maki_status must_stay(const maki_view *view, uint64_t n, uint64_t seq,
                             const maki_index_record *row, group *g, bool *stays, maki_err *err)
{
    bool answers = row->flags & MAKI_ROW_ANSWERS, calls = row->flags & MAKI_ROW_CALLS;
    *stays = (row->flags & MAKI_ROW_ROLE) == MAKI_ROLE_SYSTEM || maki_view_pinned(view, seq);
    if (g->open && (answers || (calls && !g->answered))) { /* the same group */
        *stays = *stays || g->stays;
        g->answered = answers;
        return MAKI_OK;
    }
    *g = (group){ .open = calls && !answers };
    bool answered = false;
    for (uint64_t k = n + 1; g->open && view->pin_count && !*stays; k++) {
        size_t item = 0;
        uint32_t flags = 0;
        maki_status st = flags_at(view, k, &flags, err);
        if (st != MAKI_OK) return st;
        bool same_group = (flags & MAKI_ROW_ANSWERS) || ((flags & MAKI_ROW_CALLS) && !answered);
        if (!same_group || !locate(view, k, &item, &seq)) break;
        answered = answered || (flags & MAKI_ROW_ANSWERS);
        *stays = maki_view_pinned(view, seq);
    }
    g->stays = *stays;
    return MAKI_OK;
}

maki_status maki_hiding_collect(maki_conv *conv, const maki_view *view, maki_hiding *s,
                                bool keep_summaries, maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t n = 0;
    group g = { 0 };
    for (size_t i = 0; st == MAKI_OK && i < view->count && n < s->to; i++) {
        const maki_view_item *item = &view->items[i];
        uint64_t length = item->from ? item->to - item->from + 1 : 1;
        if (item->from == 0) g.open = false;
        /* a new marker replaces older ones, so that they do not accumulate */
        bool marker = item->from == 0 && item->synthetic->type == MAKI_EVENT_TRUNCATE;
        if (item->from == 0 && n >= s->from && (marker || !keep_summaries)) {
            st = hide_synthetic(conv, s, item, err);
            if (marker) s->before += item->synthetic->messages;
        }
        for (uint64_t k = n < s->from ? s->from - n : 0;
             st == MAKI_OK && item->from && k < length && n + k < s->to; k++) {
            maki_index_record row;
            bool stays = false;
            uint64_t seq = item->from + k;
            st = maki_log_row(item->log, seq, &row, err);
            if (st == MAKI_OK) st = must_stay(view, n + k, seq, &row, &g, &stays, err);
            if (st == MAKI_OK && !stays) st = hide_row(conv, s, view, seq, &row, err);
        }
        n += length;
    }
    return st;
}

uint64_t maki_hiding_seq(maki_conv *conv, const maki_view *view, uint64_t n)
{
    size_t item = 0;
    uint64_t seq = 0;
    if (!locate(view, n, &item, &seq)) return maki_log_last(conv->log) + 1;
    return seq ? seq : view->items[item].synthetic->before;
}

void maki_hiding_message(maki_decision *out, maki_str message, uint64_t tokens, uint64_t before)
{
    maki_decision_number(out, "before", before);
    maki_decision_tokens(out, tokens);
    maki_buf_add(&out->fields, MAKI_LIT(",\"message\":"));
    maki_buf_add(&out->fields, message);
}

maki_status maki_hiding_time(maki_conv *conv, const maki_view *view, uint64_t n, double *ts,
                             maki_err *err)
{
    size_t item = 0;
    uint64_t seq = 0;
    maki_index_record row = { 0 };
    maki_status st = MAKI_OK;
    if (locate(view, n, &item, &seq) && seq)
        st = maki_log_row(view->items[item].log, seq, &row, err);
    *ts = row.ts ? (double)row.ts - 1 : (double)conv->env.clock->now_ms(conv->env.clock);
    return st;
}

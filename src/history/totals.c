/* totals.c -- the tokens of a conversation: of a view, of a range of messages, of one synthetic message or trim.
 *
 * A sum over a range of messages reads two records of an index.  The tokens of summaries, markers and trims are in their
 * events; where they were not counted in o200k_base (events of former versions) they are counted each time. */
#include "base/str_util.h"
#include "history/apply_trims.h"
#include "history/conv_internal.h"

maki_conv *maki_conv_owner(maki_conv *conv, uint64_t seq)
{
    while (conv->parent && seq <= maki_log_base(conv->log))
        conv = conv->parent;
    return conv;
}

/* ---- one message -------------------------------------------------------------------------------------- */

maki_status maki_conv_message_tokens(maki_conv *conv, maki_str message, uint64_t *tokens,
                                     maki_err *err)
{
    return maki_token_counter_message(&conv->counter, 0, message, tokens, err);
}

maki_status maki_conv_synthetic_tokens(maki_conv *conv, const maki_view_item *item,
                                       uint64_t *tokens, maki_err *err)
{
    const maki_event *e = item->synthetic;
    uint32_t n = 0;
    *tokens = e->tokens;
    if (e->counted) return MAKI_OK;
    maki_buf json = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    maki_status st = maki_log_event_bytes(item->log, e->synthetic_at, e->synthetic_len, &json, err);
    if (st == MAKI_OK)
        st = maki_token_counter_unchecked(&conv->counter, 0, maki_buf_str(&json), NULL, &n, err);
    maki_buf_free(&json);
    *tokens = n;
    return st;
}

/* *saved is negative where a trimmed message has more tokens than the original. */
maki_status maki_conv_trim_tokens(maki_conv *conv, const maki_trim *trim, int64_t *saved,
                                  maki_err *err)
{
    maki_log *log = maki_conv_owner(conv, trim->seq)->log;
    maki_index_record row;
    uint32_t after = 0;
    *saved = trim->restores ? 0 : trim->tokens;
    if (trim->counted || trim->restores) return MAKI_OK;
    maki_buf original = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    maki_buf places = original, shorter = original;
    maki_status st = maki_log_row(log, trim->seq, &row, err);
    if (st == MAKI_OK) st = maki_log_read(log, trim->seq, &original, err);
    if (st == MAKI_OK)
        st = maki_apply_trims(maki_buf_str(&original), &trim, 1, &places, &shorter, err);
    if (st == MAKI_OK)
        st = maki_token_counter_unchecked(&conv->counter, 0, maki_buf_str(&shorter), NULL, &after,
                                          err);
    maki_buf_free(&original);
    maki_buf_free(&places);
    maki_buf_free(&shorter);
    if (st == MAKI_OK) *saved = (int64_t)row.tokens - (int64_t)after;
    return st;
}

/* ---- sums ------------------------------------------------------------------------------------------------ */

static maki_status range_tokens(maki_log *log, uint64_t from, uint64_t to, uint64_t *tokens,
                                maki_err *err)
{
    maki_index_record first, last;
    maki_status st = maki_log_row(log, from, &first, err);
    if (st == MAKI_OK) st = maki_log_row(log, to, &last, err);
    if (st == MAKI_OK) *tokens += last.tokens_so_far - first.tokens_so_far + first.tokens;
    return st;
}

static uint64_t subtract_saved(uint64_t tokens, int64_t saved)
{
    return saved > 0 && (uint64_t)saved > tokens ? 0 : tokens - (uint64_t)saved;
}

maki_status maki_conv_total(maki_conv *conv, const maki_view *view, maki_view_totals *out,
                            maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t tokens = 0, n = 0;
    *out = (maki_view_totals){ .messages = maki_view_count(view) };
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        if (item->from) {
            st = range_tokens(item->log, item->from, item->to, &tokens, err);
        } else {
            st = maki_conv_synthetic_tokens(conv, item, &n, err);
            tokens += n;
        }
    }
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        size_t t = item->from ? maki_view_trims_from(view, item->from) : view->trim_count;
        for (; st == MAKI_OK && t < view->trim_count && view->trims[t]->seq <= item->to; t++) {
            int64_t saved = 0;
            st = maki_conv_trim_tokens(conv, view->trims[t], &saved, err);
            tokens = subtract_saved(tokens, saved);
        }
    }
    out->tokens = tokens;
    return st;
}

maki_status maki_conv_total_now(maki_conv *conv, maki_view_totals *out, maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    return st == MAKI_OK ? maki_conv_total(conv, view, out, err) : st;
}

maki_status maki_conv_tokens(maki_conv *conv, uint64_t from, uint64_t to, maki_view_totals *out,
                             maki_err *err)
{
    uint64_t last = maki_log_last(conv->log);
    maki_status st = MAKI_OK;
    *out = (maki_view_totals){ 0 };
    if (to > last) to = last;
    if (from == 0) from = 1;
    if (to >= from) out->messages = to - from + 1;
    while (st == MAKI_OK &&
           to >= from) { /* the part in each log: this one, its parent, and so on */
        maki_log *log = maki_conv_owner(conv, to)->log;
        uint64_t base = maki_log_base(log);
        st = range_tokens(log, from > base ? from : base + 1, to, &out->tokens, err);
        to = base;
    }
    return st;
}

/* ---- the newest view, cached ----------------------------------------------------------------------------- */

enum {
    TAIL_BYTES =
        64 << 10 /* of the end of the events file, searched for events that change the view */
};

/* Do the newest events show that none after event `ev` changes the view? */
static maki_status is_unchanged_since(maki_log *log, uint64_t ev, bool *out, maki_err *err)
{
    maki_buf rows = maki_buf_new(maki_log_env(log)->alloc, TAIL_BYTES);
    uint64_t newest = maki_log_events(log);
    maki_status st = newest > ev ? maki_log_newest_events(log, TAIL_BYTES, &rows, err) : MAKI_OK;
    maki_str rest = maki_buf_str(&rows), row;
    uint64_t count = 0;
    for (maki_str all = rest; st == MAKI_OK && all.len; count++)
        maki_str_take(&all, '\n', &row);
    *out = newest >= ev && newest - ev <= count;
    for (newest -= count; st == MAKI_OK && rest.len;) {
        maki_str_take(&rest, '\n', &row);
        if (++newest > ev && maki_event_changes_view(row)) *out = false;
    }
    maki_buf_free(&rows);
    return st;
}

maki_status maki_conv_tokens_cached(maki_conv *conv, uint64_t *tokens, maki_err *err)
{
    maki_log *log = conv->log;
    maki_log_files files = maki_log_open_files(log);
    maki_view_totals total = { 0 };
    uint64_t records = 0, events = 0, base = maki_log_base(log), now = maki_log_last(log) - base;
    bool valid = maki_index_view(files.index, tokens, &records, &events) && records <= now;
    if (valid && records == now && events == maki_log_events(log)) return MAKI_OK;
    maki_status st = valid ? is_unchanged_since(log, events, &valid, err) : MAKI_OK;
    if (st == MAKI_OK && valid)
        st = maki_conv_tokens(conv, base + records + 1, base + now, &total, err);
    if (st == MAKI_OK && !valid) st = maki_conv_total_now(conv, &total, err);
    if (st != MAKI_OK) return st;
    *tokens = total.tokens + (valid ? *tokens : 0);
    if (!files.index->is_private)
        maki_index_store_view(&conv->env, files.index_path, *tokens, now, maki_log_events(log));
    return MAKI_OK;
}

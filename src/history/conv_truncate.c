/* conv_truncate.c -- hide the oldest messages behind a truncation marker: truncate, window and clear.
 *
 * In:    the newest view, and a fraction to hide or a number of messages to keep.
 * Out:   a truncate event: what is hidden, and the marker as a synthetic message with the number of messages.
 * Must stay true: the lead of the view, system and pinned messages stay, calls and results together (hide.h); older
 *        markers are replaced, summaries only by clear. */
#include "base/err.h"
#include "history/hide.h"
#include "history/synthetic.h"

/* How much is hidden: a fraction of the messages, or all but the last `keep`. */
typedef struct truncate_ctx {
    double fraction;
    bool by_keep;
    uint64_t keep;
    bool clear; /* summaries too */
} truncate_ctx;

/* The position at which the hidden messages end, before calls and results are considered. */
static uint64_t hidden_end(const truncate_ctx *t, uint64_t lead, uint64_t messages)
{
    double fraction = t->fraction > 1 ? 1 : t->fraction > 0 ? t->fraction : 0;
    if (!t->by_keep) return lead + (uint64_t)((double)(messages - lead) * fraction) / 2 * 2;
    return messages > lead + t->keep ? messages - t->keep : lead;
}

static maki_status decide_truncate(maki_conv *conv, const maki_view *view, void *ctx,
                                   maki_decision *out, maki_err *err)
{
    uint64_t messages = maki_view_count(view), tokens = 0;
    maki_hiding s = { 0 };
    const truncate_ctx *t = ctx;
    maki_str marker;
    maki_str id;
    double ts = 0;
    maki_status st = maki_view_fixed_prefix(view, &s.from, err);
    if (st != MAKI_OK) return st;
    s.to = hidden_end(t, s.from, messages);
    if (s.to >= messages) s.to = messages > s.from ? messages - 1 : s.from;
    st = maki_hiding_adjust_end(view, messages, s.from, &s.to, err);
    if (st == MAKI_OK) st = maki_hiding_collect(conv, view, &s, !t->clear, err);
    if (st != MAKI_OK) return st;
    if (s.rows == 0) {
        return maki_refuse(err, "NOT_ENOUGH_MESSAGES", "there is nothing that may be hidden");
    }
    st = maki_synthetic_id(conv->env.random, &conv->arena, &id, err);
    if (st == MAKI_OK) st = maki_hiding_time(conv, view, s.to, &ts, err);
    if (st == MAKI_OK)
        st = maki_synthetic_marker(s.rows + s.before, id, ts, &conv->arena, &marker, err);
    if (st == MAKI_OK) st = maki_conv_message_tokens(conv, marker, &tokens, err);
    if (st != MAKI_OK) return st;
    out->type = "truncate";
    maki_decision_hidden(out, s.spans, s.count, s.synthetic, s.synthetic_count);
    maki_decision_number(out, "messages", s.rows + s.before);
    maki_hiding_message(out, marker, tokens, maki_hiding_seq(conv, view, s.to));
    return MAKI_OK;
}

maki_status maki_conv_truncate(maki_conv *conv, const unsigned char *expect, double fraction,
                               maki_change *out, maki_err *err)
{
    truncate_ctx ctx = { .fraction = fraction };
    return maki_conv_change(conv, expect, decide_truncate, &ctx, out, err);
}

maki_status maki_conv_keep_newest(maki_conv *conv, const unsigned char *expect, uint64_t keep,
                                  maki_change *out, maki_err *err)
{
    truncate_ctx ctx = { .by_keep = true, .keep = keep };
    return maki_conv_change(conv, expect, decide_truncate, &ctx, out, err);
}

maki_status maki_conv_clear(maki_conv *conv, const unsigned char *expect, uint64_t keep,
                            maki_change *out, maki_err *err)
{
    truncate_ctx ctx = { .by_keep = true, .keep = keep, .clear = true };
    return maki_conv_change(conv, expect, decide_truncate, &ctx, out, err);
}

/* totals.c -- the tokens of a conversation, in its own family or another; see conversation.h.
 *
 * A sum over messages is two records of an index.  What events made (summaries, markers, trims) has
 * its tokens in the event, with the family they were counted in; asked for in another one, those few
 * are counted again each time. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "history/background.h"
#include "history/conv_inside.h"
#include "history/weave.h"

enum {
    FIRST = 0,    /* the number of MAKI_FAMILY */
    DEEPEST = 33, /* logs of a chain of forks */
    ENOUGH = 1000 /* tokens of both families that tell their ratio */
};

void maki_conv_tokens_init(maki_conv *conv, const maki_conv_options *options, size_t family)
{
    conv->family = family;
    conv->wait = options->wait;
    conv->shares = !options->read_only && !options->rehearse;
    conv->threads = options->threads;
    conv->progress = options->progress;
    conv->progress_ctx = options->progress_ctx;
    for (size_t f = 0; f < MAKI_FAMILIES; f++) {
        maki_tally_init(&conv->tallies[f], &conv->env, f);
        if (f == FIRST) conv->tallies[f].lent = options->tokenizer;
        conv->families[f] =
            (maki_beside_family){ maki_tally_name(f), maki_tally_read, &conv->tallies[f] };
    }
}

void maki_conv_tokens_close(maki_conv *conv)
{
    for (size_t f = 0; f < MAKI_FAMILIES; f++) {
        if (conv->background[f]) maki_background_end(conv->background[f]);
        maki_beside_close(conv->beside[f]); /* after the thread that may have lent its file */
        maki_tally_close(&conv->tallies[f]);
    }
}

size_t maki_conv_family(const maki_conv *conv)
{
    return conv->family;
}

maki_conv *maki_conv_level(maki_conv *conv, uint64_t seq)
{
    while (conv->parent && seq <= maki_log_base(conv->log))
        conv = conv->parent;
    return conv;
}

static maki_conv *level_of(maki_conv *conv, const maki_log *log)
{
    while (conv->parent && conv->log != log)
        conv = conv->parent;
    return conv;
}

/* ---- counting what is missing ---------------------------------------------------------------------- */

/* The parts of logs that a sum is made of. */
typedef struct part {
    maki_conv *level;
    uint64_t to;      /* the last message that is needed */
    uint64_t missing; /* bytes of rows that have not been counted */
} part;
typedef struct parts {
    part at[DEEPEST];
    size_t count;
} parts;

static void need(parts *p, maki_conv *level, uint64_t to)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->at[i].level != level) continue;
        if (p->at[i].to < to) p->at[i].to = to;
        return;
    }
    if (p->count < DEEPEST) p->at[p->count++] = (part){ .level = level, .to = to };
}

static parts parts_of(maki_conv *conv, const maki_view *view)
{
    parts p = { .count = 0 };
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        if (item->from) need(&p, level_of(conv, item->log), item->to);
    }
    return p;
}

static maki_status beside_of(maki_conv *level, bool shares, size_t f, maki_beside **out,
                             maki_err *err)
{
    maki_status st = MAKI_OK;
    if (!level->beside[f]) {
        st = maki_beside_open(level->log, &level->families[f], !shares, -1, &level->beside[f], err);
    }
    *out = level->beside[f];
    return st;
}

/* How many bytes of rows up to the one needed are not counted yet. */
static maki_status measure(maki_conv *top, part *p, size_t f, maki_err *err)
{
    maki_beside *b = NULL;
    maki_row from = { 0 }, to;
    uint64_t last = 0;
    p->missing = 0;
    maki_status st = beside_of(p->level, top->shares, f, &b, err);
    if (st == MAKI_OK) st = maki_beside_last(b, &last, err);
    if (st != MAKI_OK || last >= p->to) return st;
    if (last > maki_log_base(p->level->log)) st = maki_log_row(p->level->log, last, &from, err);
    if (st == MAKI_OK) st = maki_log_row(p->level->log, p->to, &to, err);
    if (st == MAKI_OK) p->missing = to.offset + to.length - from.offset;
    return st;
}

/* Look how a thread that was begun has ended; what it did not do is not begun again. */
static void look_after(maki_conv *top, size_t f)
{
    maki_background *bg = top->background[f];
    if (!bg || !maki_background_ended(bg)) return;
    maki_status st = maki_background_end(bg);
    top->background[f] = NULL;
    if (st != MAKI_OK && st != MAKI_CONFLICT) top->failed[f] = true;
}

static maki_status start(maki_conv *top, const parts *p, size_t f, maki_err *err)
{
    maki_background_log logs[DEEPEST];
    size_t n = 0;
    maki_status st = MAKI_OK;
    if (top->background[f] || top->failed[f]) return MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < p->count; i++) {
        if (!p->at[i].missing) continue;
        logs[n].path = maki_log_path(p->at[i].level->log);
        st = maki_beside_fd(p->at[i].level->beside[f], &logs[n++].private_fd, err);
    }
    if (st == MAKI_OK) {
        st = maki_background_start(&top->env, f, logs, n, &top->background[f], err);
    }
    if (st == MAKI_OK || st == MAKI_NOMEM) return st;
    top->failed[f] = true; /* there is still the estimate */
    return MAKI_OK;
}

static maki_status count_now(maki_conv *top, const parts *p, size_t f, bool wait, bool *ready,
                             maki_err *err)
{
    maki_beside_how how = {
        .threads = top->threads, .wait = wait, .progress = top->progress, .ctx = top->progress_ctx
    };
    maki_status st = MAKI_OK;
    maki_err why = { 0 };
    for (size_t i = 0; st == MAKI_OK && i < p->count; i++) {
        if (p->at[i].missing) st = maki_beside_count(p->at[i].level->beside[f], &how, &why);
    }
    *ready = st == MAKI_OK;
    if (st == MAKI_OK || (!wait && st != MAKI_NOMEM)) return MAKI_OK;
    if (err) *err = why;
    return st;
}

/* Is everything counted in family f?  Counts what is missing when that is little or the caller waits,
 * else has it counted. */
static maki_status ensure(maki_conv *top, parts *p, size_t f, bool wait, bool *ready, maki_err *err)
{
    uint64_t missing = 0;
    maki_status st = MAKI_OK;
    *ready = true;
    if (f == FIRST) return MAKI_OK;
    look_after(top, f);
    for (size_t i = 0; st == MAKI_OK && i < p->count; i++) {
        st = measure(top, &p->at[i], f, err);
        missing += p->at[i].missing;
    }
    if (st != MAKI_OK || missing == 0) return st;
    if (wait && top->background[f]) { /* all cores go on where it was */
        (void)!maki_background_end(top->background[f]);
        top->background[f] = NULL;
    }
    bool alone = top->threads == 1; /* then there is no background */
    bool now = wait || alone || (missing <= MAKI_MUCH && !top->background[f]);
    if (now) return count_now(top, p, f, wait, ready, err);
    *ready = false;
    return start(top, p, f, err);
}

/* About how many tokens of family f are one of the first. */
static double ratio_of(const parts *p, size_t f)
{
    double first = 0, other = 0;
    for (size_t i = 0; i < p->count; i++) {
        maki_conv *level = p->at[i].level;
        maki_row a, b;
        uint64_t last = 0;
        if (!level->beside[f] || maki_beside_last(level->beside[f], &last, NULL) != MAKI_OK)
            continue;
        if (last <= maki_log_base(level->log)) continue;
        if (maki_log_row(level->log, last, &a, NULL) != MAKI_OK) continue;
        if (maki_beside_row(level->beside[f], last, &b, NULL) != MAKI_OK) continue;
        first += (double)a.tokens_so_far;
        other += (double)b.tokens_so_far;
    }
    return first >= ENOUGH ? other / first : maki_tally_ratio(f);
}

/* ---- one message -------------------------------------------------------------------------------------- */

maki_status maki_conv_message_tokens(maki_conv *conv, maki_str message, uint64_t *tokens,
                                     maki_err *err)
{
    return maki_tally_message(&conv->tallies[FIRST], 0, message, tokens, err);
}

static maki_status made_tokens(maki_conv *conv, const maki_view_item *item, size_t f,
                               uint64_t *tokens, maki_err *err)
{
    const maki_event *e = item->made;
    uint32_t n = 0;
    *tokens = e->tokens;
    if (e->family == f) return MAKI_OK;
    maki_buf json = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    maki_status st = maki_log_event_bytes(item->log, e->made_at, e->made_len, &json, err);
    if (st == MAKI_OK)
        st = maki_tally_read(&conv->tallies[f], 0, maki_buf_str(&json), NULL, &n, err);
    maki_buf_free(&json);
    *tokens = n;
    return st;
}

static maki_status row_of(maki_conv *level, uint64_t seq, size_t f, maki_row *out, maki_err *err)
{
    return f == FIRST ? maki_log_row(level->log, seq, out, err)
                      : maki_beside_row(level->beside[f], seq, out, err);
}

/* What a trim saves of a message that is in the index of family f: where it saves a little in one, it
 * may cost a little in another. */
static maki_status trim_tokens(maki_conv *conv, const maki_trim *trim, size_t f, int64_t *saved,
                               maki_err *err)
{
    maki_conv *level = maki_conv_level(conv, trim->seq);
    maki_row row;
    uint32_t after = 0;
    *saved = trim->restores ? 0 : trim->tokens;
    if (trim->family == f || trim->restores) return MAKI_OK;
    maki_buf whole = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    maki_buf places = whole, shorter = whole;
    maki_status st = row_of(level, trim->seq, f, &row, err);
    if (st == MAKI_OK) st = maki_log_read(level->log, trim->seq, &whole, err);
    if (st == MAKI_OK) st = maki_weave(maki_buf_str(&whole), &trim, 1, &places, &shorter, err);
    if (st == MAKI_OK)
        st = maki_tally_read(&conv->tallies[f], 0, maki_buf_str(&shorter), NULL, &after, err);
    maki_buf_free(&whole);
    maki_buf_free(&places);
    maki_buf_free(&shorter);
    if (st == MAKI_OK) *saved = (int64_t)row.tokens - (int64_t)after;
    return st;
}

maki_status maki_conv_made_tokens(maki_conv *conv, const maki_view_item *item, uint64_t *tokens,
                                  maki_err *err)
{
    return made_tokens(conv, item, FIRST, tokens, err);
}

maki_status maki_conv_trim_tokens(maki_conv *conv, const maki_trim *trim, int64_t *saved,
                                  maki_err *err)
{
    return trim_tokens(conv, trim, FIRST, saved, err);
}

/* ---- sums ------------------------------------------------------------------------------------------------ */

static maki_status range_tokens(maki_conv *level, uint64_t from, uint64_t to, size_t f,
                                uint64_t *tokens, maki_err *err)
{
    maki_row first, last;
    maki_status st = row_of(level, from, f, &first, err);
    if (st == MAKI_OK) st = row_of(level, to, f, &last, err);
    if (st == MAKI_OK) *tokens += last.tokens_so_far - first.tokens_so_far + first.tokens;
    return st;
}

static uint64_t less(uint64_t tokens, int64_t saved)
{
    return saved > 0 && (uint64_t)saved > tokens ? 0 : tokens - (uint64_t)saved;
}

static maki_status sum(maki_conv *conv, const maki_view *view, size_t f, uint64_t *tokens,
                       maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t n = 0;
    *tokens = 0;
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        if (item->from) {
            st = range_tokens(level_of(conv, item->log), item->from, item->to, f, tokens, err);
        } else {
            st = made_tokens(conv, item, f, &n, err);
            *tokens += n;
        }
    }
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        size_t t = item->from ? maki_view_trims_from(view, item->from) : view->trim_count;
        for (; st == MAKI_OK && t < view->trim_count && view->trims[t]->seq <= item->to; t++) {
            int64_t saved = 0;
            st = trim_tokens(conv, view->trims[t], f, &saved, err);
            *tokens = less(*tokens, saved);
        }
    }
    return st;
}

static uint64_t scaled(uint64_t tokens, double ratio)
{
    return (uint64_t)llround((double)tokens * ratio);
}

maki_status maki_conv_total_in(maki_conv *conv, const maki_view *view, size_t family, bool wait,
                               maki_view_totals *out, maki_err *err)
{
    parts p = parts_of(conv, view);
    bool ready = false;
    *out = (maki_view_totals){ .messages = maki_view_messages(view) };
    maki_status st = ensure(conv, &p, family, wait, &ready, err);
    if (st == MAKI_OK) st = sum(conv, view, ready ? family : FIRST, &out->tokens, err);
    if (st != MAKI_OK || ready) return st;
    out->estimated = true;
    out->tokens = scaled(out->tokens, ratio_of(&p, family));
    return MAKI_OK;
}

maki_status maki_conv_total(maki_conv *conv, const maki_view *view, maki_view_totals *out,
                            maki_err *err)
{
    return maki_conv_total_in(conv, view, conv->family, conv->wait, out, err);
}

maki_status maki_conv_total_now(maki_conv *conv, maki_view_totals *out, maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_conv_view(conv, MAKI_NOW, MAKI_NOW, &view, err);
    return st == MAKI_OK ? maki_conv_total(conv, view, out, err) : st;
}

maki_status maki_conv_tokens(maki_conv *conv, uint64_t from, uint64_t to, size_t family, bool wait,
                             maki_view_totals *out, maki_err *err)
{
    parts p = { .count = 0 };
    bool ready = false;
    uint64_t last = maki_log_last(conv->log);
    *out = (maki_view_totals){ 0 };
    if (to > last) to = last;
    if (from == 0) from = 1;
    for (uint64_t at = to; at >= from; at = maki_log_base(maki_conv_level(conv, at)->log))
        need(&p, maki_conv_level(conv, at), at);
    maki_status st = ensure(conv, &p, family, wait, &ready, err);
    for (size_t i = 0; st == MAKI_OK && i < p.count; i++) {
        uint64_t base = maki_log_base(p.at[i].level->log);
        uint64_t begin = from > base ? from : base + 1;
        st = range_tokens(p.at[i].level, begin, p.at[i].to, ready ? family : FIRST, &out->tokens,
                          err);
    }
    out->messages = to >= from ? to - from + 1 : 0;
    if (st != MAKI_OK || ready) return st;
    out->estimated = true;
    out->tokens = scaled(out->tokens, ratio_of(&p, family));
    return MAKI_OK;
}

/* ---- message by message ------------------------------------------------------------------------------------ */

maki_status maki_conv_telling(maki_conv *conv, const maki_view *view, maki_telling *out,
                              maki_err *err)
{
    parts p = parts_of(conv, view);
    *out = (maki_telling){ .ratio = 1 };
    maki_status st = ensure(conv, &p, conv->family, conv->wait, &out->ready, err);
    if (st == MAKI_OK && !out->ready) out->ratio = ratio_of(&p, conv->family);
    return st;
}

maki_status maki_conv_tell(maki_conv *conv, const maki_telling *how, const maki_view_item *item,
                           uint64_t seq, uint32_t *tokens, maki_err *err)
{
    size_t f = how->ready ? conv->family : FIRST;
    uint64_t n = 0;
    maki_row row;
    maki_status st = seq ? row_of(level_of(conv, item->log), seq, f, &row, err)
                         : made_tokens(conv, item, f, &n, err);
    if (st == MAKI_OK) *tokens = (uint32_t)scaled(seq ? row.tokens : n, how->ratio);
    return st;
}

/* portion.c -- see portion.h. */
#include "summary/portion.h"

#include "base/str.h"
#include "base/text.h"

enum { SLICE = 4096 }; /* bytes of a text that is cut: how exactly portions are filled */

maki_status maki_portions_end(maki_portions *p, maki_err *err)
{
    maki_status st = p->full(p->ctx, err);
    maki_spool_clear(&p->text);
    p->tokens = 0;
    return st;
}

/* `tokens` are those of `text`: at most p->most. */
static maki_status add_whole(maki_portions *p, maki_str text, uint64_t tokens, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (p->tokens && tokens > p->most - p->tokens) st = maki_portions_end(p, err);
    if (st == MAKI_OK) st = maki_spool_add(&p->text, text, err);
    p->tokens += tokens;
    return st;
}

/* The next slice of a text that is cut.  No byte has more than one token, so it fits a portion. */
static maki_str slice_of(const maki_portions *p, maki_str text)
{
    size_t most = p->most < SLICE ? (size_t)p->most : SLICE;
    maki_str slice = maki_utf8_cut(text, most);
    if (slice.len == text.len) return slice;
    size_t exact = maki_token_cut(slice);
    return exact ? maki_str_to(slice, exact) : slice;
}

maki_status maki_portions_add(maki_portions *p, maki_str text, maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t tokens = maki_tokenizer_count(p->tokenizer, text);
    if (tokens <= p->most) return add_whole(p, text, tokens, err);
    while (st == MAKI_OK && text.len) {
        maki_str slice = slice_of(p, text);
        st = add_whole(p, slice, maki_tokenizer_count(p->tokenizer, slice), err);
        text = maki_str_from(text, slice.len);
    }
    return st;
}

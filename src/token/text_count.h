/* text_count.h -- counting texts that stand in JSON, in pieces, without copying them whole.
 *
 * A string without escapes is counted where it stands.  Everything else (escaped strings, JSON made
 * compact, a text put together from several) goes through a few kilobytes on the stack, so a string
 * of a gigabyte costs no memory.
 *
 *     maki_text_count c;
 *     maki_text_count_begin(&c, tokenizer, err);
 *     maki_text_count_bytes(&c, MAKI_LIT("Arguments: "));
 *     maki_text_count_compact(&c, input);
 *     st = maki_text_count_end(&c, &tokens);
 *
 * The first failure sticks; end reports it and gives everything back. */
#ifndef MAKI_TOKEN_TEXT_COUNT_H
#define MAKI_TOKEN_TEXT_COUNT_H

#include <stdint.h>

#include <maki/token.h>

/* The text of a JSON string, with its quotes or without.  A lone surrogate counts as U+FFFD. */
maki_status maki_count_json_text(maki_tokenizer *t, maki_str string, uint64_t *tokens,
                                 maki_err *err) MAKI_MUST_CHECK;
/* A JSON value as JavaScript's JSON.stringify would print it after parsing it. */
maki_status maki_count_compact(maki_tokenizer *t, maki_str value, uint64_t *tokens, maki_err *err)
    MAKI_MUST_CHECK;

/* One text put together from parts.  On the caller's stack; every begin needs its end. */
typedef struct maki_text_count {
    maki_tokenizer *tokenizer;
    maki_token_stream stream; /* what no longer fits into `waiting` */
    maki_err *err;
    maki_status status;
    size_t fill;
    char waiting[8192];
} maki_text_count;

void maki_text_count_begin(maki_text_count *c, maki_tokenizer *t, maki_err *err);
void maki_text_count_bytes(maki_text_count *c, maki_str bytes);
void maki_text_count_json_text(maki_text_count *c, maki_str string);
void maki_text_count_compact(maki_text_count *c, maki_str value);
/* *tokens is set on MAKI_OK only. */
maki_status maki_text_count_end(maki_text_count *c, uint64_t *tokens) MAKI_MUST_CHECK;

#endif

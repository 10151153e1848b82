/* text_count.h -- counting the texts of JSON without copying them.
 *
 * A string without escapes is counted in place.  Everything else (escaped strings, compact JSON, a text put together from
 * parts) goes through a buffer on the stack, so a string of a gigabyte costs no memory.
 *
 *     maki_text_count c;
 *     maki_text_count_begin(&c, tokenizer, err);
 *     maki_text_count_bytes(&c, MAKI_LIT("Arguments: "));
 *     maki_text_count_compact(&c, input);
 *     st = maki_text_count_end(&c, &tokens);
 *
 * The first failure sticks; end returns it and frees everything. */
#ifndef MAKI_TOKEN_TEXT_COUNT_H
#define MAKI_TOKEN_TEXT_COUNT_H

#include <stdint.h>

#include <maki/token.h>

/* The text of a JSON string, with or without its quotes.  A lone surrogate counts as U+FFFD. */
maki_status maki_count_json_text(maki_tokenizer *t, maki_str string, uint64_t *tokens,
                                 maki_err *err) MAKI_MUST_CHECK;
/* A JSON value as JavaScript prints it: JSON.stringify(JSON.parse(value)). */
maki_status maki_count_compact(maki_tokenizer *t, maki_str value, uint64_t *tokens, maki_err *err)
    MAKI_MUST_CHECK;

/* One text put together from parts.  On the caller's stack; every begin needs its end. */
typedef struct maki_text_count {
    maki_tokenizer *tokenizer;
    maki_token_stream stream; /* what did not fit into `buffer` */
    maki_err *err;
    maki_status status;
    size_t fill;
    char buffer[8192];
} maki_text_count;

void maki_text_count_begin(maki_text_count *c, maki_tokenizer *t, maki_err *err);
void maki_text_count_bytes(maki_text_count *c, maki_str bytes);
void maki_text_count_json_text(maki_text_count *c, maki_str string);
void maki_text_count_compact(maki_text_count *c, maki_str value);
/* *tokens is set on MAKI_OK only. */
maki_status maki_text_count_end(maki_text_count *c, uint64_t *tokens) MAKI_MUST_CHECK;

#endif

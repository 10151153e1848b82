/* token_counter.h -- count the tokens of messages as an index counts them.
 *
 * An index counts in o200k_base; token/family.h converts that to the tokens of a model.  The tokens in an index
 * were counted by maki_token_counter_row, so that a row has the same tokens whoever counts it and when.
 *
 * Each worker (base/thread_pool.h) has a tokenizer of its own in it, opened at its first message.  So a process that
 * only reads has none, and counting a few messages does not allocate the span cache of a tokenizer
 * (token/span_cache.h). */
#ifndef MAKI_HISTORY_TOKEN_COUNTER_H
#define MAKI_HISTORY_TOKEN_COUNTER_H

#include <maki/token.h>

#include "base/thread_pool.h"
#include "history/facts.h"
#include "log/token_batches.h"

/* The encoding of every index, and of the tokens in events that name it. */
#define MAKI_LOG_ENCODING "o200k_base"
/* The same with the version of the rules in token/content.h: an index of another version is counted again. */
#define MAKI_INDEX_ENCODING MAKI_LOG_ENCODING "/2"

typedef struct maki_token_counter {
    maki_env env;
    maki_tokenizer *tokenizers[MAKI_THREADS_MAX]; /* by worker */
    maki_tokenizer *borrowed;                     /* the caller's, for worker 0; or NULL */
} maki_token_counter;

void maki_token_counter_init(maki_token_counter *counter, const maki_env *env);
void maki_token_counter_close(maki_token_counter *counter); /* accepts one that was zeroed */

/* The tokens of a message, a JSON object that was checked; there may be white space around it. */
maki_status maki_token_counter_message(maki_token_counter *counter, size_t worker, maki_str message,
                                       uint64_t *tokens, maki_err *err) MAKI_MUST_CHECK;
/* The same from its parts, in any encoding; tokenizer NULL: chars4, a token for every four UTF-16 units. */
maki_status maki_counted_fields_count(maki_tokenizer *tokenizer, const maki_counted_fields *parts,
                                      uint64_t *tokens, maki_err *err) MAKI_MUST_CHECK;
/* The same as a maki_tokens_fn, for rows that maki_row_facts_of accepted; ctx is a maki_token_counter. */
maki_status maki_token_counter_row(void *ctx, size_t worker, maki_str row,
                                   const maki_row_spans *spans, uint32_t *tokens, maki_err *err);
/* The same for rows that were not checked: one that is not a message has no tokens. */
maki_status maki_token_counter_unchecked(void *ctx, size_t worker, maki_str row,
                                         const maki_row_spans *spans, uint32_t *tokens,
                                         maki_err *err);

#endif

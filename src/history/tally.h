/* tally.h -- the tokens of messages in one token family.
 *
 * A family is a vocabulary (<maki/token.h>), or "chars4", the estimate of a token for every four
 * UTF-16 units.  What an index says was counted by maki_tally_row, so that a row has the same tokens
 * whoever counts it and when.
 *
 * Each worker (base/work.h) has a tokenizer of its own in it, opened when it first counts.  So who only
 * reads has none, and a few messages do not pay for the memory of pieces that a tokenizer gets when it
 * has seen many. */
#ifndef MAKI_HISTORY_TALLY_H
#define MAKI_HISTORY_TALLY_H

#include <maki/token.h>

#include "base/work.h"
#include "history/facts.h"
#include "log/intake.h"

/* The family of an index unless another is asked for. */
#define MAKI_FAMILY          "o200k_base"
#define MAKI_FAMILY_ESTIMATE "chars4"
enum { MAKI_FAMILIES = 4 };

/* The i-th family from 0, the default one first; NULL after the last. */
const char *maki_tally_name(size_t i);
/* Its number; MAKI_INVALID names those there are. */
maki_status maki_tally_number(const char *name, size_t *out, maki_err *err);
/* About how many tokens of it are one of the default family's, before anything was counted. */
double maki_tally_ratio(size_t number);

typedef struct maki_tally {
    maki_env env;
    const maki_encoding *encoding;              /* NULL: the estimate */
    maki_tokenizer *tokenizers[MAKI_WORK_MOST]; /* by worker */
    maki_tokenizer *lent;                       /* somebody else's, for worker 0; or NULL */
} maki_tally;

/* `family` is the number of one. */
void maki_tally_init(maki_tally *tally, const maki_env *env, size_t family);
void maki_tally_close(maki_tally *tally); /* accepts one that was zeroed */

/* The tokens of a message, a JSON object that was checked; there may be white space around it. */
maki_status maki_tally_message(maki_tally *tally, size_t worker, maki_str message, uint64_t *tokens,
                               maki_err *err) MAKI_MUST_CHECK;
/* The same from its parts, by a tokenizer of the family; NULL: the estimate. */
maki_status maki_spoken_count(maki_tokenizer *tokenizer, const maki_spoken *said, uint64_t *tokens,
                              maki_err *err) MAKI_MUST_CHECK;
/* The same as a maki_tokens_fn, for rows that maki_facts_of took; ctx is a maki_tally. */
maki_status maki_tally_row(void *ctx, size_t worker, maki_str row, const maki_hint *hint,
                           uint32_t *tokens, maki_err *err);
/* The same for rows that a file only says are messages: one that is none has no tokens. */
maki_status maki_tally_read(void *ctx, size_t worker, maki_str row, const maki_hint *hint,
                            uint32_t *tokens, maki_err *err);

#endif

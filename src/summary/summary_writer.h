/* summary_writer.h -- a digest as a text of six headings that keeps to a number of tokens.
 *
 * What is left out is decided by the tokenizer, not estimated: every line has its price, each kind of line
 * its share of the budget, and what is left over goes to the next kind.  Lines are whole or not there. */
#ifndef MAKI_SUMMARY_SUMMARY_WRITER_H
#define MAKI_SUMMARY_SUMMARY_WRITER_H

#include <maki/token.h>

#include "base/buf.h"
#include "summary/digest.h"

/* Tokens. */
typedef struct maki_summary_limits {
    uint64_t budget; /* of what is not people's */
    uint64_t first;  /* that rules and decisions may have, if need be over the budget */
    uint64_t total;  /* of the whole with them: budget, or more if they are to come on top */
    uint64_t people; /* of what people said, and of the whole with it: budget or more */
} maki_summary_limits;

/* Write the summary into *out, its headings and labels in `lang`.  Nothing is written of what does not fit. */
maki_status maki_summary_compose(const maki_digest *digest, maki_lang lang,
                                 maki_tokenizer *tokenizer, const maki_summary_limits *limits,
                                 maki_arena *arena, maki_buf *out, maki_err *err);

#endif

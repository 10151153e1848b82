/* summary_writer.h -- write a digest as Markdown under six headings, within a token limit.
 *
 * Tokens are counted by the tokenizer, not estimated: each kind of line has a share of the budget, and what is left over
 * goes to the next kind.  A line is written in full or omitted. */
#ifndef MAKI_SUMMARY_SUMMARY_WRITER_H
#define MAKI_SUMMARY_SUMMARY_WRITER_H

#include <maki/token.h>

#include "base/buf.h"
#include "summary/digest.h"

/* Tokens. */
typedef struct maki_summary_limits {
    uint64_t budget; /* for lines that are not the user's */
    uint64_t rules;  /* for rules and decisions; may exceed the budget */
    uint64_t total;  /* of the summary with these: the budget, or more if they are added to it */
    uint64_t user;   /* of the summary with all that the user said: the budget or more */
} maki_summary_limits;

/* Write the summary into *out, its headings and labels in `lang`.  Lines that do not fit are omitted. */
maki_status maki_summary_compose(const maki_digest *digest, maki_lang lang,
                                 maki_tokenizer *tokenizer, const maki_summary_limits *limits,
                                 maki_arena *arena, maki_buf *out, maki_err *err);

#endif

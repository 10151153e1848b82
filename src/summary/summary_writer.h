/* summary_writer.h -- a digest as a text of six headings that keeps to a number of tokens.
 *
 * What is left out is decided by the tokenizer, not estimated: every line has its price, each kind of line
 * its share of the budget, and what is left over goes to the next kind.  Lines are whole or not there. */
#ifndef MAKI_SUMMARY_SUMMARY_WRITER_H
#define MAKI_SUMMARY_SUMMARY_WRITER_H

#include <maki/token.h>

#include "base/buf.h"
#include "summary/digest.h"

/* Write the summary into *out, its headings and labels in `lang`, at most `budget` tokens but for the headings themselves. */
maki_status maki_summary_compose(const maki_digest *digest, maki_lang lang,
                                 maki_tokenizer *tokenizer, uint64_t budget, maki_arena *arena,
                                 maki_buf *out, maki_err *err);

#endif

/* offline.h -- a summary without a model: deterministic, in constant memory.
 *
 * The six headings, from the messages alone: the first and the newest request, decisions word
 * for word, files and what was done with them, commands and their results, errors solved and unsolved,
 * open tasks, and the first sentences that hold a path, name or number.  In English, Japanese, Chinese or Korean,
 * as the conversation is.  docs/internals/summary.md says how. */
#ifndef MAKI_SUMMARY_OFFLINE_H
#define MAKI_SUMMARY_OFFLINE_H

#include <maki/token.h>

#include "history/summarizer.h"
#include "summary/summary_words.h"

typedef struct maki_offline_options {
    double ratio;              /* the share of tokens to save: 0.75 saves three quarters */
    uint64_t budget;           /* tokens of the summary; 0: by ratio, see maki_offline_budget */
    maki_tokenizer *tokenizer; /* borrowed; NULL: one of its own */
    uint64_t max_tokens;       /* upper limit of it; 0: that of maki_offline_budget */
    maki_str focus;            /* what it must keep above all (focus.h); len 0: nothing */
    bool has_lang;             /* headings in `lang`; else in the language of the conversation */
    maki_lang lang;
} maki_offline_options;
#define MAKI_OFFLINE_INIT \
    {                     \
        .ratio = 0.75     \
    }

/* How many tokens the summary of so many may have: 1 - ratio of them, but of a long conversation less
 * than a tenth, and never more than 8,000. */
uint64_t maki_offline_budget(uint64_t tokens, double ratio);

/* `options` must live as long as the summarizer; NULL: the defaults.  Needs nothing and fails only when out of memory;
 * its cost is 0. */
maki_summarizer maki_summarizer_offline_with(const maki_offline_options *options);
/* The same with the settings in `ctx` (maki_summary_settings). */
maki_status maki_summarize_offline(const maki_summarizer *self, const maki_summary_request *request,
                                   maki_arena *arena, maki_summary *out, maki_err *err);
/* Is it one of these?  They fill in maki_summary.coverage themselves. */
bool maki_summarizer_is_offline(const maki_summarizer *summarizer);

#endif

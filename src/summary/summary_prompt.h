/* summary_prompt.h -- the instructions for a model that summarises, in four languages.
 *
 * Built-in ones: "standard" (six headings, at most 500 words), "brief" (goal, decisions, context, state and
 * next steps), "task" (decisions, changes, problems, what remains; 30 to 40 % of the length).  Any other text
 * is the caller's own: the messages go where it says {messages}, else to its end. */
#ifndef MAKI_SUMMARY_SUMMARY_PROMPT_H
#define MAKI_SUMMARY_SUMMARY_PROMPT_H

#include "summary/summary_words.h"

/* The instructions, and what stands before and after the messages in the same request. */
typedef struct maki_prompt {
    maki_str system; /* len 0: none */
    maki_str before, after;
} maki_prompt;

/* `wish` is the name of a built-in one or a text.  With `given`, `lang` is what somebody asked for, not only
 * what the conversation is written in. */
maki_prompt maki_prompt_of(maki_str wish, maki_lang lang, bool given);

/* Said before summaries of parts that are to become one. */
maki_str maki_prompt_merge(maki_lang lang);

#endif

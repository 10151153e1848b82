/* summary_prompt.h -- the instructions for a model that summarizes, in four languages.
 *
 * Built-in ones: "standard" (six headings, at most 500 words), "brief" (goal, decisions, context, state and
 * next steps), "task" (decisions, changes, problems, what remains; 30 to 40 % of the length).  Any other text
 * is the caller's own: the messages replace {messages} in it, else follow it. */
#ifndef MAKI_SUMMARY_SUMMARY_PROMPT_H
#define MAKI_SUMMARY_SUMMARY_PROMPT_H

#include "summary/summary_words.h"

/* The instructions, and the texts before and after the messages in the same request. */
typedef struct maki_prompt {
    maki_str system; /* len 0: none */
    maki_str before, after;
} maki_prompt;

/* `prompt` is the name of a built-in one or a text.  `configured`: `lang` is a setting, not only the detected
 * language of the conversation. */
maki_prompt maki_prompt_of(maki_str prompt, maki_lang lang, bool configured);

/* The sentence before the words of a focus, which are part of the instructions. */
maki_str maki_prompt_focus(maki_lang lang);
/* The instructions before summaries that are to be merged. */
maki_str maki_prompt_merge(maki_lang lang);

#endif

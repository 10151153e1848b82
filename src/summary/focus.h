/* focus.h -- what a summary must keep above all: the words of a text that somebody gave.
 *
 * The words that say what a text is about: those of four letters and more, shorter ones with a digit or a capital, and
 * runs of kanji, katakana and hangul.  A sentence that has one of them is ranked before all others. */
#ifndef MAKI_SUMMARY_FOCUS_H
#define MAKI_SUMMARY_FOCUS_H

#include <maki/str.h>

enum { MAKI_FOCUS_WORDS = 32, MAKI_FOCUS_TEXT = 1024, MAKI_FOCUS_WEIGHT = 1000 };

typedef struct maki_focus {
    char text[MAKI_FOCUS_TEXT]; /* the words, folded (base/casefold.h), each with a NUL behind it */
    size_t len;
    unsigned count;
} maki_focus;

/* Words beyond the limits are ignored; an empty text has none. */
void maki_focus_set(maki_focus *focus, maki_str text);
/* How many of the words are in `text`. */
unsigned maki_focus_count_matches(const maki_focus *focus, maki_str text);

#endif

/* title.h -- the title of a session: the first words that a person wrote. */
#ifndef MAKI_STORE_TITLE_H
#define MAKI_STORE_TITLE_H

#include "base/arena.h"

/* Write the first words of a message, a checked JSON row, that a person wrote, cut between two characters, with one
 * space in place of white space and control characters.  False, and out is "": a person wrote nothing in it
 * (wire/inserted_text.h), or it is not a user's message.  Long texts are decoded into the arena. */
bool maki_title_of(maki_str row, maki_arena *arena, char *out, size_t capacity);

/* The same of a text, for a name that somebody chose. */
void maki_title_of_text(maki_str text, char *out, size_t capacity);

#endif

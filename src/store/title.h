/* title.h -- the title of a session: the first words that a person wrote. */
#ifndef MAKI_STORE_TITLE_H
#define MAKI_STORE_TITLE_H

#include <stdbool.h>

#include "base/arena.h"

/* Write the first words of a message, a checked JSON row, that a person wrote, cut between two characters, with one
 * space in place of white space and control characters.  False, and out is "": a person wrote nothing in it
 * (wire/inserted_text.h), or it is not a user's message.  Without `tags`, a text that begins with a tag of any other name
 * is skipped, too: agents that are not in the table insert such ones.  Long texts are decoded into the arena. */
bool maki_title_of(maki_str row, bool tags, maki_arena *arena, char *out, size_t capacity);

/* The same of a text. */
void maki_title_of_text(maki_str text, char *out, size_t capacity);

#endif

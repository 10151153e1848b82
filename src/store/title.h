/* title.h -- the title of a session: the first words that a person wrote. */
#ifndef MAKI_STORE_TITLE_H
#define MAKI_STORE_TITLE_H

#include <stdbool.h>

#include "base/arena.h"

/* Write the first words that a person wrote in a message, a checked JSON row.  They are truncated between two characters;
 * runs of white space and control characters become one space.  False, and out is "": it is not a user's message, or all
 * of it was inserted by an agent (wire/inserted_text.h).  Without `allow_unknown_tags`, a text that begins with an unknown
 * tag is skipped, too, because agents that are not in that table insert such texts.  Long texts are decoded into the
 * arena. */
bool maki_title_of(maki_str row, bool allow_unknown_tags, maki_arena *arena, char *out,
                   size_t capacity);

/* The same of a text. */
void maki_title_of_text(maki_str text, char *out, size_t capacity);

#endif

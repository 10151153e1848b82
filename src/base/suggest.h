/* suggest.h -- which of the known names did somebody mean? */
#ifndef MAKI_BASE_SUGGEST_H
#define MAKI_BASE_SUGGEST_H

#include <stddef.h>

#include <maki/str.h>

/* Levenshtein's distance in characters; letters A-Z and a-z are the same.  SIZE_MAX for names of more
 * than 63 characters, or bytes that are no UTF-8: those are near to nothing. */
size_t maki_edit_distance(maki_str a, maki_str b);

/* Offer one name after the other; the first of the nearest stays. */
typedef struct maki_suggest {
    maki_str name;
    size_t least;   /* further away is another word, not a slip */
    maki_str found; /* len 0: none is near */
} maki_suggest;

/* `name` with as many slips as its length makes likely: 1 in a short one, 5 at most. */
maki_suggest maki_suggest_for(maki_str name);
void maki_suggest_candidate(maki_suggest *nearest, maki_str candidate);

#endif

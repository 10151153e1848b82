/* suggest.h -- "did you mean": the known name that is most similar to an unknown one. */
#ifndef MAKI_BASE_SUGGEST_H
#define MAKI_BASE_SUGGEST_H

#include <stddef.h>

#include <maki/str.h>

/* The Levenshtein distance in characters, ignoring the case of ASCII letters.  SIZE_MAX for names of more than 63
 * characters and for invalid UTF-8. */
size_t maki_edit_distance(maki_str a, maki_str b);

/* Add the candidates one by one; of equally similar ones the first is found. */
typedef struct maki_suggest {
    maki_str name;
    size_t limit;   /* a candidate must have a smaller distance */
    maki_str found; /* len 0: none is similar */
} maki_suggest;

/* Set the limit by the length of `name`: 1 typing error in a short name, at most 5. */
maki_suggest maki_suggest_for(maki_str name);
void maki_suggest_candidate(maki_suggest *best, maki_str candidate);

#endif

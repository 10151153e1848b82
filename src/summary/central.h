/* central.h -- which sentences of a conversation say what the others are about.
 *
 * Every sentence is counted (in how many does a term stand?), few are kept: of each stretch of the
 * conversation the best, and when there are too many, stretches become twice as long.  So what is kept
 * is spread over the whole conversation, however long, and depends on nothing but its text.
 *
 * At the end sentences are ranked by how similar they are to those that are similar to many (the walk of
 * PageRank over TF-IDF cosines), in whole numbers: the same on every machine. */
#ifndef MAKI_SUMMARY_CENTRAL_H
#define MAKI_SUMMARY_CENTRAL_H

#include "base/arena.h"
#include "summary/terms.h"

enum { MAKI_CENTRAL_KEPT = 256, MAKI_CENTRAL_TEXT = 400, MAKI_CENTRAL_TERMS = 1 << 15 };

typedef struct maki_sentence {
    uint32_t message; /* the number of the message it stands in */
    uint32_t order;   /* the how many-th sentence it is */
    uint32_t quality; /* at first sight: what it holds and who said it */
    uint16_t len;
    char text[MAKI_CENTRAL_TEXT];
} maki_sentence;

typedef struct maki_central {
    uint16_t
        seen[MAKI_CENTRAL_TERMS]; /* sentences with a term, by its lower bits; stays at its most */
    maki_sentence kept[MAKI_CENTRAL_KEPT];
    size_t count;
    maki_sentence best; /* of the present stretch */
    uint32_t in_stretch, stretch, sentences;
} maki_central;

void maki_central_init(maki_central *central); /* of zeroed memory */
void maki_central_add(maki_central *central, maki_str text, uint32_t message, uint32_t quality);

/* The best sentences, best first, none much like one before it: places in `kept` into
 * picks[*count], at most `most`.  No sentence can be added afterwards. */
maki_status maki_central_pick(maki_central *central, maki_arena *arena, size_t most,
                              uint16_t *picks, size_t *count, maki_err *err);

#endif

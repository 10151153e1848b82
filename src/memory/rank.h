/* rank.h -- combine the scores of a similarity search and a keyword search. */
#ifndef MAKI_MEMORY_RANK_H
#define MAKI_MEMORY_RANK_H

/* The default weights of similarity and of keywords. */
#define MAKI_SEMANTIC_WEIGHT 0.7
#define MAKI_KEYWORD_WEIGHT  0.3

/* A weighted sum.  A result that only one search found has 0 from the other. */
static inline double maki_hybrid_score(double semantic, double keyword, double semantic_weight,
                                       double keyword_weight)
{
    return semantic * semantic_weight + keyword * keyword_weight;
}

#endif

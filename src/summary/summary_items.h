/* summary_items.h -- iterate over the rules, goals, decisions and open tasks that a summary states.
 *
 * The text may be that of the offline summary or of a model: lines under the headings and labels of summary_words.h, in
 * any of its languages.  Nothing is copied. */
#ifndef MAKI_SUMMARY_SUMMARY_ITEMS_H
#define MAKI_SUMMARY_SUMMARY_ITEMS_H

#include "summary/summary_words.h"

/* An iterator over a summary's text, which must stay valid: { text, MAKI_SECTIONS, MAKI_LABELS }. */
typedef struct maki_summary_items {
    maki_str rest;
    maki_section section; /* of the next line; MAKI_SECTIONS: before the first */
    maki_label label;     /* the same; MAKI_LABELS: none */
} maki_summary_items;

typedef struct maki_summary_item {
    const char *kind; /* "rule", "goal", "decision" or "open" */
    maki_str text;    /* without the list's marker */
} maki_summary_item;

bool maki_summary_items_next(maki_summary_items *items, maki_summary_item *out);

#endif

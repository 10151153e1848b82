/* text_set.h -- a bounded set of short texts, each with weight, counters and state, looked up by key.
 *
 * A digest consists of such sets, so that its memory does not grow with the conversation.  A full set evicts
 * half of its items at once: those with the lowest weight, of these the least recently added.  So adding
 * stays cheap.
 *
 * An item keeps its address until the next maki_text_set_add; hold on to its key, not to the pointer. */
#ifndef MAKI_SUMMARY_TEXT_SET_H
#define MAKI_SUMMARY_TEXT_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "summary/term_bitmap.h"

enum { MAKI_TEXT_ITEM_COUNTERS = 3 };

typedef struct maki_text_item {
    uint64_t key;                               /* a hash; equal for equal texts */
    uint64_t link;                              /* the key of an item in another set; 0: none */
    maki_term_bitmap terms;                     /* of its text, where the owner compares texts */
    uint32_t first, last;                       /* the first and last message that contain it */
    uint32_t count;                             /* how often it was added */
    uint32_t weight;                            /* higher ones are evicted last */
    uint32_t counters[MAKI_TEXT_ITEM_COUNTERS]; /* set by the owner */
    uint8_t kind, state;                        /* set by the owner */
    uint16_t len, detail_len;
    char *text, *detail; /* in the set's own memory */
} maki_text_item;

typedef struct maki_text_set {
    maki_text_item *at; /* in insertion order */
    size_t count, capacity;
    size_t text_capacity, detail_capacity; /* bytes a text may have */
    uint32_t *slots;                       /* open addressing: index + 1, or 0 */
    size_t slot_mask;
    uint32_t *order; /* working memory of evict_half */
} maki_text_set;

/* `capacity` items, a power of two, whose texts have at most `text_capacity` and `detail_capacity` bytes. */
maki_status maki_text_set_init(maki_text_set *set, maki_arena *arena, size_t capacity,
                               size_t text_capacity, size_t detail_capacity, maki_err *err);

/* A hash that is the same on every machine. */
uint64_t maki_text_item_key(maki_str text);

/* The item with this key, or NULL. */
maki_text_item *maki_text_set_find(const maki_text_set *set, uint64_t key);
/* The same, inserted with this text if missing.  Counts the occurrence in message `now`. */
maki_text_item *maki_text_set_add(maki_text_set *set, uint64_t key, maki_str text, uint32_t weight,
                                  uint32_t now);

maki_str maki_text_item_text(const maki_text_item *item);
maki_str maki_text_item_detail(const maki_text_item *item);
/* Control characters become spaces; a text that is too long ends in "…", never inside a character. */
void maki_text_set_set_text(const maki_text_set *set, maki_text_item *item, maki_str text);
void maki_text_set_set_detail(const maki_text_set *set, maki_text_item *item, maki_str text);
void maki_text_set_clear(maki_text_set *set);

/* `text` as one line into out[capacity]; returns its length.  What does not fit ends in "…". */
size_t maki_line_copy(char *out, size_t capacity, maki_str text);

#endif

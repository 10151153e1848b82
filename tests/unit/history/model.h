/* model.h -- a slow and simple model of a conversation, the reference for the random tests.
 *
 * Rows and events in plain arrays; the view is computed message by message from the rules in timeline.h,
 * sharing no code with timeline.c: an event counts unless a later one that counts undid it; a message is
 * in the view unless a rewind that counts removed it; and so on.  What a condense or truncation hid is
 * read from its event, since the program decides that; model_broken() checks whether that was allowed.
 *
 * All memory of a run comes from one pool, freed by model_pool_clear(). */
#ifndef MAKI_TESTS_MODEL_H
#define MAKI_TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <maki/str.h>

enum {
    MODEL_TEXTS = 12,
    MODEL_ROWS = 512,
    MODEL_EVENTS = 1024,
    MODEL_ITEMS = 1536,
    MODEL_TRIMS = 4096
};

void *model_pool_get(size_t n);
maki_str model_pool_copy(maki_str text);
void model_pool_clear(void);

/* A text inside a row that can be shortened, or a block without one that a text can replace. */
typedef struct model_text {
    unsigned block, part;
    bool whole;     /* it is a block */
    size_t at, len; /* of the escaped text, without its quotes; of the block */
} model_text;

typedef struct model_row {
    uint64_t seq;
    maki_str json;
    int64_t ts;
    uint32_t tokens;
    bool system;
    unsigned call, calls;     /* it makes calls number call to call + calls - 1 */
    unsigned answer, answers; /* and answers these */
    model_text texts[MODEL_TEXTS];
    size_t text_count;
} model_row;

typedef enum model_type {
    MODEL_OTHER,
    MODEL_HIDING, /* condense, truncate */
    MODEL_TRIM,
    MODEL_PRUNE,
    MODEL_PIN,
    MODEL_UNPIN,
    MODEL_REWIND,
    MODEL_UNDO,
    MODEL_FORK
} model_type;

/* What one event says of one text. */
typedef struct model_trim {
    uint64_t seq, block, part, tokens;
    uint64_t head, tail;   /* of a trim */
    maki_str cuts[3 * 16]; /* of a prune: from, to, text */
    size_t cut_count;
    bool prune;
} model_trim;

typedef struct model model;

typedef struct model_event {
    model_type type;
    model *of;
    uint64_t ev, at, ts;
    maki_str hidden, hidden_events, hidden_above; /* as they stand in the event */
    uint64_t before;
    maki_str message;  /* synthetic; len 0: none */
    model_trim *trims; /* one, or of a prune any number */
    size_t trim_count;
    uint64_t tokens, seq, block, head, tail, to, to_ev, with, target;
    uint64_t run, run_to; /* the events of its run; 0: it is of none */
} model_event;

struct model {
    model *parent; /* of a fork */
    uint64_t base, fork_ev;
    char path[320];
    model_row *rows[MODEL_ROWS]; /* rows[0] is message base + 1 */
    size_t row_count;
    model_event *events[MODEL_EVENTS]; /* events[0] is event 1 */
    size_t event_count;
};

uint64_t model_last(const model *m);
const model_row *model_row_at(const model *m, uint64_t seq); /* NULL: there is none */
/* Add an event row; false: it is out of order. */
bool model_take_event(model *m, maki_str row);
/* The newest event that had happened at message `seq`. */
uint64_t model_event_at(const model *m, uint64_t seq);
/* Does event `ev` count when `now` is the newest event? */
bool model_counts(const model *m, uint64_t ev, uint64_t now);

typedef struct model_item {
    const model_row *row;     /* or */
    const model_event *event; /* that carries a synthetic message */
} model_item;

typedef struct model_view {
    model_item items[MODEL_ITEMS];
    size_t count;
    const model_trim *trims[MODEL_TRIMS];
    size_t trim_count;
    uint64_t pins[MODEL_EVENTS];
    size_t pin_count;
} model_view;

/* With `hiding` false, what condensing and truncating do is left out.  ev UINT64_MAX: the events that had happened
 * at message `seq`. */
void model_see(const model *m, uint64_t seq, uint64_t ev, bool hiding, model_view *out);
/* What it is when no event counts. */
void model_untouched(const model *m, model_view *out);

bool model_has(const model_view *view, uint64_t seq);
bool model_pinned(const model_view *view, uint64_t seq);
uint64_t model_tokens(const model_view *view);
/* The bytes of one message, trims applied; in the pool. */
maki_str model_json(const model_view *view, size_t item);

/* Is a tool call or result of item i out of place: a result whose call is not right before it, or a
 * call without all its results that is not the end? */
bool model_misplaced(const model_view *view, size_t i);
/* Which calls at the end still wait for an answer; the first, and how many.  0: none. */
unsigned model_pending(const model_view *view, unsigned *first);
/* What is wrong with the view, compared with `rows` (the same revision, nothing hidden); NULL: nothing. */
const char *model_broken(const model_view *view, const model_view *rows);

#endif

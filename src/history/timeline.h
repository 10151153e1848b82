/* timeline.h -- the view of a conversation: what the model sees at a revision, the present or any earlier one.
 *
 * A revision is (seq, ev): the messages up to seq, the events up to ev.  The view there is a pure
 * function of both files up to that point:
 *
 *   - undo {target} reverts an earlier event; undoing the undo applies it again; with `to` it reverts all events
 *     from the one to the other that hide or trim: those of a run;
 *   - rewind {to, toEv} restores the view of an earlier revision; what came between is not in the view, and
 *     the conversation continues from there;
 *   - condense and truncate hide messages and insert a synthetic one, which the event carries;
 *   - trim shortens one text of a message, prune any number of texts; pin and unpin mark a message.
 *
 * A view is a list of items, ranges of messages and synthetic messages, so its size grows with the number of
 * changes, not with the conversation. */
#ifndef MAKI_HISTORY_TIMELINE_H
#define MAKI_HISTORY_TIMELINE_H

#include "history/event_list.h"

typedef struct maki_view_item {
    maki_log *log;               /* that has the messages or the event */
    uint64_t from, to;           /* messages; from 0: a synthetic message */
    const maki_event *synthetic; /* the event that carries it; NULL for messages */
    uint32_t up;                 /* how many forks above: 0 is the log of the view */
} maki_view_item;

typedef struct maki_view {
    maki_view_item *items;
    size_t count, capacity;
    const maki_trim **trims; /* one for each text, sorted by seq, block and part */
    size_t trim_count, trim_capacity;
    uint64_t *pins;
    size_t pin_count, pin_capacity;
} maki_view;

/* Which view to make. */
typedef struct maki_view_at {
    uint64_t seq, ev;       /* the revision */
    uint64_t undo, undo_to; /* as if an event undo {target, to} followed; 0: none */
    enum {
        MAKI_VIEW_EFFECTIVE, /* what events hide is hidden */
        MAKI_VIEW_UNHIDDEN,  /* nothing is hidden; synthetic messages are in their places */
        MAKI_VIEW_ROWS_ONLY  /* messages of the log alone, none hidden */
    } hiding;
} maki_view_at;

/* How far the view of a fork reaches into its parent: to its base, or less after a rewind. */
uint64_t maki_view_parent_end(maki_log *log, maki_events *events, const maki_view_at *at);

/* A view of `log`.  `parent` is the view of a fork's parent, or NULL.  Sets event.dead of the events that do not count
 * in it. */
maki_status maki_view_make(maki_log *log, maki_events *events, const maki_view *parent,
                           const maki_view_at *at, maki_arena *arena, maki_view *out,
                           maki_err *err);

/* How many messages the view has, synthetic ones included. */
uint64_t maki_view_count(const maki_view *view);

/* What a step did to a view, in messages of the log: summaries and markers are not counted. */
typedef struct maki_view_change {
    uint64_t hidden, restored;    /* no longer in view; in view again */
    uint64_t shortened, expanded; /* with less text than before; with more */
    uint64_t seq;                 /* the first of these */
    uint64_t
        behind; /* messages that a new marker replaces, with those of the markers that it replaced */
} maki_view_change;
/* Compare `before`, in which message `last` was the newest, with `after`. */
maki_view_change maki_view_compare(const maki_view *before, const maki_view *after, uint64_t last);
/* A copy in the arena, valid for maki_view_compare after the view itself is freed. */
maki_status maki_view_copy(const maki_view *view, maki_arena *arena, maki_view *out, maki_err *err);
/* "4 messages out of view, message 7 shortened"; "": nothing changed. */
enum { MAKI_VIEW_CHANGE_MAX = 240 };
void maki_view_change_text(const maki_view_change *change, char out[MAKI_VIEW_CHANGE_MAX]);

bool maki_view_pinned(const maki_view *view, uint64_t seq);
/* Is message `seq` in it? */
bool maki_view_has(const maki_view *view, uint64_t seq);
/* The index in view->trims of the first trim of message `seq` or a later one. */
size_t maki_view_trims_from(const maki_view *view, uint64_t seq);
/* The trim of one text; NULL: none. */
const maki_trim *maki_view_trim(const maki_view *view, uint64_t seq, uint32_t block, uint32_t part);

#endif

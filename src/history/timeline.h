/* timeline.h -- what of a conversation the model sees, at any moment of its past.
 *
 * A revision is (seq, ev): the messages up to seq, the events up to ev.  The view there is a pure
 * function of both files up to that point:
 *
 *   - undo {target} makes an earlier event void; undoing the undo makes it count again; with `to` it does so to
 *     all that hide or shorten from the one event to the other: those of a run that made room;
 *   - rewind {to, toEv} brings back the view of an earlier moment; what came between is left out, and
 *     the conversation goes on after it;
 *   - condense and truncate hide messages and put in one of their own, which they carry;
 *   - trim shortens a block of one message, prune any number of them; pin and unpin mark one.
 *
 * A view is a list of items, ranges of messages and made messages, so its size is that of what was
 * done to the conversation, not of the conversation. */
#ifndef MAKI_HISTORY_TIMELINE_H
#define MAKI_HISTORY_TIMELINE_H

#include "history/event_list.h"

typedef struct maki_view_item {
    maki_log *log;     /* whose messages, or whose event */
    uint64_t from, to; /* messages; from 0: a made message */
    const maki_event *made;
    uint32_t up; /* how many forks above: 0 is the log of the view */
} maki_view_item;

typedef struct maki_view {
    maki_view_item *items;
    size_t count, capacity;
    const maki_trim **trims; /* those that count, one for a text, by seq, block and part */
    size_t trim_count, trim_capacity;
    uint64_t *pins;
    size_t pin_count, pin_capacity;
} maki_view;

/* Which view is asked for. */
typedef struct maki_view_at {
    uint64_t seq, ev;       /* the moment */
    uint64_t undo, undo_to; /* as if an undo {target, to} counted; 0: none */
    enum {
        MAKI_HIDING,   /* as it is */
        MAKI_UNHIDDEN, /* every message in its place, made ones too */
        MAKI_ROWS_ONLY /* as if nothing had been condensed or truncated */
    } hiding;
} maki_view_at;

/* How far the view of a fork reaches into its parent: to its base, or less after a rewind. */
uint64_t maki_view_parent_end(maki_log *log, maki_events *events, const maki_view_at *at);

/* A view of `log`.  `below` is the view it grew out of (a fork's parent), or NULL.  Marks events as dead or
 * alive in it. */
maki_status maki_view_make(maki_log *log, maki_events *events, const maki_view *below,
                           const maki_view_at *at, maki_arena *arena, maki_view *out,
                           maki_err *err);

/* How many messages it has. */
uint64_t maki_view_count(const maki_view *view);

/* What a step did to a view, in messages of the log: a summary or a marker is none. */
typedef struct maki_view_change {
    uint64_t hidden, restored;    /* no longer in view; in view again */
    uint64_t shortened, expanded; /* with less text than before; with more */
    uint64_t seq;                 /* the first of these */
    uint64_t
        behind; /* messages that a new marker stands for, with those of the markers that it replaced */
} maki_view_change;
/* From `before`, when message `last` was the newest, to `after`. */
maki_view_change maki_view_compare(const maki_view *before, const maki_view *after, uint64_t last);
/* A copy in the arena, good for maki_view_compare after the view itself is gone. */
maki_status maki_view_copy(const maki_view *view, maki_arena *arena, maki_view *out, maki_err *err);
/* "4 messages out of view, message 7 shortened"; "": it did neither. */
enum { MAKI_VIEW_CHANGE_MAX = 240 };
void maki_view_change_text(const maki_view_change *change, char out[MAKI_VIEW_CHANGE_MAX]);

bool maki_view_pinned(const maki_view *view, uint64_t seq);
/* Is message `seq` in it? */
bool maki_view_has(const maki_view *view, uint64_t seq);
/* Where the trims of messages from `seq` on begin in view->trims. */
size_t maki_view_trims_from(const maki_view *view, uint64_t seq);
/* The trim of one text; NULL: none. */
const maki_trim *maki_view_trim(const maki_view *view, uint64_t seq, uint32_t block, uint32_t part);

#endif

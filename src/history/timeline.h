/* timeline.h -- what of a conversation the model sees, at any moment of its past.
 *
 * A moment is (seq, ev): the messages up to seq, the events up to ev.  The view there is a pure
 * function of both files up to that point:
 *
 *   - undo {target} makes an earlier event void; undoing the undo makes it count again;
 *   - rewind {to, toEv} brings back the view of an earlier moment; what came between is left out, and
 *     the conversation goes on after it;
 *   - condense and truncate hide messages and put in one of their own, which they carry;
 *   - trim shortens a block of one message, prune any number of them; pin and unpin mark one.
 *
 * A view is a list of items, ranges of messages and made messages, so its size is that of what was
 * done to the conversation, not of the conversation. */
#ifndef MAKI_HISTORY_TIMELINE_H
#define MAKI_HISTORY_TIMELINE_H

#include "log/log.h"

typedef struct maki_span64 {
    uint64_t from, to; /* both included */
} maki_span64;

typedef enum maki_event_type {
    MAKI_EVENT_OTHER, /* does not change the view */
    MAKI_EVENT_FORK,
    MAKI_EVENT_CONDENSE,
    MAKI_EVENT_TRUNCATE,
    MAKI_EVENT_TRIM,
    MAKI_EVENT_PRUNE,
    MAKI_EVENT_PIN,
    MAKI_EVENT_UNPIN,
    MAKI_EVENT_REWIND,
    MAKI_EVENT_UNDO,
    MAKI_EVENT_DAMAGE
} maki_event_type;

/* The word that events have for it; MAKI_EVENT_OTHER has none. */
const char *maki_event_name(maki_event_type type);

/* UTF-16 units [from, to) of a text that are shown as another text. */
typedef struct maki_cut {
    uint64_t from, to;
    maki_str text; /* a JSON string */
} maki_cut;

/* A text of one message, or a block without one, that is shown shorter than it is. */
typedef struct maki_trim {
    uint64_t seq;
    uint32_t block, part; /* where (weave.h) */
    uint32_t head, tail;  /* of a trim event: the units that stay, a note between them */
    const maki_cut *cuts; /* of a prune event, in order */
    size_t cut_count;     /* 0: by head and tail */
    bool restores;        /* it is shown whole, whatever older events say */
    uint32_t tokens;      /* saved */
    bool counted;         /* in o200k_base; else they have to be counted */
} maki_trim;

/* An event that may change the view. */
typedef struct maki_event {
    maki_event_type type;
    uint64_t ev, at;
    const maki_span64 *hidden; /* condense, truncate: messages hidden, in order */
    size_t hidden_count;
    const uint64_t *hidden_evs; /* and made messages, by the event that made them */
    size_t hidden_ev_count;
    const maki_span64 *hidden_above; /* those of parents: forks up, and the event there */
    size_t hidden_above_count;
    uint64_t before;            /* the made message stands before this one */
    uint64_t made_at, made_len; /* where its bytes are in the events file */
    uint32_t tokens;            /* of the made message */
    bool counted;               /* in o200k_base; else they have to be counted */
    uint64_t messages;          /* that the made message stands for */
    const maki_trim *trims;     /* trim: one; prune: any number */
    size_t trim_count;
    uint64_t seq;             /* pin, unpin, damage */
    uint64_t to, to_ev, with; /* rewind: the moment, and the message of an edit */
    uint64_t target;          /* undo */
    bool dead;                /* void, or left out by a rewind */
} maki_event;

/* The events of one log that may change its view, in order. */
typedef struct maki_events {
    maki_event *at;
    size_t count, room;
} maki_events;
maki_status maki_events_read(maki_log *log, maki_arena *arena, maki_events *out, maki_err *err);
/* The newest of them that had happened when `seq` was the newest message. */
uint64_t maki_events_at(const maki_events *events, uint64_t seq);

typedef struct maki_view_item {
    maki_log *log;     /* whose messages, or whose event */
    uint64_t from, to; /* messages; from 0: a made message */
    const maki_event *made;
    uint32_t up; /* how many forks above: 0 is the log of the view */
} maki_view_item;

typedef struct maki_view {
    maki_view_item *items;
    size_t count, room;
    const maki_trim **trims; /* those that count, one for a text, by seq, block and part */
    size_t trim_count, trim_room;
    uint64_t *pins;
    size_t pin_count, pin_room;
} maki_view;

/* How far the view of a fork reaches into its parent: to its base, or less after a rewind. */
uint64_t maki_view_below(maki_log *log, maki_events *events, uint64_t seq, uint64_t ev);

/* The view of `log` at a moment.  `below` is the view it grew out of (a fork's parent), or NULL.
 * Marks events as dead or alive for that moment. */
maki_status maki_view_make(maki_log *log, maki_events *events, const maki_view *below, uint64_t seq,
                           uint64_t ev, maki_arena *arena, maki_view *out, maki_err *err);

/* How many messages it has. */
uint64_t maki_view_messages(const maki_view *view);

bool maki_view_pinned(const maki_view *view, uint64_t seq);
/* Is message `seq` in it? */
bool maki_view_has(const maki_view *view, uint64_t seq);
/* Where the trims of messages from `seq` on begin in view->trims. */
size_t maki_view_trims_from(const maki_view *view, uint64_t seq);
/* The trim of one text; NULL: none. */
const maki_trim *maki_view_trim(const maki_view *view, uint64_t seq, uint32_t block, uint32_t part);

#endif

/* event_list.h -- the events of a log that may change its view, in memory.
 *
 * Each is read once; a later read adds only those appended since.  In memory are the numbers of an event; the bytes of a
 * synthetic message stay in the file.  So memory grows with the changes of the view, not with other events. */
#ifndef MAKI_HISTORY_EVENT_LIST_H
#define MAKI_HISTORY_EVENT_LIST_H

#include "log/log.h"

typedef struct maki_span64 {
    uint64_t from, to; /* both included */
} maki_span64;

/* The types of events that change the view, with their names in the file.  A new one is a row here, what it does to the
 * view (timeline.c), and whoever appends it; its fields are read in event_list.c. */
#define MAKI_EVENT_MAP(X) \
    X(FORK, fork)         \
    X(CONDENSE, condense) \
    X(TRUNCATE, truncate) \
    X(TRIM, trim)         \
    X(PRUNE, prune)       \
    X(PIN, pin)           \
    X(UNPIN, unpin)       \
    X(REWIND, rewind)     \
    X(UNDO, undo)         \
    X(DAMAGE, damage)

typedef enum maki_event_type {
    MAKI_EVENT_OTHER, /* does not change the view */
#define MAKI_EVENT_ENUM(NAME, name) MAKI_EVENT_##NAME,
    MAKI_EVENT_MAP(MAKI_EVENT_ENUM)
#undef MAKI_EVENT_ENUM
} maki_event_type;

/* Does a run (manage/) append events of this type to free context? */
static inline bool maki_event_frees_context(maki_event_type type)
{
    return type >= MAKI_EVENT_CONDENSE && type <= MAKI_EVENT_PRUNE;
}

/* Its name in the file; "" for MAKI_EVENT_OTHER. */
const char *maki_event_name(maki_event_type type);

/* UTF-16 units [from, to) of a text that are shown as another text. */
typedef struct maki_cut {
    uint64_t from, to;
    maki_str text; /* a JSON string */
} maki_cut;

/* A text of one message, or a block without text, that a view shows shortened. */
typedef struct maki_trim {
    uint64_t seq;
    uint32_t block, part; /* where (apply_trims.h) */
    uint32_t head, tail;  /* of a trim event: the units that stay, a note between them */
    const maki_cut *cuts; /* of a prune event, in order */
    size_t cut_count;     /* 0: by head and tail */
    bool restores;        /* it cancels older trims of this text */
    uint32_t tokens;      /* saved */
    bool counted;         /* in o200k_base; else they have to be counted */
} maki_trim;

/* An event that may change the view. */
typedef struct maki_event {
    maki_event_type type;
    uint64_t ev, at;
    int64_t ts;                /* ms; of an import: when it took effect there */
    const maki_span64 *hidden; /* condense, truncate: messages hidden, in order */
    size_t hidden_count;
    const uint64_t *hidden_evs; /* and synthetic messages, by the event that made them */
    size_t hidden_ev_count;
    const maki_span64 *hidden_above; /* those of parents: number of forks up, and the event there */
    size_t hidden_above_count;
    uint64_t before;                      /* the synthetic message stands before this one */
    uint64_t synthetic_at, synthetic_len; /* where its bytes are in the events file */
    uint32_t tokens;                      /* of the synthetic message */
    bool counted;                         /* in o200k_base; else they have to be counted */
    uint64_t messages;                    /* that the synthetic message replaces */
    const maki_trim *trims;               /* trim: one; prune: any number */
    size_t trim_count;
    uint64_t seq;             /* pin, unpin, damage */
    uint64_t to, to_ev, with; /* rewind: the revision, and the message of an edit */
    uint64_t target;          /* undo: that event, or, of a run, those from it to `to` */
    uint64_t run; /* condense, truncate, trim, prune: the first event of its run; 0: of none */
    bool dead;    /* undone, or left out by a rewind */
} maki_event;

/* The events of one log that may change its view, in order. */
typedef struct maki_events {
    maki_event *at;
    size_t count, capacity;
    uint64_t ev, end; /* the last event of any kind that was read, and its end in the file */
} maki_events;
/* Does an event change the view?  `row` is its line in the file; true also when it is not valid JSON. */
bool maki_event_changes_view(maki_str row);
/* Add the events appended since the last call; *events is zeroed before the first.  After a failure, discard *events
 * and the arena. */
maki_status maki_events_read(maki_log *log, maki_arena *arena, maki_events *events, maki_err *err);
/* The number of the newest event that had happened when `seq` was the newest message. */
uint64_t maki_events_at(const maki_events *events, uint64_t seq);

#endif

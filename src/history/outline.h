/* outline.h -- the whole log as ranges: which messages a view shows, which it does not show and why.
 *
 * Reads no message; its size grows with the changes of the view, not with the conversation. */
#ifndef MAKI_HISTORY_OUTLINE_H
#define MAKI_HISTORY_OUTLINE_H

#include "history/conv.h"

typedef enum maki_outline_kind {
    MAKI_OUTLINE_SHOWN,    /* messages in the view */
    MAKI_OUTLINE_HIDDEN,   /* messages that are not */
    MAKI_OUTLINE_SYNTHETIC /* a summary or marker in the view */
} maki_outline_kind;

typedef struct maki_outline_row {
    maki_outline_kind kind;
    uint64_t from, to; /* messages; of SYNTHETIC: 0 */
    /* HIDDEN: the event that hides them; 0: a rewind, edit or delete left them out.  SYNTHETIC: the event that has it */
    uint64_t ev;
    maki_event_type why; /* its type: CONDENSE, TRUNCATE, DAMAGE; REWIND when ev is 0 */
    uint32_t up;         /* how many forks above that event is */
} maki_outline_row;

typedef struct maki_outline {
    maki_outline_row *rows;
    size_t count, capacity;
    uint64_t last;         /* the newest message of the revision */
    const maki_view *view; /* at the revision; borrowed like that of maki_conv_view */
} maki_outline;

/* The rows of SHOWN and HIDDEN have each message from 1 to the last exactly once, in order; those of SHOWN and SYNTHETIC
 * are the view.  Rows are in the arena. */
maki_status maki_conv_outline(maki_conv *conv, uint64_t seq, uint64_t ev, maki_arena *arena,
                              maki_outline *out, maki_err *err);

#endif

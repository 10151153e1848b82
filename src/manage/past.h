/* past.h -- what earlier runs left: the note of each, found again, and a run taken back as a whole.
 *
 * The note is an event manifest {"of": "manage", "reason", "action", "tokensBefore", "tokensAfter", "failed", "first",
 * "last"}, the last of its run; first and last are the events of the run, absent when it appended none.  A run that is
 * taken back leaves {"of": "manage", "undone": EVENT, "failed": true, "tokensAfter"}. */
#ifndef MAKI_MANAGE_PAST_H
#define MAKI_MANAGE_PAST_H

#include "manage/manage.h"

/* Append the note of a run that began when event `before` was the newest; sets report->run. */
maki_status maki_past_note(maki_conv *conv, uint64_t before, maki_manage_report *report,
                           maki_err *err);

/* Did the newest run fail, and is what is sent about what it was then?  Looks at the newest events only: a note behind
 * many others is forgotten, which costs one more try. */
maki_status maki_past_waits(maki_conv *conv, double tokens, bool *out, maki_err *err);

/* Undo what steps did in the events (before, last], newest first; how many, in *undone.  MAKI_REFUSED
 * WOULD_HIDE: something later stands on one of them. */
maki_status maki_past_take_back(maki_conv *conv, uint64_t before, uint64_t last, uint64_t *undone,
                                maki_err *err);

typedef struct maki_past_undone {
    uint64_t run;    /* the event of its note */
    uint64_t events; /* how many were undone */
    double tokens_before, tokens_after;
} maki_past_undone;

/* Take back all that run `run` (the event of its note; 0: the newest that was not taken back) did.  Killed on the way,
 * it is done by asking again.  MAKI_REFUSED: NOTHING_TO_DO, WOULD_HIDE. */
maki_status maki_past_undo(maki_conv *conv, uint64_t run, maki_past_undone *out, maki_err *err);

#endif

/* run_history.h -- what earlier runs left: the record of each, found again, and a run taken back as a whole.
 *
 * The record is an event manifest {"of": "manage", ...}, the last of its run (docs/internals/events.md); first and last
 * in it are the events of the run, absent when it wrote none. */
#ifndef MAKI_MANAGE_RUN_HISTORY_H
#define MAKI_MANAGE_RUN_HISTORY_H

#include "history/plan.h"
#include "manage/manage.h"

/* Write what was planned, and the record of it; without a plan the record alone: of a run that ended as `why` says.
 * Sets report->run.  MAKI_CONFLICT as maki_plan_write says. */
maki_status maki_run_history_record(maki_conv *conv, maki_plan *plan, const maki_manage_in *in,
                                    maki_manage_report *report, maki_status why, maki_err *err);

/* Did the newest run fail, or did somebody take it back, and is what is sent about what it was then?  Looks at the
 * newest events only: a record behind many others is forgotten, which costs one more try.  After the newest view was
 * asked for. */
maki_status maki_run_history_backoff(maki_conv *conv, double tokens, const maki_manage_in *in,
                                     bool *out, maki_err *err);

typedef struct maki_run_undone {
    uint64_t run;    /* the event of its record */
    uint64_t events; /* how many were undone */
    double tokens_before, tokens_after;
} maki_run_undone;

/* Take back all that run `run` (the event of its record; 0: the newest that was not taken back) did, with one event.
 * MAKI_REFUSED: NOTHING_TO_DO, WOULD_HIDE. */
maki_status maki_run_history_undo(maki_conv *conv, uint64_t run, maki_run_undone *out,
                                  maki_err *err);

#endif

/* run_history.h -- the records of earlier runs: write one, back off after a failed run, undo a whole run.
 *
 * The record is an event manifest {"of": "manage", ...}, the last of its run (docs/internals/events.md); first and last
 * in it are the events of the run, absent when it wrote none. */
#ifndef MAKI_MANAGE_RUN_HISTORY_H
#define MAKI_MANAGE_RUN_HISTORY_H

#include "history/transaction.h"
#include "manage/manage.h"

/* Commit the transaction with its record; without one only the record, of a run that ended with status `why`.
 * Sets report->run.  MAKI_CONFLICT as maki_transaction_commit says. */
maki_status maki_run_history_record(maki_conv *conv, maki_transaction *tx,
                                    const maki_manage_options *in, maki_manage_report *report,
                                    maki_status why, maki_err *err);

/* Should a run be skipped, because the newest one failed or was undone, and the tokens sent have hardly changed since?
 * Reads the newest events only: a record before many others is not found, which costs one more attempt.  Call it after
 * maki_conv_view or maki_conv_total_now. */
maki_status maki_run_history_backoff(maki_conv *conv, double tokens, const maki_manage_options *in,
                                     bool *out, maki_err *err);

typedef struct maki_run_undo_report {
    uint64_t run;    /* the event of its record */
    uint64_t events; /* how many were undone */
    maki_view_change effect;
    double tokens_before, tokens_after;
} maki_run_undo_report;

/* Undo all events of run `run` (the event of its record; 0: the newest that is not undone), with one event.
 * MAKI_REFUSED: NOTHING_TO_DO, WOULD_HIDE. */
maki_status maki_run_history_undo(maki_conv *conv, uint64_t run, maki_run_undo_report *out,
                                  maki_err *err);

#endif

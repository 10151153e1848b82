/* plan.h -- changes that are applied as a dry run first, and written as one group.
 *
 *     maki_plan_begin    from now on, changes of the conversation are a dry run, visible to this handle alone
 *     ...                condense, truncate, prune, undo: any number of them
 *     maki_plan_write    the net effect as one group: an event for each synthetic message that stayed (it also hides
 *                        what the messages that it replaced had hidden), one prune for all texts, and a record with
 *                        their numbers, `first` and `last`
 *     maki_plan_end      always
 *
 * The view afterwards is, byte for byte, that of the dry run. */
#ifndef MAKI_HISTORY_PLAN_H
#define MAKI_HISTORY_PLAN_H

#include "history/conv.h"

typedef struct maki_planned_event maki_planned_event;

typedef struct maki_plan {
    maki_conv *conv;
    bool dry_run; /* begun, and neither written nor rolled back */
    maki_log_savepoint mark;
    size_t changes; /* at maki_plan_begin: the number of events that change the view, */
    uint64_t end;   /* and the end of the events in the file */
    maki_arena arena;
    maki_planned_event *hiding; /* the condenses and truncations of the dry run */
    size_t count;
    uint64_t pruned; /* the number of the prune that was written; 0: none */
} maki_plan;

maki_status maki_plan_begin(maki_plan *plan, maki_conv *conv, maki_err *err);
/* Write the group, the last event being the record: its type and `fields`; *record is its number.  MAKI_CONFLICT:
 * another writer has changed the view, and nothing is written; new messages are no conflict. */
maki_status maki_plan_write(maki_plan *plan, const char *type, maki_str fields, uint64_t *record,
                            maki_err *err);
/* After maki_plan_write: the event that event `ev` of the dry run became. */
uint64_t maki_plan_event(const maki_plan *plan, uint64_t ev);
/* Discard the dry run. */
void maki_plan_rollback(maki_plan *plan);
void maki_plan_end(maki_plan *plan); /* accepts one that was zeroed */

#endif
